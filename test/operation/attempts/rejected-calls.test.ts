/** Calls that are rejected for what they ask do not slow the others of their lane. calls.md 12.4. */
import { afterEach, beforeEach, expect, it, vi } from 'vitest';

import { runCalls, type PlannedCall } from './virtual-calls.js';

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

const calls = (isRejected: (item: number) => boolean, retries?: number): readonly PlannedCall[] =>
  Array.from({ length: 200 }, (_, item) => ({
    fn: 'ask',
    ...(retries === undefined ? {} : { options: { retries } }),
    attempt: () => (isRejected(item) ? { ms: 20, class: 'rate-limit' } : { ms: 200 }),
  }));

it.each([
  ['one call in 200', (item: number) => item === 50, 1, 10_000],
  ['one in 50', (item: number) => item % 50 === 30, 4, 60_000],
  ['one in 20', (item: number) => item % 20 === 10, 10, 300_000],
])('%s that is always rejected fails alone, and the others have their results soon', async (_, isRejected, failed, soonMs) => {
  const run = await runCalls(calls(isRejected));
  expect(run).toMatchObject({ failed, results: 200 - failed, isPaused: false });
  expect(run.facts.filter(({ type }) => type === 'call.started')).toHaveLength(200 + 9 * failed);
  expect(run.lastResultMs).toBeLessThan(soonMs);
});

it('a storm that rejects most calls ends as soon as its back-off lets it', async () => {
  const backoff = { firstMs: 20, maxMs: 100 };
  const run = await runCalls(
    calls((item) => item % 10 < 7, 2),
    { settings: { backoff } },
  );
  expect(run).toMatchObject({ failed: 140, results: 60, isPaused: false });
  expect(run.elapsedMs).toBeLessThan(120_000);
});
