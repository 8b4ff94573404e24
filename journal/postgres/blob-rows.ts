/**
 * Keeps blobs of a project in parts of 1 MiB.
 *
 * BLOB-ROWS-1 A blob is there once its row in `blobs` is, which the last statement of its transaction makes: it is whole or absent. A kill
 *    before leaves nothing.
 * BLOB-ROWS-2 The digest is checked whenever a blob is read, and by the server where a blob that is there is stored again: rows that were
 *    changed by SQL are replaced.
 */
import { createHash, randomBytes } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { sha256 } from '../canonical.js';
import { journalError } from '../errors.js';
import type { BlobId } from '../ids.js';
import type { BlobWriter, StoredBlob } from '../storage/blob-writer.js';
import { realDisk, writeAll } from '../storage/disk.js';
import type { Row, Sql } from './connection.js';

const PART_BYTES = 1024 * 1024;
/** So many parts are asked for at once. */
const PARTS_UNDER_WAY = 4;
/** A smaller blob is sent with the question whether it is there: that costs less than waiting for the answer. */
const ASKED_BYTES_MIN = 16 * 1024;

const TOUCH = `update mlld.blobs b set touched_at = clock_timestamp() from mlld.projects p
  where p.project_id = b.project_id and p.name = $1 and b.digest = $2 and mlld.is_whole(b.project_id, b.digest, b.bytes) returning 1`;
const PUT = 'select mlld.put_blob($1, $2, $3, $4)';

export interface BlobPorts {
  readonly sql: Sql;
  /** Runs work in a transaction of a connection that it has for itself. */
  readonly inTransaction: (work: (sql: Sql) => Promise<void>) => Promise<void>;
  readonly project: string;
  /** A part that takes longer counts as lost. */
  readonly timeoutMs: number;
}

export async function putBlobRows(ports: BlobPorts, content: string | Uint8Array): Promise<StoredBlob> {
  const bytes = typeof content === 'string' ? Buffer.from(content) : Buffer.from(content.buffer, content.byteOffset, content.length);
  const blob = sha256(bytes) as BlobId;
  const partOf = async (part: number): Promise<Buffer> => bytes.subarray(part * PART_BYTES, (part + 1) * PART_BYTES);
  await store(ports, { blob, bytes: bytes.length }, partOf);
  return { blob, bytes: bytes.length };
}

export async function getBlobRows({ sql, project }: BlobPorts, id: BlobId): Promise<Uint8Array | undefined> {
  // Most blobs are one part, which comes with the size: a second round trip is for larger ones.
  const [found] = await sql.query(
    `select b.bytes::float8 as bytes, f.content from mlld.blobs b join mlld.projects p using (project_id)
       left join mlld.blob_parts f on f.project_id = b.project_id and f.digest = b.digest and f.part = 0
     where p.name = $1 and b.digest = $2`,
    [project, id],
  );
  if (found === undefined) return undefined;
  const parts = Math.ceil(Number(found['bytes']) / PART_BYTES);
  const pieces: Buffer[] = [contentOf(found)];
  for (let from = 1; from < parts; from += PARTS_UNDER_WAY) {
    const numbers = Array.from({ length: Math.min(PARTS_UNDER_WAY, parts - from) }, (_, n) => from + n);
    const read = await Promise.all(numbers.map((part) => readPart(sql, project, id, part)));
    if (read.some(({ length }) => length === 0)) return undefined; // its row may say any size that SQL has written
    pieces.push(...read);
  }
  const content = Buffer.concat(pieces);
  return sha256(content) === id ? content : undefined; // BLOB-ROWS-2
}

async function readPart(sql: Sql, project: string, id: BlobId, part: number): Promise<Buffer> {
  const [found] = await sql.query(
    `select b.content from mlld.blob_parts b join mlld.projects p using (project_id)
     where p.name = $1 and b.digest = $2 and b.part = $3`,
    [project, id, part],
  );
  return contentOf(found);
}

function contentOf(row: Row | undefined): Buffer {
  const content = row?.['content'];
  return content instanceof Uint8Array ? Buffer.from(content.buffer, content.byteOffset, content.length) : Buffer.alloc(0);
}

/** Collects the pieces in a temporary file of this machine: a blob may be larger than memory. */
export function newBlobRows(ports: BlobPorts): BlobWriter {
  const hash = createHash('sha256');
  let open: { readonly folder: string; readonly path: string; readonly file: number } | undefined;
  let bytes = 0;
  const opened = (): NonNullable<typeof open> => {
    if (open === undefined) {
      const folder = mkdtempSync(join(tmpdir(), 'mlld-blob-'));
      const path = join(folder, randomBytes(6).toString('hex'));
      open = { folder, path, file: realDisk.create(path) };
    }
    return open;
  };
  const remove = (): void => {
    if (open === undefined) return;
    realDisk.close(open.file);
    rmSync(open.folder, { recursive: true, force: true });
    open = undefined;
  };
  return {
    write(piece) {
      writeAll(realDisk, opened().file, piece);
      hash.update(piece);
      bytes += piece.length;
    },
    async read() {
      return bytes === 0 ? Buffer.alloc(0) : (await realDisk.readWhole(opened().path)).subarray(0, bytes); // part of a failed piece may follow
    },
    async keep() {
      const blob = `sha256:${hash.digest('hex')}` as BlobId;
      const { path } = opened();
      const reader = realDisk.openToRead(path);
      try {
        await store(ports, { blob, bytes }, async (part) => {
          const piece = Buffer.alloc(Math.min(PART_BYTES, bytes - part * PART_BYTES));
          for (let read = 0; read < piece.length;) {
            const more = realDisk.read(reader, piece, read, piece.length - read, part * PART_BYTES + read);
            if (more === 0) throw new Error('the temporary file of a result was cut off');
            read += more;
          }
          return piece;
        });
      } catch (error) {
        throw journalError(error, `store a result of ${bytes} bytes`);
      } finally {
        realDisk.close(reader);
        remove();
      }
      return { blob, bytes };
    },
    discard: async () => remove(),
  };
}

/** A blob that is there already is only touched, which keeps it from garbage collection. */
async function store(ports: BlobPorts, { blob, bytes }: StoredBlob, partOf: (part: number) => Promise<Buffer>): Promise<void> {
  const { sql, inTransaction, project, timeoutMs } = ports;
  if (bytes < ASKED_BYTES_MIN) {
    const unlessThere = `with touched as (${TOUCH}) ${PUT} where not exists (select from touched)`;
    await sql.query(unlessThere, [project, blob, bytes, await partOf(0)], timeoutMs);
    return;
  }
  if ((await sql.query(TOUCH, [project, blob], timeoutMs)).length > 0) return;
  if (bytes <= PART_BYTES) {
    await sql.query(PUT, [project, blob, bytes, await partOf(0)], timeoutMs);
    return;
  }
  await inTransaction(async (own) => {
    await own.query('select mlld.drop_damaged($1, $2)', [project, blob], timeoutMs);
    for (let part = 0; part * PART_BYTES < bytes; part++) {
      await own.query('select mlld.put_part($1, $2, $3, $4)', [project, blob, part, await partOf(part)], timeoutMs);
    }
    await own.query('select mlld.put_blob($1, $2, $3, null)', [project, blob, bytes], timeoutMs); // BLOB-ROWS-1
  });
}
