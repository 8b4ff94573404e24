/** Reports why one recorded run did not complete and what a resume would take: reads that run and the source lines it names. */
import type { EventOf } from '../../../journal/event.js';
import type { FailureClass } from '../../../journal/facts/call-event.js';
import type { Defect, JournalStore, RunFile } from '../../../journal/store.js';
import { startOf, type CallKey, type RunId, type Workflow } from '../../../journal/ids.js';
import { withCallsAround } from '../../memo/calls-around.js';
import { countingRuns } from '../../memo/load.js';
import type { CallCounts, CallFigures } from '../../fold/calls/call-counts.js';
import { endRun } from '../../fold/calls/call-ledger.js';
import { recordOfTeam, type TeamRecord } from '../team/unended-at-workers.js';
import { foldRun, startOfRun } from '../../fold/fold-run.js';
import type { Projection } from '../../fold/projection.js';
import { servesAnotherRun } from '../../fold/record-of-upkeep.js';
import { isWhole, previousOf, successorOf } from './latest-failure.js';
import { usableEntry, usable, type Memo } from '../../memo/memo.js';
import { rememberMemos, type MemoOf } from '../../memo/memo-loader.js';
import { stopOf, unsettledIn, type LaneNow, type DispatchStop, type Unsettled } from './dispatch-state.js';
import type { FailureGroup, GuardDenial, HookFailure } from './failure-groups.js';
import { checkpointTarget } from '../../resume/selector.js';
import { causeChain, inFlight, type Step } from './in-flight-operations.js';
import { begunByWorkers, type BegunByWorker } from './offered-calls.js';
import { pipelineProgress, type PipelineProgress } from '../../pipeline/progress.js';
import { postMortem, type PostMortem } from './postmortem.js';
import { callsAroundFailures } from '../../resume/failed-inside.js';
import { FAILED, resumeTarget } from './resume-target.js';
import { costsIn } from '../../resume/estimate.js';
import { estimateResume, type RecordedNow, type ResumeEstimate } from './resume-estimate.js';
import { salvagedCallsOf, type SalvagedCalls } from './salvaged-calls.js';
import { servedRunOf, type ServedRun } from './served-run.js';
import { sourceLines, type SourceLines } from './source-lines.js';
import { reportedStatus, type CountedStatus, type ReportedStatus } from '../../fold/reported-status.js';
import { runDurationMs, runningForMs, sinceMs } from '../../fold/run-duration.js';

/** Times are milliseconds since 1970, durations milliseconds, costs US dollars. */
export interface PostMortemReport extends CallFigures {
  readonly workflow: string;
  readonly run: string;
  readonly name: string | undefined;
  readonly argv: readonly string[];
  readonly status: ReportedStatus;
  /** `place`: file, line and column; `source`: that line. */
  readonly error: { readonly code: string; readonly message: string; readonly place?: string; readonly source?: string } | undefined;
  readonly startedMs: number | undefined;
  readonly durationMs: number | undefined;
  readonly events: number;
  /** The last line was cut off: the process was killed while it wrote. */
  readonly torn: boolean;
  /** Operations down to what ended the run, or to what is in flight; outermost first. */
  readonly chain: readonly ChainLink[];
  /** The last one. */
  readonly checkpoint:
    | {
        readonly name: string;
        readonly seq: number;
        readonly closed: boolean;
        /** Names it behind `--resume`: in quotes where the name alone would be read as something else. */
        readonly target: string;
        /** All checkpoints that the run reached, in order. */
        readonly reached: readonly string[];
        /** `--resume` looks for it in this run, the latest that counts. */
        readonly resumable: boolean;
      }
    | undefined;
  readonly inFlight: readonly Pending[];
  /** The most frequent first. */
  readonly failures: readonly FailureGroup[];
  readonly hookErrors: readonly HookFailure[];
  readonly denials: readonly GuardDenial[];
  /** The reason of a pause, or the stop after which a run that ended otherwise began no attempt; null without one. */
  readonly pause: DispatchStop | null;
  /** As they were when the run ended; empty where nothing was learned about them. */
  readonly lanes: readonly LaneNow[];
  /** Attempts of a dead run that had reserved a cost and never settled it; null where there is none. */
  readonly unsettled: Unsettled | null;
  /** Decided by what is recorded now, not by what was when the run ended. The calls are those of the command that continues the run. */
  readonly resume: ResumeEstimate & {
    readonly comparedWith: string | undefined;
    /** The figures are those of `--resume failed`, or where it is undefined of `--resume` alone. */
    readonly target: typeof FAILED | undefined;
  };
  /** Workers that executed its calls or began them, and results of it that are not used. */
  readonly team: TeamRecord;
  /** The runs that have the ends of calls which were in flight when this one was sealed; empty for most. `calls`: how many. */
  readonly salvaged: readonly { readonly run: string; readonly calls: number; readonly costUsd: number | null }[];
  /** The unresolved calls that earlier runs have left: in the chain of a pipeline, and inside calls whose results it reused. */
  readonly unresolvedBefore: number;
  /** The run that it resumed or was restarted from; null where there is none. */
  readonly continues: string | null;
  /** The run with which its chain began, as far as that is recorded still; null where it continues none. */
  readonly chainBegan: string | null;
  /** Only of a run that a worker made, or a sealed one: it can't be resumed. */
  readonly serves?: ServedRun;
  /** The run that resumed it to its end, or else the latest one that continues it or had the same payload; null where there is none. */
  readonly since: { readonly run: string; readonly status: CountedStatus } | null;
  /** Only of a pipeline. */
  readonly pipeline?: PipelineProgress;
}

export interface ChainLink {
  readonly op: string;
  readonly kind: string;
  readonly name: string | undefined;
  readonly item: string | undefined;
  readonly site: string | undefined;
  readonly source: string | undefined;
  /** The class in which the call failed that the operation is. */
  readonly class?: FailureClass;
}

export interface Pending {
  readonly op: string;
  readonly kind: string;
  /** `@review`, or the kind of the operation. */
  readonly what: string;
  readonly preview: string | undefined;
  /** The phase of a call of a workflow script. */
  readonly phase?: string;
  /** No attempt of the call was in flight: it waited for the next one. */
  readonly waits?: true;
  /** The result of the call came back, and the guards behind it had not judged it: a resume does not execute it again. */
  readonly unjudged?: true;
  /** The call was offered to workers, and the run got no end of it. */
  readonly offered?: true;
  /** The worker that had begun it. */
  readonly worker?: string;
  /** The salvage run that has its end. */
  readonly salvagedIn?: string;
  readonly durationMs: number;
}

export interface PostMortemOptions {
  readonly nowMs: number;
  readonly onDefect: (defect: Defect) => void;
}

export async function postMortemOf(store: JournalStore, file: RunFile, { nowMs, onDefect }: PostMortemOptions): Promise<PostMortemReport> {
  const { ref, liveness } = file;
  let torn = false;
  const state = await foldRun(store, ref, postMortem, {
    onDefect: (defect) => {
      // A line that a live writer is writing is not damage.
      if (defect.kind === 'torn-tail') torn = liveness !== 'running';
      else onDefect(defect);
    },
  });
  const runs = await store.runs(ref.workflow);
  const serves = await servedRunOf(store, file);
  // Damage was reported by the scan above, or belongs to other runs.
  const memoOf = rememberMemos(store, () => undefined);
  const own = await memoOf(ref.workflow);
  const usual = serves === undefined ? lastComplete(runs, file) : undefined;
  return reportPostMortem(state, file, {
    nowMs,
    torn,
    serves,
    salvaged: await salvagedCallsOf(store, file, runs),
    usual,
    now: await recordedNow({ memoOf, own, made: await madeBefore(store, usual, file) }, state, file),
    aroundFailures: async () => callsAroundFailures(store, own, { onDefect: () => undefined }),
    team: await recordOfTeam(store, file, state.team, async () => runs),
    begun: await begunByWorkers(store, file, runs, new Set(state.offered.values())),
    isPrior: countingRuns(runs, own).at(-1)?.ref.run === ref.run,
    successor: serves === undefined ? await successorOf(store, file, runs) : undefined,
    lines: sourceLines(store, state.sources),
    chainBegan: await beginningOfChain(store, state.started, runs),
  });
}

/** Undefined for a run that continues none, and where the one that it continues is gone. */
async function beginningOfChain(store: JournalStore, own: PostMortem['started'], runs: readonly RunFile[]): Promise<RunId | undefined> {
  let first: RunId | undefined;
  const isEarlier = ({ ref }: RunFile, run: RunId | undefined): boolean => ref.run === run && (first === undefined || ref.run < first);
  for (let head = own; head !== undefined;) {
    const before = previousOf(head);
    const file = runs.find((each) => isEarlier(each, before));
    if (file === undefined) break;
    first = file.ref.run;
    head = await startOfRun(store, file.ref);
  }
  return first;
}

/** Returns the calls that had a result in the complete run before one that did not complete. */
async function madeBefore(store: JournalStore, complete: RunFile | undefined, { ref, finished }: RunFile): Promise<ReadonlySet<CallKey>> {
  if (complete === undefined || complete.ref.run > ref.run || finished?.status === 'completed') return new Set();
  return foldRun(store, complete.ref, callsWithResult, { onDefect: () => undefined });
}

const callsWithResult: Projection<Set<CallKey>> = {
  initial: () => new Set(),
  apply: (state, event) => (event.type === 'call.completed' || event.type === 'call.reused' ? state.add(event.key) : state),
};

interface Recorded {
  readonly memoOf: MemoOf;
  readonly own: Memo;
  /** The calls of the complete run before. */
  readonly made: ReadonlySet<CallKey>;
}

/** Looks results up where a resumed run would: in what its fork sources have now, then in what its workflow has. */
async function recordedNow({ memoOf, own, made }: Recorded, state: PostMortem, { ref: { run } }: RunFile): Promise<RecordedNow> {
  const { resolved, unresolved: unanswered } = state;
  const forkSources = new Map<Workflow, Memo>();
  for (const { forkSource } of resolved.values()) if (forkSource !== undefined) forkSources.set(forkSource, await memoOf(forkSource));
  const isMade = (key: CallKey): boolean => resolved.has(key) || unanswered.has(key);
  // With `--changed ask` the run began a call although an edited function had a result of it, and so does the command that continues it.
  const { changed = 'serve' } = state.started?.flags ?? {};
  let elsewhere = 0;
  for (const [key, { result }] of usable(own)) {
    // A call inside one that a worker executed is in the journal of the worker alone, and not one that was left to make.
    const isOther = result.ref.run > run || (changed === 'serve' && made.has(key));
    if (isOther && ![...withCallsAround([own], [key])].some(isMade)) elsewhere += 1;
  }
  return {
    elsewhere,
    costs: costsIn([own]),
    judging: (key) => own.unjudged.get(key)?.asked,
    has(key, call) {
      const entry = usableEntry(own, key);
      if (entry !== undefined) return changed === 'serve' || call !== undefined || entry.result.ref.run >= run;
      const source = call?.forkSource === undefined ? undefined : forkSources.get(call.forkSource);
      return source !== undefined && !own.refused.has(key) && usableEntry(source, key) !== undefined;
    },
  };
}

interface Known {
  readonly nowMs: number;
  readonly team: TeamRecord;
  /** The offered calls without an end that workers had begun. */
  readonly begun: ReadonlyMap<CallKey, BegunByWorker>;
  readonly torn: boolean;
  readonly serves: ServedRun | undefined;
  readonly salvaged: readonly SalvagedCalls[];
  readonly usual: RunFile | undefined;
  readonly now: RecordedNow;
  /** Finds the calls whose results `--resume failed` invalidates. */
  readonly aroundFailures: () => Promise<ReadonlySet<CallKey>>;
  readonly successor: RunFile | undefined;
  /** True for the run that the next one would resume. */
  readonly isPrior: boolean;
  readonly lines: SourceLines;
  readonly chainBegan: RunId | undefined;
}

async function reportPostMortem(state: PostMortem, { ref, liveness }: RunFile, known: Known): Promise<PostMortemReport> {
  const { started, finished } = state;
  for (const key of known.begun.keys()) {
    const call = state.unresolved.get(key);
    if (call?.why === 'offered') call.why = 'in-flight';
  }
  const status = reportedStatus(finished?.status, liveness);
  const firstMs = started && Date.parse(started.ts);
  const untilMs = status === 'running' ? known.nowMs : state.lastMs;
  const tookMs = status === 'running' ? runningForMs(ref.run, untilMs) : runDurationMs(ref.run, { firstMs, lastMs: untilMs });
  const isAtLimit = finished?.error?.code === 'PIPELINE_LIMIT';
  const { usual, successor } = known;
  const usualCalls = usual?.finished === undefined ? undefined : callsOf(usual.finished);
  const figures = callFigures(state, status, known.salvaged);
  const error = await errorOf(finished, known.lines);
  // Nothing failed in what a pause ended.
  const chain = state.finished?.status === 'paused' ? [] : await linksOf(causeChain(state), known.lines);
  const checkpoint = state.checkpoint && lastCheckpoint(state.checkpoint, state, known.isPrior);
  const pipeline = started?.pipeline === undefined ? undefined : pipelineProgress(state.nodes, { status, isAtLimit, untilMs });
  const { unresolvedBefore } = state.ledger;
  const left = { unresolved: figures.unresolved, unresolvedBefore };
  const target = known.serves ? undefined : resumeTarget({ status, ...left, error, chain, checkpoint, pipeline });
  const now = target === undefined ? known.now : { ...known.now, invalidates: await known.aroundFailures() };
  return {
    workflow: ref.workflow,
    run: ref.run,
    name: started?.name,
    argv: started?.argv ?? [],
    status,
    error,
    startedMs: started && startOf(ref.run),
    durationMs: started && tookMs,
    events: state.lastSeq + 1,
    torn: known.torn,
    chain,
    checkpoint,
    inFlight: inFlight(state).map((step) => pendingOf(step, state, known, untilMs)),
    failures: [...state.failures.values()].sort((left, right) => right.count - left.count),
    hookErrors: [...state.hookFailures.values()],
    denials: [...state.denials.values()],
    ...figures,
    pause: stopOf(state.dispatch),
    lanes: [...state.dispatch.lanes.values()],
    unsettled: status === 'running' || state.dispatch.reserved.size === 0 ? null : unsettledIn(state.dispatch),
    resume: { ...estimateResume(state, usualCalls, now), comparedWith: usual?.ref.run, target },
    team: known.team,
    salvaged: known.salvaged.map(({ run, ops, costUsd: cost }) => ({ run, calls: ops.size, costUsd: cost })),
    unresolvedBefore,
    continues: (started && previousOf(started)) ?? null,
    chainBegan: known.chainBegan ?? null,
    ...(known.serves && { serves: known.serves }),
    since: successor === undefined ? null : { run: successor.ref.run, status: statusOf(successor) },
    ...(pipeline && { pipeline }),
  };
}

function lastCheckpoint(
  last: NonNullable<PostMortem['checkpoint']>,
  { phases }: PostMortem,
  isPrior: boolean,
): NonNullable<PostMortemReport['checkpoint']> {
  return { ...last, target: checkpointTarget(last.name), reached: [...phases], resumable: isPrior };
}

function pendingOf(
  { op, kind, name, item, phase, call, startedMs: begunMs }: Step,
  { offered, unresolved, unjudged }: PostMortem,
  { begun, salvaged }: Pick<Known, 'begun' | 'salvaged'>,
  untilMs: number,
): Pending {
  const key = call === undefined ? offered.get(op) : undefined;
  const at = key && begun.get(key);
  const salvage = salvaged.find(({ ops }) => ops.has(op));
  const fn = call?.fn ?? (key && unresolved.get(key)?.fn);
  return {
    op,
    kind,
    what: fn === undefined ? [kind, name].filter((word) => word !== undefined).join(' ') : `@${fn}`,
    preview: call === undefined ? (at?.preview ?? item) : call.preview,
    ...(phase !== undefined && { phase }),
    ...(call?.waits && { waits: true as const }),
    ...(call && unjudged.has(call.key) && { unjudged: true as const }),
    ...(key !== undefined && { offered: true as const }),
    ...(at && { worker: at.worker }),
    ...(salvage && { salvagedIn: salvage.run }),
    durationMs: sinceMs(call?.startedMs ?? begunMs, untilMs),
  };
}

function statusOf(file: RunFile): CountedStatus {
  const status = reportedStatus(file.finished?.status, file.liveness);
  return status === 'completed' && !isWhole(file) ? 'incomplete' : status;
}

function callFigures(
  { ledger }: PostMortem,
  status: ReportedStatus,
  salvaged: readonly SalvagedCalls[],
): Omit<CallCounts, 'callsMs' | 'failedByClass'> {
  if (status !== 'running') endRun(ledger, new Set(salvaged.flatMap(({ ops }) => [...ops])));
  const { callsMs: _, failedByClass: __, ...figures } = ledger.total;
  return figures;
}

async function errorOf(finished: PostMortem['finished'], lines: SourceLines): Promise<PostMortemReport['error']> {
  const error = finished?.error;
  if (error === undefined) return undefined;
  const source = await lines(error.location);
  return {
    code: error.code,
    message: error.message,
    ...(error.location !== undefined && { place: error.location }),
    ...(source !== undefined && { source }),
  };
}

async function linksOf(steps: readonly Step[], lines: SourceLines): Promise<readonly ChainLink[]> {
  const links: ChainLink[] = [];
  for (const { op, kind, name, item, site, failedIn } of steps)
    links.push({ op, kind, name, item, site, source: await lines(site), ...(failedIn !== undefined && { class: failedIn }) });
  return links;
}

/** Finds the latest other run of the workflow that completed, from the last lines of the journals alone. That of a worker is a part. */
function lastComplete(runs: readonly RunFile[], { ref }: RunFile): RunFile | undefined {
  return runs.findLast(
    (file) => file.ref.run !== ref.run && file.finished?.status === 'completed' && callsOf(file.finished) > 0 && !servesAnotherRun(file),
  );
}

function callsOf({ totals: { executed, reused } }: EventOf<'run.finished'>): number {
  return executed + reused;
}
