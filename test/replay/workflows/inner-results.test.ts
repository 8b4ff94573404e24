/** Tests the fold of results inside agents that a crash cut short: INNER-1, INNER-2. */
import { describe, expect, it } from 'vitest';
import type { Fact } from '../../../journal/event.js';
import { opPath, seqOf, type RunRef } from '../../../journal/ids.js';
import type { JournalStore, RunFile } from '../../../journal/store.js';
import { loadInnerResults } from '../../../replay/workflows/inner-results.js';
import { entries, finished, key, runRef, started } from '../../support/written-runs.js';

const AGENT = 'main/parallel#0[1]/agent~1f2e3d4c#0';
const FIRST = `${AGENT}/ask#0/first#0`;
const SECOND = `${AGENT}/ask#0/second#0`;
const DEEP = `${FIRST}/deep#0`;

const completed = (path: string): Fact => ({
  type: 'call.completed',
  op: opPath(path),
  key: key(path),
  result: { inline: 'x' },
  elapsedMs: 1,
});
const failed = (path: string, more: object): Fact => ({
  type: 'call.failed',
  op: opPath(path),
  key: key(path),
  elapsedMs: 1,
  message: 'no',
  ...more,
});

/** The paths whose results are left, with the number of their run. */
async function left(...runs: readonly (readonly Fact[])[]): Promise<readonly string[]> {
  const facts = new Map(runs.map((run, index) => [runRef(index + 1).run, [started(runRef(index + 1)), ...run]]));
  const store = {
    async scan(ref: RunRef, visit: (event: unknown, position: unknown) => void) {
      for (const { event, place } of entries(ref, facts.get(ref.run) ?? [])) visit(event, place.position);
    },
  } as unknown as JournalStore;
  const files = runs.map((_, index) => ({ ref: runRef(index + 1), liveness: 'crashed' }) as unknown as RunFile);
  const found = await loadInnerResults({ ...store, runs: async () => files }, files);
  return [...found].map(([op, { result }]) => `${op} of run ${runs.findIndex((_, index) => runRef(index + 1).run === result.ref.run) + 1}`);
}

describe('results inside an agent', () => {
  it('are left where it had not ended', async () => {
    expect(await left([completed(FIRST), completed('main/agent~00000000#0'), completed('main/other#0/first#0')])).toEqual([
      `${FIRST} of run 1`,
    ]);
  });

  it.each([
    ['it ended', [completed(AGENT)]],
    ['it failed', [failed(AGENT, { class: 'crash' })]],
    ['it is tried again', [failed(AGENT, { class: 'quota', retryInMs: 1 })]],
    ['it failed although a call inside got its result', [failed(SECOND, {}), completed(SECOND), failed(AGENT, { class: 'crash' })]],
    ['it dealt with what failed inside', [failed(SECOND, { accepted: true }), failed(AGENT, { class: 'schema' })]],
    ['it is tried again after a failure inside', [failed(SECOND, {}), failed(AGENT, { class: 'crash', retryInMs: 1 })]],
    ['they were rejected', [{ type: 'memo.invalidated', selector: '@x', keys: [key(FIRST)] } satisfies Fact]],
    ['the run completed', [finished()]],
  ])('are not left where %s, in the same run or a later one', async (_why, facts: readonly Fact[]) => {
    expect(await left([completed(FIRST), ...facts])).toEqual([]);
    expect(await left([completed(FIRST)], facts)).toEqual([]);
  });

  it.each([
    ['the user interrupted it', failed(AGENT, { code: 'INTERRUPTED' })],
    ['an allowance was used up', failed(AGENT, { class: 'quota' })],
    ['the budget was spent', failed(AGENT, { class: 'budget' })],
  ])('are left where %s', async (_why, fact) => {
    expect(await left([completed(FIRST), fact, finished('paused')])).toEqual([`${FIRST} of run 1`]);
  });

  describe('where a call inside had failed', () => {
    const failure = [failed(SECOND, { class: 'crash' }), failed(AGENT, { class: 'crash' })];

    it('are left, also by a run that completed, and by those before it', async () => {
      expect(await left([completed(FIRST), ...failure])).toEqual([`${FIRST} of run 1`]);
      expect(await left([completed(FIRST), ...failure, finished()])).toEqual([`${FIRST} of run 1`]);
      expect(await left([completed(FIRST)], [...failure, finished()], [...failure, finished()])).toEqual([`${FIRST} of run 1`]);
    });

    it('are not left where a run in between completed without it', async () => {
      expect(await left([completed(FIRST), ...failure], [finished()], [...failure, finished()])).toEqual([]);
    });

    it('are left inside the failed one, where it failed because of calls inside it', async () => {
      const deeper = failed(`${FIRST}/deeper#0`, { class: 'crash' });
      expect(await left([completed(DEEP), deeper, failed(FIRST, {}), failed(AGENT, {})])).toEqual([`${DEEP} of run 1`]);
      expect(await left([completed(DEEP), failed(FIRST, {}), failed(AGENT, {})])).toEqual([]);
    });
  });

  describe('of equal calls', () => {
    const again = `${AGENT}/ask#0/first#1`;
    const equal = (path: string): Fact => ({ ...completed(path), key: key(FIRST) }) as Fact;
    const rejected = (type: 'result.rejected' | 'result.restored', run: number, seq: number): Fact =>
      ({ type, key: key(FIRST), op: opPath(again), from: { run: runRef(run).run, seq: seqOf(seq) } }) as Fact;
    const invalidated: Fact = { type: 'memo.invalidated', selector: 'x', keys: [key(FIRST)] };

    it('are not left where one was executed again since they were invalidated or rejected', async () => {
      const both = [equal(FIRST), equal(again)];
      expect(await left(both, [invalidated, equal(FIRST)])).toEqual([`${FIRST} of run 2`]);
      expect(await left(both, [rejected('result.rejected', 1, 2)], [equal(FIRST)])).toEqual([`${FIRST} of run 3`]);
      expect(await left([...both, invalidated, equal(FIRST)])).toEqual([`${FIRST} of run 1`]);
      expect(await left(both, [{ type: 'memo.reset', reason: 'fresh' }, equal(FIRST)])).toEqual([`${FIRST} of run 2`]);
    });

    it('are left where a rejection was taken back, and no invalidation is', async () => {
      const [mark, undo] = [rejected('result.rejected', 1, 2), rejected('result.restored', 1, 2)];
      expect(await left([equal(FIRST), equal(again)], [mark], [undo])).toEqual([`${FIRST} of run 1`, `${again} of run 1`]);
      expect(await left([equal(FIRST)], [invalidated], [undo])).toEqual([]);
    });
  });

  it('are left of several runs, each the latest', async () => {
    const second = `${AGENT}/ask#0/second#0`;
    const runs = [[completed(FIRST), completed(second)], [completed(second)], []];
    expect(await left(...runs)).toEqual([`${second} of run 2`, `${FIRST} of run 1`]);
    expect(await left([completed(FIRST)], [completed(FIRST), finished()], [completed(second)])).toEqual([`${second} of run 3`]);
  });

  it('are not left inside a call that failed there', async () => {
    expect(await left([completed(DEEP), failed(FIRST, { class: 'crash' })])).toEqual([]);
    expect(await left([completed(DEEP)], [failed(FIRST, { class: 'crash' })])).toEqual([]);
  });
});
