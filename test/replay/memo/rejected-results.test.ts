/** The memo with the marks of `journal reject` (calls.md 15.1). */
import { describe, expect, it } from 'vitest';
import type { Fact } from '../../../journal/event.js';
import { opPath, seqOf, workflowOf, type EventRef } from '../../../journal/ids.js';
import { fold, type Entry } from '../../../replay/fold/projection.js';
import { memo, usableEntry, type Memo } from '../../../replay/memo/memo.js';
import { calledLately } from '../../../replay/resume/predict-calls.js';
import { decodeSnapshot, captureIndex, encodeIndex, index } from '../../../replay/memo/snapshot.js';
import { call, callKeyOf, entries, run, runRef, started } from '../../support/written-runs.js';

const KEY = callKeyOf('ebb');
const OP = opPath('main/ask#0');
/** `run.started`, `op.started` and `call.started` come before the result. */
const RESULT_SEQ = seqOf(3);
const first = run(runRef(1), call(OP, 'ebb'));

function at(number: number): EventRef {
  return { run: runRef(number).run, seq: RESULT_SEQ };
}
/** The run that `journal reject` records. */
function mark(number: number, ...facts: readonly Fact[]): Entry[] {
  const end: Fact = { type: 'run.finished', status: 'completed', marked: 'rejected', totals: { executed: 0, reused: 0, failed: 0 } };
  return entries(runRef(number), [started(runRef(number)), ...facts, end]);
}
const rejected = (number: number): Fact => ({ type: 'result.rejected', key: KEY, op: OP, from: at(number) });
const restored = (number: number): Fact => ({ type: 'result.restored', key: KEY, op: OP, from: at(number) });
const resultIn = (...runs: readonly (readonly Entry[])[]): string | undefined => usableEntry(fold(memo, runs.flat()), KEY)?.result.ref.run;

describe('a rejected result', () => {
  it('is not usable until the call is executed again', () => {
    expect(resultIn(first)).toBe(runRef(1).run);
    expect(resultIn(first, mark(2, rejected(1)))).toBeUndefined();
    expect(resultIn(first, mark(2, rejected(1)), run(runRef(3), call(OP, 'ebb')))).toBe(runRef(3).run);
  });

  it('is the one that the mark names: a later one of the same call stays', () => {
    expect(resultIn(first, run(runRef(2), call(OP, 'ebb')), mark(3, rejected(1)))).toBe(runRef(2).run);
  });

  it('is usable again when the mark is taken back', () => {
    const { entries: restoredEntries, rejected: marks } = fold(memo, [...first, ...mark(2, rejected(1)), ...mark(3, restored(1))]);
    expect(restoredEntries).toEqual(fold(memo, first).entries);
    expect(marks.size).toBe(0);
  });

  it('does not come back beside a later result, nor after it was invalidated', () => {
    expect(resultIn(first, mark(2, rejected(1)), run(runRef(3), call(OP, 'ebb')), mark(4, restored(1)))).toBe(runRef(3).run);
    const invalidated: Fact = { type: 'memo.invalidated', selector: '@ask', keys: [KEY] };
    expect(resultIn(first, mark(2, rejected(1)), mark(3, invalidated), mark(4, restored(1)))).toBeUndefined();
    expect(resultIn(first, mark(2, rejected(1)), mark(3, { type: 'memo.reset', reason: 'fresh' }), mark(4, restored(1)))).toBeUndefined();
  });

  it('leaves the predictions of the next run as they were', () => {
    const state = fold(memo, [...first, ...mark(2, rejected(1)), ...entries(runRef(3), [started(runRef(3))])]);
    expect([...calledLately(state)]).toEqual([KEY]);
  });

  it('of a fork source is refused by this workflow until it is restored', () => {
    const from = { ...at(1), workflow: workflowOf('other.mld') };
    const refuse: Fact = { type: 'result.rejected', key: KEY, op: OP, from };
    const isRefused = (state: Memo): boolean => state.refused.has(KEY);
    expect(isRefused(fold(memo, mark(2, refuse)))).toBe(true);
    expect(isRefused(fold(memo, [...mark(2, refuse), ...mark(3, { ...refuse, type: 'result.restored' })]))).toBe(false);
  });

  it('is kept in the index', () => {
    const state = fold(index, [...first, ...mark(2, rejected(1))]);
    const decoded = decodeSnapshot(new TextEncoder().encode(encodeIndex(captureIndex({ covered: [], index: state }))));
    expect(decoded?.index.memo.rejected).toEqual(state.memo.rejected);
    expect(usableEntry(fold(memo, mark(3, restored(1)), decoded?.index.memo), KEY)?.result.ref.run).toBe(runRef(1).run);
  });
});
