import { describe, expect, it } from 'vitest';
import type { JournalEvent } from '../../../journal/event.js';
import { concurrencyOf, measureConcurrency, noConcurrency, startsTime, wallTime } from '../../../replay/fold/call-concurrency.js';

/** Events of calls at given times: `[seconds, 'call.started' | 'call.completed' | 'call.failed', op]`. */
function measured(...events: readonly (readonly [seconds: number, type: string, op: string])[]): number {
  const state = noConcurrency();
  for (const [seconds, type, op] of events)
    measureConcurrency(state, { type, op, ts: new Date(seconds * 1000).toISOString() } as unknown as JournalEvent);
  return concurrencyOf(state);
}

describe('the concurrency of calls', () => {
  it('is 1 for calls that follow each other, however long nothing is in flight between them', () => {
    expect(measured([0, 'call.started', 'a'], [2, 'call.completed', 'a'], [60, 'call.started', 'b'], [61, 'call.failed', 'b'])).toBe(1);
  });

  it('is the mean over the time in which any call is in flight', () => {
    expect(measured([0, 'call.started', 'a'], [0, 'call.started', 'b'], [3, 'call.completed', 'a'], [4, 'call.completed', 'b'])).toBe(
      7 / 4,
    );
  });

  it('is 1 where no call took time, or none was made', () => {
    expect(measured()).toBe(1);
    expect(measured([0, 'call.started', 'a'], [0, 'call.completed', 'a'])).toBe(1);
  });

  it('is not confused by an end without a beginning, or by a clock that was set back', () => {
    expect(measured([0, 'call.failed', 'denied'], [1, 'call.started', 'a'], [0, 'call.started', 'b'], [2, 'call.completed', 'a'])).toBe(2);
  });
});

describe('wall time', () => {
  it('is the time in calls at the concurrency', () => {
    expect(wallTime(8000, 1000, 4)).toBe(2000);
  });

  it('is never shorter than the longest call', () => {
    expect(wallTime(8000, 8000, 4)).toBe(8000);
  });

  it('is at least the time until the last call of a lane starts that has a gap', () => {
    const state = noConcurrency();
    const events = [
      { type: 'lane.changed', lane: 'claude', limit: 4, gapMs: 5000 },
      { type: 'lane.changed', lane: 'claude', limit: 4, gapMs: 1000 },
      { type: 'call.started', op: 'a', fn: 'ask', lane: 'claude' },
      { type: 'call.started', op: 'b', fn: 'check', lane: 'claude' },
      { type: 'call.started', op: 'c', fn: 'note', lane: '@note' },
    ];
    for (const event of events) measureConcurrency(state, { ...event, ts: new Date(0).toISOString() } as unknown as JournalEvent);
    const calls = (counts: { readonly [fn: string]: number }) => startsTime(state, new Map(Object.entries(counts)));
    expect(calls({ ask: 3, check: 2, note: 90, other: 90 })).toBe(4000);
    expect(calls({ ask: 0, note: 90 })).toBe(0);
  });
});
