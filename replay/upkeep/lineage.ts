/**
 * Folds how the runs of a workflow depend on each other: the runs whose results a next run would reuse, and the run that changed what
 * earlier ones left. Folded over all runs of a workflow, oldest first.
 */
import type { EventOf } from '../../journal/event.js';
import type { CallKey, RunId, RunRef, Seq, Workflow } from '../../journal/ids.js';
import { memo, type Memo } from '../memo/memo.js';
import type { Place, Projection } from '../fold/projection.js';
import { index, type Index } from '../memo/snapshot.js';
import { servedBy } from './runs-as-one.js';
import { unknownEvents, type UnknownEvents } from './unknown-events.js';

/** A workflow as it was at the end of one of its runs, or at an event of it (which still counts). */
export interface ForkPoint {
  readonly workflow: Workflow;
  readonly run: RunId;
  readonly seq: Seq | undefined;
}

/** The dependences of one run on others. */
export interface RunTies {
  readonly ref: RunRef;
  /** Results that it reused, by the runs that hold them. */
  readonly reusedFrom: Map<RunId, Workflow | undefined>;
  /** Runs that it resumes, that started it, or that it was forked from. */
  readonly builtOn: RunRef[];
  /** The run that it serves, as a worker's run or a salvage run. */
  serves: RunId | undefined;
  /** Points of other workflows that it forked from. */
  readonly forkedFrom: ForkPoint[];
  /** Keys of the results that it recorded. */
  readonly results: Set<CallKey>;
  readonly invalidated: Set<CallKey>;
  readonly refused: Set<CallKey>;
  reset: boolean;
  readonly unknown: UnknownEvents;
}

export interface Lineage {
  readonly index: Index;
  readonly runs: Map<RunId, RunTies>;
  /** Checkpoint -> the run that said last whether it is complete. */
  readonly completedBy: Map<string, RunId>;
  /** Call key and the name of a function around it -> a run that shows it there. */
  readonly insideBy: Map<CallKey, Map<string, RunId>>;
  /** The run that is being folded, as if there were no others. */
  alone: Memo;
}

export const lineage: Projection<Lineage> = {
  initial: () => ({ index: index.initial(), runs: new Map(), completedBy: new Map(), insideBy: new Map(), alone: memo.initial() }),
  apply(state, event, place) {
    const ties = tiesOf(state, place);
    const asks = event.type === 'call.started' || event.type === 'call.reused';
    const before = asks ? state.index.memo.entries.get(event.key)?.inside : undefined; // folding replaces the array
    index.apply(state.index, event, place);
    memo.apply(state.alone, event, place);
    unknownEvents.apply(ties.unknown, event, place);
    switch (event.type) {
      case 'run.started':
        ties.serves = servedBy(event);
        noteStart(ties, event);
        break;
      case 'call.completed':
        if (event.unusable !== undefined) break;
        if (event.redacted !== undefined && 'redacted' in event.result) {
          ties.invalidated.add(event.key);
          break;
        }
        ties.results.add(event.key);
        noteInside(state, event.key, place, namesIn(state.alone, event.key));
        break;
      case 'call.started':
        if (event.received) ties.reusedFrom.set(event.received.run, undefined);
        break;
      case 'result.received':
        ties.results.add(event.key);
        break;
      case 'call.reused':
        ties.reusedFrom.set(event.from.run, event.from.workflow);
        break;
      case 'checkpoint.closed':
        if (event.complete !== undefined) state.completedBy.set(event.name, place.ref.run);
        break;
      case 'memo.invalidated':
        for (const key of event.keys) (event.borrowed === true ? ties.refused : ties.invalidated).add(key);
        break;
      case 'result.rejected':
      case 'result.restored':
        // The two stay together: without its restoration, a rejection would count again.
        (event.from.workflow === undefined ? ties.invalidated : ties.refused).add(event.key);
        break;
      case 'memo.reset':
        ties.reset = true;
        if (event.reason === 'clean') state.completedBy.clear();
        break;
      default:
        break;
    }
    if (asks) noteInside(state, event.key, place, namesIn(state.index.memo, event.key, before));
    return state;
  },
};

function tiesOf(state: Lineage, { ref }: Place): RunTies {
  const known = state.runs.get(ref.run);
  if (known !== undefined) return known;
  const ties: RunTies = {
    ref,
    reusedFrom: new Map(),
    builtOn: [],
    serves: undefined,
    forkedFrom: [],
    results: new Set(),
    invalidated: new Set(),
    refused: new Set(),
    reset: false,
    unknown: unknownEvents.initial(),
  };
  state.runs.set(ref.run, ties);
  state.alone = memo.initial();
  return ties;
}

function noteStart({ ref: { workflow }, builtOn, forkedFrom }: RunTies, event: EventOf<'run.started'>): void {
  for (const fork of event.forks ?? []) {
    if (fork.run !== undefined) forkedFrom.push({ workflow: fork.workflow, run: fork.run, seq: fork.seq });
  }
  for (const run of [event.resume?.run, event.restartOf, event.parent?.run]) if (run !== undefined) builtOn.push({ workflow, run });
}

/** A run that shows all of it by itself replaces earlier ones; one that only reused or only started calls adds what is new. */
function noteInside(state: Lineage, key: CallKey, { ref: { run } }: Place, names: readonly string[]): void {
  if (names.length === 0) return;
  const known = state.insideBy.get(key) ?? new Map<string, RunId>();
  for (const name of names) known.set(name, run);
  state.insideBy.set(key, known);
}

function namesIn({ entries: questions }: Memo, key: CallKey, but: readonly string[] = []): readonly string[] {
  const names = questions.get(key)?.inside ?? [];
  return names === but ? [] : names.filter((name) => !but.includes(name));
}
