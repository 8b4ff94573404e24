/** The last lines of a run with calls, and its exit status. calls.md 14. */
import fs from 'node:fs/promises';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { renderCallSummary } from '../../../cli/render/call-summary.js';
import { exitStatusOf } from '../../../cli/exit-codes.js';
import { JournalError } from '../../../journal/errors.js';
import { createTotalsCounter } from '../../../src/session/ports/run-totals.js';
import type { RunCalls } from '../../../src/session/run-calls.js';
import { callCli } from '../../support/in-process/call-cli.js';
import { projectFolder } from '../../support/cli.js';

const NO_CALLS: RunCalls = {
  total: 0,
  executed: 0,
  reused: 0,
  failed: 0,
  accepted: 0,
  denied: 0,
  notExecuted: 0,
  unresolved: 0,
  attempts: 0,
  retries: 0,
  inputTokens: null,
  outputTokens: null,
  costUsd: null,
  unpriced: 0,
  savedUsd: null,
  failedByClass: {},
  unresolvedByClass: {},
  model: null,
};

const lineOf = (calls: Partial<RunCalls>, next?: string): string =>
  renderCallSummary({ ...NO_CALLS, ...calls }, { elapsedMs: 130_000, next });

describe('the line', () => {
  it.each<[Partial<RunCalls>, string | undefined, string]>([
    [{}, 'mlld job.mld --resume', '0 calls, 2m10s; next: mlld job.mld --resume\n'],
    [{ total: 1, executed: 1, attempts: 1, costUsd: 0.0042 }, undefined, '1 call: 1 executed, $0.0042, 2m10s\n'],
    // Guards judged a result that an earlier run had received, or the call did nothing but make calls.
    [{ total: 1, executed: 1 }, undefined, '1 call: 1 executed, $0.00, 2m10s\n'],
    [{ total: 1, failed: 1, attempts: 1 }, undefined, '1 call: 1 failed, 2m10s\n'],
    [{ total: 3, reused: 3, savedUsd: 1.5 }, undefined, '3 calls: 3 reused, saved $1.50, 2m10s\n'],
    [
      { total: 4, executed: 3, reused: 1, attempts: 3, costUsd: 0.3, superseded: { calls: 2, costUsd: 0.2 } },
      undefined,
      "2 results paid for in vain ($0.20): another run's result of the same call was recorded first and is used\n" +
        '4 calls: 1 reused, 3 executed, $0.30, 2m10s\n',
    ],
    [{ total: 2, executed: 2, attempts: 2, unpriced: 2 }, undefined, '2 calls: 2 executed, cost unknown, 2m10s\n'],
    [
      { total: 2, executed: 2, attempts: 2, costUsd: 5.02, unpriced: 1, overBudgetUsd: 0.02 },
      undefined,
      '2 calls: 2 executed, $5.02 + 1 unpriced, over by $0.02, 2m10s\n',
    ],
    [
      { total: 8, executed: 8, attempts: 8, costUsd: 0.04, overBudgetTokens: 5800 },
      undefined,
      '8 calls: 8 executed, $0.04, over by 5800 tokens, 2m10s\n',
    ],
    [
      { total: 8, executed: 8, attempts: 8, unpriced: 8, overBudgetTokens: 5800 },
      undefined,
      '8 calls: 8 executed, cost unknown, over by 5800 tokens, 2m10s\n',
    ],
    [
      {
        total: 12,
        reused: 1,
        executed: 2,
        failed: 5,
        accepted: 1,
        denied: 1,
        notExecuted: 3,
        retries: 1,
        attempts: 8,
        costUsd: 1.37,
        unresolvedByClass: { 'bad-reply': 1, 'rate-limit': 3, upstream: 3 },
      },
      'mlld job.mld --resume failed',
      '12 calls: 1 reused, 2 executed, 4 failed (rate limit, bad reply), 1 accepted, 1 denied, 3 not executed, 1 retry, $1.37, 2m10s; ' +
        'next: mlld job.mld --resume failed\n',
    ],
  ])('of %j', (calls, next, line) => {
    expect(lineOf(calls, next)).toBe(line);
  });
});

it('takes the first status of the table that applies', () => {
  const unresolved = { unresolved: 1 };
  expect(exitStatusOf({ status: 'interrupted', calls: unresolved }, 'SIGINT', true)).toBe(130);
  expect(exitStatusOf({ status: 'failed', calls: unresolved }, undefined, true)).toBe(1);
  expect(exitStatusOf({ status: 'paused', calls: unresolved }, undefined, true)).toBe(5);
  const sealed = new Error('paused', { cause: new JournalError('STORE_SEALED', 'the run was sealed') });
  expect(exitStatusOf({ status: 'paused', calls: unresolved, error: sealed }, undefined, true)).toBe(6);
  expect(exitStatusOf({ status: 'completed', calls: unresolved }, undefined, false)).toBe(4);
  expect(exitStatusOf({ status: 'completed', calls: unresolved }, undefined, true)).toBe(0);
  expect(exitStatusOf({ status: 'completed' }, undefined, false)).toBe(0);
});

it('counts facts that no follower sees, and has nothing to say of a run without calls', () => {
  const { count, calls, totals } = createTotalsCounter();
  expect(calls()).toBeUndefined();
  count({ type: 'call.started', key: 'k' as never, op: 'main/ask#0' as never, fn: 'ask', lane: 'claude' });
  expect(calls()).toMatchObject({ total: 0, attempts: 1, unpriced: 1 });
  count({ type: 'call.failed', key: 'k' as never, op: 'main/ask#0' as never, message: 'no', elapsedMs: 1, class: 'network' });
  expect(calls()).toMatchObject({ total: 1, failed: 1, unresolved: 1, unresolvedByClass: { network: 1 } });
  expect(totals()).toMatchObject({ failed: 1, unresolved: 1, attempts: 1 });
});

const SCRIPT = `exe llm @ask(q) = sh { if [ "$q" = bad ]; then exit 3; fi; echo "A:$q" }
var @r = for parallel(1) @i in ["a", "bad"] => @ask(@i)
show @r.length
`;
/** Fails behind a call whose failure is collected: more than unresolved calls is left. */
const FAILS = `${SCRIPT}bail "no tide"\n`;

describe('a run', () => {
  it('names the command that continues, with its own flags, and the target in front of its data', async () => {
    const cwd = await projectFolder({ 'job.mld': SCRIPT, 'fails.mld': FAILS });
    const incomplete = await callCli(['job.mld', '--checkpoint', '--topic', 'low tide', '--', '--mode', 'fast'], { cwd });
    expect(incomplete).toMatchObject({ status: 4, stdout: '2\n' });
    expect(incomplete.stderr).toMatch(/; next: mlld job\.mld --topic 'low tide' --resume failed -- --mode fast\n$/);
    const failed = await callCli(['fails.mld', '--checkpoint'], { cwd });
    expect(failed.status).toBe(1);
    expect(failed.stderr).toMatch(/; next: mlld fails\.mld --resume\n$/);
    expect(failed.stderr).not.toContain('  resume:');
  });

  it('names the least budget that does where that allows no more calls than wait for calls inside them', async () => {
    const script = `exe llm @inner(q) = js { return q }
exe llm @outer(q) = [
  var @reply = @inner(@q)
  => @reply
]
for parallel(3) @q in ["a", "b", "c", "d"] => show @outer(@q)
`;
    const cwd = await projectFolder({ 'job.mld': script });
    await callCli(['job.mld', '--checkpoint', '--budget', '2calls'], { cwd });
    const { status, stderr } = await callCli(['job.mld', '--resume', '--budget', '3calls,1h'], { cwd });
    expect(status).toBe(5);
    expect(stderr).toContain('hint: run it again with --resume and a budget of at least 4calls,');
    expect(stderr).toContain('; next: mlld job.mld --budget 4calls,1h --resume\n');
    expect((await callCli(['job.mld', '--budget', '4calls,1h', '--resume'], { cwd })).stderr).toMatch(/2 executed/);
  });

  it.each([
    ['--budget=100tok,1h', '--budget=5100tok,1h --resume'],
    ['--max-calls=3 --budget 0.01usd', '--max-calls=3 --budget 0.13usd --resume'],
    ['', '--resume --budget 0.13usd,100calls'],
  ])('names the least budget that does where that of %s is less than one call', async (flags, next) => {
    const script = (items: string): string =>
      `budget: 0.01usd,100calls\nexe llm @ask(q) = js { mlld.usage({ costUsd: 0.123, inputTokens: 5000, outputTokens: 20 }); return q }\nfor @q in [${items}] => show @ask(@q)\n`;
    const cwd = await projectFolder({ 'job.mld': script('"a"') });
    await callCli(['job.mld', '--checkpoint', '--budget', '9usd'], { cwd });
    await fs.writeFile(path.join(cwd, 'job.mld'), script('"a", "b"'));
    const { status, stderr } = await callCli(['job.mld', '--checkpoint', ...flags.split(' ').filter(Boolean)], { cwd });
    expect(status).toBe(5);
    const found = next.replace(/^--max-calls=3 /, ''); // such a flag is not repeated
    expect(stderr).toContain(`; next: mlld job.mld ${found}\n`);
    expect(stderr).toMatch(
      /is less than a call of @ask is expected to cost: .*\n {2}hint: run it .* a budget of at least (?:5100tok|0\.13usd)/,
    );
    // The line for a timer spends no more than the user had allowed.
    const forTimer = ['mlld job.mld', flags.replace('--max-calls=3 ', ''), '--resume'].filter(Boolean).join(' ');
    expect(stderr.endsWith(` && ${forTimer}\n`), stderr).toBe(true);
    expect((await callCli(['journal', 'postmortem'], { cwd })).stdout).toContain(`  mlld job.mld ${found}  `);
    expect((await callCli(['job.mld', ...found.split(' ')], { cwd })).stdout).toBe('a\nb\n');
  });

  it('says until when it waits for a quota, and how to stop that', async () => {
    const cwd = await projectFolder({
      'job.mld': `exe llm @ask(q) = sh {
  if [ -f tried ]; then echo "$q"; exit; fi
  touch tried
  echo "{\\"fail\\":{\\"class\\":\\"quota\\",\\"message\\":\\"none left\\",\\"resetsAt\\":$(( $(date +%s) + 2 ))}}" >> "$MLLD_CALL_REPORT"
  exit 1
}
show @ask("a")
`,
    });
    const { status, stdout, stderr } = await callCli(['job.mld', '--checkpoint', '--wait-quota', '1m'], { cwd });
    expect({ status, stdout }).toEqual({ status: 0, stdout: 'a\n' });
    const wait =
      /^waits for the quota of @ask until \d{4}-\d\d-\d\d \d\d:\d\d \S+, for [\d.]+m?s; Ctrl-C stops the run, and --resume continues it$/m;
    expect(stderr).toMatch(wait);
  });

  it('prints no bare word that a checkpoint of this name makes ambiguous', async () => {
    const cwd = await projectFolder({ 'job.mld': `checkpoint "failed"\n${SCRIPT}` });
    const { stderr } = await callCli(['job.mld', '--checkpoint'], { cwd });
    expect(stderr).toMatch(/; next: mlld job\.mld --resume\n$/);
    expect((await callCli(['job.mld', '--resume'], { cwd })).status).toBe(4);
  });

  it('has no summary with --structured, and the figures in its object', async () => {
    const cwd = await projectFolder({ 'job.mld': SCRIPT });
    const { stdout, stderr, status } = await callCli(['job.mld', '--structured'], { cwd });
    expect(status).toBe(4);
    expect(stderr).not.toContain('calls:');
    expect(JSON.parse(stdout)).toMatchObject({ calls: { total: 2, executed: 1, failed: 1, unresolvedByClass: { crash: 1 } } });
  });

  it('allows failures where the configuration says so', async () => {
    const cwd = await projectFolder({ 'job.mld': SCRIPT, 'mlld-config.json': '{ "calls": { "allowFailures": true } }' });
    const { stderr, status } = await callCli(['job.mld'], { cwd });
    expect(status).toBe(0);
    expect(stderr).toMatch(/^2 calls: 1 executed, 1 failed \(crash\), .*\nnothing was recorded; --checkpoint keeps the results\n$/m);
  });
});

it.each([
  ['a provider turned it away', 'exe llm @ask(n) = node { mlld.fail("auth", "401") }\nshow @ask("a")\n', '$0.00'],
  ['nobody told what it cost', 'exe llm @ask(n) = node { return n }\nshow @ask("a")\n', undefined],
  [
    'it only called one of which nobody told it',
    'exe llm @ask(n) = node { return n }\nexe llm @wrap(n) = [ => @ask(@n) ]\nshow @wrap("a")\n',
    undefined,
  ],
])('has the same cost in all reports: %s', async (_why, script, cost) => {
  const cwd = await projectFolder({ 'job.mld': script });
  await callCli(['job.mld', '--checkpoint'], { cwd });
  const journal = async (...words: string[]): Promise<string> => (await callCli(['journal', ...words], { cwd })).stdout;
  expect(await journal('postmortem', 'latest')).toContain(cost === undefined ? '  cost unknown\n' : `  cost ${cost}\n`);
  expect(await journal('audit', 'latest')).toContain(`, cost ${cost ?? '-'}\n`);
  expect(await journal('stats')).toContain(`; cost ${cost ?? '-'}`);
  expect((await journal('list')).split('\n')[1]).toMatch(cost === undefined ? / - +-$/ : / \$0\.00 +-$/);
});
