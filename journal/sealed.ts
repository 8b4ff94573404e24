/** Payloads that may not be read in the journal: sealed where there is a key, else only a digest of them. */
import { INLINE_MAX, type Blobs } from './blobs.js';
import { canonicalJson } from './canonical.js';
import type { Json, Payload } from './event.js';
import { digestingSecrets, sealingSecrets, type Secrets } from './secrets.js';

export async function storeSecret(blobs: Blobs, secrets: Secrets, value: Json, about: string): Promise<Payload> {
  const { keyId } = secrets;
  if (keyId === undefined) return { digest: secrets.digest(canonicalJson(value)) };
  const sealed = secrets.seal(JSON.stringify(value), about);
  if (sealed.length <= INLINE_MAX) return { sealed: sealed.toString('base64'), keyId };
  return { ...(await blobs.putBlob(sealed)), keyId };
}

/** Where the keys of a store come from. */
export interface KeySource {
  readonly sealingKey: Uint8Array | undefined;
  /** Of the project, if it has one. */
  read(): Promise<Uint8Array | undefined>;
  make(): Promise<Uint8Array>;
}

/** The keys of a store, once they are needed. */
export interface Keyring {
  /** Undefined without a sealing key. */
  readonly sealing: Secrets | undefined;
  /** Undefined when nothing can have been recorded with a key. */
  known(): Promise<Secrets | undefined>;
  /** Made now if there are none. */
  needed(): Promise<Secrets>;
}

export function openKeyring({ sealingKey, read, make }: KeySource): Keyring {
  const sealing = sealingKey && sealingSecrets(sealingKey);
  let made: Promise<Secrets> | undefined;
  return {
    sealing,
    async known() {
      if (sealing) return sealing;
      const key = made ? undefined : await read();
      return key ? digestingSecrets(key) : made;
    },
    needed() {
      if (sealing) return Promise.resolve(sealing);
      made ??= make().then(digestingSecrets);
      return made;
    },
  };
}
