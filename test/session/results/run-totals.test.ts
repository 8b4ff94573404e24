import { expect, it } from 'vitest';
import { noCalls } from '../../../replay/fold/calls/call-counts.js';
import type { RunCalls } from '../../../src/session/run-calls.js';
import { addRunCalls } from '../../../src/session/ports/run-totals.js';

const { callsMs: _, ...none } = noCalls();

function callsOf(members: Partial<RunCalls>): RunCalls {
  return { ...none, total: 0, unresolvedByClass: {}, model: null, ...members };
}

it('adds what workers did for runs that count as one, and what was paid for in vain', () => {
  const first = callsOf({
    total: 3,
    reused: 2,
    failed: 1,
    atWorkers: { calls: 2, costUsd: 0.5 },
    failedAtWorkers: { calls: 1, costUsd: null },
  });
  const last = callsOf({
    total: 2,
    reused: 1,
    failed: 1,
    atWorkers: { calls: 1, costUsd: 0.25 },
    failedAtWorkers: { calls: 1, costUsd: 0.125 },
    superseded: { calls: 1, costUsd: null },
  });
  expect(addRunCalls(first, last)).toMatchObject({
    total: 5,
    reused: 3,
    failed: 2,
    atWorkers: { calls: 3, costUsd: 0.75 },
    failedAtWorkers: { calls: 2, costUsd: 0.125 },
    superseded: { calls: 1, costUsd: null },
  });
  expect(addRunCalls(first, callsOf({ total: 1, executed: 1 }))).toMatchObject({ executed: 1, atWorkers: { calls: 2, costUsd: 0.5 } });
  expect(addRunCalls(callsOf({ total: 1, executed: 1 }), callsOf({ total: 1 }))).not.toHaveProperty('atWorkers');
});
