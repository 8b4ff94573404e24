/** Adds up the runs that count as one, where a resume made failed calls again or went on behind them. */
import { expect, it } from 'vitest';
import { noCalls } from '../../../replay/fold/calls/call-counts.js';
import type { EndCounts } from '../../../replay/fold/recorded-counts.js';
import { addRun } from '../../../src/session/pipeline/history/chain-counts.js';

const NONE: EndCounts = { ...noCalls(), unresolvedBefore: 0, model: null };

const first = { ...NONE, executed: 3, failed: 2, unresolved: 2, attempts: 5, costUsd: 0.5 };

it('leaves out what a resume makes again, and counts what it left behind', () => {
  const before = addRun(undefined, first, false);
  expect(before).not.toHaveProperty('unresolvedBefore');
  expect(addRun(before, { ...NONE, executed: 2, attempts: 2 }, true)).toMatchObject({ executed: 5, failed: 0, unresolved: 0, attempts: 7 });
  const behind = { ...NONE, executed: 1, unresolvedBefore: 2, attempts: 1, costUsd: 0.25 };
  expect(addRun(before, behind, true)).toMatchObject({ executed: 4, failed: 2, unresolved: 2, costUsd: 0.75 });
});

it('counts all that a run before a restart came to, once', () => {
  const restarted = { ...NONE, executed: 1, failed: 1, unresolved: 1, unresolvedBefore: 2, attempts: 2 };
  expect(addRun(addRun(undefined, first, false), restarted, false)).toMatchObject({ executed: 4, failed: 3, unresolved: 3, attempts: 7 });
});
