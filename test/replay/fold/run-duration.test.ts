import { expect, it } from 'vitest';
import { runIdAt, startOf } from '../../../journal/ids.js';
import { recordedMs, runDurationMs, runningForMs } from '../../../replay/fold/run-duration.js';

const run = runIdAt(Date.UTC(2026, 10, 27, 1), 'abcd');

it.each([
  { clock: 'is right', aheadMs: 0 },
  { clock: 'is an hour ahead of that of the server', aheadMs: 3_600_000 },
  { clock: 'is an hour behind that of the server', aheadMs: -3_600_000 },
])('says of a run of 1.5 s that it took that, where the clock of its machine $clock', ({ aheadMs }) => {
  const firstMs = startOf(run) + aheadMs;
  expect(runDurationMs(run, { firstMs, lastMs: firstMs + 1500 })).toBe(1500);
  expect(recordedMs({ firstTs: new Date(firstMs).toISOString(), lastTs: new Date(firstMs + 1500).toISOString() })).toBe(1500);
});

it.each([
  [1500, 1500],
  [0, 0],
  [-3_600_000, 0], // the id follows that of a machine whose clock is an hour ahead
])('says of a run whose first event is lost, and whose last one is %i ms behind its id, that it took %i ms', (ms, durationMs) => {
  expect(runDurationMs(run, { firstMs: undefined, lastMs: startOf(run) + ms })).toBe(durationMs);
});

it.each([
  [1500, 1500],
  [-1500, 0],
])('counts a run in flight from its id, and never below nothing: %i ms behind it, %i ms', (ms, durationMs) => {
  expect(runningForMs(run, startOf(run) + ms)).toBe(durationMs);
});
