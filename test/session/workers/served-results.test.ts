/** The recorded results that a worker reuses for calls inside an offered one. team-store.md 7.2. */
import { beforeEach, describe, expect, it } from 'vitest';
import { JournalError } from '../../../journal/errors.js';
import type { Fact } from '../../../journal/event.js';
import { opPath, runIdAt, seqOf, startOf, type CallKey, type RunRef } from '../../../journal/ids.js';
import type { RecordedResult } from '../../../journal/storage/claims.js';
import { openMemoryStore } from '../../../journal/storage/memory-store.js';
import type { Journal, JournalStore } from '../../../journal/store.js';
import { servedResults } from '../../../src/session/workers/served-results.js';
import { call, callKeyOf, finished, JOB, runRef, started } from '../../support/written-runs.js';

const ASKED = callKeyOf('q1');
/** The run that is served. */
const SERVED = runRef(5);
const FRESH: Fact = { type: 'memo.reset', reason: 'fresh' };
const INVALIDATED: Fact = { type: 'memo.invalidated', selector: '@ask', keys: [ASKED] };
let store: JournalStore;
let reads: number;

beforeEach(() => {
  store = openMemoryStore();
  reads = 0;
  const { runs } = store;
  store.runs = async (workflow) => {
    reads++;
    return runs.call(store, workflow);
  };
});

async function begin(ref: RunRef, ...facts: readonly Fact[]): Promise<Journal> {
  const journal = await store.create(ref);
  for (const fact of [started(ref), ...facts]) await journal.append(fact);
  return journal;
}

/** Records a call in a run, and returns the place of its result. */
async function answer(journal: Journal, argument = 'q1'): Promise<RecordedResult> {
  let result: RecordedResult | undefined;
  for (const fact of call('main/ask#0', argument)) {
    const { seq, position } = await journal.append(fact);
    if (fact.type === 'call.completed') result = { run: journal.ref.run, seq, position };
  }
  if (result === undefined) throw new Error('the call has a result');
  return result;
}

async function record(ref: RunRef): Promise<RecordedResult> {
  const journal = await begin(ref);
  const result = await answer(journal);
  await journal.append(finished());
  await journal.close();
  return result;
}

const mayReuse = (result: RecordedResult, key: CallKey = ASKED): Promise<boolean> => servedResults(store, SERVED).mayReuse(key, result);

describe('a result that was recorded before the run that a worker serves', () => {
  let old: RecordedResult;

  beforeEach(async () => {
    old = await record(runRef(1));
  });

  it('is reused', async () => {
    await begin(SERVED);
    expect(await mayReuse(old)).toBe(true);
  });

  it.each<[string, Fact]>([
    ['began with --fresh', FRESH],
    ['has invalidated it', INVALIDATED],
  ])('is not reused where that run %s', async (_, fact) => {
    await begin(SERVED, fact);
    expect(await mayReuse(old)).toBe(false);
  });

  it.each<[string, Fact]>([
    ['a run in between began with --fresh', FRESH],
    ['a run in between has invalidated it', INVALIDATED],
    ['it was rejected', { type: 'result.rejected', key: ASKED, from: { run: runRef(1).run, seq: seqOf(3) }, op: opPath('main/ask#0') }],
  ])('is not reused where %s', async (_, fact) => {
    await begin(runRef(3), fact);
    await begin(SERVED);
    expect(await mayReuse(old)).toBe(false);
  });

  it('is reused where only a run of a colleague that began later has --fresh (SERVED-RESULTS-1)', async () => {
    await begin(SERVED);
    await begin(runRef(6), FRESH);
    expect(await mayReuse(old)).toBe(true);
  });

  it('is reused where only another one was invalidated', async () => {
    await begin(SERVED, { ...INVALIDATED, keys: [callKeyOf('q2')] });
    expect(await mayReuse(old)).toBe(true);
  });
});

describe('a result that was recorded since, also by a run with --fresh', () => {
  it('is reused where another worker of that run has it', async () => {
    await record(runRef(1));
    await begin(SERVED, FRESH);
    const elsewhere = await answer(await begin({ workflow: JOB, run: runIdAt(startOf(SERVED.run) + 1, '0001') }));
    expect(await mayReuse(elsewhere)).toBe(true);
  });

  it('is reused where a run that was in flight then has it, before the journals are read and after', async () => {
    const beside = await begin(runRef(3));
    const before = await answer(beside);
    await begin(SERVED, { ...FRESH, during: [{ run: beside.ref.run, seq: before.seq }] });
    expect(await mayReuse(before)).toBe(false);
    const results = servedResults(store, SERVED);
    const since = await answer(beside, 'q2');
    expect(await results.mayReuse(callKeyOf('q2'), since)).toBe(true);
    expect(await results.mayReuse(callKeyOf('q3'), await answer(beside, 'q3'))).toBe(true);
  });
});

it('reads the journals once, and again where the store was away (SERVED-RESULTS-2)', async () => {
  const old = await record(runRef(1));
  await begin(SERVED, FRESH);
  const { runs } = store;
  store.runs = async () => {
    throw new JournalError('STORE_UNREACHABLE', 'the server restarts');
  };
  const results = servedResults(store, SERVED);
  await expect(results.mayReuse(ASKED, old)).rejects.toThrow('the server restarts');
  store.runs = runs;
  reads = 0;
  expect(await Promise.all([results.mayReuse(ASKED, old), results.mayReuse(ASKED, old)])).toEqual([false, false]);
  expect(await results.mayReuse(ASKED, old)).toBe(false);
  expect(reads).toBe(1);
});
