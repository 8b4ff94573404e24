import { describe, expect, it } from 'vitest';
import type { Fact } from '../../../journal/event.js';
import { opPath, type BlobId } from '../../../journal/ids.js';
import { openMemoryStore } from '../../../journal/storage/memory-store.js';
import { fold } from '../../../replay/fold/projection.js';
import { legality, verifyRun } from '../../../replay/reports/audit/verify.js';
import { call, entries, finished, inside, loop, run, runRef, started } from '../../support/written-runs.js';

const [BEGIN, ASKED, ANSWERED, END] = call('main/ask#0', 'ebb') as [Fact, Fact, Fact, Fact];
const [, OTHER, OTHER_ANSWERED] = call('main/ask#0', 'flow') as [Fact, Fact, Fact, Fact];
const S = started(runRef(1));
const DENIED: Fact = {
  type: 'call.failed',
  key: (ASKED as Fact & { type: 'call.started' }).key,
  op: opPath('main/ask#0'),
  message: 'no',
  denied: true,
  elapsedMs: 0,
};
const AGAIN: Fact = { ...DENIED, denied: undefined, class: 'overloaded', retryInMs: 5 } as unknown as Fact;
const RETRIED: Fact = { ...ASKED, try: 2 } as Fact;
const LOOK: Fact = { type: 'op.started', op: opPath('main/ask#0/look#0'), kind: 'exe' };
const LOOKED: Fact = { type: 'op.finished', op: opPath('main/ask#0/look#0'), outcome: 'ok' };
/** As a salvage run has it: the operation, and what its earlier attempts were, are in the sealed run. */
const BEGUN = { begun: { run: runRef(1).run, seq: 7 } };
const op = (path: string): Fact => ({ type: 'op.started', op: opPath(path), kind: 'for' });
const done = (path: string): Fact => ({ type: 'op.finished', op: opPath(path), outcome: 'ok' });

describe('a possible history', () => {
  it.each<[string, Fact[]]>([
    ['a whole run', [S, BEGIN, ASKED, ANSWERED, END, finished()]],
    ['a crash at any point', [S, BEGIN, ASKED]],
    ['a call that is denied before it starts', [S, BEGIN, DENIED, END, finished()]],
    ['a call that is denied after it started', [S, BEGIN, ASKED, DENIED, END, finished()]],
    ['a call that a guard has executed again', [S, BEGIN, ASKED, DENIED, OTHER, OTHER_ANSWERED, END, finished()]],
    [
      'a call that fails twice, whose attempts do the same inside it',
      [S, BEGIN, ASKED, LOOK, LOOKED, AGAIN, RETRIED, LOOK, LOOKED, AGAIN, { ...RETRIED, try: 3 } as Fact, ANSWERED, END, finished()],
    ],
    ['an attempt that ran out of time and left something in flight', [S, BEGIN, ASKED, LOOK, AGAIN, RETRIED, ANSWERED, END, finished()]],
    [
      'a call that is not executed',
      [S, BEGIN, { ...DENIED, denied: undefined, class: 'upstream', fn: 'ask' } as unknown as Fact, END, finished()],
    ],
    ['a failed run that left a call in flight', [S, BEGIN, ASKED, finished('failed')]],
    [
      'a salvage run, whose calls another run began',
      [
        { ...S, salvages: runRef(1).run } as Fact,
        { ...ASKED, ...BEGUN } as Fact,
        ANSWERED,
        { ...finished(), status: 'interrupted' } as Fact,
      ],
    ],
    [
      'a salvage run of a second attempt',
      [
        { ...S, salvages: runRef(1).run } as Fact,
        { ...RETRIED, ...BEGUN } as Fact,
        ANSWERED,
        { ...finished(), status: 'interrupted' } as Fact,
      ],
    ],
    [
      'operations in parallel',
      [
        S,
        op('main/for#0'),
        op('main/for#0[0]'),
        op('main/for#0[1]'),
        done('main/for#0[0]'),
        done('main/for#0[1]'),
        done('main/for#0'),
        finished(),
      ],
    ],
  ])('is %s', (_what, facts) => {
    expect(fold(legality, entries(runRef(1), facts)).violations).toEqual([]);
  });

  it.each<[string, string, Fact[]]>([
    ['V1', 'no beginning', [BEGIN]],
    ['V1', 'two beginnings', [S, S]],
    ['V1', 'something after the end', [S, finished(), BEGIN]],
    ['V2', 'an operation that starts twice', [S, op('main/for#0'), done('main/for#0'), op('main/for#0')]],
    ['V2', 'an operation that ends twice', [S, op('main/for#0'), done('main/for#0'), done('main/for#0')]],
    ['V2', 'an operation that never started', [S, done('main/for#0')]],
    ['V2', 'an operation below one that has ended', [S, op('main/for#0'), done('main/for#0'), op('main/for#0[0]')]],
    ['V2', 'an operation that ends before what is in it', [S, op('main/for#0'), op('main/for#0[0]/x#0'), done('main/for#0')]],
    ['V3', 'a result of no call', [S, BEGIN, ANSWERED]],
    ['V3', 'a result of another call', [S, BEGIN, ASKED, OTHER_ANSWERED]],
    ['V3', 'a second attempt behind none that failed', [S, BEGIN, RETRIED, ANSWERED, END]],
    ['V3', 'a second attempt of another call', [S, BEGIN, ASKED, AGAIN, { ...OTHER, try: 2 } as Fact]],
    ['V3', 'two attempts at once', [S, BEGIN, ASKED, RETRIED]],
    ['V2', 'an operation that starts twice in one attempt', [S, BEGIN, ASKED, LOOK, LOOKED, LOOK]],
    ['V3', 'a second result', [S, BEGIN, ASKED, ANSWERED, ANSWERED]],
    ['V4', 'a call in no operation', [S, ASKED, ANSWERED]],
    ['V4', 'a completed run with an operation in flight', [S, op('main/for#0'), finished()]],
    ['V4', 'a completed run with a call in flight', [S, BEGIN, ASKED, END, finished()]],
  ])('is not (%s) %s', (rule, _what, facts) => {
    expect(fold(legality, entries(runRef(1), facts)).violations.map((violation) => violation.rule)).toContain(rule);
  });

  it('has no gaps in its numbers', () => {
    const gap = run(runRef(1), [{ type: 'checkpoint.reached', name: 'a' }]).filter(({ event }) => event.seq !== 1);
    expect(fold(legality, gap).violations).toMatchObject([{ rule: 'V1', seq: 2 }]);
  });
});

describe('verifying a recorded run', () => {
  async function record(...facts: readonly Fact[]) {
    const store = openMemoryStore();
    const journal = await store.create(runRef(1));
    for (const fact of facts) await journal.append(fact);
    return store;
  }

  it('finds nothing in a good one', async () => {
    const store = await record(
      S,
      ...inside(
        'main/survey#0',
        { kind: 'exe' },
        loop('main/survey#0/for#0', ['a', 'b'], (item, at) => call(`${at}/ask#0`, item)),
      ),
      finished(),
    );
    expect(await verifyRun(store, runRef(1))).toEqual({ ok: true, ref: runRef(1), events: 18, defects: [], violations: [] });
  });

  it('misses a payload that is gone', async () => {
    const blob = `sha256:${'b'.repeat(64)}` as BlobId;
    const answered = { ...ANSWERED, result: { blob, bytes: 9 } } as Fact;
    const store = await record(S, BEGIN, ASKED, answered, END, finished());
    expect(await verifyRun(store, runRef(1))).toMatchObject({
      ok: false,
      violations: [{ rule: 'V5', seq: 3, message: expect.stringContaining(blob) }],
    });
    const wrote = { ...ANSWERED, files: [{ path: 'a.md', blob, bytes: 9, mode: 0o644 }] } as Fact;
    expect(await verifyRun(await record(S, BEGIN, ASKED, wrote, END, finished()), runRef(1))).toMatchObject({
      ok: false,
      violations: [{ rule: 'V5', seq: 3, message: expect.stringContaining(blob) }],
    });
    const kept = await store.putBlob('source text');
    const source: Fact = { type: 'source.loaded', path: 'job.mld', blob: kept.blob, role: 'script' };
    const whole = await store.create(runRef(2));
    for (const fact of [started(runRef(2)), source, finished()]) await whole.append(fact);
    expect(await verifyRun(store, runRef(2))).toMatchObject({ violations: [], ok: true });
  });
});
