/** The pace of 2,000 calls against limits that change while they run, in virtual time on the real attempts and lanes. calls.md 12.5. */
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';

import type { Fact, JournalEvent } from '../../../journal/event.js';
import { callHistory } from '../../../replay/fold/call-history.js';
import type { Place } from '../../../replay/fold/projection.js';
import { runCalls, type PlannedCall, type RunOptions, type VirtualRun } from './virtual-calls.js';
import { VirtualProvider, type ProviderLimits, type ProviderOptions } from './virtual-provider.js';

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

/** The fold of the pace asks for no place. */
const PLACE = {} as Place;
const CALLS = 2_000;
/** Milliseconds from the first request to the change of the limit. */
const CHANGES_MS = 100_000;

function providerWith(options: Omit<ProviderOptions, 'random'>): VirtualProvider {
  return new VirtualProvider({ ...options, random: generator(7) });
}

function callAll(provider: VirtualProvider, calls: number, options: RunOptions = {}): Promise<VirtualRun> {
  const planned: PlannedCall = { fn: 'ask', attempt: () => provider.request(performance.now()) };
  return runCalls(
    Array.from({ length: calls }, () => planned),
    { parallel: 200, ...options },
  );
}

function generator(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 2 ** 32;
  };
}

async function check(
  options: Omit<ProviderOptions, 'random'>,
  { rejected, throughput }: { readonly rejected: number; readonly throughput: number },
): Promise<void> {
  const provider = providerWith(options);
  const run = await callAll(provider, CALLS);
  expect(run).toMatchObject({ failed: 0, results: CALLS });
  expect(provider.rejectedShare).toBeLessThanOrEqual(rejected);
  expect(CALLS / provider.possible(0, run.lastResultMs)).toBeGreaterThanOrEqual(throughput);
}

describe('a limit that is not announced', () => {
  it.each<[string, ProviderLimits, number]>([
    ['3 at once', { concurrency: 3 }, 0.85],
    ['50 at once', { concurrency: 50 }, 0.85],
    ['1 a second', { perSecond: 1 }, 0.75],
    ['5 a second', { perSecond: 5 }, 0.75],
    ['5 a second, with the exact time', { perSecond: 5, retryAfter: 'ms' }, 0.75],
    ['1 a second, without a time', { perSecond: 1, retryAfter: 'none' }, 0.75],
    ['2 a second, without a time', { perSecond: 2, retryAfter: 'none' }, 0.75],
    ['5 a second, without a time', { perSecond: 5, retryAfter: 'none' }, 0.75],
    ['10 a second, without a time', { perSecond: 10, retryAfter: 'none' }, 0.75],
    ['60 a minute', { requestsPerMinute: 60 }, 0.75],
    ['60 a minute, without a time', { requestsPerMinute: 60, retryAfter: 'none' }, 0.75],
    ['300 a minute, without a time', { requestsPerMinute: 300, retryAfter: 'none' }, 0.75],
    ['100,000 tokens a minute', { tokensPerMinute: 100_000 }, 0.75],
  ])('of %s', async (_, limits, throughput) => check({ limits }, { rejected: 0.03, throughput }));
});

it('a limit that each reply tells rejects next to nothing', async () =>
  check({ limits: { requestsPerMinute: 300, tellsHeaders: true } }, { rejected: 0.015, throughput: 0.9 }));

describe('a limit that rises fivefold', () => {
  it.each<[string, ProviderLimits, ProviderLimits]>([
    ['of attempts at once', { concurrency: 10 }, { concurrency: 50 }],
    ['of a low rate', { perSecond: 1 }, { perSecond: 5 }],
    ['of a low rate, without a time', { perSecond: 1, retryAfter: 'none' }, { perSecond: 5 }],
    ['of a rate', { perSecond: 4 }, { perSecond: 20 }],
    ['of a rate, with the exact time', { perSecond: 4, retryAfter: 'ms' }, { perSecond: 20 }],
    ['of requests a minute', { requestsPerMinute: 60 }, { requestsPerMinute: 300 }],
    ['of tokens a minute', { tokensPerMinute: 60_000 }, { tokensPerMinute: 300_000 }],
  ])('%s', async (_, limits, later) => check({ limits, changes: [{ atMs: CHANGES_MS, ...later }] }, { rejected: 0.07, throughput: 0.65 }));
});

describe('a limit that falls to a third', () => {
  it.each<[string, ProviderLimits, ProviderLimits, number]>([
    ['of attempts at once', { concurrency: 30 }, { concurrency: 10 }, 0.85],
    ['of a rate', { perSecond: 5 }, { perSecond: 5 / 3 }, 0.75],
    ['of requests a minute', { requestsPerMinute: 300 }, { requestsPerMinute: 100 }, 0.75],
  ])('%s', async (_, limits, later, throughput) =>
    check({ limits, changes: [{ atMs: CHANGES_MS, ...later }] }, { rejected: 0.03, throughput }),
  );
});

it('a limit that rises and falls again loses no call', async () =>
  check(
    {
      limits: { concurrency: 10 },
      changes: [
        { atMs: CHANGES_MS, concurrency: 50 },
        { atMs: 1.5 * CHANGES_MS, concurrency: 10 },
      ],
    },
    { rejected: 0.07, throughput: 0.65 },
  ));

describe('an allowance that is used up', () => {
  const quota = { calls: 500, resetsInMs: 300_000 };

  it('is waited out as often as it must be', async () => {
    const provider = providerWith({ limits: { concurrency: 20, quota } });
    const run = await callAll(provider, CALLS, { settings: { waitQuotaMs: 600_000 } });
    expect(run).toMatchObject({ failed: 0, results: CALLS, isPaused: false });
    expect(provider.rejectedShare).toBeLessThanOrEqual(0.03);
    expect(run.elapsedMs).toBeLessThan(3 * quota.resetsInMs + 120_000);
    const events = run.facts.map(({ type }) => type).filter((type) => type.startsWith('dispatch.'));
    expect(events).toEqual([1, 2, 3].flatMap(() => ['dispatch.stopped', 'dispatch.resumed']));
  });

  it.each([
    ['that is soon', 1000, 10],
    ['that is far', 250_000, 2],
  ])('and gives nothing after each reset %s is not waited for without end', async (_, resetsInMs, waits) => {
    const never: PlannedCall = { fn: 'ask', attempt: () => ({ ms: 50, class: 'quota', resetsInMs }) };
    const run = await runCalls([never, never], { settings: { waitQuotaMs: 600_000 } });
    expect(run).toMatchObject({ failed: 0, results: 0, isPaused: true });
    const events = run.facts.map(({ type }) => type).filter((type) => type.startsWith('dispatch.'));
    expect(events).toEqual([...Array.from({ length: waits }, () => ['dispatch.stopped', 'dispatch.resumed']).flat(), 'dispatch.stopped']);
  });

  it('pauses the run where its reset is further away than the run waits', async () => {
    const provider = providerWith({ limits: { concurrency: 20, quota } });
    const run = await callAll(provider, CALLS, { settings: { waitQuotaMs: 60_000 } });
    expect(run).toMatchObject({ failed: 0, isPaused: true });
    expect(provider.answered).toBe(run.results);
  });
});

describe('after a kill', () => {
  const paceOf = (fact: Fact | undefined): object | undefined =>
    fact?.type === 'lane.changed' ? { ceiling: fact.ceiling, gapMs: fact.gapMs } : undefined;

  it.each<[string, ProviderLimits]>([
    ['attempts at once', { concurrency: 5 }],
    ['a rate', { perSecond: 2 }],
    ['requests a minute', { requestsPerMinute: 60 }],
  ])('the pace starts where it was: %s', async (_, limits) => {
    const provider = providerWith({ limits });
    const killed = await callAll(provider, CALLS, { killAtMs: 300_000 });
    vi.clearAllTimers(); // what the dead process was about to do
    const rejectedBefore = provider.rejected;
    const history = killed.facts.reduce(
      (state, fact) => callHistory.apply(state, { ...fact, ts: new Date().toISOString() } as JournalEvent, PLACE),
      callHistory.initial(),
    );
    const resumed = await callAll(provider, CALLS - killed.results, { learned: history });
    expect(resumed).toMatchObject({ failed: 0, results: CALLS - killed.results });
    expect(paceOf(resumed.facts.find((fact) => fact.type === 'lane.changed'))).toEqual(
      paceOf(killed.facts.findLast((fact) => fact.type === 'lane.changed')),
    );
    expect(provider.rejectedShare).toBeLessThanOrEqual(0.03);
    expect(provider.rejected - rejectedBefore).toBeLessThanOrEqual((CALLS - killed.results) * 0.03);
  });
});
