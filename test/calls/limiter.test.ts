/** The pace that a lane learns against limits that are not announced, in virtual time. calls.md 12.5. */
import { describe, expect, it } from 'vitest';

import type { Start } from '../../src/calls/lanes/lane-limits.js';
import { Limiter } from '../../src/calls/lanes/limiter.js';

interface Provider {
  /** Attempts at once. */
  readonly concurrency?: (nowMs: number) => number;
  /** Starts a second, by a token bucket that holds one second of them. */
  readonly perSecond?: (nowMs: number) => number;
}

interface Outcome {
  readonly rejected: number;
  readonly attempts: number;
  readonly elapsedMs: number;
  readonly answeredMs: readonly number[];
}

const LATENCY_MS = 3_000;
const REJECTION_MS = 50;

interface Event {
  readonly atMs: number;
  readonly occurs: () => void;
}

interface Work {
  readonly calls?: number;
  readonly seed?: number;
  readonly max?: number;
  readonly latencyMs?: number;
  readonly rejectionMs?: number;
  /** Requests and replies are on their way for up to so long, in which they overtake each other. */
  readonly wayMs?: (nowMs: number) => number;
}

/** 2,000 calls against the provider; a rejected one is the first to start again. */
function simulate(
  provider: Provider,
  { calls = 2_000, seed = 1, max = 1_000, latencyMs = LATENCY_MS, rejectionMs = REJECTION_MS, wayMs }: Work = {},
): Outcome {
  const random = generator(seed);
  const limiter = new Limiter({ max, backoff: { firstMs: 1_000, maxMs: 60_000 }, random });
  const events: Event[] = [];
  const onItsWay = (atMs: number, occurs: () => void): void =>
    void events.push({ atMs: atMs + (wayMs ? wayMs(atMs) * random() : 0), occurs });
  const answeredMs: number[] = [];
  let [nowMs, waiting, inFlight, attempts, rejected, bucketAtMs] = [0, calls, 0, 0, 0, 0];
  let bucket: number | undefined;
  let waited: 'for the gap' | 'otherwise' | 'not' = 'not';
  const arrives = (start: ReturnType<Limiter['start']>): void => {
    const refusal = refuses(nowMs);
    if (refusal)
      return onItsWay(nowMs + rejectionMs, () => {
        rejected++;
        waiting++;
        limiter.rejected(start, nowMs, refusal.retryAfterMs);
      });
    inFlight++;
    const ends = (): void => {
      inFlight--;
      onItsWay(nowMs, () => {
        answeredMs.push(nowMs);
        limiter.accepted(start, nowMs);
      });
    };
    events.push({ atMs: nowMs + latencyMs * (0.6 + 0.8 * random()), occurs: ends });
  };
  while (answeredMs.length < calls) {
    const waitMs = waiting > 0 ? limiter.waitMs(nowMs) : Number.POSITIVE_INFINITY;
    if (waitMs === 0) {
      const start = limiter.start(nowMs, waited);
      waited = 'not';
      waiting--;
      attempts++;
      onItsWay(nowMs, () => arrives(start));
      continue;
    }
    events.sort((left, right) => left.atMs - right.atMs);
    const next = events[0];
    if (next && next.atMs <= nowMs + waitMs) {
      events.shift();
      nowMs = next.atMs;
      waited = 'otherwise';
      next.occurs();
    } else {
      nowMs += waitMs;
      waited = 'for the gap';
    }
  }
  return { rejected, attempts, elapsedMs: nowMs, answeredMs };

  function refuses(atMs: number): { retryAfterMs?: number } | undefined {
    const most = provider.concurrency?.(atMs);
    if (most !== undefined && inFlight >= most) return {};
    const rate = provider.perSecond?.(atMs);
    if (rate === undefined) return undefined;
    const size = Math.max(1, rate);
    bucket = Math.min(size, (bucket ?? size) + ((atMs - bucketAtMs) / 1000) * rate);
    bucketAtMs = atMs;
    if (bucket < 1) return { retryAfterMs: Math.ceil((1 - bucket) / rate) * 1000 };
    bucket--;
    return undefined;
  }
}

function generator(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 2 ** 32;
  };
}

describe('a limit of attempts at once', () => {
  it.each([3, 5, 10, 20, 50])('of %i', (most) => {
    const { rejected, attempts, elapsedMs } = simulate({ concurrency: () => most });
    const possibleMs = (2_000 / most) * LATENCY_MS;
    expect(rejected / attempts).toBeLessThanOrEqual(0.03);
    expect(possibleMs / elapsedMs).toBeGreaterThanOrEqual(0.85);
  });
});

describe('a limit of starts a second', () => {
  it.each([1, 2, 5])('of %i', (rate) => {
    const { rejected, attempts, elapsedMs } = simulate({ perSecond: () => rate });
    const possibleMs = (2_000 / rate) * 1000;
    expect(rejected / attempts).toBeLessThanOrEqual(0.03);
    expect(possibleMs / elapsedMs).toBeGreaterThanOrEqual(0.75);
  });
});

describe('a limit that changes', () => {
  const halfMs = 100_000;
  it.each([
    ['falls to a third', { concurrency: (ms: number) => (ms < halfMs ? 30 : 10) }, 0.03, 0.85],
    ['rises fivefold', { concurrency: (ms: number) => (ms < halfMs ? 5 : 25) }, 0.07, 0.65],
  ] as const)('%s', (_, provider, share, throughput) => {
    const { rejected, attempts, elapsedMs } = simulate(provider);
    let possible = 0;
    for (let ms = 0; ms < elapsedMs; ms += 1_000) possible += provider.concurrency(ms) / (LATENCY_MS / 1000);
    expect(rejected / attempts).toBeLessThanOrEqual(share);
    expect(2_000 / possible).toBeGreaterThanOrEqual(throughput);
  });
  it.each([
    ['falls to a third', { perSecond: (ms: number) => (ms < halfMs ? 5 : 5 / 3) }, 0.03, 0.75],
    ['rises fivefold', { perSecond: (ms: number) => (ms < halfMs ? 1 : 5) }, 0.07, 0.65],
  ] as const)('in its rate %s', (_, provider, share, throughput) => {
    const { rejected, attempts, elapsedMs } = simulate(provider);
    let possible = 0;
    for (let ms = 0; ms < elapsedMs; ms += 1_000) possible += provider.perSecond(ms);
    expect(rejected / attempts).toBeLessThanOrEqual(share);
    expect(2_000 / possible).toBeGreaterThanOrEqual(throughput);
  });
});

describe('a limit of attempts at once, with requests and replies that are on their way', () => {
  const latencyMs = 400;
  const paths = { latencyMs, rejectionMs: 5 };
  const changesMs = 20_000;
  const seeds = Array.from({ length: 40 }, (_, n) => n + 1);

  it.each<[string, number, (ms: number) => number, number, number]>([
    ['of 10', 12, () => 10, 0.85, 0.02],
    ['of 50', 12, () => 50, 0.85, 0.02],
    ['that rises fivefold', 12, (ms) => (ms < changesMs ? 10 : 50), 0.7, 0.03],
    ['that rises fivefold from 4', 12, (ms) => (ms < changesMs ? 4 : 20), 0.7, 0.03],
    ['that falls to a fifth', 12, (ms) => (ms < changesMs / 4 ? 50 : 10), 0.8, 0.03],
    ['of 20', 30, () => 20, 0.85, 0.02],
    ['of 50', 30, () => 50, 0.83, 0.03],
    ['that rises fivefold', 30, (ms) => (ms < changesMs ? 10 : 50), 0.7, 0.03],
    ['that falls to a fifth', 30, (ms) => (ms < changesMs / 4 ? 50 : 10), 0.8, 0.04],
    ['of 50', 60, () => 50, 0.7, 0.05],
    ['that rises fivefold', 60, (ms) => (ms < changesMs ? 10 : 50), 0.59, 0.07],
  ])('%s, for up to %i ms', (_, wayMs, concurrency, throughput, share) => {
    for (const seed of seeds) {
      const { rejected, attempts, elapsedMs } = simulate({ concurrency }, { ...paths, wayMs: () => wayMs, seed });
      let possible = 0;
      for (let ms = 0; ms < elapsedMs; ms += 10) possible += (concurrency(ms) / latencyMs) * 10;
      expect.soft(2_000 / possible, `throughput with seed ${seed}`).toBeGreaterThanOrEqual(throughput);
      expect.soft(rejected / attempts, `rejected with seed ${seed}`).toBeLessThanOrEqual(share);
    }
  });
});

describe('a machine that was busy for a while, so that requests and replies took seconds', () => {
  const latencyMs = 400;
  const busyUntilMs = 15_000;
  const wayMs = (nowMs: number): number => (nowMs < busyUntilMs ? 400 * ((Math.floor(nowMs / 1_500) * 7) % 10) : 6);

  it.each([
    [10, 0.9],
    [50, 0.9],
  ])('comes back to a limit of %i', (most, throughput) => {
    for (let seed = 1; seed <= 40; seed++) {
      const { answeredMs, elapsedMs } = simulate({ concurrency: () => most }, { calls: most * 60, latencyMs, rejectionMs: 5, wayMs, seed });
      const calmMs = busyUntilMs + 4_000;
      const possible = (most / latencyMs) * (elapsedMs - calmMs);
      const count = answeredMs.filter((atMs) => atMs > calmMs).length;
      expect.soft(count / possible, `throughput with seed ${seed}`).toBeGreaterThanOrEqual(throughput);
    }
  });
});

describe('a limit that was not met', () => {
  const began = (): Limiter => new Limiter({ max: 1_000, backoff: { firstMs: 1_000, maxMs: 60_000 }, random: () => 0.5 });

  it('stays as it is while calls come one after the other', () => {
    const limiter = began();
    for (let nowMs = 0; nowMs < 500; nowMs++) expect(limiter.accepted(limiter.start(nowMs, 'not'), nowMs)).toBeUndefined();
    expect(limiter.limits).toEqual({ limit: 20 });
  });

  it('grows with each result while more than half of it is in use', () => {
    const limiter = began();
    const starts = Array.from({ length: 20 }, () => limiter.start(0, 'not'));
    const changes = starts.map((start) => limiter.accepted(start, 1)).filter((change) => change !== undefined);
    expect(changes.map(({ limit, why }) => [limit, why])).toEqual([
      [23, 'grew'],
      [26, 'grew'],
    ]);
  });
});

describe('what a lane has learned', () => {
  const backoff = { firstMs: 1_000, maxMs: 60_000 };

  it('is where a later run begins', () => {
    const learned = { limit: 7, ceiling: 7, gapMs: 200, heldUntilMs: 5_000 };
    const limiter = new Limiter({ max: 100, learned, backoff, random: () => 0 });
    expect(limiter.limits).toEqual(learned);
    expect(limiter.waitMs(1_000)).toBe(4_000);
    expect(limiter.waitMs(6_000)).toBe(0);
  });

  it('never lets more start than the most that is allowed', () => {
    const limiter = new Limiter({ max: 2, learned: { limit: 7 }, backoff, random: () => 0 });
    limiter.start(0, 'not');
    limiter.start(0, 'not');
    expect(limiter.waitMs(0)).toBe(Number.POSITIVE_INFINITY);
  });

  it('becomes what is in flight after the rejections of attempts that had started before the last cut, in whatever order they come', () => {
    const limiter = new Limiter({ max: 10, backoff, random: () => 0 });
    const starts = Array.from({ length: 6 }, () => limiter.start(0, 'not'));
    const [, second, third, fourth, , sixth] = starts as [Start, Start, Start, Start, Start, Start];
    expect(limiter.rejected(sixth, 10)).toMatchObject({ why: 'rejected', limit: 5, ceiling: 5 });
    expect(limiter.rejected(second, 20)).toMatchObject({ why: 'rejected', limit: 4, ceiling: 4 });
    expect(limiter.rejected(fourth, 30)).toMatchObject({ why: 'rejected', limit: 3, ceiling: 3 });
    expect(limiter.accepted(third, 40)).toBeUndefined();
  });

  it('changes nothing but the hold for an attempt that had started before two cuts', () => {
    const limiter = new Limiter({ max: 10, backoff, random: () => 0 });
    const old = limiter.start(0, 'not');
    for (let nowMs = 10; nowMs < 30; nowMs += 10) limiter.rejected(limiter.start(nowMs, 'not'), nowMs);
    expect(limiter.rejected(old, 30)).toBeUndefined();
    expect(limiter.limits).toMatchObject({ limit: 1, ceiling: 1 });
  });

  it('grows by one with each result once an attempt beyond the ceiling has one', () => {
    const limiter = new Limiter({ max: 100, learned: { limit: 10, ceiling: 10 }, backoff, random: () => 0 });
    const flying: Start[] = [];
    const limits: number[] = [];
    for (let nowMs = 0; nowMs < 135; nowMs++) {
      while (limiter.waitMs(nowMs) === 0) flying.push(limiter.start(nowMs, 'otherwise'));
      limiter.accepted(flying.shift() as Start, nowMs);
      limits.push(limiter.limits.limit);
    }
    expect(limits.slice(118)).toEqual([10, ...Array.from({ length: 12 }, () => 11), 12, 13, 14, 15]);
  });

  it('is held longer with each episode in which next to nothing was accepted', () => {
    const limiter = new Limiter({ max: 10, backoff, random: () => 0 });
    const held: number[] = [];
    for (let nowMs = 0, n = 0; n < 4; n++) {
      nowMs += limiter.waitMs(nowMs);
      limiter.rejected(limiter.start(nowMs, 'otherwise'), nowMs);
      held.push(limiter.waitMs(nowMs));
    }
    expect(held).toEqual([0, 500, 1_000, 2_000]);
  });
});
