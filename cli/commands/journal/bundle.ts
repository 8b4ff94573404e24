/** `mlld journal bundle RUN -o FILE`: puts a run into one file, with everything needed to read it elsewhere; `unbundle FILE` adds it. */
import fs from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import type { BundledRun } from '../../../journal/upkeep/bundle.js';
import type { BlobId, RunRef } from '../../../src/api/ids.js';
import {
  packBundle,
  storeBundle,
  unpackBundle,
  editedLines,
  blobsOf,
  runsToBundle,
  redactEvent,
  redactionRequest,
} from '../../../src/api/commands/bundle.js';
import { reason } from '../../../src/api/commands/files.js';
import { openFileStore } from '../../../src/api/commands/store.js';
import type { JournalStore } from '../../../journal/store.js';
import { verifyRun } from '../../../src/api/reports/verify.js';
import { MlldError } from '../../../src/errors.js';
import { resolveRun } from '../../../src/api/recorded-runs.js';
import type { Io } from '../../terminal/io.js';
import { openOutput } from '../../terminal/output-file.js';
import { openProject } from '../open-project.js';
import { patternOf } from '../../options/redaction-options.js';
import { counted } from '../../render/reports/garbage-collection.js';
import { oneLine } from '../../render/one-line.js';
import { size } from '../../render/units.js';

const REASON = 'redacted for the bundle';

interface JsonOption {
  readonly json?: true;
}

interface BundleOptions extends JsonOption {
  readonly output: string;
  readonly redact?: string;
}

export async function bundle(io: Io, text: string, { output: file, redact, json }: BundleOptions): Promise<void> {
  const match = redact === undefined ? undefined : patternOf('--redact', redact);
  const { project, store } = await openProject(io);
  const { ref, liveness } = await resolveRun(store, project, text);
  if (liveness === 'running') throw new MlldError('RUN_RUNNING', `Run ${ref.run} is in flight: it can be bundled when it has ended`);
  const because = { at: new Date(io.todayMs()).toISOString(), reason: REASON };
  const runs: BundledRun[] = [];
  const blobs = new Map<BlobId, Uint8Array>();
  for (const each of await runsToBundle(store, ref)) {
    await refuseDamaged(store, each, 'in the journal');
    const request = match && (await redactionRequest(store, each, { op: undefined, match, reason: REASON }));
    const edit = (event: Parameters<typeof redactEvent>[0]) => request && redactEvent(event, request);
    runs.push({ ref: each, lines: await editedLines(project.root, each, edit, because) });
    for (const [id, content] of await blobsOf(store, each, edit)) blobs.set(id, content);
  }
  const packed = await packBundle({ runs, blobs });
  const output = openOutput(io, file);
  output.write(packed);
  output.finish();
  const report = { file, bytes: packed.length, runs: runs.map((run) => run.ref), blobs: blobs.size };
  io.stderr(json ? '' : `${file}: ${counted(runs.length, 'run')}, ${counted(blobs.size, 'blob')}, ${size(packed.length)}\n`);
  if (json) io.stdout(`${JSON.stringify(report, undefined, 2)}\n`);
}

export async function unbundle(io: Io, file: string, { json }: JsonOption): Promise<void> {
  const { project } = await openProject(io);
  const packed = await fs.readFile(path.resolve(io.workingDirectory, file)).catch((cause: unknown) => {
    throw new MlldError('USAGE', `Can't read ${file}: ${reason(cause)}`, { cause });
  });
  const unpacked = await unpackBundle(packed);
  // A journal is no place to find out that a bundle was damaged.
  await withTemporaryFolder(async (root) => {
    await storeBundle(root, unpacked);
    for (const { ref } of unpacked.runs) await refuseDamaged(openFileStore(root), ref, 'in the bundle');
  });
  const stored = await storeBundle(project.root, unpacked);
  const lines = stored.map(({ ref, did }) => `${ref.run}  ${oneLine(ref.workflow)}${did === 'there' ? '  (was there already)' : ''}\n`);
  io.stdout(json ? `${JSON.stringify(stored, undefined, 2)}\n` : lines.join(''));
}

async function refuseDamaged(store: JournalStore, ref: RunRef, where: string): Promise<void> {
  const { ok, defects, violations } = await verifyRun(store, ref);
  if (ok) return;
  const [first] = [...defects.filter(({ kind }) => kind !== 'torn-tail'), ...violations];
  throw new MlldError('BUNDLE_DAMAGED', `Run ${ref.run} is damaged ${where}: ${first?.message ?? 'it does not verify'}`, {
    hint: `mlld journal verify ${ref.run} says what is lost`,
  });
}

async function withTemporaryFolder(work: (folder: string) => Promise<void>): Promise<void> {
  const folder = await fs.mkdtemp(path.join(os.tmpdir(), 'mlld-'));
  try {
    await work(folder);
  } finally {
    await fs.rm(folder, { recursive: true, force: true });
  }
}
