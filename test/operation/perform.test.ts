/**
 * `perform` with hooks and guards of literals: the order of the stages, and the facts that enclose an operation. PERFORM-1 to PERFORM-3.
 */
import { describe, expect, it } from 'vitest';
import { perform } from '../../src/operation/perform.js';
import { Signal } from '../../src/runtime/completion.js';
import { Denial } from '../../src/runtime/denial.js';
import type { CallOperation } from '../../src/runtime/calls/llm-call.js';
import type { GuardWatch, HookWatch, Interceptors } from '../../src/runtime/ports.js';
import type { Fingerprint } from '../../journal/ids.js';
import { annotate, type Value } from '../../src/values/value.js';
import { bareRun, WITHOUT_INTERCEPTORS } from '../support/bare-run.js';

const SHOW = { kind: 'show', segment: 'show', name: null, labels: [], inputs: ['tide'] } as const;
const DENIAL = {
  guardName: '@g',
  guardFilter: 'operation:show',
  timing: 'before',
  decision: 'deny',
  tries: [],
  hints: [],
  trace: [],
  reason: 'no',
  reasons: ['no'],
  args: [],
} as const;

/** Hooks and guards that add their names to what passes, and to the list of steps. */
function watched(steps: string[], parts: { hooks?: Partial<HookWatch>; guards?: Partial<GuardWatch> }): Interceptors {
  const mark = (name: string, value: Value): Value => (steps.push(name), `${String(value)} ${name}`);
  return {
    ...WITHOUT_INTERCEPTORS,
    active: true,
    hooks: {
      watchesBatches: false,
      watch: ({ inputs }) =>
        parts.hooks && {
          before: async () => inputs.map((input) => mark('hook', input)),
          after: async (_frame, _operation, { output }) => mark('after-hook', output),
          ...parts.hooks,
        },
    },
    guards: {
      watch: () =>
        parts.guards && {
          denial: undefined,
          judges: () => true,
          before: async (_frame, { inputs }) => inputs.map((input) => mark('guard', input)),
          after: async (_frame, _operation, output) => mark('after-guard', output),
          ...parts.guards,
        },
    },
  };
}

describe('PERFORM-1: the stages', () => {
  it('are before-hooks, before-guards, the body, after-guards, after-hooks', async () => {
    const steps: string[] = [];
    const { frame } = bareRun({ interceptors: watched(steps, { hooks: {}, guards: {} }) });
    const result = await perform(frame, SHOW, async (_inner, [input]) => (steps.push('body'), `(${String(input)})`));
    expect(steps).toEqual(['hook', 'guard', 'body', 'after-guard', 'after-hook']);
    expect(result).toBe('(tide hook guard) after-guard after-hook');
  });

  it('look a call up between hooks and guards: guards do not see a reused result, after-hooks do', async () => {
    const steps: string[] = [];
    const { frame, facts } = bareRun({ interceptors: watched(steps, { hooks: {}, guards: {} }) });
    const call: CallOperation = {
      ...SHOW,
      kind: 'exe',
      segment: 'ask',
      llm: {
        request: (inputs) => ({ request: { fn: 'ask', args: inputs.map(String) } }),
        definition: () => ({ fingerprint: 'f' as Fingerprint, parts: [] }),
        fn: 'ask',
        options: () => ({}),
        isCommand: false,
        labels: [],
        sources: [],
      },
    };
    await perform(frame, call, async () => 'high');
    steps.length = 0;
    expect(await perform(frame, call, async () => 'low')).toBe('high after-guard after-hook');
    expect(steps).toEqual(['hook', 'after-hook']);
    expect(facts.at(-1)).toMatchObject({ type: 'op.finished', outcome: 'reused' });
  });

  it('see the value that a control word carries, and leave a bare word alone', async () => {
    const { frame } = bareRun({ interceptors: watched([], { hooks: {} }) });
    const done = (word: Signal) => perform(frame, { ...SHOW, kind: 'exe' }, async () => word);
    expect(await done(new Signal('done', 'high', true))).toEqual(new Signal('done', 'high after-hook', true));
    const bare = new Signal('done', null, false);
    expect(await done(bare)).toBe(bare);
    const retry = new Signal('retry', 'shorter', true);
    expect(await done(retry)).toBe(retry);
  });

  it('are silent inside a guard, and in a hook only guards act', async () => {
    const steps: string[] = [];
    const { frame } = bareRun({ interceptors: watched(steps, { hooks: {}, guards: {} }) });
    const inside = (suppress: 'hooks' | 'all') => ({ ...frame, context: { ...frame.context, suppress } });
    await perform(inside('all'), SHOW, async () => 'x');
    expect(steps).toEqual([]);
    await perform(inside('hooks'), SHOW, async () => 'x');
    expect(steps).toEqual(['guard', 'after-guard']);
  });
});

describe('PERFORM-2: the facts of an operation', () => {
  it('enclose those of its body, under its path', async () => {
    const { frame, facts } = bareRun();
    await perform(frame, SHOW, async (inner) => {
      await perform(inner, { ...SHOW, kind: 'for:iteration', index: 3, inputs: ['x'] }, async () => undefined);
      return 'shown';
    });
    expect(facts).toEqual([
      { type: 'op.started', op: 'main/show#0', kind: 'show' },
      { type: 'op.started', op: 'main/show#0[3]', kind: 'for:iteration', item: 'x' },
      { type: 'op.finished', op: 'main/show#0[3]', outcome: 'ok' },
      { type: 'op.finished', op: 'main/show#0', outcome: 'ok' },
    ]);
  });

  it.each([
    ['failed', new Error('no boat'), 'no boat'],
    ['denied', new Denial(DENIAL), 'Guard @g denied the operation: no'],
  ])('say that it %s, with the message', async (outcome, error, message) => {
    const { frame, facts } = bareRun();
    await expect(perform(frame, SHOW, () => Promise.reject(error))).rejects.toBe(error);
    expect(facts.at(-1)).toEqual({ type: 'op.finished', op: 'main/show#0', outcome, message });
  });

  it('say nothing about an error of an operation with a secret in it', async () => {
    const { frame, facts } = bareRun();
    const secret = { ...SHOW, inputs: [annotate('4411-8822-77', { labels: ['secret'] })] };
    await expect(perform(frame, secret, () => Promise.reject(new Error('bad pin 4411-8822-77')))).rejects.toThrow();
    expect(facts.at(-1)).toMatchObject({ message: 'withheld: a secret went into it' });
  });
});

it('PERFORM-3: calls the body directly, and records nothing, where there is nothing to do around it', async () => {
  const { frame, facts } = bareRun({ recorder: { on: false, post: () => expect.fail('posted'), append: () => expect.fail('appended') } });
  const inputs = ['tide'];
  let received: readonly Value[] = [];
  await perform(frame, { ...SHOW, inputs }, async (_inner, given) => ((received = given), 'x'));
  expect([received === inputs, facts]).toEqual([true, []]);
});

describe('a denied operation', () => {
  const denied = (): { denial: Denial; guards: Partial<GuardWatch> } => {
    const denial = new Denial(DENIAL);
    return { denial, guards: { denial, before: () => Promise.reject(denial) } };
  };

  it('is handled by the denied branch of its own function, and after-hooks see that', async () => {
    const { guards } = denied();
    const handled: unknown[] = [];
    const after: HookWatch['after'] = async (_frame, _operation, ended) => (handled.push(ended.denial?.handled), ended.output);
    const { frame, run } = bareRun({ interceptors: watched([], { guards, hooks: { after } }) });
    const call = { declared: 'f', called: ['f'], params: [], site: () => '', declaredAt: () => '', repeatable: false };
    const operation: CallOperation = { ...SHOW, kind: 'exe', call: { ...call, onDenied: async () => 'instead' } };
    expect(await perform(frame, operation, async () => 'never')).toBe('instead');
    expect([handled, run.deniedInside.has(frame.op)]).toEqual([[true], false]);
  });

  it('is seen by after-hooks, which can not lift the denial', async () => {
    const { denial, guards } = denied();
    const outputs: Value[] = [];
    const after: HookWatch['after'] = async (_frame, _operation, { output }) => (outputs.push(output), 'lifted');
    const { frame } = bareRun({ interceptors: watched([], { guards, hooks: { after } }) });
    await expect(perform(frame, SHOW, async () => 'never')).rejects.toBe(denial);
    expect(outputs).toEqual([{ denied: true, decision: 'deny', reason: 'no', guardName: '@g', guardFilter: 'operation:show' }]);
  });
});
