/**
 * How the journal keeps what may not be read in it: keyed digests, which tell equal from different, and sealed payloads, which only
 * the holder of the key can open.
 *
 * K1  All keys follow from one root: the key that the user gives, else a random one of the project. Whoever has the journal without its
 *     root can't open anything, nor try words against a digest.
 * K2  A root has a name (`keyId`) that is recorded with what it sealed and tells nothing of it.
 * K3  What was sealed for one call can't be put in the place of another: what it is `about` is authenticated with it.
 * K4  The project's key appears whole under its name, and the first process to make one wins.
 */
import { createCipheriv, createDecipheriv, createHmac, hkdfSync, randomBytes } from 'node:crypto';
import { dirname } from 'node:path';
import { makeDurableFolder, writeDurably, writeNew, type Disk } from '../storage/disk.js';
import { codeOf, JournalError, journalError } from '../errors.js';
import type { CallKey } from '../ids.js';

export const KEY_BYTES = 32;
/** Beside the journal's folder, not in it: who hands on a journal doesn't hand on what opens it. */
const projectKeyPath = (journal: string): string => `${journal}.key`;
const NONCE_BYTES = 12;
const TAG_BYTES = 16;
const KEY_ID_BYTES = 8;

export interface Secrets {
  /** Names the sealing key; undefined: there is none, and secrets are not kept. */
  readonly keyId: string | undefined;
  /** `hmac-sha256:` and 64 hex digits. */
  digest(text: string): string;
  /** The key under which a question with a secret in it is recorded. */
  callKey(key: CallKey): CallKey;
  /** Nonce, tag and AES-256-GCM of the text. Only where there is a sealing key. */
  seal(text: string, about: string): Buffer;
  /** Undefined when it was sealed by another key, for something else, or was changed since. */
  unseal(sealed: Uint8Array, about: string): string | undefined;
}

/** 64 hex digits, or base64 of 32 bytes. Throws `JournalError` `JOURNAL_KEY_INVALID`; the message doesn't repeat the text. */
export function parseSealingKey(text: string, from: string): Buffer {
  const word = text.trim();
  const key = /^[0-9a-f]{64}$/i.test(word)
    ? Buffer.from(word, 'hex')
    : /^[A-Za-z0-9+/_-]{43}=?$/.test(word)
      ? Buffer.from(word, 'base64')
      : undefined;
  if (key?.length === KEY_BYTES) return key;
  throw new JournalError('JOURNAL_KEY_INVALID', `${from} is no key: 64 hex digits are expected, or 32 bytes as base64`, {
    hint: 'openssl rand -hex 32 makes one',
  });
}

/** With a sealing key as the root. */
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

/** With a key that only makes digests. */
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

/** The project's own key; undefined when there is none yet, or what stands there is none. */
export async function readProjectKey(disk: Disk, journal: string): Promise<Buffer | undefined> {
  const path = projectKeyPath(journal);
  try {
    return parseSealingKey((await disk.readWhole(path)).toString('latin1'), path);
  } catch (error) {
    if (error instanceof JournalError || codeOf(error) === 'ENOENT') return undefined;
    throw journalError(error, `read ${path}`);
  }
}

/** The project's own key, made now if there is none. */
export async function makeProjectKey(disk: Disk, journal: string): Promise<Buffer> {
  const known = await readProjectKey(disk, journal);
  if (known) return known;
  const path = projectKeyPath(journal);
  const made = randomBytes(KEY_BYTES);
  const content = Buffer.from(`${made.toString('hex')}\n`);
  const temporary = (): string => `${path}.${randomBytes(6).toString('hex')}.tmp`;
  try {
    await makeDurableFolder(disk, dirname(path));
    if (await writeNew(disk, path, temporary(), content)) return made;
    // Another process was faster (K4), or what stands there is no key.
    const theirs = await readProjectKey(disk, journal);
    if (theirs) return theirs;
    await writeDurably(disk, path, temporary(), content);
    return made;
  } catch (error) {
    throw journalError(error, `write ${path}`);
  }
}
