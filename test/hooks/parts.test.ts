/** The hook stage with hooks of literals: registration, inputs, frames, and the time limit. HOOK-1 to HOOK-3, LIMIT-3 to LIMIT-5. */
import { describe, expect, it } from 'vitest';
import type { Hook } from '../../grammar/ast.js';
import { bodyFrame } from '../../src/hooks/body-frame.js';
import { oneOrAll, replaced, takesInput } from '../../src/hooks/inputs.js';
import { interceptor } from '../../src/hooks/interceptor.js';
import { HookRegistry } from '../../src/hooks/registry.js';
import { watchOperation } from '../../src/hooks/stage.js';
import { createTimeLimit, type WithinLimit } from '../../src/hooks/time-limit.js';
import { Return } from '../../src/runtime/completion.js';
import type { Operation } from '../../src/runtime/operation.js';
import { annotate, dataOf, labelsOf, type Value } from '../../src/values/value.js';
import { bareRun, settled, type BareOptions } from '../support/bare-run.js';

const SHOW: Operation = { kind: 'show', segment: 'show', name: null, labels: [], inputs: ['tide'] };
const BLOCK: Hook['body'] = { kind: 'block', at: 0, statements: [] };
const UNLIMITED: WithinLimit = (work) => work({} as never);

function hook(more: Partial<Hook> = {}): Hook {
  return { kind: 'hook', at: 0, timing: 'before', filter: { kind: 'operation', at: 0, name: 'show' }, body: BLOCK, ...more };
}

function registryOf(...hooks: readonly Hook[]): HookRegistry {
  const registry = new HookRegistry();
  const { frame } = bareRun();
  hooks.forEach((each) => registry.register(each, frame));
  return registry;
}

/** A run in which every hook body returns the next of these values. */
function returning(values: readonly Value[], options: BareOptions = {}): ReturnType<typeof bareRun> {
  let next = 0;
  return bareRun({ execute: async () => new Return(values[next++]), ...options });
}

describe('the hooks of an operation', () => {
  it('are none where no filter matches', () => {
    expect(watchOperation(registryOf(hook()), UNLIMITED, { ...SHOW, kind: 'var' })).toBeUndefined();
  });

  it('HOOK-1: replace the inputs one after the other, and are recorded', async () => {
    const { frame, facts } = returning(['high', 'low']);
    const watch = watchOperation(registryOf(hook({ name: 'a' }), hook()), UNLIMITED, SHOW);
    expect((await watch?.before(frame))?.map(dataOf)).toEqual(['low']);
    expect(facts).toMatchObject([
      { type: 'hook.fired', hook: 'a', timing: 'before', filter: 'op:show', transformed: true },
      { hook: '<unnamed-hook-2>', transformed: true },
    ]);
  });

  it('replace the output only where it is replaceable', async () => {
    const { frame } = returning(['low', 'low']);
    const watch = watchOperation(registryOf(hook({ timing: 'after' })), UNLIMITED, SHOW);
    expect(await watch?.after(frame, SHOW, { output: 'high', isReplaceable: true })).toBe('low');
    expect(await watch?.after(frame, SHOW, { output: 'high', isReplaceable: false })).toBe('high');
  });

  it('HOOK-3: fail without failing the operation, but end with the run', async () => {
    const { frame, warnings, facts, run } = returning([], { execute: () => Promise.reject(new Error('no\n  boat')) });
    const watch = watchOperation(registryOf(hook({ name: 'a' })), UNLIMITED, SHOW);
    expect(await watch?.before(frame)).toBe(SHOW.inputs);
    expect([warnings, run.hookErrors]).toMatchObject([['hook @a: no boat'], [{ hookId: 'a', message: 'no\n  boat' }]]);
    expect(facts).toMatchObject([{ error: 'no\n  boat', transformed: false }]);
    const ended = bareRun({ execute: () => Promise.reject(Object.assign(new Error('x'), { code: 'X' })) });
    expect(await watch?.before(ended.frame)).toBe(SHOW.inputs);
  });
});

describe('the registry of hooks', () => {
  it('refuses a second hook of a name, and remembers one on batches', () => {
    expect(() => registryOf(hook({ name: 'a' }), hook({ name: 'a' }))).toThrow('A hook named @a is registered already');
    expect(registryOf(hook({ filter: { kind: 'operation', at: 0, name: 'for:batch' } })).watchesBatches).toBe(true);
  });

  it('finds the hooks that may replace a value inside a function, and not those that return nothing', () => {
    const returns = hook({ name: 'returns', body: { ...BLOCK, statements: [{ kind: 'return' } as never] } });
    const reach = { functions: new Set<string>(), operations: new Set(['show']), labels: new Set<string>() };
    expect(
      registryOf(hook({ name: 'looks' }), returns)
        .transforming(reach)
        .map(({ name }) => name),
    ).toEqual(['@returns']);
  });

  it('names an unnamed hook by its filter', () => {
    const { frame } = bareRun();
    expect(interceptor(hook(), frame.module)).toMatchObject({ name: 'before op:show', params: ['input', 'output'] });
  });
});

describe('the inputs of a hook', () => {
  it('are one value, or an array with the labels of all', () => {
    expect(oneOrAll(['a'])).toBe('a');
    expect(labelsOf(oneOrAll(['a', annotate('b', { labels: ['pii'] })]))).toEqual(['pii']);
  });

  it('of a call are replaced by position, those of another operation as a whole', () => {
    const call = { declared: 'f', called: ['f'], params: ['a', 'b'], site: () => '', declaredAt: () => '', repeatable: false };
    expect(replaced({ ...SHOW, call }, ['a', 'b'], ['x'])).toEqual(['x', 'b']);
    expect(replaced(SHOW, ['a', 'b'], 'x')).toEqual(['x', 'x']);
    expect([takesInput(SHOW), takesInput({ ...SHOW, kind: 'import' })]).toEqual([true, false]);
  });
});

it('a body has a frame with the members of every frame, so that copies have the same shape', () => {
  const { frame } = bareRun();
  const body = bodyFrame({
    module: frame.module,
    frame,
    operation: SHOW,
    segment: 'hook:a',
    ambient: { input: 'tide' },
    context: { suppress: 'hooks', denied: false },
  });
  expect(Object.keys(body).sort()).toEqual(Object.keys(frame).sort());
  expect(Object.keys(body.context).sort()).toEqual(Object.keys(frame.context).sort());
  expect([body.op.path, body.scope.find('input')?.value, body.context.op]).toEqual(['main/hook:a#0', 'tide', SHOW]);
});

describe('the time limit of a hook', () => {
  /** A world whose clock does not advance: sleeps end only when the test ends them. */
  function sleeping(): { run: Parameters<WithinLimit>[1]; world: ReturnType<typeof bareRun>['run']['world']; wake: () => void } {
    let wake = (): void => {};
    const { run } = bareRun();
    const world = {
      perform: () => new Promise((resolve) => (wake = () => resolve({}))),
      close: async () => undefined,
    } as never as typeof run.world;
    return { run: { monotonicMs: () => 0, settings: { hookLimitMs: 2000 } }, world, wake: () => wake() };
  }

  it('lets work end in time', async () => {
    const { run, world } = sleeping();
    expect(await createTimeLimit(world)(async () => 'done', run)).toBe('done');
  });

  it('LIMIT-3: rejects first, and then ends the work', async () => {
    const { run, world, wake } = sleeping();
    let isOver: () => boolean = () => false;
    const limited = createTimeLimit(world)((deadline) => ((isOver = () => deadline.isOver), new Promise(() => undefined)), run);
    await settled();
    expect(isOver()).toBe(false);
    wake();
    await expect(limited).rejects.toThrow('it did not end within 2 seconds');
    expect(isOver()).toBe(true);
  });

  it('LIMIT-4: fails work that ends after its time', async () => {
    const { run, world } = sleeping();
    let nowMs = 0;
    const late = createTimeLimit(world)(async () => (nowMs = 5000), { ...run, monotonicMs: () => nowMs });
    await expect(late).rejects.toMatchObject({ code: 'HOOK_TIMEOUT' });
  });

  it('LIMIT-5: times out in a replay where the recorded hook did', async () => {
    const { run, world } = sleeping();
    const replayed = createTimeLimit(world)(async () => 'done', run, Promise.resolve('as then'));
    await expect(replayed).rejects.toThrow('as then');
  });
});
