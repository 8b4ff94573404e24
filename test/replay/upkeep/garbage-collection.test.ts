import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { openMemoryStore } from '../../../journal/storage/memory-store.js';
import type { Fact } from '../../../journal/event.js';
import { opPath, workflowOf, type RunRef } from '../../../journal/ids.js';
import type { JournalStore } from '../../../journal/store.js';
import { planCollection } from '../../../replay/upkeep/garbage-collection.js';
import { loadWorkflow, type PriorRuns } from '../../../replay/memo/load.js';
import { usable } from '../../../replay/memo/memo.js';
import type { RetentionRequest } from '../../../replay/upkeep/retention.js';
import { anyFacts } from '../../support/any-run.js';
import { call, finished, inside, JOB, callKeyOf, runRef, started } from '../../support/written-runs.js';

const WISH: RetentionRequest = { keep: 0, sinceMs: undefined, workflow: undefined, needed: 'stays' };

interface Recorded {
  readonly ref: RunRef;
  readonly facts: readonly Fact[];
}

async function storeOf(runs: readonly Recorded[]): Promise<JournalStore> {
  const store = openMemoryStore();
  for (const { ref, facts } of runs) {
    const journal = await store.create(ref);
    for (const fact of facts) await journal.append(fact);
    await journal.close();
  }
  return store;
}

const EBB_OF_2 = { run: runRef(2).run, seq: 3 as never };

const whole = (number: number, ...facts: readonly Fact[][]): Recorded => ({
  ref: runRef(number),
  facts: [started(runRef(number)), ...facts.flat(), finished()],
});

/** Returns the results that a next run would reuse, and those that its `--resume` would find. */
async function serves(store: JournalStore): Promise<unknown> {
  const past: PriorRuns = await loadWorkflow(store, JOB, { onDefect: () => expect.unreachable() });
  const { memo, complete, definitions, runs } = past;
  const answers = [...usable(memo)].map(([key, { fn, fingerprint, scope, inside: around, result: answer }]) => ({
    key,
    fn,
    fingerprint,
    definition: fingerprint && definitions.get(fingerprint),
    scope,
    around,
    run: answer.ref.run,
    seq: answer.seq,
  }));
  answers.sort((left, right) => (left.key < right.key ? -1 : 1));
  return {
    answers,
    refused: [...memo.refused].sort(),
    called: Object.fromEntries(memo.called),
    complete: Object.fromEntries(complete),
    latest: runs.at(-1)?.ref.run,
  };
}

const without = (runs: readonly Recorded[], gone: readonly RunRef[]): Recorded[] =>
  runs.filter(({ ref }) => !gone.some(({ run }) => run === ref.run));

describe('what may be removed', () => {
  it('never changes what the next run reuses or resumes from, however far the removal gets', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(anyFacts, { minLength: 1, maxLength: 7 }), fc.nat(7), async (histories, keep) => {
        const runs = histories.map((facts, number) => ({ ref: runRef(number + 1), facts }));
        const store = await storeOf(runs);
        const before = await serves(store);
        const { remove } = await planCollection(store, { ...WISH, keep });
        for (let done = 1; done <= remove.length; done++)
          expect(await serves(await storeOf(without(runs, remove.slice(0, done))))).toEqual(before);
      }),
      { numRuns: 1000 },
    );
  });

  it('is a run whose results were all replaced later', async () => {
    const runs = [
      whole(1, call('main/ask#0', 'ebb')),
      whole(2, [{ type: 'memo.invalidated', selector: '@ask', keys: [callKeyOf('ebb')] }], call('main/ask#0', 'ebb')),
      whole(3, call('main/ask#0', 'ebb', { outcome: 'reused' })),
    ];
    const { remove } = await planCollection(await storeOf(runs), WISH);
    expect(remove).toEqual([runRef(1)]);
  });

  it('is not a run that invalidated what an earlier one still holds', async () => {
    const runs = [
      whole(1, call('main/ask#0', 'ebb'), call('main/ask#1', 'flow')),
      whole(2, [{ type: 'memo.invalidated', selector: '@ask', keys: [callKeyOf('ebb')] }]),
      whole(3),
    ];
    const { remove, protectedRuns } = await planCollection(await storeOf(runs), WISH);
    expect(remove).toEqual([]);
    expect(protectedRuns.map(({ reason }) => reason)).toEqual(['results', 'revokes', 'latest']);
  });

  it('is neither a run that is being written nor one whose results a remaining run reused', async () => {
    const served: Fact[] = call('main/ask#0', 'ebb').map((fact): Fact => fact);
    const reused: Fact = {
      type: 'call.reused',
      key: callKeyOf('ebb'),
      op: opPath('main/ask#0'),
      fn: 'ask',
      from: { run: runRef(1).run, seq: 3 as never },
    };
    const runs = [
      whole(1, served),
      whole(2, inside('main/ask#0', { kind: 'exe', name: 'ask', labels: ['llm'] }, [reused])),
      whole(3, [{ type: 'memo.reset', reason: 'fresh' }], call('main/ask#0', 'ebb')),
      whole(4),
    ];
    const store = await storeOf(runs);
    await store.create(runRef(5)); // it is not closed
    const recent = await planCollection(store, { ...WISH, keep: 4 });
    expect(recent).toEqual({ remove: [], protectedRuns: [{ ref: runRef(1), reason: 'reused' }] });
    const none = await planCollection(store, { ...WISH, keep: 0 });
    expect(none.protectedRuns).toContainEqual({ ref: runRef(5), reason: 'running' });
    expect(none.remove).toContainEqual(runRef(1));
  });

  it.each<[string, Partial<Fact & { type: 'run.started' }>]>([
    ['goes on with', { resume: { run: runRef(1).run, seq: 0 as never } }],
    ['was restarted from', { restartOf: runRef(1).run }],
    ['was started by', { parent: { run: runRef(1).run, op: opPath('main/watch#0') } as never }],
  ])('is not a run that a staying one %s', async (_tie, tie) => {
    const next: Recorded = { ref: runRef(2), facts: [{ ...started(runRef(2)), ...tie } as Fact, finished()] };
    const { remove, protectedRuns } = await planCollection(await storeOf([whole(1), next, whole(3)]), { ...WISH, keep: 2 });
    expect({ remove, protectedRuns }).toEqual({ remove: [], protectedRuns: [{ ref: runRef(1), reason: 'resume' }] });
  });

  it('is not a run that another script was forked from', async () => {
    const other = runRef(9, workflowOf('other.mld'));
    const lender = [
      whole(1, call('main/ask#0', 'ebb')),
      whole(2, [{ type: 'memo.reset', reason: 'fresh' }]),
      whole(3, call('main/ask#0', 'flow')),
    ];
    const forked = { ...started(other), forks: [{ workflow: JOB, run: runRef(2).run, seq: 0 as never }] } as Fact;
    const plain = await planCollection(await storeOf(lender), WISH);
    expect(plain.remove).toEqual([runRef(1), runRef(2)]);
    const store = await storeOf([...lender, { ref: other, facts: [forked, finished()] }]);
    expect((await planCollection(store, WISH)).remove).toEqual([]);
  });

  it('is not the run that a fork began at, even when it has no results', async () => {
    const other = runRef(9, workflowOf('other.mld'));
    const lender = [whole(1, call('main/ask#0', 'ebb')), whole(2), whole(3)];
    expect((await planCollection(await storeOf(lender), WISH)).remove).toEqual([runRef(2)]);
    const forked = { ...started(other), forks: [{ workflow: JOB, run: runRef(2).run, seq: 0 as never }] } as Fact;
    const { protectedRuns } = await planCollection(await storeOf([...lender, { ref: other, facts: [forked, finished()] }]), WISH);
    expect(protectedRuns).toContainEqual({ ref: runRef(2), reason: 'fork' });
  });

  it('is all but the latest and the running where needed runs may go; never what would revive an invalidated result', async () => {
    const runs = [whole(1, call('main/ask#0', 'ebb')), whole(2), whole(3)];
    expect((await planCollection(await storeOf(runs), { ...WISH, needed: 'goes' })).remove).toEqual([runRef(1), runRef(2)]);
  });

  it.each<[string, Fact[], Partial<Fact & { type: 'run.finished' }>]>([
    ['rejection', [{ type: 'result.rejected', key: callKeyOf('ebb'), from: EBB_OF_2, op: opPath('main/ask#0') }], { marked: 'rejected' }],
    ['clean', [{ type: 'memo.reset', reason: 'clean' }], { cleaned: true }],
  ])('counts no %s as a run: the run before it stays the latest, and what it says stays with that run', async (_record, facts, end) => {
    const record: Recorded = { ref: runRef(3), facts: [started(runRef(3)), ...facts, { ...finished(), ...end } as Fact] };
    const runs = [whole(1, call('main/ask#0', 'ebb')), whole(2, call('main/ask#0', 'ebb')), record];
    const latest = await planCollection(await storeOf(runs), { ...WISH, keep: 1, needed: 'goes' });
    expect(latest).toEqual({ remove: [runRef(1)], protectedRuns: [] });
    const none = await planCollection(await storeOf(runs), { ...WISH, needed: 'goes' });
    expect(none.protectedRuns).toEqual([
      { ref: runRef(2), reason: 'latest' },
      { ref: runRef(3), reason: 'revokes' },
    ]);
  });

  it('is nothing without a number or an age', async () => {
    const store = await storeOf([whole(1), whole(2)]);
    expect(await planCollection(store, { ...WISH, keep: undefined })).toEqual({ remove: [], protectedRuns: [] });
  });
});
