/** A run tells a later one what calls of its functions cost. calls.md 13.3. */
import { expect, it } from 'vitest';
import type { JournalEvent } from '../../../journal/event.js';
import { callHistory } from '../../../replay/fold/call-history.js';
import type { Place } from '../../../replay/fold/projection.js';

const PLACE = {} as Place;

function costsAfter(ends: readonly object[]): unknown {
  const events = ends.flatMap((end, index) => [
    { type: 'call.started', op: `main/ask#${index}`, fn: 'ask' },
    { op: `main/ask#${index}`, ...end },
  ]) as unknown as readonly JournalEvent[];
  return events.reduce((state, event) => callHistory.apply(state, event, PLACE), callHistory.initial()).costs.get('ask');
}

const free = { costUsd: 0, inputTokens: 0, outputTokens: 0 };

it('takes no cost from an attempt that was turned away for nothing', () => {
  expect(costsAfter([{ type: 'call.failed', class: 'rate-limit', usage: free }])).toBeUndefined();
  const ends = [
    { type: 'call.failed', class: 'overloaded', usage: { costUsd: 0 } },
    { type: 'call.failed', class: 'quota', usage: { costUsd: 0.2 } },
    { type: 'call.failed', class: 'crash', usage: { costUsd: 0 } },
    { type: 'call.completed', usage: { costUsd: 0.6 } },
  ];
  expect(costsAfter(ends)).toEqual([{ usd: 0.2 }, { usd: 0 }, { usd: 0.6 }]);
});
