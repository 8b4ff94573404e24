/**
 * Summarises crashed runs. A run that ended in order has its counts in its last line, unless an older program wrote that; every other run
 * has to be read in full, once: it has no writer any more, so the summary is kept beside the runs of the workflow.
 *
 * CRASHED-1  The file is derived: it may be gone, stale or torn at any time, which costs reading the runs again.
 * CRASHED-2  It counts only for a file of the same length.
 */
import type { RunId, Workflow } from '../../../journal/ids.js';
import type { JournalStore, RunFile } from '../../../journal/store.js';
import { recordedCounts } from '../../fold/recorded-counts.js';
import { summariseRun } from './summarise-run.js';
import type { RunReport } from './summary.js';

/** Holds beginnings of arguments. */
export const CRASHED_RUNS = 'crashed';
const VERSION = 4;

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
  const reports = new Map<RunId, RunReport>();
  let isNew = false;
  for (const file of crashed) {
    const { run } = file.ref;
    const known = kept[run];
    const report = known?.bytes === file.bytes ? known.report : await summariseRun(store, file, { nowMs: 0 });
    isNew ||= known?.report !== report;
    reports.set(run, report);
  }
  if (isNew) await writeKept(store, workflow, crashed, reports);
  return reports;
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

async function writeKept(
  store: JournalStore,
  workflow: Workflow,
  crashed: readonly RunFile[],
  reports: ReadonlyMap<RunId, RunReport>,
): Promise<void> {
  const runs = Object.fromEntries(crashed.map(({ ref: { run }, bytes }) => [run, { bytes, report: reports.get(run) }]));
  await store.writeDerived(workflow, CRASHED_RUNS, JSON.stringify({ version: VERSION, runs })).catch(() => undefined); // CRASHED-1
}
