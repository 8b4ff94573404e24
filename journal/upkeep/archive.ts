/** Packs files into one compressed tar archive, which every system can open. Held in memory, so its size is limited. */
import { promisify } from 'node:util';
import { gzip } from 'node:zlib';
import { JournalError } from '../errors.js';

export interface ArchivedFile {
  /** Relative, with forward slashes, at most 100 characters. */
  readonly path: string;
  readonly content: Uint8Array;
}

const BLOCK_BYTES = 512;
/** Bytes when unpacked. A run of a million events has some 400 MB. */
const ARCHIVE_BYTES_MAX = 2 * 1024 * 1024 * 1024;

/** Returns the same archive for the same files; `mtime` is that of all of them. */
export async function packArchive(files: readonly ArchivedFile[], mtime: Date): Promise<Uint8Array> {
  const total = files.reduce((sum, { content }) => sum + content.length, 0);
  if (total > ARCHIVE_BYTES_MAX) throw tooLarge();
  const { Header } = await import('tar');
  const blocks: Uint8Array[] = [];
  for (const { path, content } of files) {
    const header = new Header({ path, size: content.length, mode: 0o600, mtime, type: 'File', uid: 0, gid: 0 });
    const block = Buffer.alloc(BLOCK_BYTES);
    if (header.encode(block, 0)) throw new Error(`the path ${path} is too long for an archive`);
    blocks.push(block, content, Buffer.alloc(-content.length & (BLOCK_BYTES - 1)));
  }
  blocks.push(Buffer.alloc(2 * BLOCK_BYTES));
  return promisify(gzip)(Buffer.concat(blocks));
}

/** Refuses an archive with anything but plain files. Throws `JournalError` BUNDLE_UNREADABLE and BUNDLE_TOO_LARGE. */
export async function unpackArchive(archive: Uint8Array): Promise<readonly ArchivedFile[]> {
  const { Parser } = await import('tar');
  const files: ArchivedFile[] = [];
  let total = 0;
  await new Promise<void>((resolve, reject) => {
    const fail = (problem: JournalError): void => {
      parser.abort(problem);
      reject(problem);
    };
    const parser = new Parser({
      strict: true,
      maxMetaEntrySize: BLOCK_BYTES,
      onReadEntry(entry) {
        if (entry.type !== 'File') return fail(unreadable(`it holds ${entry.path}, which is not a plain file`));
        const parts: Uint8Array[] = [];
        entry.on('data', (part: Buffer) => {
          total += part.length;
          if (total > ARCHIVE_BYTES_MAX) fail(tooLarge());
          else parts.push(Uint8Array.from(part));
        });
        entry.on('end', () => files.push({ path: entry.path, content: Buffer.concat(parts) }));
      },
    });
    parser.on('end', resolve);
    parser.on('error', (error: unknown) => reject(error instanceof JournalError ? error : unreadable((error as Error).message, error)));
    parser.end(Buffer.from(archive));
  });
  return files;
}

export function unreadable(problem: string, cause?: unknown): JournalError {
  return new JournalError('BUNDLE_UNREADABLE', `this is not a complete bundle: ${problem}`, {
    hint: 'mlld journal bundle makes one',
    cause,
  });
}

function tooLarge(): JournalError {
  return new JournalError('BUNDLE_TOO_LARGE', `a bundle holds at most ${ARCHIVE_BYTES_MAX / 1024 ** 3} GB`);
}
