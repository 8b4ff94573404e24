import { describe, expect, it } from 'vitest';
import type { Fact } from '../../../journal/event.js';
import { workflowOf, type CallKey } from '../../../journal/ids.js';
import { predictCalls, invalidationImpact } from '../../../replay/resume/predict-calls.js';
import { memo, usable, type Memo } from '../../../replay/memo/memo.js';
import { fold, type Entry } from '../../../replay/fold/projection.js';
import { call, finished, callKeyOf, run, runRef } from '../../support/written-runs.js';

const wrapped = (path: string, item: string): Fact[] => {
  const [begin, asked, ...end] = call(path, item, { fn: 'wrap' });
  return [begin as Fact, asked as Fact, ...call(`${path}/ask#0`, item), ...end];
};
const memoOf = (...runs: readonly (readonly Entry[])[]): Memo => fold(memo, runs.flat());
const broken = (entries: readonly Entry[]): Entry[] => entries.filter(({ event }) => event.type !== finished().type);
const never = (): boolean => false;
const WRAP = callKeyOf('ebb', 'wrap');
const INNER = callKeyOf('ebb');

/** Sorted, as the order says nothing. */
function predicted(own: Memo, forks: readonly Memo[] = [], missed: readonly CallKey[] = []): CallKey[] {
  return [
    ...predictCalls(
      own,
      forks,
      (key) => !missed.includes(key),
      () => false,
    ),
  ].sort();
}
const keys = (...texts: string[]): CallKey[] => texts.map((text) => callKeyOf(text)).sort();

describe('the predicted calls', () => {
  it('include the calls inside a call only where the outer one is executed', () => {
    const state = memoOf(run(runRef(1), wrapped('main/wrap#0', 'ebb'), call('main/ask#0', 'flow')));
    expect(predicted(state)).toEqual([WRAP, callKeyOf('flow')].sort());
    expect(predicted(state, [], [WRAP])).toEqual([WRAP, INNER, callKeyOf('flow')].sort());
    expect(predicted(state, [], [INNER])).not.toContain(INNER);
  });

  it('include the calls inside also when the last run reused the outer one', () => {
    const served = run(runRef(2), call('main/wrap#0', 'ebb', { fn: 'wrap', outcome: 'reused' }));
    const state = memoOf(run(runRef(1), wrapped('main/wrap#0', 'ebb')), served);
    expect(predicted(state)).toEqual([WRAP]);
    expect(predicted(state, [], [WRAP])).toEqual([WRAP, INNER].sort());
  });

  it('include, inside a call whose result guards judge, only those that the guards make', () => {
    const received = wrapped('main/wrap#0', 'ebb').map((fact): Fact =>
      fact.type === 'call.completed' && fact.op === 'main/wrap#0' ? { ...fact, type: 'result.received' } : fact,
    );
    const judging = call('main/wrap#0/guard:check#0/judge#0', 'ebb', { fn: 'judge', outcome: 'failed' });
    const state = memoOf(broken(run(runRef(1), received, judging)));
    const judged = [...predictCalls(state, [], never, (key) => key === WRAP)].sort();
    expect(judged).toEqual([WRAP, callKeyOf('ebb', 'judge')].sort());
    expect([...predictCalls(state, [], never, never)].sort()).toEqual([WRAP, INNER, callKeyOf('ebb', 'judge')].sort());
  });

  it('include a call that was also made outside', () => {
    expect(predicted(memoOf(run(runRef(1), wrapped('main/wrap#0', 'ebb'), call('main/ask#0', 'ebb'))))).toEqual([WRAP, INNER].sort());
  });

  it('are those of the last completed run and of the broken ones since', () => {
    const [first, second, third] = ['one', 'two', 'three'].map((text, at) => run(runRef(at + 1), call('main/ask#0', text)));
    expect(predicted(memoOf(first as Entry[], second as Entry[]))).toEqual(keys('two'));
    const half = broken(third as Entry[]);
    expect(predicted(memoOf(first as Entry[], second as Entry[], half))).toEqual(keys('two', 'three'));
    expect(predicted(memoOf(broken(first as Entry[]), broken(second as Entry[]), half))).toEqual(keys('one', 'two', 'three'));
    expect(predicted(memoOf(broken(first as Entry[]), second as Entry[], half))).toEqual(keys('two', 'three'));
  });

  it('are those of the fork sources for a script that has made none', () => {
    const source = memoOf(run(runRef(1, workflowOf('collect.mld')), call('main/ask#0', 'ebb'), call('main/ask#1', 'flow')));
    expect(predicted(memoOf(), [source])).toEqual(keys('ebb', 'flow'));
    expect(predicted(memoOf(run(runRef(1), call('main/ask#0', 'ebb', { outcome: 'reused' }))), [source])).toEqual(keys('ebb'));
  });
});

describe('the impact of an invalidation', () => {
  const told = (own: Memo, dropped: readonly CallKey[], sources: readonly Memo[] = [], refused: readonly CallKey[] = []) =>
    invalidationImpact({ keys: dropped, forkedKeys: refused }, { priorOwn: own, own, sources });

  it('counts calls that were not executed because of others, less those of an earlier run that are predicted', () => {
    const fns = (state: Memo) =>
      invalidationImpact({ keys: [], forkedKeys: [], notExecuted: ['ask', 'ask'] }, { priorOwn: state, own: state, sources: [] });
    expect(fns(memoOf(run(runRef(1), call('main/ask#0', 'ebb'))))).toMatchObject({ predicted: 1, notExecuted: 2 });
    const earlier = memoOf(
      run(runRef(1), call('main/ask#0', 'flow')),
      broken(run(runRef(2), call('main/ask#0', 'ebb', { outcome: 'failed' }))),
    );
    expect(fns(earlier)).toMatchObject({ predicted: 1, unresolved: 1, unjudged: 0, notExecuted: 1 });
  });

  it('leaves out invalidated results that the next run does not need', () => {
    const state = memoOf(
      run(runRef(1), call('main/ask#0', 'stale')),
      run(runRef(2), wrapped('main/wrap#0', 'ebb'), call('main/ask#0', 'flow')),
    );
    const asks = keys('stale', 'ebb', 'flow');
    expect(told(state, asks)).toEqual({ predicted: 2, again: 1, unaffected: 2, unresolved: 0, unjudged: 0, notExecuted: 0 });
    expect(
      told(
        state,
        [...usable(state)].map(([key]) => key),
      ),
    ).toEqual({ predicted: 3, again: 3, unaffected: 1, unresolved: 0, unjudged: 0, notExecuted: 0 });
  });

  it('takes the result of the other owner where only one is invalidated', () => {
    const own = memoOf(run(runRef(1), call('main/ask#0', 'ebb'), call('main/ask#1', 'flow', { outcome: 'failed' })));
    const source = memoOf(run(runRef(1, workflowOf('collect.mld')), call('main/ask#0', 'ebb'), call('main/ask#1', 'slack')));
    expect(told(own, keys('ebb'), [source])).toEqual({ predicted: 1, again: 0, unaffected: 1, unresolved: 1, unjudged: 0, notExecuted: 0 });
    expect(told(own, keys('ebb'), [source], keys('ebb', 'slack'))).toEqual({
      predicted: 1,
      again: 1,
      unaffected: 1,
      unresolved: 1,
      unjudged: 0,
      notExecuted: 0,
    });
  });
});
