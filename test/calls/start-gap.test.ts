/** The least time between two starts gets smaller where nothing is rejected any more. calls.md 12.4. */
import { expect, it } from 'vitest';
import type { RecentResults } from '../../src/calls/lanes/recent-results.js';
import { StartGap } from '../../src/calls/lanes/start-gap.js';

const HAS_RESULTS = { hasSince: () => true } as unknown as RecentResults;

/** Returns the time until the gap is that small, where each start comes when it may. */
function timeUntil(gap: StartGap, ms: number): number {
  let nowMs = 0;
  while ((gap.ms ?? 0) > ms && nowMs < 10 * 3_600_000) {
    nowMs += gap.ms ?? 0;
    gap.shrink(nowMs, HAS_RESULTS);
  }
  return nowMs;
}

it('is soon short again where an earlier run has left a long one, and its limit is gone', () => {
  expect(timeUntil(new StartGap(35_000), 1000)).toBeLessThan(12 * 60_000);
  expect(timeUntil(new StartGap(5000), 500)).toBeLessThan(6 * 60_000);
});

it('waits for twenty starts between two trials of a short one, and for many more once a trial has failed', () => {
  const gap = new StartGap(1000);
  expect(timeUntil(gap, 970)).toBe(30_000);
  expect(timeUntil(gap, 920)).toBeGreaterThan(19 * 970);
  gap.widen(gap.ms ?? 0, { nowMs: 0, measuredMs: undefined, isFruitless: false, mostMs: 60_000 });
  expect(timeUntil(gap, (gap.ms ?? 0) * 0.98)).toBeGreaterThan(149 * 970);
});
