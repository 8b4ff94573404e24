/** Pipelines whose stages are executed by stand-ins for the model programs. graph-pipelines.md 7.3, calls.md 12 to 14 and 17. */
import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import type { EventOf, FactType, JournalEvent } from '../../../journal/event.js';
import { callCli } from '../../support/in-process/call-cli.js';
import { projectFolder, resultOf, startCli } from '../../support/cli.js';

const STUBS = fileURLToPath(new URL('../../conformance/stubs', import.meta.url));
const BAD_JSON = { do: 'bad-json' };
const REPORT = '\n{"outcome": "success"}';

interface Called {
  readonly event: 'start' | 'end';
  readonly n: number;
  readonly args: readonly string[];
  readonly prompt: string;
  readonly outcome?: string;
}

async function shop(body: string, attributes = '', config: object = {}) {
  const cwd = await projectFolder({
    'mlld-config.json': JSON.stringify({ calls: { backoff: { first: '1ms', max: '5ms' } }, ...config }),
    'p.dot': `digraph g {\n goal="Chart the bay"\n ${attributes}\n start [shape=Mdiamond]\n exit [shape=Msquare]\n ${body}\n}`,
  });
  const env = (plan: object): { readonly [name: string]: string } => ({
    PATH: `${STUBS}:${process.env['PATH'] ?? ''}`,
    STUB_PLAN: JSON.stringify(plan),
  });
  return {
    run: (plan: object, ...argv: string[]) => callCli(['run', 'p.dot', ...argv], { cwd, env: env(plan) }),
    start: (plan: object, ...argv: string[]) => startCli(['run', 'p.dot', ...argv], { cwd, env: env(plan) }),
    json: async (...argv: string[]) => JSON.parse((await callCli(['journal', ...argv, '--json'], { cwd })).stdout) as unknown,
    text: async (...argv: string[]) => (await callCli(['journal', ...argv], { cwd })).stdout,
    replay: () => callCli(['journal', 'replay', 'p.dot'], { cwd }),
    /** Calls of the programs that have begun. */
    calls: () => ledger(cwd).filter(({ event }) => event === 'start'),
    /** Prompts that were answered, and so are paid. */
    paid: () => ledger(cwd).filter(({ event, outcome }) => event === 'end' && outcome === 'answer').length,
    events: <T extends FactType>(type: T) => eventsOf(cwd).filter((event): event is EventOf<T> => event.type === type),
  };
}

function ledger(cwd: string): readonly Called[] {
  try {
    return linesOf(path.join(cwd, 'ledger.ndjson')) as readonly Called[];
  } catch {
    return []; // no program has begun
  }
}

function eventsOf(cwd: string): readonly JournalEvent[] {
  const folder = path.join(cwd, '.mlld', 'journal', 'p.dot', 'runs');
  return readdirSync(folder)
    .filter((name) => name.endsWith('.ndjson'))
    .toSorted()
    .flatMap((name) => linesOf(path.join(folder, name)) as JournalEvent[]);
}

function linesOf(file: string): unknown[] {
  return readFileSync(file, 'utf8')
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line) as unknown);
}

describe('each program', () => {
  const FLOW = `a [prompt="one"]; b [prompt="two", thread_id=t]; c [prompt="three", thread_id=t]; start -> a -> b -> c -> exit`;

  it.each([
    ['claude', ['--resume', '00000000-0000-4000-8000-000000000002'], { costUsd: expect.any(Number) }, 'claude/claude-haiku-4-5'],
    ['codex', ['resume', '00000000-0000-4000-8000-000000000002'], {}, 'codex/claude-haiku-4-5'],
    ['gemini', ['--resume', '00000000-0000-4000-8000-000000000002'], {}, 'gemini/claude-haiku-4-5'],
    ['opencode', ['-s', 'ses_stub000002'], { costUsd: expect.any(Number) }, 'opencode/claude-haiku-4-5'],
  ])('%s: executes stages, continues the conversation of a thread, and its usage is recorded', async (program, resumed, cost, lane) => {
    const project = await shop(FLOW, `backend=${program}; llm_model="claude-haiku-4-5"; default_fidelity=full`);
    const { status, stderr } = await project.run({ default: { text: `fine${REPORT}`, in: 900, out: 40 } });
    expect(status, stderr).toBe(0);
    const [first, second, third] = project.calls();
    expect(first?.args).not.toContain(resumed[0]);
    expect(second?.args).not.toContain(resumed[0]);
    expect(third?.args.join(' ')).toContain(resumed.join(' '));
    expect(third?.prompt).toContain('three');
    expect(third?.prompt).not.toContain('two'); // the program knows it
    const completed = project.events('call.completed');
    expect(completed).toHaveLength(3);
    for (const call of completed)
      expect(call).toMatchObject({ reply: { adapter: program }, usage: { inputTokens: 900, outputTokens: 40, ...cost } });
    expect(new Set(completed.map(({ session }) => session)).size).toBeGreaterThan(1);
    expect(project.events('call.started').map((call) => call.lane)).toEqual([lane, lane, lane]);
    expect(await project.json('list')).toMatchObject([
      { status: 'completed', executed: 3, failed: 0, inputTokens: 2700, outputTokens: 120 },
    ]);
    expect(await project.replay()).toMatchObject({ status: 0 });
    expect(project.calls()).toHaveLength(3);
  });

  it.each(['claude', 'codex', 'gemini', 'opencode'])(
    '%s: pauses the run when it is not logged in, and a resume continues there',
    async (program) => {
      const project = await shop('a [prompt="one"]; b [prompt="two", max_retries=3]; start -> a -> b -> exit', `backend=${program}`);
      const paused = await project.run({ calls: [{}, 'auth'] });
      expect(paused.status, paused.stderr).toBe(5);
      expect(project.calls()).toHaveLength(2); // the retries of the stage are not used up
      expect(project.events('call.failed')).toMatchObject([{ class: 'auth' }]);
      expect(project.events('run.finished')).toMatchObject([{ status: 'paused', pause: { class: 'auth', lane: program } }]);
      expect(project.events('retry.scheduled')).toEqual([]);
      const resumed = await project.run({}, '--resume');
      expect(resumed.status, resumed.stderr).toBe(0);
      expect(project.calls()).toHaveLength(3);
    },
  );
});

describe('a plan', () => {
  it('says what the stages that it lists will cost, by what their recorded replies had cost', async () => {
    const { run } = await shop(
      `a [prompt="one"]; fan [shape=component]; l [prompt="L"]; m [shape=tripleoctagon]; b [prompt="two"]; look [shape=diamond]; c [prompt="three"]
       start -> a -> fan -> l -> m -> b -> look; look -> c [condition="context.x=1"]; look -> exit; c -> exit`,
    );
    const words = ['--backend', 'claude', '--checkpoint'];
    const estimate = async (...more: string[]) => /^Estimate: .*/m.exec((await run({}, ...words, ...more, '--plan')).stdout)?.[0];
    expect(await estimate()).toBe('Estimate: 3 calls, cost unknown; not counted: what follows look');
    expect(await run({ default: { costUsd: 0.5, in: 10, out: 10 } }, ...words)).toMatchObject({ status: 0 });
    expect(await estimate('--resume', 'b')).toBe('Estimate: 1 call, $0.50; not counted: what follows look');
    expect(await estimate()).toBe('Estimate: 0 calls; 3 calls, $1.50 more where prompts have changed; not counted: what follows look');
    const planned = await run({}, ...words, '--resume', 'b', '--plan', '--json');
    expect(JSON.parse(planned.stdout)).toMatchObject({
      nodes: [
        { node: 'b', costUsd: 0.5 },
        { node: 'look', costUsd: null },
      ],
    });
    // The reply of b is invalidated by a run that ends before it has another one.
    expect(await run({ default: { do: 'quota' } }, ...words, '--resume', 'b')).toMatchObject({ status: 5 });
    expect(await estimate('--resume')).toBe('Estimate: 1 call, $0.50; not counted: what follows look');
  });
});

describe('a stage', () => {
  it('has one attempt of its call for each of its own where it has a retry budget', async () => {
    const project = await shop('a [prompt="one", max_retries=2, retry_delay="1ms"]; start -> a -> exit', 'backend=claude');
    const { status, stderr } = await project.run({ calls: ['rate-limit', 'crash'] });
    expect(status, stderr).toBe(0);
    expect(project.events('call.started').map(({ op }) => op)).toEqual([1, 2, 3].map((n) => `main/a#0/try#${n}/model#0`));
    expect(project.events('call.failed')).toMatchObject([{ class: 'rate-limit', evidence: 'envelope' }, { class: 'crash' }]);
    expect(project.events('retry.scheduled')).toMatchObject([{ cause: 'error', reason: expect.stringContaining('rate limit: ') }, {}]);
    expect(project.events('run.finished')).toMatchObject([{ totals: { failed: 0, attempts: 3, retries: 2, stageRetries: 2, nodes: 3 } }]);
    const counts = { executed: 1, failed: 0, unresolved: 0, attempts: 3, retries: 2 };
    expect(await project.json('list')).toMatchObject([{ status: 'completed', ...counts }]);
    for (const report of ['postmortem', 'audit', 'report', 'stats'])
      expect(await project.json(report, ...(report === 'stats' ? [] : ['latest'])), report).toMatchObject(
        report === 'postmortem' ? counts : { [report === 'audit' ? 'totals' : 'total']: counts },
      );
    expect(await project.replay()).toMatchObject({ status: 0 });
  });

  it('has the attempts of its class where it has none', async () => {
    const project = await shop('a [prompt="one"]; start -> a -> exit', 'backend=claude');
    const { status, stderr } = await project.run({ calls: ['rate-limit', 'overloaded', 'rate-limit'] });
    expect(status, stderr).toBe(0);
    expect(project.events('run.finished')).toMatchObject([{ totals: { failed: 0, attempts: 4, retries: 3, stageRetries: 0 } }]);
    expect(project.events('call.started').map(({ op, try: tried = 1 }) => `${op} ${tried}`)).toEqual(
      [1, 2, 3, 4].map((n) => `main/a#0/try#1/model#0 ${n}`),
    );
    expect(project.events('retry.scheduled')).toEqual([]);
    const crash = await shop('a [prompt="one"]; start -> a -> exit', 'backend=claude');
    const crashed = await crash.run({ calls: [{ do: 'crash', stderr: 'no ink' }] });
    expect(crashed.status).toBe(1);
    expect(crashed.stderr).toContain('g: failed: the command ended with status 1: no ink');
    expect(crash.calls()).toHaveLength(1);
  });

  it('is not retried after a refusal, and an edge may deal with it', async () => {
    const body = `a [prompt="one", max_retries=5]; b [prompt="two"]; start -> a; a -> exit; a -> b [condition="outcome=fail"]; b -> exit`;
    const project = await shop(body, 'backend=claude');
    const { status, stderr } = await project.run({ calls: ['content'] });
    expect(status, stderr).toBe(0); // the edge deals with the call that has no result
    expect(project.calls()).toHaveLength(2);
    expect(project.events('node.finished')).toMatchObject([{}, { node: 'a', status: 'fail', attempts: 1 }, { node: 'b' }, {}]);
  });

  it('is told how to report, and its report chooses the edge', async () => {
    const body = `a [prompt="one"]; b [prompt="two"]; start -> a; a -> exit [label="Leave"]; a -> b [label="[O] Go on"]; b -> exit`;
    const project = await shop(body, 'backend=codex');
    const text = 'Checked.\n{"outcome": "success", "preferred_label": "Go on", "context_updates": {"berth": 4}}';
    const { status, stderr } = await project.run({ default: { text } });
    expect(status, stderr).toBe(0);
    expect(project.calls()[0]?.prompt).toContain('"Leave", "[O] Go on"');
    expect(project.events('edge.selected')).toContainEqual(expect.objectContaining({ from: 'a', to: 'b', via: 'label' }));
    expect(project.events('node.finished')).toContainEqual(
      expect.objectContaining({ node: 'a', outcome: expect.objectContaining({ context_updates: expect.objectContaining({ berth: 4 }) }) }),
    );
  });

  it('that takes too long has failed with the class timeout', async () => {
    const project = await shop('a [prompt="one", timeout="4s", max_retries=1, retry_delay="1ms"]; start -> a -> exit', 'backend=claude');
    const { status, stderr } = await project.run({ calls: ['hang'] });
    expect(status, stderr).toBe(0);
    expect(project.events('call.failed')).toMatchObject([{ class: 'timeout', evidence: 'clock' }]);
    expect(project.events('retry.scheduled')).toMatchObject([{ reason: 'timed out after 4000 ms' }]);
  });

  it('with a command whose program is known has its usage and its lane too, and keeps what was printed', async () => {
    const project = await shop('a [prompt="one"]; start -> a -> exit', 'backend="cmd:claude -p --output-format json"');
    const { status, stderr } = await project.run({ calls: ['rate-limit'] });
    expect(status, stderr).toBe(0);
    const [completed] = project.events('call.completed');
    expect(completed).toMatchObject({ reply: { adapter: 'claude' }, usage: { costUsd: expect.any(Number) }, try: 2 });
    expect(completed?.result).toMatchObject({ inline: expect.stringMatching(/^\{"type":"result"/) });
    expect(project.events('call.started')[0]?.lane).toBe('claude');
  });

  it('may not cost more than the budget of the run', async () => {
    const project = await shop('a [prompt="one"]; b [prompt="two"]; c [prompt="three"]; start -> a -> b -> c -> exit', 'backend=claude');
    const paused = await project.run({}, '--max-calls', '2');
    expect(paused.status, paused.stderr).toBe(5);
    expect(project.calls()).toHaveLength(2);
    expect(project.events('run.finished')).toMatchObject([{ status: 'paused', pause: { class: 'budget' } }]);
    expect(await project.run({}, '--resume')).toMatchObject({ status: 0 });
    expect(project.calls()).toHaveLength(3);
  });
});

it('pays for nothing twice when it is killed in the middle of a stage', async () => {
  const project = await shop(
    'a [prompt="one"]; b [prompt="two"]; c [prompt="three"]; start -> a -> b -> c -> exit',
    'backend=claude; default_fidelity=full; default_thread_id=t',
  );
  const child = project.start({ calls: [{}, { do: 'slow', delayMs: 60_000 }] });
  const ended = resultOf(child);
  await expect.poll(() => project.calls().length, { timeout: 30_000 }).toBe(2);
  child.kill('SIGKILL');
  await ended;
  expect(project.paid()).toBe(1);
  const { status, stderr } = await project.run({}, '--resume');
  expect(status, stderr).toBe(0);
  const prompts = project.calls().map(({ prompt }) => /one|two|three/.exec(prompt.replace(/[^]*\n\n(?=two|three)/, ''))?.[0]);
  expect(prompts).toEqual(['one', 'two', 'two', 'three']);
  expect(project.paid()).toBe(3);
  // The conversation was lost with the process: what happened before is told in words.
  const [, , again, last] = project.calls();
  for (const call of [again, last]) {
    expect(call?.args).not.toContain('--resume');
    expect(call?.prompt).toContain('Goal: Chart the bay');
  }
  expect(project.events('call.completed').map(({ op }) => op)).toEqual(['a', 'b', 'c'].map((node) => `main/${node}#0/try#1/model#0`));
});

describe('parallel branches', () => {
  const branches = (count: number): string =>
    [
      'par [shape=component]; fan [shape=tripleoctagon]; start -> par; fan -> exit',
      ...Array.from({ length: count }, (_, n) => `s${n} [prompt="part ${n}."]; par -> s${n} -> fan`),
    ].join('; ');

  // oxlint-disable-next-line no-thenable -- the stand-ins call it so, and rules are never awaited
  const rule = (when: string, what: string): object => ({ when, then: { do: what } });

  it('say how the calls of a branch that failed are executed again, and that command does it', async () => {
    const project = await shop(branches(2), 'backend=claude');
    const failed = await project.run({ match: [rule('part 1.', 'crash')] });
    expect(failed).toMatchObject({ status: 4, stdout: expect.stringContaining('completed') });
    expect(failed.stderr).toMatch(/look at it: mlld journal postmortem \S+\n/);
    expect(failed.stderr).toContain('; next: mlld run p.dot --checkpoint\n');
    const again = await project.run({}, '--checkpoint');
    expect(again).toMatchObject({ status: 0, stderr: expect.stringContaining('2 calls: 1 reused, 1 executed') });
    expect(again.stderr).not.toContain('next:');
    expect(project.calls().map(({ prompt }) => /part \d/.exec(prompt)?.[0])).toEqual(
      expect.arrayContaining(['part 0', 'part 1', 'part 1']),
    );
  });

  it('are named where a completed run is resumed, with the command that executes them again', async () => {
    const project = await shop(branches(2));
    const words = ['--backend', 'claude', '--set', 'berth=4'];
    expect(await project.run({ match: [rule('part 1.', 'crash')] }, ...words)).toMatchObject({ status: 4 });
    const { status, stderr } = await project.run({}, '--resume');
    expect(stderr).toMatch(
      /is completed: there is nothing to resume\n {2}1 call of the run has no result: mlld run p\.dot --backend claude --set berth=4 --checkpoint executes it again\n/,
    );
    expect(status).toBe(4);
    expect((await project.run({}, '--resume', '--allow-failures')).status).toBe(0);
    expect((await project.run({}, ...words, '--checkpoint')).stderr).toContain('2 calls: 1 reused, 1 executed');
    const last = await project.run({}, '--resume');
    expect(last.stderr).not.toContain('no result');
    expect(last.status).toBe(0);
  });

  it('are executed again with the backend of the run that was resumed behind them', async () => {
    const late = `${branches(2)}; late [prompt="late."]`.replace('fan -> exit', 'fan -> late -> exit');
    const project = await shop(late);
    const crash = rule('part 1.', 'crash');
    await project.run({ match: [crash, rule('late.', 'quota')] }, '--backend', 'claude');
    const words = ['--backend', 'claude', '--set', 'berth=5', '--retries', '2'];
    const { stderr } = await project.run({ match: [crash] }, '--resume', ...words);
    const hint =
      'has no result: mlld run p.dot --backend claude --retries 2 --checkpoint, with the --set of the first run, executes it again\n';
    expect(stderr).toContain(`1 call of the runs that this one continues ${hint}`);
    expect((await project.run({}, '--resume')).stderr).toContain(`nothing to resume\n  1 call of the run ${hint}`);
  });

  it('leave a pipeline incomplete that is resumed behind them, until their calls are made again', async () => {
    const project = await shop(`${branches(2)}; late [prompt="late."]`.replace('fan -> exit', 'fan -> late -> exit'), 'backend=claude');
    const crash = rule('part 1.', 'crash');
    const paused = await project.run({ match: [crash, rule('late.', 'quota')] });
    expect(paused.status).toBe(5);
    const resumed = await project.run({ match: [crash] }, '--resume');
    expect(resumed).toMatchObject({ status: 4, stderr: expect.stringContaining('1 call: 1 executed') });
    expect(resumed.stderr).toContain(
      '1 call of the runs that this one continues has no result: mlld run p.dot --checkpoint, with the --set',
    );
    const [first, last] = [paused, resumed].map(({ stderr }) => /mlld journal postmortem (\S+)/.exec(stderr)?.[1] ?? '');
    expect(await project.json('list')).toMatchObject([
      { run: last, status: 'incomplete', executed: 1, failed: 0, unresolved: 0, unresolvedBefore: 1 },
      { run: first, status: 'paused' },
    ]);
    expect(await project.json('stats')).toMatchObject({ statuses: { paused: 1, incomplete: 1 } });
    expect(await project.text('list')).toContain('incomplete (1)');
    const report = await project.text('postmortem');
    expect(report).toContain(`run ${last}`);
    expect(report).toContain('1 call of earlier runs that it builds on has no result');
    expect(report).toContain(`mlld journal postmortem ${first}`);
    expect(await project.text('postmortem', first as string)).toMatch(/mlld run p\.dot --checkpoint +# execute the calls without a result/);
    expect(await project.replay()).toMatchObject({ status: 0 });
    expect(await project.run({ match: [crash] }, '--resume', 'late')).toMatchObject({ status: 4 });
    expect(await project.run({}, '--resume', 'par')).toMatchObject({ status: 0, stderr: expect.not.stringContaining('no result') });
  });

  it('have a command in the post-mortem of each run of a chain, or the name of the run whose post-mortem has it', async () => {
    const project = await shop(`${branches(2)}; late [prompt="late."]`.replace('fan -> exit', 'fan -> late -> exit'), 'backend=claude');
    const crash = rule('part 1.', 'crash');
    const quota = { match: [crash, rule('late.', 'quota')] };
    await project.run(quota, '--set', 'berth=4');
    await project.run(quota, '--resume');
    const [second, first] = ((await project.json('list')) as readonly { run: string }[]).map(({ run }) => run) as [string, string];
    for (const run of [first, second]) expect(await project.text('postmortem', run)).toMatch(/Paused in the lane claude/);
    expect(await project.text('postmortem', first)).toContain(`mlld journal postmortem ${second}`);
    expect(await project.text('postmortem', second)).toMatch(/mlld run p\.dot --resume +# continue/);
    expect(await project.run({ match: [crash] }, '--resume')).toMatchObject({ status: 4 });
    const [third = ''] = ((await project.json('list')) as readonly { run: string }[]).map(({ run }) => run);
    expect(await project.text('postmortem', first)).toMatch(
      /mlld run p\.dot --set berth=4 --checkpoint +# execute the calls without a result/,
    );
    for (const run of [second, third]) {
      expect(await project.text('postmortem', run)).toMatch(
        new RegExp(`mlld journal postmortem ${first} +# how the calls without a result`),
      );
      expect(await project.json('postmortem', run)).toMatchObject({ chainBegan: first });
    }
    expect(await project.json('postmortem', first)).toMatchObject({ chainBegan: null, since: { run: third, status: 'incomplete' } });
  });

  it('leave the run of a restart incomplete, and one that resumes that', async () => {
    const once = 'once [shape=parallelogram, max_retries=0, tool_command="test -e done || { touch done; exit 1; }"]';
    const flow = `${branches(2)}; ${once}; late [prompt="late."]`.replace(
      'fan -> exit',
      'fan -> once; once -> par [condition="outcome=fail", loop_restart=true]; once -> late [condition="outcome=success"]; late -> exit',
    );
    const project = await shop(flow, 'backend=claude');
    expect(await project.run({ match: [rule('part 1.', 'crash'), rule('late.', 'quota')] })).toMatchObject({ status: 5 });
    expect(await project.run({}, '--resume')).toMatchObject({ status: 4 });
    expect(await project.json('list')).toMatchObject([
      { status: 'incomplete', unresolved: 0, unresolvedBefore: 2 },
      { status: 'paused', unresolvedBefore: 1 },
      { status: 'restarted', unresolved: 1, unresolvedBefore: 0 },
    ]);
  });

  it('are paused for a quota without a warning of Node, however many they are', async () => {
    const project = await shop(branches(14), 'backend=claude; max_parallel=14');
    const plan = { match: [rule('part 3.', 'quota')], default: { do: 'ok', ms: 400 } };
    const { status, stderr } = await resultOf(project.start(plan, '--concurrency', '20'));
    expect(status).toBe(5);
    expect(stderr).toContain('--wait-quota 2h waits where that is within two hours');
    expect(stderr).not.toContain('MaxListeners');
  });
});

it.each([
  ['every attempt fails', { default: BAD_JSON }, 1, [['bad-reply', 1]], ['failed', 3]],
  ['the second attempt gives a result', { calls: [BAD_JSON] }, 0, [], ['executed', 2]],
])('counts a call once in a post-mortem and a table, however often its stage was tried: %s', async (_, plan, status, failures, row) => {
  const project = await shop('a [prompt="chart", max_retries=2]; start -> a -> exit', 'backend=claude');
  expect(await project.run(plan)).toMatchObject({ status });
  const report = (await project.json('postmortem', 'p.dot')) as { readonly failures: readonly { cause: string; count: number }[] };
  expect(report.failures.map((group) => [group.cause, group.count])).toEqual(failures);

  const table = async (...argv: string[]): Promise<readonly string[][]> =>
    (await project.text('export', 'p.dot', '--format', 'csv', ...argv))
      .trim()
      .split('\n')
      .map((line) => line.split(','));
  const [columns = [], ...calls] = await table();
  const [, attempts] = row;
  const cells = ['outcome', 'attempts', 'costUsd'].map((name) => calls[0]?.[columns.indexOf(name)]);
  const [listed] = (await project.json('list')) as readonly { readonly costUsd: number | null }[];
  expect(calls).toHaveLength(1);
  expect(cells).toEqual([...row.map(String), String(listed?.costUsd ?? '')]);
  const [names = [], ...tries] = await table('--attempts');
  const called = calls[0]?.[columns.indexOf('seq')];
  expect(tries.map((each) => ['call', 'try'].map((name) => each[names.indexOf(name)]))).toEqual(
    Array.from({ length: Number(attempts) }, (_each, index) => [called, String(index + 1)]),
  );
});
