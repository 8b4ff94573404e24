/** Reads what a run says that lost calls, as a person who pays for it, and executes the command that it names. calls.md 14. */
import fs from 'node:fs/promises';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';

import { callCli } from '../../support/in-process/call-cli.js';
import { projectFolder } from '../../support/cli.js';

const STUBS = fileURLToPath(new URL('../../conformance/stubs', import.meta.url));
const ITEMS = 10;

const script = (options: string): string => `exe llm @review(entry) = cmd { claude -p --output-format json "@entry" } with { ${options} }
exe llm @conclude(lines) = @lines | cmd { claude -p --output-format json } with { reply: "claude" }
exe @items() = js { return Array.from({ length: ${ITEMS} }, (_, i) => "entry " + i + ".") }
var @list = @items()
var @reviews = for parallel(4) @entry in @list => @review(@entry)
show @conclude(@reviews.join("\\n"))
`;

interface Loss {
  readonly options?: string;
  readonly plan: object;
  /** Asked in the first run, attempts included; absent where it depends on the moment. */
  readonly asked?: number;
  readonly status: number;
  readonly summary: RegExp;
  readonly cause: string;
  /** Asked by the command that the summary names; without it, what had no answer. */
  readonly askedAgain?: readonly string[];
}

const hard = (...items: readonly number[]): string[] => items.map((item) => `entry ${item}.`);
const matching = (items: readonly string[], behaviour: object): object => {
  const rules = items.map((when) => `{ "when": ${JSON.stringify(when)}, "then": ${JSON.stringify(behaviour)} }`);
  return JSON.parse(`{ "match": [${rules.join(', ')}] }`) as object;
};

const byNumber = (left: string, right: string): number => left.localeCompare(right);
const ALL = Array.from({ length: ITEMS }, (_, item) => `entry ${item}.`);

interface LedgerLine {
  readonly event: 'start' | 'end';
  readonly n: number;
  readonly prompt?: string;
  readonly outcome?: string;
}

const LOSSES: { readonly [name: string]: Loss } = {
  'a storm of rejections': {
    options: 'reply: "claude", retries: 1',
    plan: matching(hard(0, 1, 2, 4, 5, 7, 9), { do: 'rate-limit' }),
    asked: 17,
    status: 1,
    summary:
      /^11 calls: 3 executed, 7 failed \(rate limit\), 1 not executed, 7 retries, \$0\.01, .*; next: mlld job\.mld --resume failed$/m,
    cause: '7 x rate limit in review',
    askedAgain: hard(0, 1, 2, 4, 5, 7, 9),
  },
  'bad JSON in one item': {
    options: 'reply: "claude", schema: { "type": "string" }',
    plan: { default: { text: '"fine"' }, ...matching(hard(6), { text: 'Sure! {"n": ' }) },
    asked: 12,
    status: 1,
    summary: /^11 calls: 9 executed, 1 failed \(bad reply\), 1 not executed, 2 retries, .*; next: mlld job\.mld --resume failed$/m,
    cause: '1 x bad reply in review',
    askedAgain: hard(6),
  },
  'a time-out': {
    options: 'reply: "claude", timeout: 5s, retries: 0',
    plan: matching(hard(3), { do: 'hang' }),
    asked: 10,
    status: 1,
    summary:
      /^11 calls: 9 executed, 1 failed \(timeout\), 1 not executed, \$0\.04 \+ 1 unpriced, .*; next: mlld job\.mld --resume failed$/m,
    cause: '1 x timeout in review',
    askedAgain: hard(3),
  },
  'wrong credentials': {
    plan: { default: { do: 'auth' } },
    asked: 1,
    status: 5,
    summary: /^1 call: 1 failed \(auth\), \$0\.00, .*; next: mlld job\.mld --resume$/m,
    cause: '1 x not authorised in review',
    askedAgain: ALL,
  },
  'a quota that ends': {
    plan: { calls: Array.from({ length: 40 }, (_, n) => (n < 6 ? 'answer' : { do: 'quota', resetsIn: 7200 })) },
    status: 5,
    summary: /^\d+ calls: 6 executed, [1-4] failed \(quota\), \$0\.03, .*; next: mlld job\.mld --resume$/m,
    cause: 'x quota used up in review',
  },
};

it.each(Object.entries(LOSSES))('%s', async (_, { options = 'reply: "claude"', plan, asked, status, summary, cause, askedAgain }) => {
  const settings = '{ "calls": { "backoff": { "first": "5ms", "max": "20ms" } } }';
  const cwd = await projectFolder({ 'job.mld': script(options), 'mlld-config.json': settings });
  const run = async (ledger: string, behaviour: object, ...argv: readonly string[]) => {
    const env = {
      PATH: `${STUBS}:${process.env['PATH'] ?? ''}`,
      STUB_PLAN: JSON.stringify(behaviour),
      STUB_LEDGER: path.join(cwd, ledger),
    };
    const ended = await callCli(argv, { cwd, env });
    const lines = (await fs.readFile(path.join(cwd, ledger), 'utf8'))
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as LedgerLine);
    const asked = lines.filter(({ event }) => event === 'start');
    const answered = new Set(lines.filter(({ outcome }) => outcome === 'answer').map(({ n }) => n));
    return {
      ...ended,
      asked: asked.map(({ prompt = '' }) => prompt.split('\n')[0] ?? ''),
      answered: asked.filter(({ n }) => answered.has(n)).map(({ prompt }) => prompt),
    };
  };

  const lost = await run('first.ndjson', plan, 'job.mld', '--checkpoint');
  expect(lost.stderr).toMatch(summary);
  expect(lost.status).toBe(status);
  if (asked !== undefined) expect(lost.asked).toHaveLength(asked);
  expect(lost.asked.filter((prompt) => !prompt.startsWith('entry'))).toEqual([]); // nothing was asked that needs what failed
  const [, next = ''] = /; next: mlld (.*)$/m.exec(lost.stderr) ?? [];
  const { stdout } = await callCli(['journal', 'postmortem'], { cwd });
  expect(stdout).toContain(cause);
  expect(stdout).toContain(`mlld ${next} `);

  const repaired = await run('second.ndjson', 'default' in plan && status === 1 ? { default: plan.default } : {}, ...next.split(' '));
  expect(repaired.status).toBe(0);
  const left = askedAgain ?? ALL.filter((item) => !lost.answered.includes(item));
  const again = repaired.asked.filter((prompt) => prompt.startsWith('entry'));
  expect([...again].sort(byNumber)).toEqual(left);
  expect(repaired.asked).toHaveLength(left.length + 1);
});
