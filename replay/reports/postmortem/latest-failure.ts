/**
 * Picks the run that a post-mortem is about when none is named: the latest that ended badly and was not resumed to its end since.
 *
 * A run ended badly when it has not completed, or calls of it are unresolved, and it was not continued as another (`restarted`) and has no
 * writer any more. A run that another one started is part of that one. A later run of the same workflow has resumed it to its end when that
 * one did not end badly and
 *
 * - continues it, directly or through runs between the two (`resume` and `restartOf` of pipelines), or
 * - had the same payload: a script is resumed by the same command again, and nothing else ties the two runs.
 *
 * A trial, which is recorded with the backend `simulated`, has resumed trials only.
 */
import { canonicalJson } from '../../../journal/canonical.js';
import type { EventOf } from '../../../journal/event.js';
import { SIMULATED } from '../../../journal/facts/simulated-backend.js';
import type { RunId, Workflow } from '../../../journal/ids.js';
import type { JournalStore, RunFile } from '../../../journal/store.js';
import { isRecordOfUpkeep } from '../../fold/record-of-upkeep.js';
import { foldRun, startOfRun } from '../../fold/fold-run.js';
import { postMortem } from './postmortem.js';

type Head = EventOf<'run.started'>;

/** Facts about a workflow from the runs after the one that is looked at. */
interface Later {
  readonly all: Ends;
  /** The same without trials. */
  readonly real: Ends;
}

interface Ends {
  readonly completedPayloads: Map<string, RunFile>;
  /** Runs that a completed one continues, and that one. */
  readonly continued: Map<RunId, RunFile>;
}

const noEnds = (): Ends => ({ completedPayloads: new Map(), continued: new Map() });
const noneLater = (): Later => ({ all: noEnds(), real: noEnds() });

/** Picks the run to look at; undefined when every run ended, and the latest of each workflow without a failure. `runs` oldest first. */
export async function latestFailure(store: JournalStore, runs: readonly RunFile[]): Promise<RunFile | undefined> {
  const byWorkflow = new Map<Workflow, Later>();
  let running: RunFile | undefined;
  const latestCompleted = new Map<Workflow, RunFile>();
  for (const file of runs.toReversed()) {
    const { workflow } = file.ref;
    if (isNoRun(file)) continue;
    const head = await startOfRun(store, file.ref);
    if (head?.parent !== undefined) continue;
    if (file.liveness === 'running') {
      running ??= file;
      continue;
    }
    const later = byWorkflow.get(workflow) ?? noneLater();
    byWorkflow.set(workflow, later);
    const successor = successorIn(later, file, head);
    note(later, file, head);
    if (isWhole(file)) {
      if (!latestCompleted.has(workflow)) latestCompleted.set(workflow, file);
    } else if (file.finished?.status !== 'restarted' && successor === undefined) return file;
  }
  if (running !== undefined) return running;
  for (const file of latestCompleted.values()) {
    const { failures } = await foldRun(store, file.ref, postMortem);
    if (failures.size > 0) return file;
  }
  return undefined;
}

/** Returns the runs that ended badly and were resumed to their end since. `runs`: oldest first. */
export async function resumedToTheirEnd(store: JournalStore, runs: readonly RunFile[]): Promise<ReadonlySet<RunId>> {
  const resumed = new Set<RunId>();
  const byWorkflow = new Map<Workflow, Later>();
  const affected = new Set(runs.filter((file) => !isWhole(file)).map(({ ref }) => ref.workflow));
  for (const file of runs.toReversed()) {
    const { run, workflow } = file.ref;
    if (!affected.has(workflow) || isNoRun(file) || file.liveness === 'running') continue;
    const head = await startOfRun(store, file.ref);
    if (head?.parent !== undefined) continue;
    const later = byWorkflow.get(workflow) ?? noneLater();
    byWorkflow.set(workflow, later);
    if (!isWhole(file) && successorIn(later, file, head) !== undefined) resumed.add(run);
    note(later, file, head);
  }
  return resumed;
}

function isNoRun(file: RunFile): boolean {
  return file.bytes === 0 || file.isOfUnknownVersion || isRecordOfUpkeep(file);
}

/** The run that resumed this one to its end; else the latest that continues it or had the same payload. `runs`: of its workflow. */
export async function successorOf(store: JournalStore, file: RunFile, runs: readonly RunFile[]): Promise<RunFile | undefined> {
  const own = await startOfRun(store, file.ref);
  const heads: { readonly file: RunFile; readonly head: Head }[] = [];
  for (const each of runs) {
    if (each.ref.run <= file.ref.run || each.isOfUnknownVersion || isRecordOfUpkeep(each)) continue;
    const head = await startOfRun(store, each.ref);
    if (head !== undefined && head.parent === undefined && (isTrial(own) || !isTrial(head))) heads.push({ file: each, head });
  }
  const later = noneLater();
  for (const each of heads.toReversed()) note(later, each.file, each.head);
  const continuing = new Set<RunId | undefined>([file.ref.run]);
  for (const each of heads) if (continuing.has(previousOf(each.head))) continuing.add(each.file.ref.run);
  const isTied = (head: Head, run: RunId): boolean => continuing.has(run) || (own !== undefined && payloadOf(head) === payloadOf(own));
  return successorIn(later, file, own) ?? heads.findLast((each) => isTied(each.head, each.file.ref.run))?.file;
}

function isTrial(head: Head | undefined): boolean {
  return head?.backend === SIMULATED;
}

function successorIn(later: Later, file: RunFile, head: Head | undefined): RunFile | undefined {
  return endIn(isTrial(head) ? later.all : later.real, file, head);
}

function endIn({ completedPayloads, continued }: Ends, { ref }: RunFile, head: Head | undefined): RunFile | undefined {
  return continued.get(ref.run) ?? (head && completedPayloads.get(payloadOf(head)));
}

/** Called from the latest run to the earliest. */
function note(later: Later, file: RunFile, head: Head | undefined): void {
  if (head === undefined) return;
  noteEnd(later.all, file, head);
  if (!isTrial(head)) noteEnd(later.real, file, head);
}

function noteEnd(ends: Ends, file: RunFile, head: Head): void {
  const { completedPayloads, continued } = ends;
  const isEnd = isWhole(file);
  const end = isEnd ? file : endIn(ends, file, head);
  if (isEnd && !completedPayloads.has(payloadOf(head))) completedPayloads.set(payloadOf(head), file);
  const previous = previousOf(head);
  if (end !== undefined && previous !== undefined && !continued.has(previous)) continued.set(previous, end);
}

/** It reached its end, and no call is unresolved, here or in the runs that it goes on with. */
export function isWhole({ finished }: RunFile): boolean {
  if (finished?.status !== 'completed') return false;
  const { unresolved = 0, unresolvedBefore = 0 } = finished.totals;
  return unresolved + unresolvedBefore === 0;
}

/** Returns the run that a run goes on with. */
export function previousOf({ resume, restartOf }: Head): RunId | undefined {
  return resume?.run ?? restartOf;
}

/** The data of a run, without what its flags put there: `--fresh` is `new`, too, and a script may read `@payload.resume`. */
function payloadOf({ payload, flags }: Head): string {
  const ofFlags = new Set([...Object.keys(flags), ...(flags.fresh === true ? ['new'] : [])]);
  const members = Object.entries(payload ?? {}).filter(([name]) => !ofFlags.has(name));
  return canonicalJson(Object.fromEntries(members));
}
