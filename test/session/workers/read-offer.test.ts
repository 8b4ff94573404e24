import { expect, it } from 'vitest';
import { Declined, orDecline, readOffer, valueOfOffer } from '../../../src/session/workers/read-offer.js';

const OFFER = {
  fn: 'ask',
  module: 'hi.mld',
  main: 'hi.mld',
  args: { inline: [] },
  captured: { inline: [] },
  fingerprint: 'sha256:00',
  sources: [{ path: 'hi.mld', blob: 'sha256:11' }],
  budgets: ['nightly'],
  mlld: '0.1.0',
};

it('reads a call as it is offered', () => {
  expect(readOffer(JSON.stringify(OFFER))).toEqual(OFFER);
});

it.each([
  '{"fn":',
  'null',
  '[]',
  '{}',
  JSON.stringify({ ...OFFER, mlld: 1 }),
  JSON.stringify({ ...OFFER, args: [] }),
  JSON.stringify({ ...OFFER, sources: { length: 1 } }),
  JSON.stringify({ ...OFFER, sources: [null] }),
  JSON.stringify({ ...OFFER, budgets: 'nightly' }),
  JSON.stringify({ ...OFFER, attempt: '2' }),
])('reads no call from %s', (text) => {
  expect(readOffer(text)).toBeUndefined();
});

it.each([[null], [5], ['text']])('declines a call with an argument whose metadata is a list of %j', async (note) => {
  const read = async () => valueOfOffer({ json: 'ebb', notes: [note, null] } as never, '/');
  await expect(orDecline(read)).rejects.toThrow(Declined);
});

it('declines no call because of an error of another kind', async () => {
  await expect(orDecline(() => Promise.reject(new Error('disk')))).rejects.toThrow('disk');
});
