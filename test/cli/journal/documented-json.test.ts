/** Holds `docs/json.md` against what the commands print, in both directions. */
import { appendFileSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { callCli } from '../../support/in-process/call-cli.js';
import { projectFolder, runCli } from '../../support/cli.js';
import { recordCrash } from '../../support/recorded-project.js';
import { call } from '../../support/written-runs.js';

const TEXT = readFileSync(new URL('../../../docs/json.md', import.meta.url), 'utf8');

interface Section {
  readonly command: string;
  /** As they are written: `calls[].hit?`, `statuses{}`. */
  readonly members: readonly string[];
}

const SECTIONS: readonly Section[] = TEXT.split(/^## (?=`mlld )/m)
  .slice(1)
  .map((section) => {
    const [head = '', ...items] = section.split(/^- /m);
    return { command: (/^`mlld ([^`]+)`/.exec(head) as RegExpExecArray)[1] as string, members: items.flatMap(membersIn) };
  });

/** The members that an item begins with; its explanation may quote values behind the colon. */
function membersIn(item: string): readonly string[] {
  const [names = ''] = item.split(/`:|\n\n/);
  return [...`${names}\``.matchAll(/`([^`\s]+)`/g)].map(([, name]) => name as string);
}

/** The commands that print each section; several where one run does not show every member. */
const COMMANDS: { readonly [command: string]: readonly (readonly string[])[] } = {
  docs: [[], ['json'], ['PAUSED'], ['retry', '--search']],
  'journal list': [[]],
  'journal verify': [['good'], ['job']],
  'journal audit': [['good'], ['bad']],
  'journal audit --file': [['written.txt', 'good']],
  'journal diff': [['good@2', 'good']],
  'journal diff --fork-point': [['good@2', 'good']],
  'journal postmortem': [['bad']],
  'journal stats': [[]],
  'journal explain': [['good']],
  'journal cat': [
    ['good', 'main/for#0[0]'],
    ['bad', 'main/for#0[1]'],
  ],
  'journal report': [['bad']],
  'journal report --script': [['good']],
  'journal replay': [['good']],
  'journal gc': [['--dry-run']],
  'journal redact': [['good', '--match', 'zzz', '--dry-run']],
  'journal reject': [['rejected', 'main/for#0[0]/review#0']],
  'journal bundle': [['good', '-o', 'run.tgz']],
  'journal unbundle': [['run.tgz']],
  'run --plan': [['good', '--resume', '@review', '--budget', '5usd']],
  'run FILE.dot --plan': [['walk.dot']],
  'run FILE.js --plan': [['ask.js', '--budget', '5usd', '--resume', '@agent']],
  'checkpoint list': [['good']],
  'checkpoint inspect': [['good']],
  'checkpoint clean': [['bad']],
  'modules add': [['fmt.mld.md'], ['pad.mld.md']],
  'modules list': [[]],
  'modules remove': [['@tide/fmt']],
  'modules outdated': [[]],
};

/** `store` needs a server, and `serve` does not end by itself: test/cli/store and test/server/serve.test.ts read what they print. */
const NOT_RUN = [
  'store status',
  'store budget',
  'store copy',
  'store push',
  'store seal',
  'worker status',
  'store rebuild',
  'store migrate',
  'serve',
];

/** Commands that read files of the build beside the program. */
const BUILT = new Set(['docs']);

const GOOD = (last: string) => `
exe llm @review(file) = js { return "R:" + file }
var @reviews = for @file in ["a", "b", "${last}"] => @review(@file)
checkpoint "reviewed"
var @there = sh { echo there }
output @reviews.join(",") to "@root/written.txt"
show @reviews.join(",")
`;
const BAD = `
exe llm @review(file) = js { if (file == "b") { throw new Error("no review of b") }; return "R:" + file }
hook @broken after op:show = [ => @missing.name ]
show "begun"
checkpoint "begun"
var @reviews = for @file in ["a", "b", "c"] => @review(@file)
`;
const MODULE = (name: string) =>
  `---\nname: ${name}\nauthor: tide\nversion: 1.0.0\n---\n\n/exe @up(x) = js { return x.toUpperCase() }\n/export { @up }\n`;
const WALK =
  'digraph walk { graph [goal="walk"]; s [shape=Mdiamond]; a [shape=parallelogram, tool_command="true"]; e [shape=Msquare]; s -> a -> e }';

let cwd: string;
beforeAll(async () => {
  cwd = await projectFolder({
    'llm/run/good.mld': GOOD('c'),
    'llm/run/bad.mld': BAD,
    'llm/run/rejected.mld': GOOD('c'),
    'walk.dot': WALK,
    'ask.js': `export const meta = { name: 'ask', description: 'x' }\nreturn await agent('one')\n`,
    'fmt.mld.md': MODULE('fmt'),
    'pad.mld.md': MODULE('pad'),
  });
  const record = (script: string) => callCli(['run', script, '--checkpoint'], { cwd });
  await record('good');
  writeFileSync(path.join(cwd, 'llm/run/good.mld'), GOOD('c and more'));
  await record('good');
  await record('bad');
  await record('rejected');
  await callCli(['run', 'ask.js', '--backend', 'simulated'], { cwd });
  const { workflow, run } = await recordCrash(cwd, 1, call('main/ask#0', 'ebb'));
  appendFileSync(path.join(cwd, '.mlld/journal', workflow, 'runs', `${run}.ndjson`), 'no event\n');
});

it('has a section for each command that reports', () => {
  expect(SECTIONS.map(({ command }) => command)).toEqual([...Object.keys(COMMANDS), ...NOT_RUN]);
});

describe.each(SECTIONS.filter(({ command }) => command in COMMANDS))('mlld $command', ({ command, members }) => {
  it('lists each member once', () => {
    expect(members).not.toEqual([]);
    expect(members.filter((member, place) => members.indexOf(member) !== place)).toEqual([]);
  });

  it.each(COMMANDS[command] ?? [])('prints what is listed, and nothing else: %s', async (...args) => {
    const words = command.replace('FILE.dot ', '').split(' ');
    const argv = words.at(-1) === '--plan' ? ['run', ...args, '--plan'] : [...words, ...args];
    const { stdout, stderr } = await (BUILT.has(command) ? runCli : callCli)([...argv, '--json'], { cwd });
    expect(stdout, stderr).not.toBe('');
    const found = compare(JSON.parse(stdout) as unknown, members);
    expect(found).toEqual({ unlisted: [], absent: [] });
  });
});

/** `unlisted`: paths of the report that the page does not have; `absent`: listed members without `?` that an object lacks. */
function compare(
  report: unknown,
  members: readonly string[],
): { readonly unlisted: readonly string[]; readonly absent: readonly string[] } {
  const plain = new Map(members.map((member) => [member.replace(/\{\}\??$|\?$/, ''), member]));
  const [unlisted, absent] = [new Set<string>(), new Set<string>()];
  walk(report, '');
  return { unlisted: [...unlisted], absent: [...absent] };

  function walk(value: unknown, at: string): void {
    if (isFree(at)) return;
    if (Array.isArray(value)) for (const each of value) walk(each, `${at}[]`);
    else if (typeof value === 'object' && value !== null) {
      const prefix = at === '' ? '' : `${at}.`;
      for (const [name, member] of Object.entries(value)) {
        if (plain.has(`${prefix}${name}`)) walk(member, `${prefix}${name}`);
        else unlisted.add(`${prefix}${name}`);
      }
      for (const [name, listed] of plain) {
        if (!name.startsWith(prefix) || /[.[]/.test(name.slice(prefix.length)) || listed.endsWith('?')) continue;
        if (!(name.slice(prefix.length) in value)) absent.add(name);
      }
    }
  }

  function isFree(at: string): boolean {
    return plain.get(at)?.replace(/\?$/, '').endsWith('{}') === true;
  }
}
