/** The cost of one turn of a session that is continued. calls.md 7.5.5. */
import { expect, it } from 'vitest';
import { SessionTotals } from '../../src/calls/price/session-totals.js';
import { continuedSession } from '../../src/calls/replies/program.js';
import type { ReadReply } from '../../src/calls/replies/read-reply.js';

const reply = (session: string, costUsd: number): ReadReply => ({ adapter: 'claude', session, usage: { costUsd } });

it('is the difference to the largest total that is known of the session', () => {
  const totals = new SessionTotals();
  expect(totals.ownCost(reply('s', 0.5), undefined).usage).toEqual({ costUsd: 0.5 });
  expect(totals.ownCost(reply('s', 0.7), 's').usage).toEqual({ costUsd: 0.2, sessionCostUsd: 0.7 });
  expect(totals.ownCost(reply('s', 0.7), true).usage).toEqual({ costUsd: 0, sessionCostUsd: 0.7 });
});

it('follows a session that gets another name when it is continued', () => {
  const totals = new SessionTotals();
  totals.add('s', 0.5);
  expect(totals.ownCost(reply('t', 0.75), 's').usage).toEqual({ costUsd: 0.25, sessionCostUsd: 0.75 });
  expect(totals.ownCost(reply('u', 1), 't').usage).toEqual({ costUsd: 0.25, sessionCostUsd: 1 });
});

it('is estimated where the session is not known, or its total is smaller than before', () => {
  const totals = new SessionTotals();
  expect(totals.ownCost(reply('s', 0.5), 's').usage).toEqual({ costUsd: 0.5, estimated: true });
  expect(totals.ownCost(reply('s', 0.25), 's').usage).toEqual({ costUsd: 0.25, estimated: true });
});

it('knows the sessions of results that were reused, and looks at them once it has to', () => {
  const totals = new SessionTotals();
  let looks = 0;
  totals.addReused(() => {
    looks++;
    return { session: 's', usage: { costUsd: 0.25, sessionCostUsd: 0.75 } };
  });
  totals.ownCost(reply('other', 1), undefined);
  expect(looks).toBe(0);
  expect(totals.ownCost(reply('s', 1), 's').usage).toEqual({ costUsd: 0.25, sessionCostUsd: 1 });
  totals.ownCost(reply('s', 1), 's');
  expect(looks).toBe(1);
});

it.each([
  ['claude -p --resume "s-1" "more"', 's-1'],
  ['claude -p --resume=s-1 more', 's-1'],
  ['cat x | claude -r s-1 -p | jq -c .', 's-1'],
  ['claude --continue -p more', true],
  ['claude -p "take --resume x"', undefined],
  ['claude -p x | sort -c', undefined],
  ['codex exec -c x', undefined],
])('reads from %s which session is continued', (line, session) => {
  expect(continuedSession(line)).toBe(session);
});
