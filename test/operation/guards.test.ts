/** Executions that guards request, and the guards of a pipeline's stage, with guards of literals. instrumentation.md 4.5, calls.md 17. */
import { describe, expect, it } from 'vitest';
import { numberOfExecution, wordsOfAttempt } from '../../journal/facts/attempt-number.js';
import type { Fingerprint } from '../../journal/ids.js';
import { guardStage } from '../../src/operation/guards/guarded.js';
import { frameOfRepeat, isRequestedAgain, tryOf } from '../../src/operation/guards/repeats.js';
import { perform } from '../../src/operation/perform.js';
import type { CallOperation, LlmCall } from '../../src/runtime/calls/llm-call.js';
import { Denial, type DenialFacts } from '../../src/runtime/denial.js';
import type { Frame } from '../../src/runtime/frame.js';
import { GuardRetry } from '../../src/runtime/guard-retry.js';
import type { Operation } from '../../src/runtime/operation.js';
import type { GuardWatch, Interceptors } from '../../src/runtime/ports.js';
import { annotate, metadataOf, type Value } from '../../src/values/value.js';
import { bareRun, WITHOUT_INTERCEPTORS } from '../support/bare-run.js';

const FACTS: DenialFacts = {
  guardName: '@g',
  guardFilter: 'function:ask',
  timing: 'after',
  decision: 'deny',
  reason: 'no',
  reasons: ['no'],
  tries: [],
  hints: [],
  trace: [],
  args: [],
};
const CALL = { declared: 'ask', called: ['ask'], params: [], site: () => '', declaredAt: () => '', repeatable: false };

function asked(frame: Frame, more: Partial<CallOperation> = {}): CallOperation {
  const { attempt } = frame.context;
  const llm: LlmCall = {
    request: (inputs) => ({ request: { fn: 'ask', args: inputs.map(String), ...(attempt > 1 && { attempt }) } }),
    definition: () => ({ fingerprint: 'f' as Fingerprint, parts: [] }),
    fn: 'ask',
    options: () => ({}),
    isCommand: false,
    labels: [],
    sources: [],
  };
  return { kind: 'exe', segment: 'ask', name: 'ask', labels: ['llm'], inputs: ['tide'], call: CALL, llm, ...more };
}

/** After-guards that refuse a number of results, and then allow; or deny at the end. */
function refusing(times: number, log: Operation[] = [], end?: () => Denial): Interceptors {
  return {
    ...WITHOUT_INTERCEPTORS,
    active: true,
    guards: {
      watch(operation): GuardWatch {
        const watch: { denial: Denial | undefined } & GuardWatch = {
          denial: undefined,
          judges: () => true,
          before: async () => (log.push(operation), operation.inputs),
          async after(_frame, allowed, output) {
            if ((allowed.repeat?.tries.length ?? 0) < times) throw new GuardRetry('after', `not ${String(output)}`);
            watch.denial = end?.();
            if (watch.denial) throw watch.denial;
            return output;
          },
        };
        return watch;
      },
    },
  };
}

it.each([
  [2, 'attempt 2'],
  [numberOfExecution(1, 2), 'execution 2'],
  [numberOfExecution(3, 2), 'attempt 3, execution 2'],
  [numberOfExecution(numberOfExecution(2, 3), 2), 'attempt 2, execution 3, execution 2'],
])('%i is named %s', (number, words) => {
  expect(wordsOfAttempt(number)).toBe(words);
});

describe('a call that an after-guard refuses', () => {
  it('is executed again as a call of its own, and the last result is that of the first call, too', async () => {
    const { frame, facts } = bareRun({ interceptors: refusing(2) });
    let made = 0;
    const ask = (): Promise<unknown> => perform(frame, asked(frame), async () => `v${++made}`);
    expect([await ask(), await ask(), made]).toEqual(['v3', 'v3', 3]);
    const calls = facts.filter(({ type }) => type.startsWith('call.')).slice(0, 6);
    expect(calls).toMatchObject([
      { type: 'call.started', op: 'main/ask#0' },
      { type: 'call.started', op: 'main/ask#0/ask#0', attempt: 52 },
      { type: 'call.failed', op: 'main/ask#0/ask#0', denied: true },
      { type: 'call.started', op: 'main/ask#0/ask#1', attempt: 53 },
      { type: 'call.completed', op: 'main/ask#0/ask#1', result: { inline: 'v3' } },
      { type: 'call.completed', op: 'main/ask#0', result: { inline: 'v3' } },
    ]);
  });

  it('tells its guards of the executions before', async () => {
    const log: Operation[] = [];
    const { frame } = bareRun({ interceptors: refusing(2, log) });
    await perform(frame, asked(frame), async () => 'v');
    expect(log.map(({ repeat }) => repeat?.tries.length ?? 0)).toEqual([0, 1, 2]);
    expect(log.at(-1)?.repeat?.tries).toMatchObject([{ attempt: 1, hint: 'not v' }, { attempt: 2 }]);
  });

  it('is reused nowhere when it is denied in the end, and its own branch gives the value once', async () => {
    const denial = new Denial(FACTS);
    const { frame, facts } = bareRun({ interceptors: refusing(1, [], () => denial) });
    const branches: unknown[] = [];
    const onDenied = async (_frame: Frame, _inputs: unknown, error: Denial): Promise<Value> => (branches.push(error), 'instead');
    const result = await perform(frame, asked(frame, { call: { ...CALL, onDenied } }), async () => 'v');
    expect([result, branches]).toEqual(['instead', [denial]]);
    expect(facts.filter(({ type }) => type === 'call.completed')).toMatchObject([
      { op: 'main/ask#0', unusable: expect.any(String) as string },
    ]);
  });

  it('has the session of the execution whose result it has, and the usage of all', async () => {
    const { frame } = bareRun({ interceptors: refusing(1) });
    const measured = () => ({ session: 's2', usage: { costUsd: 2, costSource: 'reported' } });
    const result = await perform(frame, { ...asked(frame), llm: undefined as never }, async () => annotate('v', { measured }));
    expect(metadataOf(result as Value)?.measured?.()).toMatchObject({ session: 's2' });
  });
});

it('REPEAT-1: numbers executions as no retry of a pipeline does', () => {
  const { frame } = bareRun();
  const second = frameOfRepeat(frame, 2);
  expect([second.context.attempt, frameOfRepeat(second, 3).context.attempt]).toEqual([52, 5153]);
  expect(tryOf(new GuardRetry('after', 'shorter'), [])).toEqual({ attempt: 1, decision: 'retry', hint: 'shorter' });
  expect([isRequestedAgain(new GuardRetry('before', 'x')), isRequestedAgain(new Error('x'))]).toEqual([false, false]);
});

describe('the guards of a stage', () => {
  const { llm: _, ...stage } = asked(bareRun().frame, { kind: 'pipeline-stage' });

  it('run the stage again, in a frame of another number', async () => {
    const { frame } = bareRun({ interceptors: refusing(1) });
    const attempts: number[] = [];
    expect(await guardStage(frame, stage, async (inner) => (attempts.push(inner.context.attempt), `v${attempts.length}`))).toBe('v2');
    expect(attempts).toEqual([1, 52]);
  });

  it('deny to the branch of the function, and mark nothing around as denied', async () => {
    const { frame, run } = bareRun({ interceptors: refusing(0, [], () => new Denial(FACTS)) });
    const denied = { ...stage, call: { ...CALL, onDenied: async () => 'instead' } };
    expect(await guardStage(frame, denied, async () => 'v')).toBe('instead');
    expect(run.deniedInside.has(frame.op)).toBe(false);
  });

  it('leave a denial of something deeper alone', async () => {
    const { frame } = bareRun({ interceptors: refusing(0) });
    const deeper = new Denial(FACTS);
    const guarded = { ...stage, call: { ...CALL, onDenied: async () => 'instead' } };
    await expect(guardStage(frame, guarded, () => Promise.reject(deeper))).rejects.toBe(deeper);
  });

  it('are none where nothing is registered', async () => {
    expect(await guardStage(bareRun().frame, stage, async (_frame, [input]) => input)).toBe('tide');
  });
});
