/** A run without a record counts its calls as one with a record does. calls.md 2.5 and 14.1. */
import { describe, expect, it } from 'vitest';
import type { CallKey } from '../../journal/ids.js';
import { callCli } from '../support/in-process/call-cli.js';
import { projectFolder } from '../support/cli.js';
import { bareRun } from '../support/bare-run.js';
import { countedAttempts, countedKey } from '../../src/operation/failures/unrecorded-attempts.js';
import type { CacheableCall } from '../../src/operation/cacheable-call.js';
import { callKey } from '../../src/runtime/calls/call-key.js';
import type { UnrecordedFact } from '../../src/runtime/recorder.js';

function callWith(ownRequest?: () => never): { call: CacheableCall; counted: UnrecordedFact[] } {
  const counted: UnrecordedFact[] = [];
  const recorder = {
    on: false,
    post: () => undefined,
    append: async () => undefined,
    count: (fact: UnrecordedFact) => void counted.push(fact),
  };
  const { run, frame } = bareRun({ recorder });
  const llm = { fn: 'ask', ownRequest: ownRequest ?? (() => ({ request: { fn: 'ask', args: ['tide'] } })) };
  return { call: { run, op: frame.op.child('ask'), operation: { inputs: ['tide'] }, llm } as unknown as CacheableCall, counted };
}

it('counts each attempt with its lane, and a failed one that another follows', async () => {
  const { call, counted } = callWith();
  const record = countedAttempts(call);
  await record.started({ try: 2 }, { lane: 'claude' } as never);
  await record.failed({ message: 'busy', elapsedMs: 3, class: 'overloaded', retryInMs: 10 });
  expect(counted).toEqual([
    { type: 'call.started', key: 'main/ask#0', op: 'main/ask#0', fn: 'ask', lane: 'claude', try: 2 },
    { type: 'call.failed', key: 'main/ask#0', op: 'main/ask#0', message: 'busy', elapsedMs: 3, class: 'overloaded', retryInMs: 10 },
  ]);
});

it('has the key of a recorded call, and that of its place where none can be formed', async () => {
  expect(await countedKey(callWith().call)).toBe(callKey({ fn: 'ask', args: ['tide'] }));
  const refused = callWith(() => {
    throw new Error('the option key can not be evaluated');
  });
  expect(await countedKey(refused.call)).toBe('main/ask#0' as CallKey);
});

const FUNCTIONS = `exe llm @ask(q) = sh { echo x >> "n-$q"; if [ "$q" = bad ] || { [ "$q" = late ] && [ $(wc -l < n-late) -lt 2 ]; }; then echo 503 >&2; exit 1; fi; echo "A:$q" } with { retries: 0 }
`;

describe.each([[[]], [['--checkpoint']]])('the summary with %j', (flags: string[]) => {
  const summaryOf = async (script: string): Promise<readonly [string | undefined, number | undefined]> => {
    const cwd = await projectFolder({ 'job.mld': FUNCTIONS + script });
    const { stderr, status } = await callCli(['job.mld', ...flags], { cwd });
    const line = stderr.split('\n').find((each) => /^\d+ calls?: /.test(each));
    return [line?.replace(/, [^,]*$/, ''), status];
  };

  it('has failed, accepted and not executed calls', async () => {
    const script = 'var @r = for parallel(1) @i in ["a", "bad"] => @ask(@i)\nvar @s = for parallel(1) @i in [@r] => @ask(@i)\n';
    expect(await summaryOf(script)).toEqual(['3 calls: 1 executed, 1 failed (overloaded), 1 not executed, cost unknown', 4]);
  });

  it('knows the cost of a function that does nothing but make calls', async () => {
    const script = [
      'exe llm @priced(q) = js { mlld.usage({ model: "m", costUsd: 0.25 }); return q }',
      'exe llm @both(q) = [\n  let @one = @priced(@q)\n  => @priced(`@one again`)\n]',
      'show @both("a")\n',
    ].join('\n');
    expect(await summaryOf(script)).toEqual(['3 calls: 3 executed, $0.50', 0]);
  });

  it('does not count a failure whose call got its result later in the run', async () => {
    const script = 'var @r = for parallel(1) @i in ["late"] => @ask(@i)\nshow @ask("late")\n';
    expect(await summaryOf(script)).toEqual(['1 call: 1 executed, cost unknown', 0]);
  });
});
