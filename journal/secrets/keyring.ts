/**
 * Finds the keys of a store: the user's, or a random one of the project that is made when it is first needed.
 *
 * KEYRING-1 The project's key appears whole under its name, and the first process to make one wins.
 */
import { randomBytes } from 'node:crypto';
import { dirname } from 'node:path';
import { codeOf, JournalError, journalError } from '../errors.js';
import { bufferOf } from '../lines/line-buffer.js';
import { makeDurableFolder, writeDurably, writeNew, type Disk } from '../storage/disk.js';
import { digestingSecrets, KEY_BYTES, sealingSecrets, type Secrets } from './sealing.js';

/** The user's key; `none`: secrets are not kept, there are only digests of them; undefined: the project's own key. */
export type SealingKey = Uint8Array | 'none' | undefined;

export interface KeySource {
  readonly sealingKey: SealingKey;
  /** Reads the project's key, if it has one. */
  read(): Promise<Uint8Array | undefined>;
  make(): Promise<Uint8Array>;
}

export interface Keyring {
  /** The user named the key, so that other machines may have it. */
  readonly isShared: boolean;
  /** Returns the keys that need no reading: the user's, or those that were read before. */
  now(): Secrets | undefined;
  /** Returns undefined when nothing can have been recorded with a key. */
  known(): Promise<Secrets | undefined>;
  /** Returns the keys, which are made now if there are none. */
  needed(): Promise<Secrets>;
}

export function openKeyring({ sealingKey, read, make }: KeySource): Keyring {
  const open = sealingKey === 'none' ? digestingSecrets : sealingSecrets;
  let ready = sealingKey instanceof Uint8Array ? sealingSecrets(sealingKey) : undefined;
  let making: Promise<Secrets> | undefined;
  return {
    isShared: sealingKey instanceof Uint8Array,
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

/** The keys of a project that lie beside its journal's folder on this machine. */
export function projectKeySource(disk: Disk, journal: string, sealingKey: SealingKey): KeySource {
  return { sealingKey, read: () => readProjectKey(disk, journal), make: () => makeProjectKey(disk, journal) };
}

/** Parses 64 hex digits, or base64 of 32 bytes. Throws `JournalError` `JOURNAL_KEY_INVALID`; the message doesn't repeat the text. */
export function parseSealingKey(text: string, from: string): Uint8Array {
  const word = text.trim();
  const key = /^[0-9a-f]{64}$/i.test(word)
    ? Buffer.from(word, 'hex')
    : /^[A-Za-z0-9+/_-]{43}=?$/.test(word)
      ? Buffer.from(word, 'base64')
      : undefined;
  if (key?.length === KEY_BYTES) return key;
  throw new JournalError('JOURNAL_KEY_INVALID', `${from} does not hold a key: 64 hex digits are expected, or 32 bytes as base64`, {
    hint: 'openssl rand -hex 32 makes one',
  });
}

/** Lies beside the journal's folder, not in it, so that a copy of the journal does not include what opens it. */
const projectKeyPath = (journal: string): string => `${journal}.key`;

/** Reads the project's own key; undefined when there is none yet, or the file holds something else. */
async function readProjectKey(disk: Disk, journal: string): Promise<Uint8Array | undefined> {
  const path = projectKeyPath(journal);
  try {
    return parseSealingKey(bufferOf(await disk.readWhole(path)).toString('latin1'), path);
  } catch (error) {
    if (error instanceof JournalError || codeOf(error) === 'ENOENT') return undefined;
    throw journalError(error, `read ${path}`);
  }
}

/** Reads the project's own key, and makes it first if there is none. */
export async function makeProjectKey(disk: Disk, journal: string): Promise<Uint8Array> {
  const known = await readProjectKey(disk, journal);
  if (known) return known;
  const path = projectKeyPath(journal);
  const made = randomBytes(KEY_BYTES);
  const content = Buffer.from(`${made.toString('hex')}\n`);
  const temporary = (): string => `${path}.${randomBytes(6).toString('hex')}.tmp`;
  try {
    await makeDurableFolder(disk, dirname(path));
    if (await writeNew(disk, path, temporary(), content)) return made;
    // Another process was faster (KEYRING-1), or the file holds no key.
    const theirs = await readProjectKey(disk, journal);
    if (theirs) return theirs;
    await writeDurably(disk, path, temporary(), content);
    return made;
  } catch (error) {
    throw journalError(error, `write ${path}`);
  }
}
