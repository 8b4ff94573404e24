import { describe, expect, it } from 'vitest';
import type { Fact } from '../../../journal/event.js';
import { fold } from '../../../replay/fold/projection.js';
import { dispatchState, stopOf, unsettledIn } from '../../../replay/reports/postmortem/dispatch-state.js';
import { call, entries, finished, runRef, started } from '../../support/written-runs.js';

const folded = (...facts: readonly (readonly Fact[])[]) => fold(dispatchState, entries(runRef(1), [started(runRef(1)), ...facts.flat()]));
const lane = (details: Partial<Fact & { type: 'lane.changed' }>): Fact => ({
  type: 'lane.changed',
  lane: 'claude',
  limit: 4,
  why: 'grew',
  ...details,
});
const stop = (details: Partial<Fact & { type: 'dispatch.stopped' }> = {}): Fact => ({
  type: 'dispatch.stopped',
  class: 'quota',
  lane: 'claude',
  message: 'used up',
  resetsAt: '2026-01-02T00:00:00.000Z',
  ...details,
});
const reserving = (path: string, reserved: { usd?: number; tokens?: number }, outcome: 'completed' | 'killed' = 'killed'): Fact[] =>
  call(path, path, { outcome }).map((fact): Fact =>
    fact.type === 'call.started' ? { ...fact, reserved: { ...reserved, basis: 'history' } } : fact,
  );

describe('the lanes of a run', () => {
  it('are as their last events have them', () => {
    const { lanes } = folded([lane({ limit: 8, gapMs: 100 }), lane({ limit: 2, ceiling: 3 }), lane({ lane: 'codex' })]);
    expect([...lanes.values()]).toEqual([
      { lane: 'claude', limit: 2, ceiling: 3, gapMs: null, heldUntil: null, stopped: null },
      { lane: 'codex', limit: 4, ceiling: null, gapMs: null, heldUntil: null, stopped: null },
    ]);
  });

  it('are stopped until they are resumed, also without a limit that was learned', () => {
    expect([...folded([stop()]).lanes.values()]).toMatchObject([{ lane: 'claude', limit: null, stopped: 'quota' }]);
    expect([...folded([stop(), lane({})]).lanes.values()]).toMatchObject([{ limit: 4, stopped: 'quota' }]);
    const resumed = folded([stop(), { type: 'dispatch.resumed', lane: 'claude' }]);
    expect([...resumed.lanes.values()]).toMatchObject([{ stopped: null }]);
    expect(stopOf(resumed)).toBeNull();
  });
});

describe('the reason of a pause', () => {
  it('is that of the last event, or in a run that died the first stop', () => {
    const paused = { ...finished(), status: 'paused', pause: { class: 'budget', message: 'the budget is reached' } } as Fact;
    expect(stopOf(folded([stop(), paused]))).toEqual({ class: 'budget', lane: null, resetsAt: null, message: 'the budget is reached' });
    expect(stopOf(folded([stop(), stop({ class: 'budget', lane: 'codex' })]))).toMatchObject({ class: 'quota', lane: 'claude' });
    expect(stopOf(folded([finished()]))).toBeNull();
  });
});

describe('what nobody settled', () => {
  it('is the reservations of attempts in flight', () => {
    const one = reserving('main/ask#0', { usd: 0.5 });
    expect(unsettledIn(folded(one, reserving('main/ask#1', { usd: 0.25, tokens: 100 })))).toEqual({ attempts: 2, usd: 0.75, tokens: 100 });
    expect(unsettledIn(folded(one, reserving('main/ask#1', { usd: 9 }, 'completed')))).toEqual({ attempts: 1, usd: 0.5, tokens: null });
    expect(unsettledIn(folded([]))).toEqual({ attempts: 0, usd: null, tokens: null });
  });
});
