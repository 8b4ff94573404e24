/** The guard stage with guards of literals: which match, what they decide, and what is recorded. GUARD-1 to GUARD-3. */
import { describe, expect, it } from 'vitest';
import type { Expression, Guard, GuardRule, LabelModifiers } from '../../grammar/ast.js';
import { allowOptions, refuseBadOptions, relabelled, type AllowOptions } from '../../src/guards/allow-options.js';
import { displayFilter, GuardRegistry } from '../../src/guards/registry.js';
import { judge, namedArguments } from '../../src/guards/rules.js';
import { watchOperation } from '../../src/guards/stage.js';
import { GuardRetry } from '../../src/runtime/guard-retry.js';
import { GuardTrail } from '../../src/runtime/guard-trail.js';
import type { Operation } from '../../src/runtime/operation.js';
import { annotate, dataOf, guardSourcesOf, labelsOf, taintOf, type Value } from '../../src/values/value.js';
import { bareRun } from '../support/bare-run.js';

const CALL = { declared: 'send', called: ['send'], params: ['to'], site: () => '', declaredAt: () => '', repeatable: false };
const SEND: Operation = { kind: 'exe', segment: 'send', name: 'send', labels: ['net:w'], inputs: ['Rosa'], call: CALL };
type Action = GuardRule['action'];

const text = (value: string): Expression => ({ kind: 'literal', at: 0, value });
const allow = (value?: string, options?: Record<string, Expression>): Action => ({
  kind: 'allow',
  at: 0,
  ...(value !== undefined && { value: text(value) }),
  ...(options && { options: Object.entries(options).map(([name, option]) => ({ name, at: 0, value: option })) }),
});
const deny = (reason: string): Action => ({ kind: 'deny', at: 0, text: reason });
const retry = (reason: string): Action => ({ kind: 'retry', at: 0, text: reason });

function guard(action: Action, more: Partial<Guard> = {}): Guard {
  const filter = { kind: 'operation', at: 0, name: 'exe' } as const;
  return { kind: 'guard', at: 0, timing: 'before', filter, rules: [{ kind: 'rule', at: 0, condition: 'any', action }], ...more };
}

/** A run in which literals have their values. */
function literals(): ReturnType<typeof bareRun> {
  return bareRun({ evaluate: async (node) => (node.kind === 'literal' ? node.value : ((node as { value?: Value }).value ?? null)) });
}

function registryOf(...guards: readonly Guard[]): GuardRegistry {
  const registry = new GuardRegistry();
  const { frame } = bareRun();
  guards.forEach((each) => registry.register(each, frame));
  return registry;
}

describe('the guards of an operation', () => {
  it('are none where no filter matches, and may be some by the labels of values', () => {
    const byLabel = guard(allow(), { filter: { kind: 'label', at: 0, label: 'pii' } });
    expect(watchOperation(registryOf(guard(allow())), { ...SEND, kind: 'show' })).toBeUndefined();
    expect(watchOperation(registryOf(byLabel), { ...SEND, kind: 'show' })).toBeDefined();
  });

  it('GUARD-1: are all evaluated after a denial, whose reasons are all known', async () => {
    const { frame, facts, run } = literals();
    const watch = watchOperation(registryOf(guard(deny('no'), { name: 'a' }), guard(deny('never'))), SEND);
    await expect(watch?.before(frame, SEND)).rejects.toMatchObject({ facts: { reason: 'no', reasons: ['no', 'never'], guardName: '@a' } });
    expect(facts).toMatchObject([
      { type: 'guard.decided', guard: 'a', decision: 'deny', reason: 'no' },
      { guard: '<unnamed-guard-2>', reason: 'never' },
    ]);
    expect(run.denials).toEqual([watch?.denial]);
  });

  it('GUARD-2: deny before they retry, and a retry of what can not run again is a denial', async () => {
    const { frame } = literals();
    const repeatable: Operation = { ...SEND, call: { ...CALL, repeatable: true } };
    const both = watchOperation(registryOf(guard(retry('shorter')), guard(deny('no'))), repeatable);
    await expect(both?.before(frame, repeatable)).rejects.toMatchObject({ code: 'DENIED' });
    const again = watchOperation(registryOf(guard(retry('shorter'))), repeatable);
    await expect(again?.before(frame, repeatable)).rejects.toBeInstanceOf(GuardRetry);
    const once = watchOperation(registryOf(guard(retry('shorter'))), SEND);
    await expect(once?.before(frame, SEND)).rejects.toMatchObject({ facts: { reason: 'shorter' } });
  });

  it('GUARD-3: chain what they allow instead, with the labels of what it replaces', async () => {
    const { frame } = literals();
    const inputs = [annotate('Rosa', { labels: ['pii'] })];
    const byLabel = { kind: 'label', at: 0, label: 'pii' } as const;
    const watch = watchOperation(registryOf(guard(allow('R.'), { filter: byLabel }), guard(allow(), { filter: byLabel })), SEND);
    const [replaced] = (await watch?.before(frame, { ...SEND, inputs })) ?? [];
    expect([dataOf(replaced), labelsOf(replaced)]).toEqual(['R.', ['pii']]);
  });

  it('look once at the one input of an operation, by whose label it ever is', async () => {
    const { frame, facts } = literals();
    const byLabel = { kind: 'label', at: 0, label: 'pii' } as const;
    const declared: Operation = { kind: 'var', segment: 'var:x', name: 'x', labels: ['pii'], inputs: ['Rosa'] };
    const registry = registryOf(guard(allow('R.'), { filter: byLabel, name: 'short' }));
    const [bound] = (await watchOperation(registry, declared)?.before(frame, declared)) ?? [];
    expect([dataOf(bound), guardSourcesOf(bound), taintOf(bound)]).toEqual(['R.', ['guard:short'], []]);
    const inputs = [annotate('Rosa', { labels: ['pii'] })];
    await watchOperation(registry, declared)?.before(frame, { ...declared, inputs });
    expect(facts).toHaveLength(2);
  });

  it('of a label do not look at a call without arguments', () => {
    const byLabel = { kind: 'label', at: 0, label: 'net:w' } as const;
    const byOperation = { kind: 'operation', at: 0, name: 'net:w' } as const;
    const registry = registryOf(guard(allow(), { filter: byLabel }), guard(allow(), { filter: byOperation, name: 'calls' }));
    const none: Operation = { ...SEND, inputs: [] };
    const guards = (operation: Operation) => registry.holding(operation, undefined).map(({ name }) => name);
    expect([guards(SEND), guards(none)]).toEqual([['before net:w', '@calls'], ['@calls']]);
  });

  it('replace the output after the operation', async () => {
    const { frame } = literals();
    const watch = watchOperation(registryOf(guard(allow('sent'), { timing: 'after' })), SEND);
    expect(dataOf(await watch?.after(frame, SEND, 'done'))).toBe('sent');
  });

  it('do not see an operation that was started before they were registered', async () => {
    const registry = registryOf(guard(allow()));
    const { frame } = literals();
    const watch = watchOperation(registry, SEND);
    registry.register(guard(deny('late'), { filter: { kind: 'label', at: 0, label: 'pii' } }), frame);
    const inputs = [annotate('Rosa', { labels: ['pii'] })];
    expect(await watch?.before(frame, { ...SEND, inputs })).toHaveLength(1);
  });
});

describe('the registry of guards', () => {
  it('refuses a second guard of a name', () => {
    expect(() => registryOf(guard(allow(), { name: 'a' }), guard(allow(), { name: 'a' }))).toThrow(
      'A guard named @a is registered already',
    );
  });

  it('switches off what a call names, but no privileged guard', () => {
    const registry = registryOf(guard(allow(), { name: 'a' }), guard(allow(), { name: 'b', privileged: true }));
    const off: Operation = { ...SEND, guards: { off: true } };
    const byOperation = registry.watching(off)?.before ?? [];
    expect(registry.matching('before', byOperation, off, registry.count).map(({ guard: { id } }) => id)).toEqual(['b']);
    expect(registry.holding(SEND, undefined).map(({ name }) => name)).toEqual(['@a', '@b']);
  });

  it.each([
    [{ kind: 'function', at: 0, path: ['mine', 'dig'] }, 'function:mine.dig'],
    [{ kind: 'operation', at: 0, name: 'exe' }, 'operation:exe'],
    [{ kind: 'label', at: 0, label: 'pii' }, 'data:pii'],
  ] as const)('shows a filter', (filter, shown) => {
    expect(displayFilter(filter)).toBe(shown);
  });
});

describe('the rules of a guard', () => {
  it('allow the operation when none holds, and throw the error of a condition', async () => {
    const registry = registryOf(guard(allow(), { rules: [{ kind: 'rule', at: 0, condition: text(''), action: deny('no') }] }));
    const [match] = registry.matching('before', registry.watching(SEND)?.before ?? [], SEND, 1);
    const about = {
      phase: 'before',
      operation: SEND,
      input: 'Rosa',
      involved: ['Rosa'],
      output: () => 'Rosa',
      trail: new GuardTrail(),
      tries: [],
    } as const;
    if (!match) return expect.fail('no match');
    expect(await judge(match.guard, literals().frame, about)).toEqual({ decision: 'allow' });
    const failing = bareRun({ evaluate: () => Promise.reject(new Error('no boat')) });
    await expect(judge(match.guard, failing.frame, about)).rejects.toThrow('no boat');
  });

  it('see the arguments by the names of the parameters', () => {
    expect(namedArguments(SEND)).toEqual([{ name: 'to', value: 'Rosa' }]);
    expect(namedArguments({ ...SEND, call: undefined as never })).toEqual([]);
  });
});

describe('the options of allow', () => {
  const options = (name: string, value: Value): Extract<Action, { kind: 'allow' }> =>
    allow(undefined, { [name]: { kind: 'literal', at: 0, value } as never }) as Extract<Action, { kind: 'allow' }>;

  it('add and remove labels', async () => {
    const { frame } = literals();
    const read = await allowOptions(options('addLabels', 'checked'), frame);
    expect(read).toEqual({ add: ['checked'], remove: [], warning: undefined });
    expect(labelsOf(relabelled(annotate('x', { labels: ['pii'] }), { add: ['checked'], remove: ['pii'], warning: undefined }))).toEqual([
      'checked',
    ]);
  });

  it('of a privileged guard in short remove all labels, or some', async () => {
    const { frame } = literals();
    const secret = annotate('x', { labels: ['pii', 'untrusted'], sources: ['src:js'] });
    const short = (modifiers: LabelModifiers): Promise<AllowOptions | undefined> =>
      allowOptions({ kind: 'allow', at: 0, modifiers }, frame);
    const cleared = relabelled(secret, (await short({ add: ['seen'], remove: 'all' })) as AllowOptions);
    const trusted = relabelled(secret, (await short({ add: ['trusted'], remove: ['untrusted'] })) as AllowOptions);
    expect([taintOf(cleared), labelsOf(trusted)]).toEqual([
      ['seen', 'src:js'],
      ['pii', 'trusted'],
    ]);
  });

  it('are refused when the guard is registered', () => {
    const { frame } = bareRun();
    expect(() => refuseBadOptions(guard(options('removeLabels', 'pii')), frame.module)).toThrow('Only a privileged guard removes labels');
    expect(() => refuseBadOptions(guard(options('labels', 'pii')), frame.module)).toThrow('allow has no such option');
  });
});
