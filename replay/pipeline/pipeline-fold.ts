/**
 * Folds one run of a pipeline whose journal may be damaged. What can be read behind a damaged place counts as far as nothing that it rests
 * on is lost.
 *
 * DAMAGE-1 A visit is in its `node.finished` alone (PIPELINE-STATE-1): what is lost of a visit that has ended costs the state nothing.
 * DAMAGE-2 When the end of a visit is lost, its walk is cut: the visit runs again, and what the walk did behind it does not count. The
 *    walks around a branch are not touched, and once its parallel node has ended the branch counts as it ended.
 * DAMAGE-3 The same events up to the same number give the same state: a later resume of the chain begins where this one did.
 * DAMAGE-4 Results behind a cut are kept by their keys: a call that is made again with the same arguments is not paid for again. Those of
 *    a visit that failed are not kept: it must be able to end differently.
 */
import type { EventOf, JournalEvent } from '../../journal/event.js';
import type { CallKey, OpPath } from '../../journal/ids.js';
import { beginVisit, pipelineState, type PipelineState } from './pipeline-state.js';
import { MAIN, walkAtPath, type Walk } from './walk.js';
import type { Entry, Place } from '../fold/projection.js';

export interface RunDamage {
  /** The number of events that can't be read, from the gaps in the numbers of the others. */
  readonly lost: number;
  /** Nodes whose end was lost, so that they run again. */
  readonly cut: readonly string[];
  /** The node that was running when the run ended, where events of that visit are lost: its end may be one of them, or a reply. */
  readonly open?: string;
  /** The event that says what the run went on with is lost. */
  readonly isHeadless: boolean;
}

export interface RunFold {
  /** Applies an event and returns whether it counts; otherwise the state is unchanged. */
  apply(event: JournalEvent, place: Place): boolean;
  /** An event behind those that count. */
  leave(event: JournalEvent): void;
  readonly damage: RunDamage;
  /** Keys of calls behind a cut, by the operation that made them. */
  readonly replies: ReadonlyMap<OpPath, CallKey>;
}

/** A visit with all that the engine records around it takes at least so many lines: fewer that are lost hide none. */
const VISIT_LINES = 4;

/** `state` belongs to the fold. */
export function foldOfRun(state: PipelineState): RunFold {
  let next = 0;
  let lost = 0;
  let isHeadless = false;
  const cuts = new Map<OpPath, Cut>();
  /** The number of lost events when a walk last moved, by the path of the walk, and when a visit began, by that of the visit. */
  const lostAt = new Map<OpPath, number>();
  const replies = new Map<OpPath, CallKey>();

  function cut(path: OpPath, node: string): false {
    cuts.set(path, { node, left: [] });
    return false;
  }

  /** Returns whether the walk can be in this visit; the beginning of the visit may be lost. */
  function isWithin(walk: Walk, step: Step, event: JournalEvent): boolean {
    const { op, node, visit } = step;
    if (walk.running?.op === op) return true;
    if (walk.running) return cut(walk.path, walk.running.node);
    const expected = walk.enterAt ?? walk.next?.to;
    const hidden = lost - (lostAt.get(walk.path) ?? lostAt.get(parallelOf(walk.path)) ?? 0);
    if (visit > endedVisits(walk, node) || (expected === undefined ? hidden >= VISIT_LINES : expected !== node))
      return cut(walk.path, expected ?? node);
    if (event.type !== 'node.started') beginVisit(state, walk, step);
    return true;
  }

  /** Returns whether the walk can be between two visits, behind `from`. */
  function isBetween(walk: Walk, from: string | undefined): boolean {
    if (walk.running) return cut(walk.path, walk.running.node);
    return from === undefined || walk.current === undefined || walk.current === from || cut(walk.path, from);
  }

  function counts(event: JournalEvent, place: Place): boolean {
    if (event.type === 'run.finished') return countsAsEnd(event);
    if (!isOfWalk(event)) return true;
    for (let path = MAIN; ;) {
      const known = cuts.get(path);
      if (known) {
        known.left.push({ event, place });
        return false;
      }
      const walk = walkAtPath(state.main, path);
      const step = stepBehind(path, event.op);
      if (!step) return event.type === 'context.updated' || isBetween(walk, event.type === 'edge.selected' ? event.from : undefined);
      if (step.visit < endedVisits(walk, step.node)) return true; // a late word of a visit that is over
      if (!isWithin(walk, step, event)) return false;
      if (step.branch === undefined) return true;
      path = step.branch;
    }
  }

  function countsAsEnd({ status }: EventOf<'run.finished'>): boolean {
    if (status === 'completed' || status === 'restarted') return true;
    if (cuts.has(MAIN)) return false;
    const { running } = state.main;
    // A visit whose end is lost failed with the run: the replies that it had brought it there.
    if (running && status === 'failed')
      for (const op of state.received.keys()) if (op.startsWith(`${running.op}/`)) state.received.delete(op);
    return true;
  }

  /** DAMAGE-2: the branches of a parallel node that has ended. */
  function settle({ op }: EventOf<'node.finished'>): void {
    for (const [path, { node, left }] of cuts) {
      if (!path.startsWith(`${op}[`)) continue;
      cuts.delete(path);
      for (const entry of left) pipelineState.apply(state, entry.event, entry.place);
      // The outcome of the gate is lost: it has to be met again.
      if (state.gates.includes(node) && left.every(({ event }) => event.type !== 'node.finished' || event.node !== node))
        state.results.set(node, 'fail');
    }
  }

  function leave(event: JournalEvent): void {
    if (event.type === 'call.completed' && event.unusable === undefined) replies.set(event.op, event.key);
    if (event.type !== 'node.finished' || event.status !== 'fail') return;
    for (const op of replies.keys()) if (op.startsWith(`${event.op}/`) || op.startsWith(`${event.op}[`)) replies.delete(op);
  }

  return {
    apply(event, place) {
      if (event.seq < next) return false;
      lost += event.seq - next;
      if (next === 0 && lost > 0) {
        isHeadless = true;
        state.runId ??= place.ref.run;
        state.journalRun = place.ref.run;
        if (state.startedAt === '') state.startedAt = event.ts;
      }
      next = event.seq + 1;
      if (lost > 0 && !counts(event, place)) {
        leave(event);
        return false;
      }
      if (cuts.size > 0 && event.type === 'node.finished') settle(event);
      pipelineState.apply(state, event, place);
      if (event.type === 'node.started') lostAt.set(event.op, lost);
      else if (event.type === 'edge.selected') lostAt.set(event.op, lost);
      else if (event.type === 'node.finished') lostAt.set(event.op.slice(0, event.op.lastIndexOf('/')) as OpPath, lost);
      return true;
    },
    leave,
    get damage() {
      const { running } = state.main;
      const isOpenHit = running !== undefined && !cuts.has(MAIN) && lost > (lostAt.get(running.op) ?? 0);
      return { lost, cut: [...cuts.values()].map(({ node }) => node), ...(isOpenHit ? { open: running.node } : {}), isHeadless };
    },
    replies,
  };
}

interface Cut {
  readonly node: string;
  /** Events of its walk behind the cut. */
  readonly left: Entry[];
}

/** A visit on the way to an operation. */
interface Step {
  readonly op: OpPath;
  readonly node: string;
  readonly visit: number;
  /** The walk below it that the operation is on. */
  readonly branch: OpPath | undefined;
}

function stepBehind(walk: OpPath, op: OpPath): Step | undefined {
  const [step, node, visit, branch] = /^(\w+)#(\d+)(\[\d+\])?(?=\/|$)/.exec(op.slice(walk.length + 1)) ?? [];
  if (step === undefined || node === undefined || visit === undefined) return undefined;
  const inside = `${walk}/${step}`;
  return {
    op: (branch === undefined ? inside : inside.slice(0, -branch.length)) as OpPath,
    node,
    visit: Number(visit),
    branch: branch === undefined ? undefined : (inside as OpPath),
  };
}

function endedVisits({ visits }: Walk, node: string): number {
  return visits.get(node) ?? 0;
}

function parallelOf(branch: OpPath): OpPath {
  return branch.slice(0, branch.lastIndexOf('[')) as OpPath;
}

/** The events that the fold of a walk looks at. Any other may be lost without an effect on the state. */
type WalkEvent = EventOf<
  | 'node.started'
  | 'node.finished'
  | 'edge.selected'
  | 'gate.checked'
  | 'context.updated'
  | 'retry.scheduled'
  | 'question.asked'
  | 'question.answered'
  | 'artifact.stored'
  | 'artifact.removed'
  | 'call.completed'
>;

const OF_WALK: { readonly [T in WalkEvent['type']]: true } = {
  'node.started': true,
  'node.finished': true,
  'edge.selected': true,
  'gate.checked': true,
  'context.updated': true,
  'retry.scheduled': true,
  'question.asked': true,
  'question.answered': true,
  'artifact.stored': true,
  'artifact.removed': true,
  'call.completed': true,
};

function isOfWalk(event: JournalEvent): event is WalkEvent {
  return Object.hasOwn(OF_WALK, event.type);
}
