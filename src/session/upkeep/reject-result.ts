/**
 * Marks the result that a run used at a path as bad, or takes such a mark back. The mark is an event in a run of its own: the run with
 * the result is not changed. calls.md 15.1.
 */
import type { FactOf } from '../../../journal/event.js';
import type { CallKey, EventRef, OpPath, RunId, Workflow } from '../../../journal/ids.js';
import type { Defect, JournalStore, RunFile } from '../../../journal/store.js';
import { foldRun } from '../../../replay/fold/fold-run.js';
import { loadWorkflow, type PriorRuns } from '../../../replay/memo/load.js';
import { usableEntry } from '../../../replay/memo/memo.js';
import { isAt } from '../../../replay/memo/rejected-results.js';
import { resultAtPath } from '../../../replay/memo/result-at-path.js';
import { findCallsAtPath } from '../../../replay/resume/calls-at-path.js';
import { MlldError } from '../../errors.js';
import { createRun } from '../ports/create-run.js';
import type { Cleaner } from './clean-script.js';

type ResultRef = EventRef & { readonly workflow?: Workflow };

export interface MarkRequest {
  readonly store: JournalStore;
  /** The run whose result is meant. */
  readonly file: RunFile;
  readonly path: string;
  /** The name of the script, as the record of the mark has it. */
  readonly name: string;
  /** Says who marks: members of the `run.started` of the record. */
  readonly by: Cleaner;
  readonly nowMs: () => number;
  readonly onDefect: (defect: Defect) => void;
}

export interface Marking {
  readonly workflow: Workflow;
  readonly run: RunId;
  readonly op: OpPath;
  readonly key: CallKey;
  /** The name of the function, and its first argument as text where it may be read. */
  readonly fn: string;
  readonly preview: string | null;
  /** The event that holds the result. */
  readonly from: ResultRef;
  readonly marked: 'rejected' | 'restored';
  readonly reason: string | null;
  /** The result is usable now. After `restored` it is not where the call was completed, or the result invalidated, since. */
  readonly isUsable: boolean;
  /** The run that holds the mark. */
  readonly recordedIn: RunId;
}

/** Throws REJECT_PATH where the run made no call at the path, and REJECT_NOTHING where that has no usable result. */
export async function rejectResult(request: MarkRequest & { readonly reason?: string | undefined }): Promise<Marking> {
  const { file, path, reason } = request;
  const { call, from, prior } = await findResult(request);
  if (from === undefined) throw nothingToReject(path, file, 'it ended without one');
  const { memo } = prior;
  if (memo.rejected.has(call.key)) throw nothingToReject(path, file, 'it is rejected already');
  const isUsed = from.workflow === undefined ? isOwnResult(prior, call.key, from) : !memo.refused.has(call.key);
  if (!isUsed) throw nothingToReject(path, file, 'it was replaced or invalidated since');
  const fact = { type: 'result.rejected', key: call.key, from, op: call.op, ...(reason !== undefined && { reason }) } as const;
  return record(request, prior, fact, { isUsable: false });
}

/** Throws REJECT_PATH where the run made no call at the path, and REJECT_NOTHING where no mark is left to take back. */
export async function restoreResult(request: MarkRequest): Promise<Marking> {
  const { file, path } = request;
  const { call, prior } = await findResult(request);
  const known = prior.memo.rejected.get(call.key);
  const from = known?.from ?? (await newestMark(request, call.key));
  if (from === undefined) throw nothingToReject(path, file, 'it is not rejected, so there is nothing to take back');
  return record(request, prior, { type: 'result.restored', key: call.key, from, op: call.op }, { isUsable: known !== undefined });
}

async function findResult({ store, file, path, onDefect }: MarkRequest) {
  const { call, from } = await foldRun(store, file.ref, resultAtPath(path), { onDefect });
  if (call === undefined) throw await noCall(store, file, path);
  const prior = await loadWorkflow(store, file.ref.workflow, { onDefect });
  return { call: { op: call.op, key: call.key }, from, prior };
}

function isOwnResult({ memo }: PriorRuns, key: CallKey, from: EventRef): boolean {
  const entry = usableEntry(memo, key);
  return entry !== undefined && isAt(entry.result, from);
}

/** Finds the newest rejection of a call that was not taken back, also one whose result was replaced since. */
async function newestMark({ store, file, onDefect }: MarkRequest, key: CallKey): Promise<ResultRef | undefined> {
  const records = (await store.runs(file.ref.workflow)).filter(({ finished }) => finished?.marked !== undefined);
  for (const { ref } of records.toReversed()) {
    let mark: FactOf<'result.rejected' | 'result.restored'> | undefined;
    await store.scan(
      ref,
      (event) => {
        if ((event.type === 'result.rejected' || event.type === 'result.restored') && event.key === key) mark = event;
      },
      { onDefect },
    );
    if (mark !== undefined) return mark.type === 'result.rejected' ? mark.from : undefined;
  }
  return undefined;
}

async function record(
  { store, file, name, by, nowMs }: MarkRequest,
  prior: PriorRuns,
  fact: FactOf<'result.rejected' | 'result.restored'>,
  { isUsable }: { readonly isUsable: boolean },
): Promise<Marking> {
  const { workflow, run } = file.ref;
  const marked = fact.type === 'result.rejected' ? 'rejected' : 'restored';
  const journal = await createRun(store, prior, nowMs);
  try {
    await journal.append({ type: 'run.started', workflow, name, payload: {}, flags: {}, ...by });
    await journal.append(fact);
    await journal.append({
      type: 'run.finished',
      status: 'completed',
      marked,
      totals: { executed: 0, reused: 0, failed: 0, withoutResult: 0 },
    });
  } finally {
    await journal.close();
  }
  const { key, op, from } = fact;
  const { fn = '', preview = null } = prior.memo.entries.get(key) ?? {};
  const reason = fact.type === 'result.rejected' ? (fact.reason ?? null) : null;
  return { workflow, run, op, key, fn, preview, from, marked, reason, isUsable, recordedIn: journal.ref.run };
}

async function noCall(store: JournalStore, file: RunFile, path: string): Promise<MlldError> {
  const { run } = file.ref;
  const { keys, isRecorded, nearest } = await findCallsAtPath(store, path, { runs: [file], onDefect: () => undefined });
  const about = { hint: `mlld journal explain ${run} lists the paths of its calls` };
  if (keys.size > 0) return new MlldError('REJECT_PATH', `${path} of run ${run} is not a call: ${keys.size} calls lie in it`, about);
  if (isRecorded) return new MlldError('REJECT_PATH', `${path} of run ${run} is not a call, and no call lies in it`, about);
  const near = nearest === undefined ? '' : `; the nearest: ${nearest}`;
  return new MlldError('REJECT_PATH', `Run ${run} has no operation ${path}${near}`, about);
}

function nothingToReject(path: string, { ref: { run } }: RunFile, why: string): MlldError {
  return new MlldError('REJECT_NOTHING', `The call ${path} of run ${run} has no result to mark: ${why}`, {
    hint: `mlld journal explain ${run} ${path} says where its result comes from`,
  });
}
