/**
 * Records secrets so that the journal does not reveal them: as keyed digests, which tell equal from different, and as sealed payloads,
 * which only the holder of the key can open.
 *
 * SEALING-1 All keys are derived from one root: the user's key, else a random one of the project. Without the root, a copy of the journal
 *    can neither be opened, nor can words be tried against a digest.
 * SEALING-2 A root has a name (`keyId`) that is recorded with what it sealed and reveals nothing about the root.
 * SEALING-3 A payload that was sealed for one call can't replace that of another: the call is authenticated with it (`about`).
 */
import { createCipheriv, createDecipheriv, createHmac, hkdfSync, randomBytes } from 'node:crypto';
import type { CallKey } from '../ids.js';

export const KEY_BYTES = 32;
const NONCE_BYTES = 12;
const TAG_BYTES = 16;
const KEY_ID_BYTES = 8;

export interface Secrets {
  /** Names the sealing key; undefined when there is none, and secrets are not kept. */
  readonly keyId: string | undefined;
  /** Returns `hmac-sha256:` and 64 hex digits. */
  digest(text: string): string;
  /** Returns the key under which a call with a secret among its arguments is recorded. */
  callKey(key: CallKey): CallKey;
  /** Returns nonce, tag and AES-256-GCM of the text. To be called only when there is a sealing key. */
  seal(text: string, about: string): Uint8Array;
  /** Returns undefined when it was sealed by another key, for another call, or was changed since. */
  unseal(sealed: Uint8Array, about: string): string | undefined;
}

/** Seals and makes digests with keys that are derived from `root`. */
export function sealingSecrets(root: Uint8Array): Secrets {
  const sealing = derived(root, 'seal');
  return {
    ...digesting(root),
    keyId: derived(root, 'id').toString('hex', 0, KEY_ID_BYTES),
    seal(text, about) {
      const nonce = randomBytes(NONCE_BYTES);
      const cipher = createCipheriv('aes-256-gcm', sealing, nonce).setAAD(Buffer.from(about));
      const content = Buffer.concat([cipher.update(text, 'utf8'), cipher.final()]);
      return Buffer.concat([nonce, cipher.getAuthTag(), content]);
    },
    unseal(sealed, about) {
      if (sealed.length < NONCE_BYTES + TAG_BYTES) return undefined;
      const nonce = sealed.subarray(0, NONCE_BYTES);
      const tag = sealed.subarray(NONCE_BYTES, NONCE_BYTES + TAG_BYTES);
      const decipher = createDecipheriv('aes-256-gcm', sealing, nonce, { authTagLength: TAG_BYTES })
        .setAAD(Buffer.from(about))
        .setAuthTag(tag);
      try {
        return Buffer.concat([decipher.update(sealed.subarray(NONCE_BYTES + TAG_BYTES)), decipher.final()]).toString();
      } catch {
        return undefined;
      }
    },
  };
}

/** Makes digests, and never seals. */
export function digestingSecrets(root: Uint8Array): Secrets {
  return {
    ...digesting(root),
    keyId: undefined,
    seal: () => {
      throw new Error('sealing without a sealing key');
    },
    unseal: () => undefined,
  };
}

function digesting(root: Uint8Array): Pick<Secrets, 'digest' | 'callKey'> {
  const key = derived(root, 'digest');
  const hex = (text: string): string => createHmac('sha256', key).update(text).digest('hex');
  return {
    digest: (text) => `hmac-sha256:${hex(`value ${text}`)}`,
    callKey: (plain) => `sha256:${hex(`call ${plain}`)}` as CallKey,
  };
}

function derived(root: Uint8Array, use: 'seal' | 'digest' | 'id'): Buffer {
  return Buffer.from(hkdfSync('sha256', root, '', `mlld journal 1 ${use}`, KEY_BYTES));
}
