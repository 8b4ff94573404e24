/**
 * Packs runs into one file, to be inspected and replayed elsewhere: their lines unchanged and every blob that they name.
 *
 *   mlld-bundle.json       { "bundle": 1, "runs": [{ "workflow", "run", "sha256" }, …] }, the bundled run first
 *   runs/<run-id>.ndjson
 *   blobs/<64 hex digits>
 *
 * BUNDLE-1 Nothing in a bundle is trusted: ids are parsed, digests computed, paths made by this program.
 * BUNDLE-2 Blobs are stored before the runs that name them; a run appears whole under its name, or not at all.
 */
import { randomBytes } from 'node:crypto';
import { packArchive, unpackArchive, unreadable, type ArchivedFile } from './archive.js';
import { putBlob } from '../storage/blobs.js';
import { sha256 } from '../canonical.js';
import { makeDurableFolder, realDisk, writeNew, type Disk } from '../storage/disk.js';
import { codeOf, JournalError, journalError } from '../errors.js';
import { isDigest, isImplausible, isRunId, startOf, workflowOf, type BlobId, type RunId, type RunRef } from '../ids.js';
import { blobOfFile, journalFolder, runPath, runsFolder } from '../storage/layout.js';
import { bufferOf, NEWLINE } from '../lines/line-buffer.js';
import { readRunBytes } from '../segments.js';

const MANIFEST = 'mlld-bundle.json';
const VERSION = 1;
const WORKFLOW_UNITS_MAX = 4096;

export interface BundledRun {
  readonly ref: RunRef;
  /** The bytes of the run's file. */
  readonly lines: Uint8Array;
}

export interface Bundle {
  /** The bundled run first, then those that results were reused from. */
  readonly runs: readonly BundledRun[];
  readonly blobs: ReadonlyMap<BlobId, Uint8Array>;
}

/** Leaves out the torn tail of a run's file, which is nothing recorded and can't be read. */
export function wholeLines(lines: Uint8Array): Buffer {
  const bytes = bufferOf(lines);
  return bytes.subarray(0, bytes.lastIndexOf(NEWLINE) + 1);
}

/** Returns the same bytes for the same bundle. Throws `JournalError` BUNDLE_TOO_LARGE. */
export async function packBundle({ runs, blobs }: Bundle): Promise<Uint8Array> {
  const manifest = {
    bundle: VERSION,
    runs: runs.map(({ ref, lines }) => ({ workflow: ref.workflow, run: ref.run, sha256: sha256(lines) })),
  };
  const files: ArchivedFile[] = [
    { path: MANIFEST, content: Buffer.from(`${JSON.stringify(manifest, undefined, 2)}\n`) },
    ...runs.map(({ ref, lines }) => ({ path: `runs/${ref.run}.ndjson`, content: lines })),
    ...[...blobs].sort(([left], [right]) => (left < right ? -1 : 1)).map(([id, content]) => ({ path: `blobs/${id.slice(7)}`, content })),
  ];
  const [first] = runs;
  return packArchive(files, new Date(first === undefined ? 0 : startOf(first.ref.run)));
}

/** Throws `JournalError` BUNDLE_UNREADABLE when something is missing, superfluous, or doesn't match its digest. */
export async function unpackBundle(archive: Uint8Array): Promise<Bundle> {
  const files = new Map<string, Uint8Array>();
  for (const { path, content } of await unpackArchive(archive)) {
    if (files.has(path)) throw unreadable(`${path} is there twice`);
    files.set(path, content);
  }
  const manifest = files.get(MANIFEST);
  if (manifest === undefined) throw unreadable(`${MANIFEST} is missing`);
  files.delete(MANIFEST);
  const runs = manifestRuns(manifest).map(({ ref, digest }) => {
    const path = `runs/${ref.run}.ndjson`;
    const lines = files.get(path);
    if (lines === undefined || sha256(lines) !== digest) throw unreadable(`${path} is missing or was changed`);
    files.delete(path);
    return { ref, lines };
  });
  const blobs = new Map<BlobId, Uint8Array>();
  for (const [path, content] of files) {
    const id = path.startsWith('blobs/') ? blobOfFile(path.slice('blobs/'.length)) : undefined;
    if (id === undefined || sha256(content) !== id) throw unreadable(`${path} does not match its name`);
    blobs.set(id, content);
  }
  return { runs, blobs };
}

export interface StoredRun {
  readonly ref: RunRef;
  /** `there` when the same run was in the journal already. */
  readonly did: 'stored' | 'there';
}

/** Stores a bundle in the journal of the project at `root`. Throws `JournalError` JOURNAL_RUN_EXISTS before anything is written. */
export async function storeBundle(root: string, { runs, blobs }: Bundle, disk: Disk = realDisk): Promise<readonly StoredRun[]> {
  const journal = journalFolder(root);
  try {
    const stored: StoredRun[] = [];
    for (const { ref, lines } of runs) stored.push({ ref, did: compareStored(disk, journal, { ref, lines }) });
    for (const content of blobs.values()) await putBlob(disk, journal, content);
    for (const { ref, lines } of runs) {
      const path = runPath(journal, ref);
      await makeDurableFolder(disk, runsFolder(journal, ref.workflow));
      await writeNew(disk, path, `${path}.${randomBytes(6).toString('hex')}.tmp`, lines);
    }
    return stored;
  } catch (error) {
    if (codeOf(error) === undefined || error instanceof JournalError) throw error;
    throw journalError(error, 'store the bundle');
  }
}

function compareStored(disk: Disk, journal: string, { ref, lines }: BundledRun): StoredRun['did'] {
  try {
    if (readRunBytes(disk, runPath(journal, ref)).equals(lines)) return 'there';
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return 'stored';
    throw error;
  }
  throw otherRunThere(ref);
}

export function otherRunThere({ run, workflow }: RunRef): JournalError {
  return new JournalError('JOURNAL_RUN_EXISTS', `there is another run ${run} of ${workflow} in this project`, {
    hint: 'one of them is redacted or incomplete; unbundle into an empty folder',
  });
}

function manifestRuns(content: Uint8Array): readonly { readonly ref: RunRef; readonly digest: BlobId }[] {
  const manifest = parseOrNothing(content);
  if (manifest?.['bundle'] !== VERSION) throw unreadable(`${MANIFEST} is of another version`);
  const runs = manifest['runs'];
  if (!Array.isArray(runs) || runs.length === 0) throw unreadable(`${MANIFEST} names no run`);
  return runs.map((entry: unknown) => {
    const { workflow, run, sha256: digest } = (entry ?? {}) as { readonly [member: string]: unknown };
    if (typeof workflow !== 'string' || workflow === '' || workflow.length > WORKFLOW_UNITS_MAX || typeof digest !== 'string') {
      throw unreadable(`${MANIFEST} names something that is not a run`);
    }
    if (typeof run !== 'string' || !isRunId(run) || !isDigest(digest)) throw unreadable(`${MANIFEST} names something that is not a run`);
    if (isImplausible(run, Date.now())) throw unreadable(`run ${run} would begin at a time that no clock shows`);
    return { ref: { workflow: workflowOf(workflow), run: run satisfies RunId }, digest };
  });
}

function parseOrNothing(content: Uint8Array): { readonly [member: string]: unknown } | undefined {
  try {
    const parsed: unknown = JSON.parse(Buffer.from(content).toString());
    return typeof parsed === 'object' && parsed !== null ? (parsed as { readonly [member: string]: unknown }) : undefined;
  } catch {
    return undefined;
  }
}
