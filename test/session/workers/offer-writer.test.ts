/** Offers with secrets are sealed for themselves alone, or not made. OFFER-WRITER-1, OFFER-WRITER-2, SEALED-OFFER-1. */
import { describe, expect, it } from 'vitest';
import type { Json, Payload } from '../../../journal/event.js';
import type { BlobId, Fingerprint, OpPath } from '../../../journal/ids.js';
import { openMemoryStore } from '../../../journal/storage/memory-store.js';
import type { DescribedCall, OfferableCall, OfferedCall } from '../../../src/runtime/calls/offered-call.js';
import { createReach } from '../../../src/runtime/definitions/reachable-operations.js';
import { SecretRegistry } from '../../../src/runtime/secrets/secret-registry.js';
import { OfferWriter } from '../../../src/session/ports/offers/offer-writer.js';
import { openArguments, readOffer } from '../../../src/session/workers/read-offer.js';
import { bareRun } from '../../support/bare-run.js';
import { callKeyOf } from '../../support/written-runs.js';

const key = callKeyOf('q1');
const SOURCE = { path: 'a.mld', blob: 'sha256:1' as BlobId };
const CALL: OfferableCall = {
  key,
  fn: 'ask',
  op: 'main/ask#0' as OpPath,
  sites: {},
  definition: { fingerprint: 'sha256:1' as Fingerprint, parts: [] },
  attempt: undefined,
  pace: () => '@ask',
  describe: undefined,
};
const TOKEN = 'golden-lighthouse';
const DESCRIBED: DescribedCall = {
  module: 'a.mld',
  main: 'a.mld',
  args: [{ json: TOKEN, notes: [], labels: ['secret'] }],
  captured: [{ module: 'a.mld', name: 'x', value: { json: `${TOKEN} too`, notes: [], labels: ['secret'] } }],
  lane: '',
  readsFiles: false,
  inside: { reach: createReach(), labels: [] },
  hasSecret: true,
};

function writing(whole?: Payload) {
  const store = openMemoryStore(Buffer.alloc(32, 7));
  const sources = [{ ...SOURCE, ...(whole && { whole }) }];
  const ports = { payload: (value: Json) => ({ inline: value }), sources: () => sources, budgets: [] };
  const sealed = new OfferWriter({ ...ports, sealed: (value, about) => store.secretPayload(value, about) });
  return { store, sealed, plain: new OfferWriter(ports) };
}

function offerIn(text: unknown): OfferedCall {
  const offer = readOffer(String(text));
  if (offer === undefined) throw new Error('not readable');
  return offer;
}

describe('the offer of a call with secrets', () => {
  it('has none of them in clear text, and opens for its own call', async () => {
    const { store, sealed } = writing();
    const text = await sealed.write(CALL, DESCRIBED, undefined);
    expect(text).not.toContain(TOKEN);
    const run = { ...bareRun().run, secrets: new SecretRegistry() };
    const { args } = await openArguments(store, offerIn(text), { key, run });
    expect(args).toMatchObject([{ data: TOKEN, metadata: { labels: ['secret'] } }]);
    expect(run.secrets.appearIn(`a ${TOKEN}`)).toBe(true);
  });

  it.each<[string, (offer: OfferedCall) => OfferedCall]>([
    ['other sources', (offer) => ({ ...offer, sources: [{ ...SOURCE, blob: 'sha256:2' as BlobId }] })],
    ['another function', (offer) => ({ ...offer, fn: 'steal' })],
    ['another definition', (offer) => ({ ...offer, fingerprint: 'sha256:2' as Fingerprint })],
    ['other captured values', (offer) => ({ ...offer, captured: { inline: [] } })],
    ['its arguments as those that guards passed', (offer) => ({ ...offer, passed: offer.args })],
  ])('does not open with %s', async (_what, forge) => {
    const { store, sealed } = writing();
    const offer = forge(offerIn(await sealed.write(CALL, DESCRIBED, undefined)));
    await expect(openArguments(store, offer, { key, run: bareRun().run })).rejects.toThrow('its secrets were sealed for another offer');
  });

  it('does not open for another call', async () => {
    const { store, sealed } = writing();
    const offer = offerIn(await sealed.write(CALL, DESCRIBED, undefined));
    const other = { key: callKeyOf('q2'), run: bareRun().run };
    await expect(openArguments(store, offer, other)).rejects.toThrow('its secrets were sealed for another offer');
  });

  it('does not open with another key, and says which setting is meant', async () => {
    const { sealed } = writing();
    const offer = offerIn(await sealed.write(CALL, DESCRIBED, undefined));
    const other = openMemoryStore(Buffer.alloc(32, 8));
    await expect(openArguments(other, offer, { key, run: bareRun().run })).rejects.toThrow('MLLD_JOURNAL_KEY');
  });

  it('is not made where workers can not have the key, also where only its source has a secret', () => {
    expect(writing().plain.reasonAgainst(DESCRIBED)).toEqual({ because: expect.stringContaining('MLLD_JOURNAL_KEY') as string });
    const whole = { sealed: 'abc', keyId: '1' };
    const without = { ...DESCRIBED, hasSecret: false };
    expect(writing(whole).plain.reasonAgainst(without)).toEqual({ because: expect.stringMatching(/^a\.mld has a secret in it/) as string });
    expect(writing().plain.reasonAgainst(without)).toBeUndefined();
    expect(writing(whole).sealed.reasonAgainst(DESCRIBED)).toBeUndefined();
  });

  it('is not made where a guard puts a secret into it and workers can not have the key', async () => {
    const without = { ...DESCRIBED, hasSecret: false, args: [], captured: [] };
    expect(await writing().plain.write(CALL, without, DESCRIBED)).toEqual({
      because: expect.stringContaining('a guard puts a secret into it') as string,
    });
  });
});
