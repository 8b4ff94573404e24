import { expect, it } from 'vitest';
import { runIdAt, startOf } from '../../../journal/ids.js';
import { runDurationMs } from '../../../replay/fold/run-duration.js';

const run = runIdAt(Date.UTC(2026, 10, 27, 1), 'abcd');

it.each([
  [1500, 1500],
  [0, 0],
  [-3_600_000, 0], // the id follows that of a machine whose clock is an hour ahead
])('says of a run whose last event is %i ms behind its id that it took %i ms', (ms, durationMs) => {
  expect(runDurationMs(run, startOf(run) + ms)).toBe(durationMs);
});
