/** The report of a run says what its calls came to, and names what is left. calls.md 14. */
import { describe, expect, it } from 'vitest';
import { MlldError } from '../../src/errors.js';
import { markCallFailure } from '../../src/runtime/calls/call-failure.js';
import { outcomeOf } from '../../src/session/run-outcome.js';
import type { RunCalls } from '../../src/session/run-calls.js';

const callFailed = (): MlldError =>
  markCallFailure(new MlldError('CALL_FAILED', '@ask failed'), {
    fn: 'ask',
    op: 'main/ask#0' as never,
    class: 'crash',
    attempts: 1,
    message: 'crash',
    item: '',
  });

interface Given {
  readonly status: Parameters<typeof outcomeOf>[0]['status'];
  readonly unresolved?: number;
  readonly error?: unknown;
  readonly checkpoints?: readonly string[];
  readonly isRecorded?: boolean;
  readonly overUsd?: number;
  readonly overTokens?: number;
}

function outcome({ status, unresolved = 0, error, checkpoints = [], isRecorded = true, overUsd = 0, overTokens = 0 }: Given) {
  const ref = isRecorded ? ({ workflow: 'job.mld', run: 'r' } as never) : undefined;
  const calls = (): RunCalls => ({ unresolved }) as RunCalls;
  const pausedBy = { class: 'quota' as const, lane: 'claude', message: 'used up', resetsAtMs: 0 };
  return outcomeOf({
    status,
    error,
    journal: { ref, calls },
    dispatcher: { pausedBy, overBudget: { usd: overUsd, tokens: overTokens } },
    checkpoints: new Set(checkpoints),
  });
}

describe('what is left', () => {
  it.each<[what: string, Given, 'failed' | '' | undefined]>([
    ['a run that did all', { status: 'completed' }, undefined],
    ['an incomplete run', { status: 'completed', unresolved: 2 }, 'failed'],
    ['one with a checkpoint of this name', { status: 'completed', unresolved: 2, checkpoints: ['failed'] }, ''],
    ['one without a record', { status: 'completed', unresolved: 2, isRecorded: false }, undefined],
    ['a run that a failed call ended', { status: 'failed', unresolved: 1, error: callFailed() }, 'failed'],
    ['a run that another error ended', { status: 'failed', unresolved: 1, error: new MlldError('BAIL', 'no') }, ''],
    ['a paused run', { status: 'paused', unresolved: 1 }, ''],
    ['an interrupted run', { status: 'interrupted' }, ''],
  ])('of %s', (_what, given, resume) => {
    expect(outcome(given).resume).toBe(resume);
  });
});

it('says why a run is paused, and only of a paused one', () => {
  expect(outcome({ status: 'paused' }).pause).toEqual({
    class: 'quota',
    lane: 'claude',
    message: 'used up',
    resetsAt: '1970-01-01T00:00:00.000Z',
  });
  expect(outcome({ status: 'completed' })).not.toHaveProperty('pause');
});

it('says by how much a budget was exceeded, and nothing of what only rounding adds', () => {
  expect(outcome({ status: 'completed', overUsd: 0.02 }).calls?.overBudgetUsd).toBe(0.02);
  expect(outcome({ status: 'completed', overUsd: 1e-12 }).calls).not.toHaveProperty('overBudgetUsd');
  expect(outcome({ status: 'completed', overTokens: 5800 }).calls).toMatchObject({ overBudgetTokens: 5800 });
});
