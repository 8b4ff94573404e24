/** Adds payloads and secrets to a store of runs and blobs: one implementation for every store. */
import { canonicalJson } from '../canonical.js';
import { exactJson } from '../exact-json.js';
import type { Json, Payload } from '../event.js';
import { bufferOf } from '../lines/line-buffer.js';
import { INLINE_MAX, resolveNow, resolvePayload, storePayload, type Blobs } from '../payloads.js';
import type { ImmediateReads, JournalStore, PayloadStore, RunStore } from '../store.js';
import type { Keyring } from './keyring.js';
import type { Secrets } from './sealing.js';

export function withPayloads(runs: RunStore, keyring: Keyring): JournalStore {
  const payloads: PayloadStore = {
    payload: (value, use) => storePayload(runs, value, use),
    secretPayload: async (value, about) => storeSecret(runs, await keyring.needed(), value, about),
    async resolve(payload, about = '') {
      const secrets = 'keyId' in payload ? await keyring.known() : undefined;
      return resolvePayload(runs, payload, { secrets, about });
    },
    hasSharedKey: keyring.isShared,
    secrets: () => keyring.needed(),
    knownSecrets: () => keyring.known(),
    ...(runs.immediate && { immediate: immediateReads(runs.immediate, keyring) }),
  };
  return Object.assign(Object.create(runs) as RunStore, payloads);
}

function immediateReads({ holds, readAt, getBlob }: NonNullable<RunStore['immediate']>, keyring: Keyring): ImmediateReads {
  return { holds, readAt, resolve: (payload, about = '') => resolveNow(getBlob, payload, { secrets: keyring.now(), about }) };
}

/** Seals the value where there is a key, else keeps only a digest of it. */
async function storeSecret(blobs: Blobs, secrets: Secrets, value: Json, about: string): Promise<Payload> {
  const { keyId } = secrets;
  if (keyId === undefined) return { digest: secrets.digest(canonicalJson(value)) };
  const sealed = secrets.seal(exactJson(value), about);
  if (sealed.length <= INLINE_MAX) return inLine(sealed, keyId);
  return { ...(await blobs.putBlob(sealed)), keyId };
}

/** Seals the value for its line, however large it is. Undefined where there is no key to seal it with. */
export function sealedInLine({ keyId, seal }: Secrets, value: Json, about: string): Payload | undefined {
  return keyId === undefined ? undefined : inLine(seal(exactJson(value), about), keyId);
}

const inLine = (sealed: Uint8Array, keyId: string): Payload => ({ sealed: bufferOf(sealed).toString('base64'), keyId });
