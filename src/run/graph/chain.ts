/**
 * The past of a pipeline: the newest chain of its runs, where it stands, and what a resume makes of it. Reference 10.3.
 *
 * C1 A chain is read up to the last event that verifies; what a later run left behind of an earlier one doesn't count.
 * C2 Nothing here changes a run.
 */
import type { EventOf, JournalEvent } from '../../../journal/event.js';
import type { CallKey, EventRef, RunId, RunRef, Seq, Workflow } from '../../../journal/ids.js';
import type { JournalStore, RunFile } from '../../../journal/store.js';
import { graphState, isGraphRun, type GraphState } from '../../../replay/graph-state.js';
import { MlldError } from '../../errors.js';
import { closest } from '../../values/suggest.js';

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
}

/** Where a resumed run begins. */
export interface ResumePoint {
  readonly state: GraphState;
  readonly from: EventRef;
  readonly enterAt?: string;
  /** Answers that are not served any more. */
  readonly dropped: readonly CallKey[];
}

/** Undefined when the pipeline never ran. `isMeant` narrows it to some of its runs. */
export async function newestChain(
  store: JournalStore,
  workflow: Workflow,
  isMeant: (started: EventOf<'run.started'>) => boolean = () => true,
): Promise<Chain | undefined> {
  for (const latest of (await store.runs(workflow)).toReversed()) {
    const started = await headOf(store, latest.ref);
    if (started && isMeant(started)) return openChain(store, latest);
  }
  return undefined;
}

/** Of one attempt of a manager node: another one starts a child of its own. */
export function isChildOf({ run, op }: Pick<Parent, 'run' | 'op'>): (started: EventOf<'run.started'>) => boolean {
  return ({ parent }) => parent?.run === run && parent.op === op;
}

export async function openChain(store: JournalStore, latest: RunFile): Promise<Chain> {
  const segments = await segmentsUpTo(store, { ref: latest.ref, until: undefined });
  return { latest, segments, state: await stateOf(store, segments) };
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
  return stateOf(store, segments);
}

async function segmentsUpTo(store: JournalStore, last: Segment): Promise<readonly Segment[]> {
  const { workflow } = last.ref;
  const segments = [last];
  for (let head = await headOf(store, last.ref); head?.resume;) {
    const { run, seq } = head.resume;
    segments.unshift({ ref: { workflow, run }, until: seq });
    head = await headOf(store, { workflow, run });
  }
  return segments;
}

/** A bare `--resume`: behind what finished last, or at the node that failed. */
export function resumePoint({ state, segments }: Chain): ResumePoint {
  const from = endOf(state, segments);
  if (state.status !== 'failed') return { state, from, dropped: [] };
  return { state, from, enterAt: failedNode(state), dropped: [] };
}

/** `--resume NODE`: before the node was last started on the main path. Throws RESUME_NODE with those that can be named. */
export async function resumePointAt(store: JournalStore, { segments }: Chain, node: string): Promise<ResumePoint> {
  const starts = new Map<string, { readonly segment: number; readonly seq: Seq }>();
  const calls: { readonly segment: number; readonly seq: Seq; readonly key: CallKey }[] = [];
  for (const [segment, { ref, until }] of segments.entries()) {
    await scanSound(store, ref, until, (event) => {
      if (event.type === 'node.started' && event.branch === undefined) starts.set(event.node, { segment, seq: event.seq });
      if (event.type === 'call.completed') calls.push({ segment, seq: event.seq, key: event.key });
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
  const state = await stateOf(store, [...kept.slice(0, -1), { ref, until }]);
  const isDropped = (call: { readonly segment: number; readonly seq: Seq }): boolean =>
    call.segment > start.segment || (call.segment === start.segment && call.seq > until);
  return { state, from: { run: ref.run, seq: until }, enterAt: node, dropped: calls.filter(isDropped).map(({ key }) => key) };
}

async function headOf(store: JournalStore, ref: RunRef): Promise<EventOf<'run.started'> | undefined> {
  const first = await firstEvent(store, ref);
  return first && isGraphRun(first) ? first : undefined;
}

/** Undefined for a run that was killed before it had one. */
export async function firstEvent(store: JournalStore, ref: RunRef): Promise<JournalEvent | undefined> {
  let first: JournalEvent | undefined;
  await store.scan(ref, (event) => void (first = event), { eventsMax: 1 });
  return first;
}

async function stateOf(store: JournalStore, segments: readonly Segment[]): Promise<GraphState> {
  let state = graphState.initial();
  for (const { ref, until } of segments) {
    await scanSound(store, ref, until, (event, position) => void (state = graphState.apply(state, event, { ref, position })));
  }
  return state;
}

/** C1: events without a gap. */
async function scanSound(
  store: JournalStore,
  ref: RunRef,
  until: Seq | undefined,
  visit: (event: JournalEvent, position: Parameters<Parameters<JournalStore['scan']>[1]>[1]) => void,
): Promise<void> {
  let next = 0;
  await store.scan(ref, (event, position) => {
    if (event.seq !== next || (until !== undefined && event.seq > until)) return;
    next = event.seq + 1;
    visit(event, position);
  });
}

function endOf({ journalRun, seq }: GraphState, segments: readonly Segment[]): EventRef {
  return { run: journalRun ?? (segments[0]?.ref.run as RunId), seq: seq ?? (0 as Seq) };
}

/** An unmet gate, or what failed last. A run that met a limit goes on where it was. */
function failedNode({ unmetGate, main, error }: GraphState): string {
  if (unmetGate !== undefined) return unmetGate;
  if (error?.code === 'PIPELINE_LIMIT' && main.next) return main.next.to;
  const failed = main.history.findLast(({ outcome }) => outcome === 'fail')?.node_id;
  return main.running?.node ?? failed ?? main.current ?? '';
}
