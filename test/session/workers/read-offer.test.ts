import { expect, it } from 'vitest';
import { readOffer } from '../../../src/session/workers/read-offer.js';

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
