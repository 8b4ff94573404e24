/** Payloads that may not be read in the journal: sealed where there is a key, else only a digest of them. */
import { INLINE_MAX, type Blobs } from '../storage/blobs.js';
import { canonicalJson, exactJson } from '../canonical.js';
import type { Json, Payload } from '../event.js';
import { digestingSecrets, sealingSecrets, type Secrets } from './keyring.js';

export async function storeSecret(blobs: Blobs, secrets: Secrets, value: Json, about: string): Promise<Payload> {
  const { keyId } = secrets;
  if (keyId === undefined) return { digest: secrets.digest(canonicalJson(value)) };
  const sealed = secrets.seal(exactJson(value), about);
  if (sealed.length <= INLINE_MAX) return { sealed: sealed.toString('base64'), keyId };
  return { ...(await blobs.putBlob(sealed)), keyId };
}

/** The key that the user gives; `none`: secrets are not kept, there are only digests of them; undefined: the project's own key. */
export type SealingKey = Uint8Array | 'none' | undefined;

/** Where the keys of a store come from. */
export interface KeySource {
  readonly sealingKey: SealingKey;
  /** Of the project, if it has one. */
  read(): Promise<Uint8Array | undefined>;
  make(): Promise<Uint8Array>;
}

/** The keys of a store. */
export interface Keyring {
  /** Those that are at hand: given, or asked for before. */
  now(): Secrets | undefined;
  /** Undefined when nothing can have been recorded with a key. */
  known(): Promise<Secrets | undefined>;
  /** Made now if there are none. */
  needed(): Promise<Secrets>;
}

export function openKeyring({ sealingKey, read, make }: KeySource): Keyring {
  const open = sealingKey === 'none' ? digestingSecrets : sealingSecrets;
  let ready = sealingKey instanceof Uint8Array ? sealingSecrets(sealingKey) : undefined;
  let making: Promise<Secrets> | undefined;
  return {
    now: () => ready,
    async known() {
      if (ready ?? making) return ready ?? making;
      const key = await read();
      if (key) ready ??= open(key);
      return ready;
    },
    async needed() {
      making ??= ready ? Promise.resolve(ready) : make().then(open);
      return (ready = await making);
    },
  };
}
