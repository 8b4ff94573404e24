/**
 * The past of a pipeline: the newest chain of its runs, where it stands, and what a resume makes of it. graph-pipelines.md 10.3.
 *
 * C1 A chain is read as far as it can be: where lines are damaged, `graph-fold.ts` says what still counts. What a later run left behind of
 *    an earlier one doesn't count.
 * C2 Nothing here changes a run.
 */
import type { EventOf, JournalEvent } from '../../../../journal/event.js';
import type { CallKey, EventRef, RunId, RunRef, Seq, Workflow } from '../../../../journal/ids.js';
import type { JournalStore, RunFile } from '../../../../journal/store.js';
import { foldOfRun, type RunDamage } from '../../../../replay/pipeline/graph-fold.js';
import { graphState, isGraphRun, type GraphState } from '../../../../replay/pipeline/graph-state.js';
import { MlldError } from '../../../errors.js';
import { effectiveRouting } from '../../../pipeline/model/outcome.js';
import { closest } from '../../../values/suggest.js';

type Parent = NonNullable<EventOf<'run.started'>['parent']>;

/** A run of a chain, up to the event from which the next one went on. */
interface Segment {
  readonly ref: RunRef;
  readonly until: Seq | undefined;
}

export interface Chain {
  readonly latest: RunFile;
  readonly segments: readonly Segment[];
  readonly state: GraphState;
  /** Of its runs that can't be read as a whole. */
  readonly damage: readonly DamagedRun[];
  /** Calls of which a result is recorded behind what counts: a call that is made again in the same way has it. */
  readonly replies: ReadonlySet<CallKey>;
}

export interface DamagedRun extends RunDamage {
  readonly run: RunId;
}

/** Where a resumed run begins. */
export interface ResumePoint extends Pick<Chain, 'state' | 'damage' | 'replies'> {
  readonly from: EventRef;
  readonly enterAt?: string;
  /** Answers that are not served any more. */
  readonly invalidated: readonly CallKey[];
}

/** Undefined when the pipeline never ran. `isMeant` narrows it to some of its runs. */
export async function newestChain(
  store: JournalStore,
  workflow: Workflow,
  isMeant: (started: EventOf<'run.started'>) => boolean = anyRun,
): Promise<Chain | undefined> {
  for (const latest of (await store.runs(workflow)).toReversed()) {
    const first = await firstEvent(store, latest.ref);
    // A run whose beginning is lost is one of the pipeline all the same, unless somebody's in particular is looked for.
    const isWanted = first?.type === 'run.started' ? isGraphRun(first) && isMeant(first) : first !== undefined && isMeant === anyRun;
    if (isWanted) return openChain(store, latest);
  }
  return undefined;
}

const anyRun = (): boolean => true;

/** Of one attempt of a manager node: another one starts a child of its own. */
export function isChildOf({ run, op }: Pick<Parent, 'run' | 'op'>): (started: EventOf<'run.started'>) => boolean {
  return ({ parent }) => parent?.run === run && parent.op === op;
}

export async function openChain(store: JournalStore, latest: RunFile): Promise<Chain> {
  const segments = await segmentsUpTo(store, { ref: latest.ref, until: undefined });
  return { latest, segments, ...(await readSegments(store, segments)) };
}

/** What a run began with that resumed another; undefined for one that began anew. Throws RUN_UNKNOWN when what it goes on with is gone. */
export async function stateBefore(
  store: JournalStore,
  { workflow }: RunRef,
  { resume }: EventOf<'run.started'>,
): Promise<GraphState | undefined> {
  if (!resume) return undefined;
  const segments = await segmentsUpTo(store, { ref: { workflow, run: resume.run }, until: resume.seq });
  for (const { ref } of segments) {
    if (await store.find(ref.run)) continue;
    throw new MlldError('RUN_UNKNOWN', `The run goes on with run ${ref.run}, which is not in the journal any more`);
  }
  return (await readSegments(store, segments)).state;
}

async function segmentsUpTo(store: JournalStore, last: Segment): Promise<readonly Segment[]> {
  const { workflow } = last.ref;
  const segments = [last];
  for (let head = await startedEvent(store, last.ref); head?.resume;) {
    const { run, seq } = head.resume;
    if (segments.some((later) => later.ref.run === run)) break; // whoever wrote that it goes on with itself, it has no end
    segments.unshift({ ref: { workflow, run }, until: seq });
    head = await startedEvent(store, { workflow, run });
  }
  return segments;
}

/** A bare `--resume`: behind what finished last, or at the node that failed. `stuckAt` names a node at which the walk would fail at once. */
export function resumePoint({ state, segments, damage, replies }: Chain, stuckAt?: (state: GraphState) => string | undefined): ResumePoint {
  const enterAt = (state.status === 'failed' ? failedNode(state) : undefined) ?? stuckAt?.(state);
  return { state, damage, replies, from: endOf(state, segments), ...(enterAt === undefined ? {} : { enterAt }), invalidated: [] };
}

/** `--resume NODE`: before the node was last started on the main path. Throws RESUME_NODE with those that can be named. */
export async function resumePointAt(store: JournalStore, { segments }: Chain, node: string): Promise<ResumePoint> {
  const starts = new Map<string, { readonly segment: number; readonly seq: Seq }>();
  const calls: { readonly segment: number; readonly seq: Seq; readonly key: CallKey }[] = [];
  const walked = graphState.initial();
  for (const [segment, { ref, until }] of segments.entries()) {
    const run = foldOfRun(walked);
    await store.scan(ref, (event, position) => {
      if (event.type === 'call.completed') calls.push({ segment, seq: event.seq, key: event.key });
      if (until !== undefined && event.seq > until) return;
      const counts = run.apply(event, { ref, position });
      if (counts && event.type === 'node.started' && event.branch === undefined) starts.set(event.node, { segment, seq: event.seq });
    });
  }
  const start = starts.get(node);
  if (!start) {
    const near = closest(node, starts.keys());
    throw new MlldError('RESUME_NODE', `--resume ${node}: no such node was visited on the main path`, {
      hint: `${near === undefined ? '' : `did you mean ${near}? `}nodes that can be named: ${[...starts.keys()].join(', ')}`,
    });
  }
  const kept = segments.slice(0, start.segment + 1);
  const until = (start.seq - 1) as Seq;
  const { ref } = segments[start.segment] as Segment; // it was found there
  const { state, damage } = await readSegments(store, [...kept.slice(0, -1), { ref, until }]);
  const isDropped = (call: { readonly segment: number; readonly seq: Seq }): boolean =>
    call.segment > start.segment || (call.segment === start.segment && call.seq > until);
  const dropped = calls.filter(isDropped).map(({ key }) => key);
  return { state, damage, replies: new Set(), from: { run: ref.run, seq: until }, enterAt: node, invalidated: dropped };
}

async function startedEvent(store: JournalStore, ref: RunRef): Promise<EventOf<'run.started'> | undefined> {
  const first = await firstEvent(store, ref);
  return first && isGraphRun(first) ? first : undefined;
}

/** Undefined for a run that was killed before it had one. */
export async function firstEvent(store: JournalStore, ref: RunRef): Promise<JournalEvent | undefined> {
  let first: JournalEvent | undefined;
  await store.scan(ref, (event) => void (first = event), { eventsMax: 1 });
  return first;
}

async function readSegments(store: JournalStore, segments: readonly Segment[]): Promise<Pick<Chain, 'state' | 'damage' | 'replies'>> {
  const state = graphState.initial();
  const damage: DamagedRun[] = [];
  const replies = new Set<CallKey>();
  for (const { ref, until } of segments) {
    const run = foldOfRun(state);
    let isDamaged = false;
    const visit: Parameters<JournalStore['scan']>[1] = (event, position) => {
      // What was cut off when the chain went on from here may be asked for again.
      if (until !== undefined && event.seq > until) run.leave(event);
      else run.apply(event, { ref, position });
    };
    await store.scan(ref, visit, { onDefect: ({ kind }) => void (isDamaged ||= kind !== 'torn-tail') });
    if (isDamaged) damage.push({ run: ref.run, ...run.damage });
    for (const key of run.replies.values()) replies.add(key);
  }
  return { state, damage, replies };
}

function endOf({ journalRun, seq }: GraphState, segments: readonly Segment[]): EventRef {
  return { run: journalRun ?? (segments[0]?.ref.run as RunId), seq: seq ?? (0 as Seq) };
}

/**
 * An unmet gate, or what failed last. A run that met a limit goes on where it was. Undefined at a dead end: nothing failed, so the last node
 * keeps its result where the graph has an edge from it by now.
 */
function failedNode({ unmetGate, main, error }: GraphState): string | undefined {
  if (unmetGate !== undefined) return unmetGate;
  const isLimit = error?.code === 'PIPELINE_LIMIT';
  if (isLimit && main.next) return main.next.to;
  if (!isLimit && !main.running && main.outcome && effectiveRouting(main.outcome).status !== 'fail') return undefined;
  const failed = main.history.findLast(({ outcome }) => outcome === 'fail')?.node_id;
  return main.running?.node ?? failed ?? main.current ?? '';
}
