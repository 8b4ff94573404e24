// Answers in place of a model, without a network: what a stage is sent comes on standard input. It knows no more than it is told. Its
// first implementation takes one number with one unit; that durations are added up it learns from the checks that failed.
import { readFileSync, writeFileSync } from 'node:fs';

const { MLLD_NODE_ID: stage, MLLD_STATUS_FILE: statusFile } = process.env;
const sent = readFileSync(0, 'utf8');
const answers = { plan, implement, style, limits };
if (!Object.hasOwn(answers, stage)) {
  console.error(`the stand-in knows no stage ${stage}`);
  process.exit(1);
}
console.log(await answers[stage]());

function plan() {
  const cases = [...readFileSync('code/check.mjs', 'utf8').matchAll(/'(\w*)': [\d_]+/g)].map(([, text]) => text);
  return ['1. A table of units in milliseconds.', '2. Read number and unit, refuse the rest.', `3. Try it with ${cases.join(', ')}.`].join(
    '\n',
  );
}

function implement() {
  // Texts of several parts, among those that the checks were not content with.
  const failed = [...sent.matchAll(/parseDuration\("([^"]*)"\) should be \d+/g)].map(([, text]) => text);
  const addsUp = failed.some((text) => /^(?:\d+[a-z]+){2,}$/.test(text));
  return `\`\`\`js\n${addsUp ? sums() : single()}\`\`\``;
}

function single() {
  return `const UNITS = { ms: 1, s: 1_000, m: 60_000, h: 3_600_000 };

/** Milliseconds of a text like \`90s\`. */
export function parseDuration(text) {
  const [, number, unit] = /^(\\d+)(ms|s|m|h)$/.exec(text) ?? [];
  if (unit === undefined) throw new Error(\`no duration: \${text}\`);
  return Number(number) * UNITS[unit];
}
`;
}

function sums() {
  return `const UNITS = { ms: 1, s: 1_000, m: 60_000, h: 3_600_000 };
const PART = /(\\d+)(ms|s|m|h)/g;

/** Milliseconds of a text like \`90s\` or \`1h30m\`: the sum of its parts. */
export function parseDuration(text) {
  if (!/^(?:\\d+(?:ms|s|m|h))+$/.test(text)) throw new Error(\`no duration: \${text}\`);
  return [...text.matchAll(PART)].reduce((sum, [, number, unit]) => sum + Number(number) * UNITS[unit], 0);
}
`;
}

function style() {
  const lines = readFileSync('out/duration.mjs', 'utf8').split('\n');
  const long = lines.filter((line) => line.length > 120).length;
  const undocumented = lines.filter((line, i) => line.startsWith('export') && !/\*\/$/.test(lines[i - 1] ?? '')).length;
  return scored(10 - 2 * long - 3 * undocumented, `${long} lines are too long, ${undocumented} exports have no comment.`);
}

async function limits() {
  const { parseDuration } = await import(`${process.cwd()}/out/duration.mjs`);
  const odd = ['-1s', '1.5h', ' 1s', '1s ', 's', '0x10s', '١s'];
  const taken = odd.filter((text) => {
    try {
      parseDuration(text);
      return true;
    } catch {
      return false;
    }
  });
  const exact = Number.isSafeInteger(parseDuration('99999h'));
  return scored(
    10 - 2 * taken.length - (exact ? 0 : 3),
    `${taken.length} of ${odd.length} odd texts are taken; 99999h is ${exact ? 'exact' : 'not exact'}.`,
  );
}

/** The fan-in prefers the higher score. */
function scored(score, said) {
  writeFileSync(statusFile, JSON.stringify({ outcome: 'success', context_updates: { score }, notes: said }));
  return `${said}\nscore: ${score}`;
}
