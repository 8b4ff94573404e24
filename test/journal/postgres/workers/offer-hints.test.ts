/** Workers hear of offers as soon as they can take them. team-store.md 11. */
import { setImmediate as turn } from 'node:timers/promises';
import { expect, it } from 'vitest';
import { sha256 } from '../../../../journal/canonical.js';
import { OwnLease } from '../../../../journal/postgres/claims/own-lease.js';
import type { Row } from '../../../../journal/postgres/connection.js';
import { RunRows } from '../../../../journal/postgres/run-rows.js';
import { RunOffers } from '../../../../journal/postgres/workers/run-offers.js';
import { runRef } from '../../support/facts.js';

/** Offers of a run whose statements a test answers by hand. `sent` says what went out. */
async function manual() {
  const sent: string[] = [];
  const answers: ((rows: readonly Row[]) => void)[] = [];
  const sql = {
    query: (text: string, values: readonly unknown[] = []) => {
      sent.push(text.includes('mlld.offer(') ? `offers: ${JSON.parse(String(values[2])).length}` : text);
      return new Promise<readonly Row[]>((resolve) => answers.push(resolve));
    },
  };
  const begin = async () => ({ id: '1', fence: 0 });
  const rows = new RunRows({ ref: runRef(1), sql, timeoutMs: 1000, begin, lease: new OwnLease(1000) });
  await rows.begin();
  const hints = { send: () => void sent.push('hint'), watch: () => expect.fail('nothing is waited for') };
  const offers = new RunOffers(sql, rows, 1000, hints, () => undefined);
  const offer = (n: number) => offers.offer({ key: sha256(`key ${n}`), lane: '', call: '{}', refused: undefined });
  return { sent, answers, offer };
}

it('sends the hint right behind the offers, before those that come meanwhile', async () => {
  const { sent, answers, offer } = await manual();
  const first = offer(1);
  await turn();
  expect(sent).toEqual(['offers: 1', 'hint']);
  const second = offer(2);
  answers[0]?.([]);
  await first;
  await turn();
  answers[1]?.([]);
  await second;
  expect(sent).toEqual(['offers: 1', 'hint', 'offers: 1', 'hint']);
});

it('sends the first of many offers while the run still makes others in the same turn of the event loop', async () => {
  const { sent, answers, offer } = await manual();
  const made = Array.from({ length: 100 }, (_, n) => offer(n));
  expect(sent).toEqual(['offers: 32', 'hint']);
  answers[0]?.([]);
  await made[31];
  await turn();
  expect(sent).toEqual(['offers: 32', 'hint', 'offers: 68', 'hint']);
  answers[1]?.([]);
  await Promise.all(made);
  await turn();
  expect(sent).toHaveLength(4);
});
