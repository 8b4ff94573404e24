/** `mlld journal bundle RUN -o FILE`: puts a run into one file, with everything needed to read it elsewhere; `unbundle FILE` adds it. */
import fs from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { bundleRun, unbundleRuns } from '../../../src/api/commands/bundle.js';
import { reason } from '../../../src/api/commands/files.js';
import { resolveRun } from '../../../src/api/recorded-runs.js';
import { MlldError } from '../../../src/errors.js';
import type { Io } from '../../terminal/io.js';
import { openOutput } from '../../terminal/output-file.js';
import { openProject } from '../open-project.js';
import { patternOf } from '../../options/redaction-options.js';
import { counted } from '../../render/reports/garbage-collection.js';
import { oneLine } from '../../render/one-line.js';
import { size } from '../../render/units.js';

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
  const run = await resolveRun(store, project, text);
  const { packed, runs, blobs } = await bundleRun(store, project.root, run, { match, at: new Date(io.todayMs()).toISOString() });
  const output = openOutput(io, file);
  output.write(packed);
  output.finish();
  const report = { file, bytes: packed.length, runs, blobs };
  io.stderr(json ? '' : `${file}: ${counted(runs.length, 'run')}, ${counted(blobs, 'blob')}, ${size(packed.length)}\n`);
  if (json) io.stdout(`${JSON.stringify(report, undefined, 2)}\n`);
}

export async function unbundle(io: Io, file: string, { json }: JsonOption): Promise<void> {
  const { project, store } = await openProject(io);
  const packed = await fs.readFile(path.resolve(io.workingDirectory, file)).catch((cause: unknown) => {
    throw new MlldError('USAGE', `Can't read ${file}: ${reason(cause)}`, { cause });
  });
  const stored = await withTemporaryFolder((scratch) => unbundleRuns(packed, { store, root: project.root, scratch }));
  const lines = stored.map(({ ref, did }) => `${ref.run}  ${oneLine(ref.workflow)}${did === 'there' ? '  (was there already)' : ''}\n`);
  io.stdout(json ? `${JSON.stringify(stored, undefined, 2)}\n` : lines.join(''));
}

async function withTemporaryFolder<T>(work: (folder: string) => Promise<T>): Promise<T> {
  const folder = await fs.mkdtemp(path.join(os.tmpdir(), 'mlld-'));
  try {
    return await work(folder);
  } finally {
    await fs.rm(folder, { recursive: true, force: true });
  }
}
