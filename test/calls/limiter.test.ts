/** The pace that a lane learns against limits that are not announced, in virtual time. calls.md 12.5. */
import { describe, expect, it } from 'vitest';

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

/** 2,000 calls against the provider; a rejected one is the first to start again. */
function simulate(provider: Provider, { calls = 2_000, seed = 1, max = 1_000 } = {}): Outcome {
  const random = generator(seed);
  const limiter = new Limiter({ max, backoff: { firstMs: 1_000, maxMs: 60_000 }, random });
  const ends: { atMs: number; isRejected: boolean; retryAfterMs?: number; start: ReturnType<Limiter['start']> }[] = [];
  const answeredMs: number[] = [];
  let [nowMs, waiting, inFlight, attempts, rejected, bucketAtMs] = [0, calls, 0, 0, 0, 0];
  let bucket: number | undefined;
  let waited: 'for the gap' | 'otherwise' | 'not' = 'not';
  while (waiting > 0 || ends.length > 0) {
    const waitMs = waiting > 0 ? limiter.waitMs(nowMs) : Number.POSITIVE_INFINITY;
    if (waitMs === 0) {
      const start = limiter.start(nowMs, waited);
      waited = 'not';
      waiting--;
      attempts++;
      const refusal = refuses(nowMs);
      if (refusal) ends.push({ atMs: nowMs + 50, isRejected: true, start, ...refusal });
      else {
        inFlight++;
        ends.push({ atMs: nowMs + LATENCY_MS * (0.6 + 0.8 * random()), isRejected: false, start });
      }
      continue;
    }
    ends.sort((left, right) => left.atMs - right.atMs);
    const next = ends[0];
    if (next && next.atMs <= nowMs + waitMs) {
      ends.shift();
      nowMs = next.atMs;
      waited = 'otherwise';
      if (next.isRejected) {
        rejected++;
        waiting++;
        limiter.rejected(next.start, nowMs, next.retryAfterMs);
      } else {
        inFlight--;
        answeredMs.push(nowMs);
        limiter.accepted(next.start, nowMs);
      }
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

  it('changes nothing but the hold for an attempt that had started before the last cut', () => {
    const limiter = new Limiter({ max: 10, backoff, random: () => 0 });
    const starts = [limiter.start(0, 'not'), limiter.start(0, 'not'), limiter.start(0, 'not')] as const;
    expect(limiter.rejected(starts[2], 10)).toMatchObject({ why: 'rejected', limit: 2, ceiling: 2 });
    expect(limiter.rejected(starts[1], 20)).toBeUndefined();
    expect(limiter.rejected(starts[0], 30, 500)).toMatchObject({ why: 'held', limit: 2, heldUntilMs: 530 });
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
