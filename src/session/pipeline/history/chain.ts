/**
 * A chain is a run of a pipeline and the runs that resumed it. Opens the newest chain, folds its state, and finds the point at which a
 * resume continues. graph-pipelines.md 10.3.
 *
 * CHAIN-1  A damaged chain is read as far as possible: `pipeline-fold.ts` decides which events count. Events of a run after the point at
 *          which the next run resumed it don't count.
 * CHAIN-2  Nothing here changes a run.
 */
import { firstEvent } from '../../../../replay/fold/fold-run.js';
import type { EventOf, JournalEvent } from '../../../../journal/event.js';
import { emptyLedger, followCall, unresolvedInResults } from '../../../../replay/fold/calls/call-ledger.js';
import { unresolvedInBranches } from '../../../../replay/fold/calls/unresolved-calls.js';
import type { CallKey, EventRef, OpPath, RunId, RunRef, Seq, Workflow } from '../../../../journal/ids.js';
import { simulates } from '../../../../journal/facts/simulated-definition.js';
import type { JournalStore, RunFile } from '../../../../journal/store.js';
import { foldOfRun, type RunDamage } from '../../../../replay/pipeline/pipeline-fold.js';
import { pipelineState, isPipelineRun, type PipelineState } from '../../../../replay/pipeline/pipeline-state.js';
import type { VisitInRuns } from '../../../../replay/pipeline/walk.js';
import { MlldError } from '../../../errors.js';
import { effectiveRouting } from '../../../pipeline/model/outcome.js';
import { closest } from '../../../values/suggest.js';
import { withoutUndefined } from '../../../values/without-undefined.js';
import type { CallsLeft } from '../../run-calls.js';
import type { ManagerAttempt } from '../run-pipeline-options.js';
import type { Segment } from './logical-run.js';
import { salvagedReplies } from './salvaged-replies.js';

type Parent = NonNullable<EventOf<'run.started'>['parent']>;

export interface Chain {
  readonly latest: RunFile;
  readonly segments: readonly Segment[];
  readonly state: PipelineState;
  /** Describes the runs of the chain that can't be read as a whole. */
  readonly damage: readonly DamagedRun[];
  /** Calls whose results are recorded after the last event that counts: the same calls, when made again, reuse them. */
  readonly replies: ReadonlySet<CallKey>;
  /** Counts the unresolved calls of nodes that have finished: a run that goes on behind them does not make these again. calls.md 17.3 */
  readonly unresolvedBefore: number;
  /** Counts the calls that a completed pipeline has left without a result. */
  readonly left: CallsLeft;
  /** The nodes whose stages were simulated, as their recorded definitions tell. */
  readonly simulated: ReadonlySet<string>;
}

export interface DamagedRun extends RunDamage {
  readonly run: RunId;
}

/** The state with which a resumed run begins. */
export interface ResumePoint extends Pick<Chain, 'state' | 'damage' | 'replies' | 'unresolvedBefore'> {
  readonly from: EventRef;
  readonly enterAt?: string;
  /** Calls whose recorded results may not be reused any more. */
  readonly invalidated: readonly CallKey[];
  /** Those of them whose results came from fork sources, which may not be reused from there either. */
  readonly refused: readonly CallKey[];
}

/** A run of a pipeline with its first event, which may be lost: it belongs to the pipeline all the same. */
export interface PipelineRunFile {
  readonly file: RunFile;
  readonly started: EventOf<'run.started'> | undefined;
}

/** Yields the runs of a pipeline, newest first. */
export async function* runsOfPipeline(store: JournalStore, workflow: Workflow): AsyncGenerator<PipelineRunFile> {
  for (const file of (await store.runs(workflow)).toReversed()) {
    const first = await firstEvent(store, file.ref);
    if (first === undefined) continue;
    if (first.type !== 'run.started') yield { file, started: undefined };
    else if (isPipelineRun(first)) yield { file, started: first };
  }
}

/** Undefined if the pipeline never ran. `isMeant` narrows the search to some of its runs, of which the first event is known. */
export async function newestChain(
  store: JournalStore,
  workflow: Workflow,
  isMeant?: (started: EventOf<'run.started'>) => boolean,
): Promise<Chain | undefined> {
  for await (const { file, started } of runsOfPipeline(store, workflow)) {
    if (isMeant === undefined || (started !== undefined && isMeant(started))) return openChain(store, file);
  }
  return undefined;
}

/**
 * Returns the child that an attempt of a manager node continues: the one that it had started before a crash, or, in the first attempt
 * after a resume entered the failed node again, the last one of the visits that failed. Every other attempt starts a child of its own.
 */
export async function childToContinue(
  store: JournalStore,
  workflow: Workflow,
  { run, op, visit }: ManagerAttempt,
): Promise<{ readonly chain: Chain; readonly isOwn: boolean } | undefined> {
  const own = await newestChain(store, workflow, ({ parent }) => parent?.run === run && parent.op === op && isOfVisit(parent, visit));
  if (own !== undefined) return { chain: own, isOwn: true };
  const repeats = visit?.repeats ?? [];
  if (repeats.length === 0 || !op.endsWith('/try#1')) return undefined;
  const before = await newestChain(
    store,
    workflow,
    ({ parent }) => parent?.run === run && repeats.some((each) => parent.op.startsWith(`${each.op}/`) && isOfVisit(parent, each)),
  );
  return before && { chain: before, isOwn: false };
}

/** A resume at a node that was named repeats the walk from there: what visits at the same paths had started before is none of theirs. */
function isOfVisit({ journalRun }: Parent, visit: VisitInRuns | undefined): boolean {
  return visit === undefined || journalRun === undefined || visit.runs.includes(journalRun);
}

export async function openChain(store: JournalStore, latest: RunFile): Promise<Chain> {
  const segments = await segmentsUpTo(store, { ref: latest.ref, until: undefined });
  return { latest, segments, ...(await readSegments(store, segments)) };
}

/** Returns the state that a run inherited from the run that it resumed, if any. Throws RUN_UNKNOWN if a run of its chain is gone. */
export async function stateBefore(
  store: JournalStore,
  { workflow }: RunRef,
  { resume }: EventOf<'run.started'>,
): Promise<PipelineState | undefined> {
  if (!resume) return undefined;
  const segments = await segmentsUpTo(store, { ref: { workflow, run: resume.run }, until: resume.seq });
  for (const { ref } of segments) {
    if (await store.find(ref.run)) continue;
    throw new MlldError('RUN_UNKNOWN', `The run resumed run ${ref.run}, which is not in the journal any more`);
  }
  return (await readSegments(store, segments)).state;
}

async function segmentsUpTo(store: JournalStore, last: Segment): Promise<readonly Segment[]> {
  const { workflow } = last.ref;
  const segments = [last];
  for (let head = await startedEvent(store, last.ref); head?.resume;) {
    const { run, seq } = head.resume;
    if (segments.some((later) => later.ref.run === run)) break; // a forged journal may say that a run resumed itself
    segments.unshift({ ref: { workflow, run }, until: seq });
    head = await startedEvent(store, { workflow, run });
  }
  return segments;
}

/**
 * Returns the point at which a bare `--resume` continues: after the node that finished last, or at the node that failed. A run that died
 * before it entered the node where it was to begin leaves that node to the next one.
 *
 * @param stuckAt names a node at which the walk would fail at once
 */
export function resumePoint(
  { state, segments, damage, replies, unresolvedBefore }: Chain,
  stuckAt?: (state: PipelineState) => string | undefined,
): ResumePoint {
  const enterAt = state.main.enterAt ?? (state.status === 'failed' ? failedNode(state) : undefined) ?? stuckAt?.(state);
  const from = endOf(state, segments);
  return withoutUndefined<ResumePoint>({ state, damage, replies, unresolvedBefore, from, enterAt, invalidated: [], refused: [] });
}

/** Returns the point before the last visit of a node on the main path began, in whichever run, for `--resume NODE`. Throws RESUME_NODE. */
export async function resumePointAt(store: JournalStore, { segments }: Chain, node: string): Promise<ResumePoint> {
  const starts = new Map<string, { readonly op: OpPath; readonly segment: number; readonly seq: Seq }>();
  const calls: { readonly segment: number; readonly seq: Seq; readonly key: CallKey; readonly isForked: boolean }[] = [];
  const walked = pipelineState.initial();
  for (const [segment, { ref, until }] of segments.entries()) {
    const run = foldOfRun(walked);
    await store.scan(ref, (event, position) => {
      const isJudging = event.type === 'call.started' && event.received !== undefined;
      if (event.type === 'call.completed' || event.type === 'call.reused' || event.type === 'result.received' || isJudging)
        calls.push({ segment, seq: event.seq, key: event.key, isForked: 'from' in event && event.from.workflow !== undefined });
      if (until !== undefined && event.seq > until) return;
      const counts = run.apply(event, { ref, position });
      // A run that goes on with a visit starts it once more.
      if (counts && event.type === 'node.started' && event.branch === undefined && starts.get(event.node)?.op !== event.op)
        starts.set(event.node, { op: event.op, segment, seq: event.seq });
    });
  }
  for (const { begun, event } of await salvagedReplies(store, { segments })) {
    calls.push({ segment: segments.findIndex(({ ref }) => ref.run === begun.run), seq: begun.seq, key: event.key, isForked: false });
  }
  const start = starts.get(node);
  if (!start) {
    const near = closest(node, starts.keys());
    const ofScripts =
      node === 'failed'
        ? 'a run with --checkpoint executes the calls of a pipeline that have no result, and --resume NODE a stage whose function went on without one; '
        : '';
    throw new MlldError('RESUME_NODE', `--resume ${node}: no such node was visited on the main path`, {
      hint: `${ofScripts}${near === undefined ? '' : `did you mean ${near}? `}nodes that can be named: ${[...starts.keys()].join(', ')}`,
    });
  }
  const kept = segments.slice(0, start.segment + 1);
  const until = (start.seq - 1) as Seq;
  const { ref } = segments[start.segment] as Segment; // it was found there
  const { state, damage, unresolvedBefore } = await readSegments(store, [...kept.slice(0, -1), { ref, until }]);
  const behind = calls.filter(({ segment, seq }) => segment > start.segment || (segment === start.segment && seq > until));
  const invalidated = [...new Set(behind.map(({ key }) => key))];
  const refused = [...new Set(behind.filter(({ isForked }) => isForked).map(({ key }) => key))];
  const from = { run: ref.run, seq: until };
  return { state, damage, unresolvedBefore, replies: new Set(), from, enterAt: node, invalidated, refused };
}

async function startedEvent(store: JournalStore, ref: RunRef): Promise<EventOf<'run.started'> | undefined> {
  const first = await firstEvent(store, ref);
  return first && isPipelineRun(first) ? first : undefined;
}

async function readSegments(store: JournalStore, segments: readonly Segment[]): Promise<Omit<Chain, 'latest' | 'segments'>> {
  const state = pipelineState.initial();
  const ledger = emptyLedger();
  let beforeAll = 0;
  let unresolvedBefore = 0;
  const damage: DamagedRun[] = [];
  const replies = new Set<CallKey>();
  const simulated = new Set<string>();
  const finishedInBranches = new Set<OpPath>();
  for (const [index, { ref, until }] of segments.entries()) {
    const run = foldOfRun(state);
    let isDamaged = false;
    const visit: Parameters<JournalStore['scan']>[1] = (event, position) => {
      // These events don't count, but the results among them can be reused.
      if (until !== undefined && event.seq > until) run.leave(event);
      else if (run.apply(event, { ref, position })) {
        followCall(ledger, event);
        if (event.type === 'definition.recorded' && simulates(event.parts)) simulated.add(nodeOfFunction(event.fn));
        // The first run of a chain may have begun at a restart.
        if (index === 0 && event.type === 'run.started') beforeAll = unresolvedBefore = ledger.unresolvedBefore;
        if (isBehindNode(event)) {
          unresolvedBefore = beforeAll + ledger.total.unresolved;
          finishedInBranches.clear();
        } else if (event.type === 'node.finished' && event.branch !== undefined && event.status !== 'fail')
          finishedInBranches.add(event.op);
      }
    };
    await store.scan(ref, visit, { onDefect: ({ kind }) => void (isDamaged ||= kind !== 'torn-tail') });
    if (isDamaged) damage.push({ run: ref.run, ...run.damage });
    for (const key of run.replies.values()) replies.add(key);
  }
  const parallel = state.main.running?.op;
  // A resume keeps these branches, and these visits, as they ended.
  if (parallel !== undefined) unresolvedBefore += unresolvedInBranches(ledger, parallel, finishedInBranches);
  const inResults = unresolvedInResults(ledger);
  const left = { unresolved: unresolvedBefore - inResults, inResults: inResults + ledger.unresolvedReused };
  return { state, damage, replies, unresolvedBefore, left, simulated };
}

/** A model stage is the function `PIPELINE.NODE`. */
function nodeOfFunction(fn: string): string {
  return fn.slice(fn.lastIndexOf('.') + 1);
}

/** True where the walk has done with a node of the main path: a resume does not enter it again. */
function isBehindNode(event: JournalEvent): boolean {
  if (event.type === 'node.finished') return event.branch === undefined && event.status !== 'fail';
  if (event.type === 'run.finished') return event.status === 'restarted';
  return event.type === 'edge.selected' && event.branch === undefined;
}

function endOf({ journalRun, seq }: PipelineState, segments: readonly Segment[]): EventRef {
  return { run: journalRun ?? (segments[0]?.ref.run as RunId), seq: seq ?? (0 as Seq) };
}

/**
 * Returns an unmet gate, or the node that failed last. A run that reached a limit continues where it was. Undefined at a dead end: nothing
 * failed, so the last node keeps its result, in case the graph has an edge from it by now.
 */
function failedNode({ unmetGate, main, error }: PipelineState): string | undefined {
  if (unmetGate !== undefined) return unmetGate;
  const isLimit = error?.code === 'PIPELINE_LIMIT';
  if (isLimit && main.next) return main.next.to;
  if (!isLimit && !main.running && main.outcome && effectiveRouting(main.outcome).status !== 'fail') return undefined;
  const failed = main.history.findLast(({ outcome }) => outcome === 'fail')?.node_id;
  return main.running?.node ?? failed ?? main.current ?? '';
}
