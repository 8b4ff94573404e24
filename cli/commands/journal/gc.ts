/** `mlld journal gc`: removes whole runs that are no longer needed, then blobs that no run refers to. */
import { collectGarbage } from '../../../src/api/commands/gc.js';
import type { RetentionRequest } from '../../../replay/upkeep/retention.js';
import { MlldError } from '../../../src/errors.js';
import { recordedScript } from '../../../src/api/recorded-runs.js';
import type { Io } from '../../terminal/io.js';
import { agoMs } from '../../command-table/values.js';
import { openProject } from '../open-project.js';
import { renderCollection } from '../../render/reports/garbage-collection.js';
import { reportStyle } from '../../render/style.js';

interface GcOptions {
  readonly keep?: string;
  readonly olderThan?: string;
  readonly needed?: true;
  readonly dryRun?: true;
  readonly json?: true;
}

export async function gc(io: Io, script: string | undefined, options: GcOptions): Promise<void> {
  const { project, store } = await openProject(io);
  const workflow = script === undefined ? undefined : await recordedScript(store, project, script);
  const report = await collectGarbage(store, project.root, {
    ...requestOf(options, io.todayMs()),
    workflow,
    dryRun: options.dryRun === true,
  });
  io.stdout(options.json ? `${JSON.stringify(report, undefined, 2)}\n` : renderCollection(report, reportStyle(io)));
}

function requestOf({ keep, olderThan, needed }: GcOptions, nowMs: number): Omit<RetentionRequest, 'workflow'> {
  return {
    keep: keep === undefined ? undefined : countOf(keep),
    sinceMs: olderThan === undefined ? undefined : nowMs - ageOf(olderThan),
    needed: needed === true ? 'goes' : 'stays',
  };
}

function countOf(text: string): number {
  if (!/^\d{1,9}$/.test(text)) throw new MlldError('USAGE', `--keep ${text} is not a number of runs`, { hint: '--keep 5' });
  return Number(text);
}

function ageOf(text: string): number {
  const ms = agoMs(text);
  if (ms === undefined) throw new MlldError('USAGE', `--older-than ${text} is not a duration`, { hint: '12h, 30d, 8w' });
  return ms;
}
