/** OfferReports names the command of a worker that takes what waits. */
import { expect, test } from 'vitest';
import { OfferReports } from '../../../src/session/ports/offers/offer-reports.js';

const SECOND = 1000;

/** Returns what a run says within a minute while these lanes wait, and workers are alive that have other ones. */
async function saidFor(lanes: readonly string[], alive = 0): Promise<string[]> {
  let nowMs = 0;
  const said: string[] = [];
  const reports = new OfferReports({
    offers: { workers: async () => ({ alive, lanes: new Set(['', 'gpu']) }) },
    waiting: () => lanes.map((lane) => ({ lane, sinceMs: 0 })),
    monotonicMs: () => nowMs,
    stderr: (text) => said.push(text),
  });
  for (; nowMs <= 60 * SECOND; nowMs += SECOND) await reports.report(false);
  return said;
}

test('where only calls of a lane wait, the worker that is asked for has slots for it', async () => {
  expect(await saidFor(['claude', 'claude'])).toEqual([
    '2 calls wait in the lane "claude", and no worker has slots for it: mlld worker --lane claude=4\n',
    ...Array<string>(2).fill(
      '2 calls wait for a worker, and none is at work: start mlld worker --lane claude=4, or run again with --lanes 4 as well\n',
    ),
  ]);
});

test('calls without a lane and with one wait for one command, whose words a shell reads as they are', async () => {
  const said = await saidFor(['', "it's; rm"]);
  expect(said[0]).toContain(String.raw`mlld worker --lane 'it'\''s; rm=4'`);
  expect(said[1]).toContain(
    String.raw`2 calls wait for a worker, and none is at work: start mlld worker --lanes 8 --lane 'it'\''s; rm=4',`,
  );
});

test('a lane that somebody has is not asked for, and no worker where one is at work', async () => {
  expect(await saidFor(['gpu', ''], 1)).toEqual([]);
});
