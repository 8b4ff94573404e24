/**
 * Marks the result that a run used at a path as bad, or takes such a mark back. The mark is an event in a run of its own: the run with
 * the result is not changed. calls.md 15.1 and 15.5.
 *
 * MARK-1 The results of calls around are marked first. A kill in between leaves calls that are executed again and reuse what is inside;
 *    the other way round, a result made of a rejected one would be reused as if nothing had been marked.
 * MARK-2 The mark of the call itself is the last of its record: the marks before it are taken back with it.
 */
import type { FactOf } from '../../../journal/event.js';
import type { CallKey, EventRef, OpPath, RunId, Workflow } from '../../../journal/ids.js';
import { shellWords } from '../../../journal/shell-words.js';
import type { Defect, JournalStore, RunFile } from '../../../journal/store.js';
import { foldRun } from '../../../replay/fold/fold-run.js';
import { loadWorkflow, type PriorRuns } from '../../../replay/memo/load.js';
import { callsAround } from '../../../replay/memo/calls-around.js';
import { usableEntry } from '../../../replay/memo/memo.js';
import { isAt } from '../../../replay/memo/rejected-results.js';
import { resultAtPath } from '../../../replay/memo/result-at-path.js';
import { findCallsAtPath } from '../../../replay/resume/calls-at-path.js';
import { reusedInside, type ReusedInside } from '../../../replay/resume/reused-inside.js';
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
  /** The functions of the calls around it whose results are made of this one, and are marked with it. */
  readonly around: readonly string[];
  /** Results of calls inside it, which are reused when it is executed again; null where there are none, and for `restored`. */
  readonly inside: ReusedInside | null;
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
  if (!isUsed) throw await replacedSince(request, prior, call.key);
  const reject = (key: CallKey, of: ResultRef): Mark =>
    ({ type: 'result.rejected', key, from: of, op: call.op, ...(reason !== undefined && { reason }) }) as const;
  const around = [...callsAround([memo], [call.key])].flatMap((key) => {
    const result = (usableEntry(memo, key) ?? memo.unjudged.get(key))?.result;
    return result === undefined ? [] : [reject(key, { run: result.ref.run, seq: result.seq })];
  });
  const inside = (await reusedInside(request.store, memo, new Set([call.key]))) ?? null;
  return record(request, prior, { around, mark: reject(call.key, from) }, { isUsable: false, inside });
}

/** Throws REJECT_PATH where the run made no call at the path, and REJECT_NOTHING where no mark is left to take back. */
export async function restoreResult(request: MarkRequest): Promise<Marking> {
  const { file, path } = request;
  const { call, prior } = await findResult(request, ['--undo']);
  const { rejected } = prior.memo;
  const known = rejected.get(call.key);
  const marks = await newestMarks(request, call.key);
  const from = known?.from ?? marks.at(-1)?.from;
  if (from === undefined) throw nothingToReject(path, file, 'it is not rejected, so there is nothing to take back');
  const restore = (key: CallKey, of: ResultRef): Mark => ({ type: 'result.restored', key, from: of, op: call.op });
  const around = marks.slice(0, -1).filter((mark) => isSameResult(rejected.get(mark.key)?.from, mark.from));
  const facts = { around: around.map((mark) => restore(mark.key, mark.from)), mark: restore(call.key, from) };
  return record(request, prior, facts, { isUsable: known !== undefined, inside: null });
}

function isSameResult(at: EventRef | undefined, from: EventRef): boolean {
  return at?.run === from.run && at.seq === from.seq;
}

/** `flags`: those of the command, for a hint that names the command for another run. */
async function findResult({ store, file, path, onDefect }: MarkRequest, flags: readonly string[] = []) {
  const { call, from } = await foldRun(store, file.ref, resultAtPath(path), { onDefect });
  if (call === undefined) throw await noCall(store, file, path, flags);
  const prior = await loadWorkflow(store, file.ref.workflow, { onDefect });
  return { call: { op: call.op, key: call.key }, from, prior };
}

function isOwnResult({ memo }: PriorRuns, key: CallKey, from: EventRef): boolean {
  const entry = usableEntry(memo, key);
  return entry !== undefined && isAt(entry.result, from);
}

/**
 * Finds the newest rejection of a call that was not taken back, also one whose result was replaced since. Returns it behind the marks of
 * calls around that were made with it (MARK-2).
 */
async function newestMarks({ store, file, onDefect }: MarkRequest, key: CallKey): Promise<readonly FactOf<'result.rejected'>[]> {
  const records = (await store.runs(file.ref.workflow)).filter(({ finished }) => finished?.marked !== undefined);
  for (const { ref } of records.toReversed()) {
    const marks: Mark[] = [];
    await store.scan(
      ref,
      (event) => {
        if (event.type === 'result.rejected' || event.type === 'result.restored') marks.push(event);
      },
      { onDefect },
    );
    const mark = marks.find((each) => each.key === key);
    if (mark === undefined) continue;
    if (mark.type === 'result.restored') return [];
    return mark === marks.at(-1) ? marks.filter(isRejection) : [mark];
  }
  return [];
}

function isRejection(mark: Mark): mark is FactOf<'result.rejected'> {
  return mark.type === 'result.rejected';
}

type Mark = FactOf<'result.rejected' | 'result.restored'>;

async function record(
  { store, file, name, by, nowMs }: MarkRequest,
  prior: PriorRuns,
  { around, mark }: { readonly around: readonly Mark[]; readonly mark: Mark },
  { isUsable, inside }: Pick<Marking, 'isUsable' | 'inside'>,
): Promise<Marking> {
  const { workflow, run } = file.ref;
  const marked = mark.type === 'result.rejected' ? 'rejected' : 'restored';
  const journal = await createRun(store, prior, nowMs);
  try {
    await journal.append({ type: 'run.started', workflow, name, payload: {}, flags: {}, ...by });
    for (const fact of [...around, mark]) await journal.append(fact); // MARK-1
    await journal.append({
      type: 'run.finished',
      status: 'completed',
      marked,
      totals: { executed: 0, reused: 0, failed: 0, withoutResult: 0 },
    });
  } finally {
    await journal.close();
  }
  const { key, op, from } = mark;
  const { entries } = prior.memo;
  const { fn = '', preview = null } = entries.get(key) ?? {};
  const reason = mark.type === 'result.rejected' ? (mark.reason ?? null) : null;
  const functions = around.map((each) => entries.get(each.key)?.fn ?? '');
  return { workflow, run, op, key, fn, preview, from, marked, reason, isUsable, around: functions, inside, recordedIn: journal.ref.run };
}

async function noCall(store: JournalStore, file: RunFile, path: string, flags: readonly string[]): Promise<MlldError> {
  const { run } = file.ref;
  const { keys, isRecorded, nearest } = await findCallsAtPath(store, path, { runs: [file], onDefect: () => undefined });
  const explained = `mlld journal explain ${run} lists the paths of its calls`;
  if (keys.size > 0)
    return new MlldError(
      'REJECT_PATH',
      `${path} of run ${run} is not a call: ${keys.size === 1 ? '1 call lies' : `${keys.size} calls lie`} in it`,
      { hint: explained },
    );
  const about = { hint: (await madeBefore(store, file, path, flags)) ?? explained };
  if (isRecorded) return new MlldError('REJECT_PATH', `${path} of run ${run} is not a call, and no call lies in it`, about);
  const near = nearest === undefined ? '' : `; the nearest: ${nearest}`;
  return new MlldError('REJECT_PATH', `Run ${run} has no operation ${path}${near}`, about);
}

/** Names the run with the calls at a path that a run did not make, because it resumed behind them or reused a result around them. */
async function madeBefore(store: JournalStore, file: RunFile, path: string, flags: readonly string[]): Promise<string | undefined> {
  const all = await store.runs(file.ref.workflow);
  const runs = all.slice(
    0,
    all.findIndex(({ ref }) => ref.run === file.ref.run),
  );
  const { run: before } = await findCallsAtPath(store, path, { runs, onDefect: () => undefined });
  if (before === undefined) return undefined;
  const { call } = await foldRun(store, before.ref, resultAtPath(path), { onDefect: () => undefined });
  const { run } = before.ref;
  return call === undefined
    ? `run ${run} made calls there: ${shellWords(['mlld', 'journal', 'explain', run, path])}`
    : `run ${run} made that call: ${shellWords(['mlld', 'journal', 'reject', run, path, ...flags])}`;
}

/** Names the place of the newest result of equal calls: marking that one rejects theirs too. */
async function replacedSince({ store, file, path, onDefect }: MarkRequest, { memo }: PriorRuns, key: CallKey): Promise<MlldError> {
  const newest = usableEntry(memo, key)?.result;
  if (newest === undefined) return nothingToReject(path, file, 'it was invalidated since');
  let op: OpPath | undefined;
  await store.scan(newest.ref, (event) => void (event.seq === newest.seq && event.type === 'call.completed' && (op = event.op)), {
    onDefect,
  });
  const remedy =
    op && `${shellWords(['mlld', 'journal', 'reject', newest.ref.run, op])} rejects that result, and those of equal calls before`;
  return nothingToReject(path, file, 'an equal call has a newer one', remedy);
}

function nothingToReject(path: string, { ref: { run } }: RunFile, why: string, remedy?: string): MlldError {
  return new MlldError('REJECT_NOTHING', `The call ${path} of run ${run} has no result to mark: ${why}`, {
    hint: remedy ?? `${shellWords(['mlld', 'journal', 'explain', run, path])} says where its result comes from`,
  });
}
