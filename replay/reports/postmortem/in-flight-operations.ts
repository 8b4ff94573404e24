/**
 * Folds the operations of a run that are in flight, and those that failed, by their paths.
 *
 * POSTMORTEM-1 an error rises through the operations around it: a failed operation has the chain of the part that failed with it
 * POSTMORTEM-2 an operation that ends well has dealt with what failed inside it; that stays a failure, and is no cause
 * POSTMORTEM-5 an operation that the end of its run ended has not failed; an iteration that a pause or a signal ended, or that was open
 *    when its process was killed, is no whole one
 */
import type { EventOf } from '../../../journal/event.js';
import type { FailureClass } from '../../../journal/facts/call-event.js';
import type { CallKey, OpPath, Seq } from '../../../journal/ids.js';
import { countFailure, type FailureGroups } from './failure-groups.js';
import { ancestorsOf, nameIn } from '../../fold/op-path.js';
import { AGENT_FUNCTION } from '../../workflows/resolve-workflow-target.js';
import {
  beginIteration,
  countCall,
  countWaiting,
  pauseIteration,
  type CountedCall,
  type CountedIteration,
  type LoopCount,
} from './loop-counts.js';

/** An operation that has not ended, or one of the chain. */
export interface Step {
  readonly op: OpPath;
  readonly kind: string;
  readonly name: string | undefined;
  readonly item: string | undefined;
  /** The phase of a call of a workflow script. */
  readonly phase: string | undefined;
  /** The place of the call in the source: `llm/run/job.mld:12:9`. */
  site: string | undefined;
  readonly startedMs: number;
  readonly seq: Seq;
  /** Loops only. */
  readonly loop: LoopCount | undefined;
  /** Iterations only. */
  readonly iteration: CountedIteration | undefined;
  call: InFlightCall | undefined;
  /** Its call has ended, and only what comes behind it has not: hooks, or the event that ends the operation. */
  isCallOver: boolean;
  /** The llm function that it calls, until its first attempt starts. */
  waitsFor: string | undefined;
  /** The class in which its call failed; undefined also where something else failed around the call, as a guard. */
  failedIn: FailureClass | undefined;
}

export interface InFlightCall {
  readonly key: CallKey;
  readonly fn: string;
  readonly preview: string | undefined;
  readonly startedMs: number;
  /** Its last attempt failed, and it waits for the next one. */
  waits: boolean;
  /** Groups of the commands inside that failed; they are counted with the call when it fails because of them. */
  readonly failedCommands: string[];
}

interface Chain {
  readonly message: string | undefined;
  /** Outermost first. */
  readonly steps: readonly Step[];
}

/** Part of a state that is folded. */
export interface InFlightOperations extends FailureGroups {
  finished: EventOf<'run.finished'> | undefined;
  readonly steps: Map<OpPath, Step>;
  /** Failures inside an operation that is in flight; those at the top are under ''. */
  readonly risen: Map<string, Chain[]>;
  /** Operations whose failure was counted when their call failed. */
  readonly counted: Set<OpPath>;
}

const TOP = '';

/** Returns the operations down to what ended the run, or down to what is in flight; outermost first. */
export function causeChain(state: InFlightOperations): readonly Step[] {
  const status = state.finished?.status;
  if (status !== undefined) {
    if (status === 'completed') return [];
    return state.risen.get(TOP)?.at(-1)?.steps ?? openChain(state);
  }
  return openChain(state);
}

/** Innermost operations that have not ended, and every call in flight; nothing twice. The operation of a call that has ended is over. */
export function inFlight(state: InFlightOperations): readonly Step[] {
  const steps = [...state.steps.values()];
  const calls = steps.filter(({ call }) => call !== undefined);
  const inCalls = new Set(calls.map(({ op }) => op));
  const around = new Set<OpPath>();
  const leaves: Step[] = [];
  // Those inside began later.
  for (const step of steps.toReversed()) {
    const hasInside = around.has(step.op);
    if (step.isCallOver && !hasInside) continue;
    const outer = nearest(state, step.op);
    if (outer !== undefined) around.add(outer.op);
    if (!hasInside && step.call === undefined && !ancestors(step.op).some((path) => inCalls.has(path))) leaves.push(step);
  }
  return [...calls, ...leaves.reverse()];
}

export function startStep(state: InFlightOperations, event: EventOf<'op.started'>, startedMs: number): void {
  const { op, kind, name, item, group: phase, site, seq, total } = event;
  const loop: LoopCount | undefined = total === undefined ? undefined : { total, kinds: new Map() };
  const around = nearest(state, op);
  const iteration = kind.endsWith(':iteration') && around?.loop !== undefined ? beginIteration(around.loop) : undefined;
  const mayWait = (kind === 'exe' || kind === AGENT_FUNCTION) && event.labels?.includes('llm') === true;
  const waitsFor = mayWait ? (kind === AGENT_FUNCTION ? kind : nameIn(op)) : undefined;
  state.steps.set(op, {
    op,
    kind,
    name,
    item,
    phase,
    site,
    startedMs,
    seq,
    loop,
    iteration,
    call: undefined,
    isCallOver: false,
    waitsFor,
    failedIn: undefined,
  });
}

/** Its operation goes on, but nothing of the call does. */
export function endCall(step: Step | undefined): void {
  if (step === undefined) return;
  step.call = undefined;
  step.isCallOver = true;
}

export function endStep(state: InFlightOperations, { op, outcome, message, seq }: EventOf<'op.finished'>): void {
  const step = state.steps.get(op);
  state.steps.delete(op);
  const hasEndedWithRun = ENDED_WITH_RUN.has(message); // POSTMORTEM-5
  const isCutShort = hasEndedWithRun || STOPPED_WITH_RUN.test(message ?? '');
  if (step?.waitsFor !== undefined && isCutShort) noteWaiting(state, op, step.waitsFor);
  const inside = state.risen.get(op);
  state.risen.delete(op);
  const around = nearest(state, op);
  if (around?.loop !== undefined && step?.iteration !== undefined && isCutShort) pauseIteration(around.loop, step.iteration);
  const wasCounted = state.counted.delete(op);
  if (outcome !== 'failed' && outcome !== 'denied') return; // POSTMORTEM-2
  // Several may have failed side by side: the cause is the one with the message of this operation.
  const cause = inside?.findLast((chain) => chain.message === message) ?? inside?.at(-1);
  if (cause === undefined && !wasCounted && message !== undefined && !hasEndedWithRun && message !== CANCELLED) {
    countFailure(state, step?.call?.fn ?? step?.name ?? step?.kind ?? op, message, { op, seq });
  }
  const steps = [...(step === undefined ? [] : [step]), ...(cause?.steps ?? [])]; // POSTMORTEM-1
  if (steps.length === 0) return;
  const under = around?.op ?? TOP;
  const beside = state.risen.get(under);
  if (beside === undefined) state.risen.set(under, [{ message, steps }]);
  else {
    beside.push({ message, steps });
    if (beside.length > CHAINS_MAX) beside.shift();
  }
}

/** The messages of what the end of its run ended: a wait for a stopped lane or a spent budget, and an element of a workflow script. */
const ENDED_WITH_RUN: ReadonlySet<string | undefined> = new Set(['The run was paused', 'The run was interrupted']);

/** The message of a branch that was called off, because its run ended or its parallel node was decided: it has not failed. */
const CANCELLED = 'the branch was cancelled';

/** The messages of effects that a signal or the time limit of the run stopped; not those of one stage or one hook. */
const STOPPED_WITH_RUN = /^interrupted: (?:SIG[A-Z]+|its time is over|the run (?:is paused|was called off|has ended))$/;

function noteWaiting(state: InFlightOperations, op: OpPath, fn: string): void {
  for (const { loop, iteration } of loopsAround(state, op)) countWaiting(loop, iteration, fn);
}

/**
 * Returns counts of the loops whose iterations are open, by the recorded counts: as if a pause had ended these iterations. A process that
 * was killed recorded no end of them.
 */
export function countOpenAsPaused(state: InFlightOperations): ReadonlyMap<LoopCount, LoopCount> {
  const loops = new Map<LoopCount, LoopCount>();
  const iterations = new Map<CountedIteration, InLoop>();
  const copyOf = (around: InLoop): InLoop => {
    const loop = loops.get(around.loop) ?? structuredClone(around.loop);
    const { iteration } = iterations.get(around.iteration) ?? { iteration: structuredClone(around.iteration) };
    loops.set(around.loop, loop);
    iterations.set(around.iteration, { loop, iteration });
    return { loop, iteration };
  };
  for (const { op, iteration, waitsFor } of state.steps.values()) {
    const loop = iteration && nearest(state, op)?.loop;
    if (loop) copyOf({ loop, iteration });
    if (waitsFor === undefined) continue;
    for (const around of loopsAround(state, op)) {
      const copy = copyOf(around);
      countWaiting(copy.loop, copy.iteration, waitsFor);
    }
  }
  for (const { loop, iteration } of iterations.values()) pauseIteration(loop, iteration);
  return loops;
}

interface InLoop {
  readonly loop: LoopCount;
  readonly iteration: CountedIteration;
}

/** Counts a call in the iterations and loops around it; `by` is -1 for a start that was withdrawn. */
export function countInLoops(state: InFlightOperations, op: OpPath, fn: string, call: Partial<CountedCall> = {}): void {
  const { by = 1, isReused = false } = call;
  for (const { loop, iteration } of loopsAround(state, op)) {
    iteration.calls.set(fn, (iteration.calls.get(fn) ?? 0) + by);
    countCall(loop, iteration, fn, { by, isReused });
  }
}

/** The innermost first, each with its iteration that the operation lies in. */
function* loopsAround({ steps }: InFlightOperations, op: OpPath): Generator<InLoop> {
  let iteration: CountedIteration | undefined;
  for (const path of ancestorsOf(op)) {
    const step = steps.get(path);
    if (step?.loop !== undefined && iteration !== undefined) yield { loop: step.loop, iteration };
    iteration = step?.iteration ?? iteration;
  }
}

/** Limit per operation: a loop may collect any number of failed iterations before it ends. */
const CHAINS_MAX = 100;

/** Returns the innermost call in flight around an operation. */
export function callAround(state: InFlightOperations, op: OpPath): InFlightCall | undefined {
  for (const path of ancestorsOf(op)) {
    const call = state.steps.get(path)?.call;
    if (call !== undefined) return call;
  }
  return undefined;
}

function nearest(state: InFlightOperations, op: OpPath): Step | undefined {
  for (const path of ancestorsOf(op)) {
    const step = state.steps.get(path);
    if (step !== undefined) return step;
  }
  return undefined;
}

function ancestors(op: OpPath): readonly OpPath[] {
  return [...ancestorsOf(op)];
}

/** Returns the operations down to the call that started last, or to the operation that started last. */
function openChain(state: InFlightOperations): readonly Step[] {
  const candidates = inFlight(state);
  const inCalls = candidates.filter(({ call }) => call !== undefined);
  const last = (inCalls.length > 0 ? inCalls : candidates).reduce<Step | undefined>(
    (latest, step) => (latest === undefined || step.seq > latest.seq ? step : latest),
    undefined,
  );
  if (last === undefined) return [];
  const around = ancestors(last.op).map((path) => state.steps.get(path));
  return [...around.filter((step) => step !== undefined).reverse(), last];
}
