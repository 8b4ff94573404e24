/**
 * Reads and writes files: text in UTF-8, nothing trimmed.
 *
 * FILE-1 Writes and appends to one path happen one after the other, in the order in which they were requested.
 * FILE-2 A file is read up to a limit, also one whose size the system does not report.
 */
import fs from 'node:fs';
import { appendFile, readdir, rm, stat } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { makeFolders } from '../../../journal/storage/make-folders.js';
import { globFiles } from './glob.js';
import { similarNames } from './similar-names.js';
import { type EffectResult, type EffectRequest, WorldError } from '../world.js';
import { replaceFile } from './replace-file.js';

export const FILE_BYTES_MAX = 64 * 1024 * 1024;
const CHUNK_BYTES = 64 * 1024;

/** A script that reads nothing but its own file does without `node:fs/promises`, which takes a millisecond and a half to load. */
const [open, fstat, read, close] = [promisify(fs.open), promisify(fs.fstat), promisify(fs.read), promisify(fs.close)];

type Nothing = Record<string, never>;

export interface Files {
  readonly read: (request: EffectRequest<'file.read'>) => Promise<EffectResult<'file.read'>>;
  readonly bytes: (request: EffectRequest<'file.bytes'>) => Promise<EffectResult<'file.bytes'>>;
  readonly restore: (request: EffectRequest<'file.restore'>) => Promise<Nothing>;
  readonly write: (request: EffectRequest<'file.write'>) => Promise<Nothing>;
  readonly append: (request: EffectRequest<'file.append'>) => Promise<Nothing>;
  readonly remove: (request: EffectRequest<'file.remove'>) => Promise<Nothing>;
  readonly stat: (request: EffectRequest<'file.stat'>) => Promise<EffectResult<'file.stat'>>;
  readonly glob: (request: EffectRequest<'file.glob'>) => Promise<EffectResult<'file.glob'>>;
  readonly list: (request: EffectRequest<'file.list'>) => Promise<EffectResult<'file.list'>>;
  readonly similar: (request: EffectRequest<'file.similar'>) => Promise<EffectResult<'file.similar'>>;
  /** Resolves when nothing is being written. */
  readonly settled: () => Promise<void>;
}

export function createFiles(): Files {
  const lastWrite = new Map<string, Promise<unknown>>();

  function inOrder(path: string, task: () => Promise<void>): Promise<Nothing> {
    const before = lastWrite.get(path) ?? Promise.resolve();
    const mine = before.then(task, task);
    lastWrite.set(path, mine);
    const forget = (): void => {
      if (lastWrite.get(path) === mine) lastWrite.delete(path);
    };
    mine.then(forget, forget);
    return mine.then(
      () => ({}),
      (error: unknown) => {
        throw fileError('write', path, error);
      },
    );
  }

  return {
    read: async ({ path }) => {
      const found = await readFile(path);
      return 'bytes' in found ? { text: found.bytes.toString('utf8') } : found;
    },
    bytes: async ({ path }) => {
      const found = await readFile(path);
      return 'bytes' in found ? { base64: found.bytes.toString('base64') } : found;
    },
    restore: ({ path, base64 }) => inOrder(path, () => inFolder(path, () => replaceFile(path, Buffer.from(base64, 'base64')))),
    write: ({ path, text, durable }) =>
      inOrder(path, () => inFolder(path, () => replaceFile(path, text, { durability: durable ? 'synced' : 'unsynced' }))),
    append: ({ path, text }) => inOrder(path, () => inFolder(path, () => appendFile(path, text))),
    remove: ({ path }) => inOrder(path, () => rm(path, { force: true })),
    stat: async ({ path }) => ({ kind: await kindOf(path) }),
    glob: async ({ root, pattern }) => {
      try {
        return { paths: await globFiles(root, pattern) };
      } catch (error) {
        throw fileError('search', root, error);
      }
    },
    list: ({ path }) => listFolder(path),
    similar: async ({ path }) => ({ names: await similarNames(path) }),
    async settled() {
      await Promise.allSettled(lastWrite.values());
    },
  };
}

/** Makes the folder of a file only when writing shows that it is missing. */
async function inFolder(path: string, write: () => Promise<void>): Promise<void> {
  try {
    await write();
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
    makeFolders(dirname(path));
    await write();
  }
}

type Missing = Extract<EffectResult<'file.read'>, { missing: unknown }>;

async function readFile(path: string): Promise<{ readonly bytes: Buffer } | Missing> {
  try {
    const file = await open(path, 'r');
    try {
      const facts = await fstat(file);
      if (facts.isDirectory()) return { missing: 'directory', detail: `${path} is a directory` };
      if (facts.size > FILE_BYTES_MAX) return tooLarge(path);
      const chunks: Buffer[] = [];
      let sizeBytes = 0;
      // Files under /proc and pipes report a size of 0. One byte more than expected is read, to find the end at once.
      for (let expected = facts.size > 0 ? facts.size + 1 : CHUNK_BYTES; ; expected = CHUNK_BYTES) {
        const { bytesRead, buffer } = await read(file, Buffer.allocUnsafe(expected), 0, expected, null);
        if (bytesRead === 0) break;
        sizeBytes += bytesRead;
        if (sizeBytes > FILE_BYTES_MAX) return tooLarge(path);
        chunks.push(buffer.subarray(0, bytesRead));
        if (sizeBytes === facts.size) break;
      }
      return { bytes: chunks.length === 1 ? (chunks[0] as Buffer) : Buffer.concat(chunks) };
    } finally {
      await close(file);
    }
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    if (code === 'ENOENT' || code === 'ENOTDIR') return { missing: 'absent', detail: `${path} does not exist` };
    if (code === 'EISDIR') return { missing: 'directory', detail: `${path} is a directory` };
    return { missing: 'unreadable', detail: message };
  }
}

function tooLarge(path: string): Missing {
  return { missing: 'too-large', detail: `${path} is larger than ${FILE_BYTES_MAX / 1024 / 1024} MiB` };
}

async function kindOf(path: string): Promise<'file' | 'directory' | 'none'> {
  const facts = await stat(path).catch(() => undefined);
  if (!facts) return 'none';
  return facts.isDirectory() ? 'directory' : 'file';
}

async function listFolder(path: string): Promise<EffectResult<'file.list'>> {
  const files: string[] = [];
  const folders: string[] = [];
  try {
    for (const entry of await readdir(path, { withFileTypes: true })) {
      const isFolder = entry.isDirectory() || (entry.isSymbolicLink() && (await kindOf(join(path, entry.name))) === 'directory');
      (isFolder ? folders : files).push(entry.name);
    }
  } catch (error) {
    throw fileError('list', path, error);
  }
  return { files: files.sort(), folders: folders.sort() };
}

function fileError(what: 'write' | 'list' | 'search', path: string, error: unknown): WorldError {
  const code = what === 'write' ? 'FILE_NOT_WRITTEN' : 'FOLDER_NOT_READ';
  return new WorldError(code, `Cannot ${what} ${path}: ${reason(error)}`, { cause: error });
}

/** Says in words why the file system refused. */
export function reason(error: unknown): string {
  const { code, message } = error as NodeJS.ErrnoException;
  switch (code) {
    case 'ENOENT':
      return 'it does not exist';
    case 'EISDIR':
      return 'it is a directory';
    case 'ENOTDIR':
    case 'EEXIST':
      return 'a part of the path is not a directory';
    case 'EACCES':
    case 'EPERM':
    case 'EROFS':
      return 'permission denied';
    case 'ENOSPC':
      return 'no space left on the disk';
    default:
      return message;
  }
}
