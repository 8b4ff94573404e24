import { expect, it } from 'vitest';
import { CHAIN_SEED, encode } from '../../../../journal/codec.js';
import { seqOf } from '../../../../journal/ids.js';
import { scanRows } from '../../../../journal/postgres/read-rows.js';
import { runRef, started } from '../../support/facts.js';

it('leaves no failure behind that nobody waits for, when the page after the last one that is wanted can not be read', async () => {
  const stray: unknown[] = [];
  const listener = (error: unknown): void => void stray.push(error);
  process.on('unhandledRejection', listener);
  const { text } = encode(started, seqOf(0), '2026-11-21T09:00:00.000Z', CHAIN_SEED);
  let asked = 0;
  const query = async (): Promise<readonly { readonly size: number; readonly at: number; readonly line: string }[]> => {
    if (asked++ > 0) throw new Error('the connection is gone');
    return [{ size: 10_000, at: 0, line: text.trimEnd() }];
  };
  expect((await scanRows({ query }, 'patrol', runRef(1), () => undefined, { eventsMax: 1 })).events).toBe(1);
  await new Promise((resolve) => setTimeout(resolve, 0));
  process.off('unhandledRejection', listener);
  expect(asked).toBe(2);
  expect(stray).toEqual([]);
});
