/** `mlld journal redact RUN --op PATH|--match REGEX`: removes content from a recorded run for good. */
import type { RunId, RunRef } from '../../../journal/ids.js';
import type { JournalStore } from '../../../journal/store.js';
import { hasKeeper, redactRun, type RedactionReport } from '../../../src/api/commands/redact.js';
import { damagedSpillsOf, describePush, pushSpills } from '../../../src/api/commands/store.js';
import { resolveRun } from '../../../src/api/recorded-runs.js';
import { MlldError } from '../../../src/errors.js';
import { oneLine } from '../../render/one-line.js';
import type { Io } from '../../terminal/io.js';
import { openProject } from '../open-project.js';
import { patternOf } from '../../options/redaction-options.js';
import { counted, LEFT } from '../../render/reports/garbage-collection.js';

interface RedactOptions {
  readonly op?: string;
  readonly match?: string;
  readonly reason: string;
  readonly dryRun?: true;
  readonly json?: true;
}

export async function redact(io: Io, text: string, options: RedactOptions): Promise<void> {
  const { op, match, reason, dryRun = false } = options;
  if (op === undefined && match === undefined) {
    throw new MlldError('USAGE', 'journal redact needs --op PATH or --match REGEX', { hint: 'mlld journal redact --help' });
  }
  const pattern = match === undefined ? undefined : patternOf('--match', match);
  const { project, store } = await openProject(io);
  if (!dryRun) await bringInSpills(io, store);
  const { ref } = await resolveRun(store, project, text);
  if (op !== undefined) await refuseUnknownOperation(store, ref, op);
  const at = new Date(io.todayMs()).toISOString();
  const report = await redactRun(store, project.root, ref, { op, match: pattern, reason, at, dryRun });
  const copies = hasKeeper(store) && !dryRun ? COPIES_OF_SERVERS : '';
  if (!dryRun) await nameDamagedSpills(io, store, ref, report);
  nameUnreadLines(io, store, report);
  io.stdout(options.json ? `${JSON.stringify(report, undefined, 2)}\n` : render(report) + copies);
}

const COPIES_OF_SERVERS = "The server's log, archives and backups may still hold it: ask who runs the store.\n";

/** Otherwise the next run would bring lines that were kept here into a salvage run, with what was to be removed. */
async function bringInSpills(io: Io, store: JournalStore): Promise<void> {
  for (const pushed of await pushSpills(store)) io.stderr(`${oneLine(describePush(pushed))}\n`);
}

/** Lines in them may be the only record of something that was paid for, so a person decides. */
async function nameDamagedSpills(io: Io, store: JournalStore, { workflow, run }: RunRef, { serving }: RedactionReport): Promise<void> {
  const runs = [run, ...serving].map((each) => ({ workflow, run: each as RunId }));
  for (const path of await damagedSpillsOf(store, runs))
    io.stderr(`warning: ${oneLine(path)} may still hold it: its lines can't be read as those of the run; remove the file\n`);
}

const UNREAD_MAX = 5;

/** Their results may be the only record of something that was paid for, so a person decides. */
function nameUnreadLines(io: Io, store: JournalStore, { unread }: RedactionReport): void {
  if (unread.length === 0) return;
  for (const { run, line, message } of unread.slice(0, UNREAD_MAX)) {
    io.stderr(
      `warning: run ${run}${line === null ? '' : `, line ${line}`}: ${oneLine(message)}; it is left as it is, and may still hold it\n`,
    );
  }
  const more = unread.length - UNREAD_MAX;
  if (more > 0) io.stderr(`warning: so may ${counted(more, 'more place')}: mlld journal verify lists them\n`);
  const remedy = hasKeeper(store) ? 'ask who runs the store to delete the run' : 'delete the file of the run, which has its id as name';
  io.stderr(`To remove what can't be read, ${remedy}: its results are lost with it.\n`);
}

/** Redaction keeps the paths of operations, so one that the run does not have was misspelt, and its content would not be removed. */
async function refuseUnknownOperation(store: JournalStore, ref: RunRef, op: string): Promise<void> {
  const { findOperation } = await import('./unmatched-filters.js');
  const { found, near } = await findOperation(store, ref, op);
  if (found) return;
  throw new MlldError('USAGE', `--op ${op}: run ${ref.run} has no such operation, nothing was removed`, {
    hint: near === undefined ? `mlld journal show ${ref.run} names the operations` : `did you mean ${near}?`,
  });
}

function render({ run: named, serving, dryRun, events, results, blobs, blobsLeft, sharedBlobs, vacuum }: RedactionReport): string {
  const run = serving.length === 0 ? named : `${named} and ${counted(serving.length, 'run')} that it is one with`;
  const lines = [
    dryRun
      ? `Would change ${counted(events, 'event')} of ${run}.`
      : `Changed ${counted(events, 'event')} of ${run}, removed ${counted(blobs, 'blob')}.`,
    ...(results === 0
      ? []
      : [`${counted(results, 'result')} of llm calls among them: a call that has no other result is executed again by the next run.`]),
    ...(blobsLeft === null ? [] : [LEFT[blobsLeft]]),
    ...(sharedBlobs.length === 0
      ? []
      : [`${counted(sharedBlobs.length, 'blob')} kept, because another run has the same: redact that run too (mlld journal list).`]),
    ...(vacuum === null ? [] : [`Dead rows of the tables hold it until their owner (mlld_owner) says: ${vacuum}`]),
  ];
  return `${lines.join('\n')}\n`;
}
