/**
 * Folds what a run of a pipeline recorded of its walk, for a replay: the facts in their places, and the ends of attempts.
 *
 * RECORDED-WALK-1  A fact is taken once, by what it is and the operation that it is about, in the order of the run.
 */
import { canonicalJson } from '../../journal/canonical.js';
import type { EventOf, JournalEvent } from '../../journal/event.js';
import type { PipelineFact } from '../../journal/facts/pipeline-event.js';
import type { OpPath, Seq } from '../../journal/ids.js';
import type { Projection } from '../fold/projection.js';

export type PipelineEvent = EventOf<PipelineFact['type']>;

export interface RecordedWalk {
  /** Not taken so far, by type and operation. */
  readonly facts: Map<string, PipelineEvent[]>;
  /** By path of the attempt: its retry, or the commit of its visit. */
  readonly ends: Map<OpPath, EventOf<'retry.scheduled' | 'node.finished'>>;
  /** When an attempt began, by its path. */
  readonly begun: Map<OpPath, Seq>;
  /** The ends of branches that ended because their parallel node did, in the order of the run. */
  readonly cutBranches: { readonly op: OpPath; readonly seq: Seq }[];
  readonly answered: Map<OpPath, EventOf<'question.answered'>>;
  /** First visits on whatever path, by node. */
  readonly started: Map<string, EventOf<'node.started'>>;
  /** Previews of the names of the backends that executed model stages. */
  readonly backends: Set<string>;
  /** The number of the last fact about the walk. */
  last: Seq | undefined;
}

export const recordedWalk: Projection<RecordedWalk> = {
  initial: () => ({
    facts: new Map(),
    ends: new Map(),
    begun: new Map(),
    cutBranches: [],
    answered: new Map(),
    started: new Map(),
    backends: new Set(),
    last: undefined,
  }),
  apply(state, event) {
    if (event.type === 'op.started' && event.kind === 'attempt') state.begun.set(event.op, event.seq);
    if (event.type === 'op.finished' && event.outcome === 'failed' && event.op.endsWith(']')) state.cutBranches.push(event);
    if (event.type === 'definition.recorded') {
      for (const { kind, name, preview } of event.parts)
        if (kind === 'variable' && name === 'backend' && preview !== undefined) state.backends.add(preview);
    }
    if (!isPipelineEvent(event)) return state;
    state.last = event.seq;
    const name = typeAndOp(event);
    const known = state.facts.get(name);
    if (known) known.push(event);
    else state.facts.set(name, [event]);
    if (event.type === 'retry.scheduled') state.ends.set(attemptAt(event.op, event.attempt), event);
    else if (event.type === 'node.finished') state.ends.set(attemptAt(event.op, event.attempts), event);
    else if (event.type === 'question.answered') state.answered.set(event.op, event);
    else if (event.type === 'node.started' && !state.started.has(event.node)) state.started.set(event.node, event);
    return state;
  },
};

/** The next one of its kind that its operation has left (RECORDED-WALK-1). */
export function takeFact({ facts }: RecordedWalk, fact: PipelineFact): PipelineEvent | undefined {
  return facts.get(typeAndOp(fact))?.shift();
}

/** Returns the id of the next output of this name that the operation stored. */
export function nextOutput({ facts }: RecordedWalk, op: OpPath, name: string): string | undefined {
  const [next] = facts.get(`artifact.stored ${op}`) ?? [];
  return next?.type === 'artifact.stored' && next.name === name ? next.id : undefined;
}

/** In the order of the run. */
export function factsLeft({ facts }: RecordedWalk): readonly PipelineEvent[] {
  return [...facts.values()].flat().sort((a, b) => a.seq - b.seq);
}

/** Returns whether a fact equals a recorded one. Durations and delays are left out: they differ between any two runs. */
export function saysTheSame(fact: PipelineFact, event: PipelineEvent): boolean {
  return canonicalJson(saying(fact)) === canonicalJson(saying(event));
}

/**
 * Members that differ between runs (of the event itself, clock, chance), payloads, which repeat outcomes recorded elsewhere, and those that
 * follow from the walk and are missing in older records: the place of a gate, and how many attempts were answered.
 */
const NOT_SAID: ReadonlySet<string> = new Set(['v', 'seq', 'ts', 'hash', 'elapsedMs', 'delayMs', 'payload', 'within', 'answered']);

/** The members that come out the same. */
export function saying(fact: PipelineFact | PipelineEvent): { readonly [member: string]: unknown } {
  const said = Object.entries(fact).filter(([member, value]) => value !== undefined && !NOT_SAID.has(member));
  return Object.fromEntries(said);
}

/** A row per kind: a new one doesn't compile until it is here. */
const PIPELINE_TYPES: { readonly [T in PipelineFact['type']]: true } = {
  'node.started': true,
  'node.finished': true,
  'edge.selected': true,
  'context.updated': true,
  'gate.checked': true,
  'retry.scheduled': true,
  'question.asked': true,
  'question.answered': true,
  'artifact.stored': true,
  'artifact.removed': true,
};

function isPipelineEvent(event: JournalEvent): event is PipelineEvent {
  return Object.hasOwn(PIPELINE_TYPES, event.type);
}

function typeAndOp({ type, op }: PipelineFact): string {
  return `${type} ${op}`;
}

function attemptAt(node: OpPath, attempt: number): OpPath {
  return `${node}/try#${attempt}` as OpPath;
}
