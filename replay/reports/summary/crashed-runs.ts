/**
 * Summarises crashed runs. A run that ended in order has its counts in its last line, unless an older program wrote that; every other run
 * has to be read in full, once: it has no writer any more, so the summary is kept beside the runs of the workflow.
 *
 * CRASHED-1  The file is derived: it may be gone, stale or torn at any time, which costs reading the runs again.
 * CRASHED-2  It counts only for a file of the same length, that of its salvage runs included: what they have changes its counts.
 */
import type { RunId, Workflow } from '../../../journal/ids.js';
import type { JournalStore, RunFile } from '../../../journal/store.js';
import { readSalvaged, sealedRunOf } from '../../fold/calls/salvaged-attempts.js';
import { isSalvageRun } from '../../fold/record-of-upkeep.js';
import { recordedCounts } from '../../fold/recorded-counts.js';
import { summariseRun } from './summarise-run.js';
import type { RunReport } from './summary.js';

/** Holds beginnings of arguments. */
export const CRASHED_RUNS = 'crashed';
/** 8: a call that a guard had executed again counts once, and a result that waited for its guards counts in the salvage run. */
const VERSION = 8;

type Kept = { readonly [run: string]: { readonly bytes: number; readonly report: RunReport } };

/** `files` are all runs of the workflow; the result has those whose last line does not have their counts. */
export async function crashedRuns(
  store: JournalStore,
  workflow: Workflow,
  files: readonly RunFile[],
): Promise<ReadonlyMap<RunId, RunReport>> {
  const crashed = files.filter(
    ({ liveness, finished, isOfUnknownVersion }) =>
      !isOfUnknownVersion && (finished === undefined ? liveness === 'crashed' : recordedCounts(finished.totals) === undefined),
  );
  if (crashed.length === 0) return new Map();
  const kept = await readKept(store, workflow);
  const salvageRuns = await salvageRunsIn(store, files);
  const salvageRunsOf = (run: RunId): readonly RunFile[] => salvageRuns.get(run) ?? [];
  const wholeLength = (file: RunFile): number => [file, ...salvageRunsOf(file.ref.run)].reduce((sum, { bytes }) => sum + bytes, 0);
  const reports = new Map<RunId, RunReport>();
  let isNew = false;
  for (const file of crashed) {
    const { run } = file.ref;
    const known = kept[run];
    const isKnown = known?.bytes === wholeLength(file);
    const report = isKnown
      ? known.report
      : await summariseRun(store, file, { nowMs: 0, salvaged: await readSalvaged(store, salvageRunsOf(run)) });
    isNew ||= known?.report !== report;
    reports.set(run, report);
  }
  if (isNew) {
    const rows = crashed.map((file) => [file.ref.run, { bytes: wholeLength(file), report: reports.get(file.ref.run) }] as const);
    const content = JSON.stringify({ version: VERSION, runs: Object.fromEntries(rows) });
    await store.writeDerived(workflow, CRASHED_RUNS, content).catch(() => undefined); // CRASHED-1
  }
  return reports;
}

/** By the sealed run. */
async function salvageRunsIn(store: JournalStore, files: readonly RunFile[]): Promise<ReadonlyMap<RunId, readonly RunFile[]>> {
  const salvageRuns = new Map<RunId, RunFile[]>();
  for (const file of files.filter(isSalvageRun)) {
    const sealed = await sealedRunOf(store, file);
    if (sealed !== undefined) salvageRuns.set(sealed, [...(salvageRuns.get(sealed) ?? []), file]);
  }
  return salvageRuns;
}

async function readKept(store: JournalStore, workflow: Workflow): Promise<Kept> {
  const content = await store.readDerived(workflow, CRASHED_RUNS);
  if (!content) return {};
  try {
    const { version, runs } = JSON.parse(Buffer.from(content).toString('utf8')) as { readonly version?: unknown; readonly runs?: Kept };
    return version === VERSION && runs ? runs : {};
  } catch {
    return {}; // CRASHED-1
  }
}
