/**
 * Folds the outcome of every effect of one run, by the operation and the digest of its request: all that is needed to run it again.
 *
 * RECORDING-1 an effect is used once, in the order in which an operation made the same request several times
 * RECORDING-2 the state holds places, not outcomes: those are read when they are used
 * RECORDING-3 an attempt that another one followed has left nothing but what the calls inside it came to: a replay executes only the last
 *    attempt of each call. calls.md 17
 */
import type { EventOf, FactType, JournalEvent, ResultForm } from '../../journal/event.js';
import type { RunStatus } from '../../journal/facts/run-event.js';
import type { BlobId, CallKey, EventRef, OpPath, RunId, Seq, Workflow } from '../../journal/ids.js';
import type { Payload } from '../../journal/event.js';
import { ancestorsOf, isInside } from '../fold/op-path.js';
import type { Place, Projection } from '../fold/projection.js';

export interface RecordedEffect {
  readonly seq: Seq;
  readonly op: OpPath;
  readonly kind: string;
  readonly request: string;
  readonly subject: string;
  readonly place: Place;
  /** `call`: the outcome is the result of the call around it. `nothing`: it could not be recorded. `interrupted`: there was none. */
  readonly holds: 'result' | 'error' | 'call' | 'nothing' | 'interrupted';
  isUsed: boolean;
}

/** A call of the recorded run. */
export interface RecordedCall {
  readonly seq: Seq;
  readonly op: OpPath;
  readonly key: CallKey;
  readonly fn: string;
  readonly place: Place;
  /** The attempts that failed before the last one, oldest first. */
  readonly earlier?: readonly RecordedFailure[];
  /** The end of its last attempt, where that failed. */
  failed?: RecordedFailure;
  /** The place of its result. */
  completed?: RecordedCompletion;
  /** Set for a reused result: the event that holds it. */
  readonly from?: { readonly run: RunId; readonly seq: Seq; readonly workflow?: Workflow };
  /** Set for a call that a worker executed, and that failed: the event of its run that began the attempt. */
  readonly begun?: EventRef;
  readonly worker?: { readonly name: string; readonly host: string } | undefined;
  /** Set where guards judged a result of an earlier execution, and the body was not executed: the event that holds it. */
  readonly received?: EventRef;
  /** The place of its result as the guards got it. */
  judged?: Place;
}

export interface RecordedCompletion {
  readonly seq: Seq;
  readonly place: Place;
  readonly form: ResultForm | undefined;
  /** Another run's result of the call was durable first, and was used. */
  readonly supersededBy?: EventRef;
}

/** A failed attempt of a call. */
export interface RecordedFailure {
  readonly seq: Seq;
  readonly place: Place;
  /**
   * `judged`: from what came back. `clock`: it took too long, so that its body went on in vain. `inside`: by another call, or by a guard.
   * `waiting`: the call waited from then on, because no attempt could start any more.
   */
  readonly by: 'judged' | 'clock' | 'inside' | 'waiting';
  /** The ends of the calls inside the attempt, and of their attempts, where another attempt follows it (RECORDING-3). */
  readonly inside?: readonly RecordedEnd[];
}

export interface RecordedEnd {
  readonly seq: Seq;
  readonly place: Place;
}

export interface RecordedSource {
  readonly blob: BlobId;
  readonly role: 'script' | 'module' | 'template';
  readonly whole: Payload | undefined;
}

export interface Recording {
  started: EventOf<'run.started'> | undefined;
  finished: EventOf<'run.finished'> | undefined;
  /** By path as it was recorded. */
  readonly sources: Map<string, RecordedSource>;
  readonly effects: Map<OpPath, RecordedEffect[]>;
  readonly calls: Map<OpPath, RecordedCall>;
  /** The calls whose time was over. */
  readonly overtime: Set<OpPath>;
  /** The attempts that another one was to follow, of calls that have none in flight. */
  readonly failedAttempts: Map<OpPath, readonly RecordedFailure[]>;
  /** Events of the facts that an operation waited for, in their order. */
  readonly handovers: Map<string, Seq[]>;
  readonly checkpoints: Map<string, Seq>;
  /** Hooks that were ended by their time limit: by operation, timing and hook. */
  readonly timeouts: Map<string, { readonly seq: Seq; readonly message: string }>;
  /** The number of the last event. */
  last: number;
}

export const recording: Projection<Recording> = {
  initial: () => ({
    started: undefined,
    finished: undefined,
    sources: new Map(),
    effects: new Map(),
    calls: new Map(),
    overtime: new Set(),
    failedAttempts: new Map(),
    handovers: new Map(),
    checkpoints: new Map(),
    timeouts: new Map(),
    last: -1,
  }),
  apply(state, event, place) {
    state.last = event.seq;
    switch (event.type) {
      case 'run.started':
        state.started = event;
        return state;
      case 'run.finished':
        state.finished = event;
        return state;
      case 'source.loaded':
        state.sources.set(event.path, { blob: event.blob, role: event.role, whole: event.whole });
        return state;
      case 'effect.performed':
        // The body of an attempt that took too long may go on for a while.
        if (!isOvertime(state, event.op)) push(state.effects, event.op, effectOf(event, place));
        return state;
      case 'call.started':
      case 'call.reused': {
        const { seq, op, key, fn } = event;
        const earlier = event.type === 'call.started' && event.try !== undefined ? state.failedAttempts.get(op) : undefined;
        state.failedAttempts.delete(op);
        state.overtime.delete(op);
        state.calls.set(op, {
          seq,
          op,
          key,
          fn,
          place,
          ...(earlier && { earlier }),
          ...(event.type === 'call.reused' ? { from: event.from } : {}),
          ...(event.type === 'call.started' && event.begun && { begun: event.begun, worker: workerIn(event) }),
          ...(event.type === 'call.started' && event.received && { received: event.received }),
        });
        return handOver(state, event, op);
      }
      case 'call.withdrawn': {
        const { earlier } = state.calls.get(event.op) ?? {};
        if (earlier) state.failedAttempts.set(event.op, [...earlier]);
        state.calls.delete(event.op);
        state.handovers.get(`call.started ${event.op}`)?.pop();
        return state;
      }
      case 'call.completed': {
        const call = state.calls.get(event.op);
        if (call) call.completed = { seq: event.seq, place, form: event.form };
        return handOver(state, event, event.op);
      }
      case 'result.received': {
        const call = state.calls.get(event.op);
        if (call) call.judged = place;
        return handOver(state, event, event.op);
      }
      case 'call.superseded': {
        const call = state.calls.get(event.op);
        if (call?.completed?.seq === event.of) call.completed = { ...call.completed, supersededBy: event.by };
        return state;
      }
      case 'call.failed': {
        const call = state.calls.get(event.op);
        const failure: RecordedFailure = { seq: event.seq, place, by: failedBy(event) };
        if (event.retryInMs !== undefined) {
          const inside = endsInside(state, event.op);
          forgetAttempt(state, event.op);
          state.failedAttempts.set(event.op, [...(call?.earlier ?? []), inside.length === 0 ? failure : { ...failure, inside }]);
          return state;
        }
        if (call) call.failed = failure;
        if (call && failure.by === 'clock') state.overtime.add(event.op);
        return handOver(state, event, event.op);
      }
      case 'checkpoint.reached':
        state.checkpoints.set(event.name, event.seq);
        return handOver(state, event, event.name);
      case 'checkpoint.closed':
        return handOver(state, event, event.name);
      case 'hook.fired': {
        const { op, timing, hook, error, errorCode, seq } = event;
        if (errorCode === 'HOOK_TIMEOUT') state.timeouts.set(`${op} ${timing} ${hook}`, { seq, message: error ?? '' });
        return state;
      }
      default:
        return state;
    }
  },
};

const ENDED_EARLY: ReadonlySet<RunStatus> = new Set<RunStatus>(['interrupted', 'timed-out', 'paused']);

/** Returns whether the run ended by itself: then its journal has the outcome of every effect. */
export function isWhole({ finished }: Recording): boolean {
  return finished !== undefined && !ENDED_EARLY.has(finished.status) && finished.lost === undefined;
}

/** Returns whether the record ends where its run did: a paused run ended in order, with calls that waited. calls.md 17. */
export function endsWithItsRun(state: Recording): boolean {
  const { finished } = state;
  return isWhole(state) || (finished?.status === 'paused' && finished.lost === undefined);
}

/** Returns the next unused effect of this request (RECORDING-1); undefined where the operation did not make the request. */
export function nextEffect(state: Recording, op: OpPath, kind: string, request: string | undefined): RecordedEffect | undefined {
  return state.effects
    .get(op)
    ?.find((answer) => !answer.isUsed && answer.kind === kind && (request === undefined || answer.request === request));
}

/** Returns an effect of the same request, whichever operation made it. */
export function anyEffect(state: Recording, kind: string, request: string): RecordedEffect | undefined {
  for (const answers of state.effects.values()) {
    const found = answers.find((answer) => answer.kind === kind && answer.request === request);
    if (found) return found;
  }
  return undefined;
}

/** Returns the effects that were not used so far, in the order of the run. */
export function unusedEffects(state: Recording): readonly RecordedEffect[] {
  return [...state.effects.values()].flatMap((answers) => answers.filter(({ isUsed: given }) => !given)).sort((a, b) => a.seq - b.seq);
}

/** The call whose body was the command or code that this operation ran. */
export function callAround(state: Recording, op: OpPath): RecordedCall | undefined {
  const own = state.calls.get(op);
  if (own) return own;
  for (const path of ancestorsOf(op)) {
    const call = state.calls.get(path);
    if (call) return call;
  }
  return undefined;
}

/** Returns whether the time of a call around the operation was over: what its body did from then on was in vain. */
export function isOvertime({ overtime }: Recording, op: OpPath): boolean {
  return overtime.size > 0 && [op, ...ancestorsOf(op)].some((path) => overtime.has(path));
}

/** Returns the event at which the operation (or the checkpoint) recorded this fact; each one once. */
export function nextHandover(state: Recording, type: FactType, about: string): Seq | undefined {
  return state.handovers.get(`${type} ${about}`)?.shift();
}

/** Returns whether `nextHandover` has another event for the operation. */
export function hasHandover(state: Recording, type: FactType, about: string): boolean {
  return (state.handovers.get(`${type} ${about}`)?.length ?? 0) > 0;
}

function failedBy({ evidence, class: failureClass, code, retryInMs }: EventOf<'call.failed'>): RecordedFailure['by'] {
  if (evidence === undefined || failureClass === 'upstream') return 'inside';
  // The error of a call has a code, but for an exception of its body. A call that waits has no error.
  if (retryInMs === undefined && code === undefined && !(failureClass === 'crash' && evidence === 'none')) return 'waiting';
  return evidence === 'clock' ? 'clock' : 'judged';
}

/** In the order of the run. */
function endsInside(state: Recording, op: OpPath): readonly RecordedEnd[] {
  const since = state.calls.get(op)?.seq;
  if (since === undefined) return [];
  const ends: RecordedEnd[] = [];
  const addFailures = (failures: readonly RecordedFailure[]): void => {
    for (const failure of failures) ends.push(...(failure.inside ?? []), failure);
  };
  for (const [path, call] of state.calls) {
    if (path === op || call.seq < since || !isInside(path, op)) continue;
    addFailures(call.earlier ?? []);
    if (call.from) ends.push(call);
    if (call.failed) ends.push(call.failed);
    if (call.completed) ends.push(call.completed);
  }
  for (const [path, failures] of state.failedAttempts) if (path !== op && isInside(path, op)) addFailures(failures);
  return ends.map(({ seq, place }) => ({ seq, place })).sort((a, b) => a.seq - b.seq);
}

/** RECORDING-3 */
function forgetAttempt(state: Recording, op: OpPath): void {
  const since = state.calls.get(op)?.seq;
  if (since === undefined) return;
  for (const [path, effects] of state.effects) {
    if (isInside(path, op))
      state.effects.set(
        path,
        effects.filter(({ seq }) => seq < since),
      );
  }
  for (const [path, { seq }] of state.calls) if (seq >= since && isInside(path, op)) state.calls.delete(path);
  for (const path of state.failedAttempts.keys()) if (isInside(path, op)) state.failedAttempts.delete(path);
  for (const [about, events] of state.handovers) {
    if (!isInside(about.slice(about.indexOf(' ') + 1), op)) continue;
    const kept = events.filter((seq) => seq < since);
    if (kept.length < events.length) state.handovers.set(about, kept);
  }
}

function effectOf(event: EventOf<'effect.performed'>, place: Place): RecordedEffect {
  const { seq, op, kind, request, subject } = event;
  return { seq, op, kind, request, subject, place, holds: holdingOf(event), isUsed: false };
}

function holdingOf({ kind, result, error, errorCode }: EventOf<'effect.performed'>): RecordedEffect['holds'] {
  if (error !== undefined) return errorCode === 'INTERRUPTED' ? 'interrupted' : 'error';
  if (kind === 'code.run' && result === undefined) return 'call';
  if (result === undefined) return 'nothing';
  if (kind === 'command.run' && 'inline' in result && !hasMember(result.inline, 'stdout')) return 'call';
  return 'result';
}

function hasMember(value: unknown, name: string): boolean {
  return typeof value === 'object' && value !== null && name in value;
}

function handOver(state: Recording, { type, seq }: JournalEvent, about: string): Recording {
  push(state.handovers, `${type} ${about}`, seq);
  return state;
}

function push<K, V>(lists: Map<K, V[]>, key: K, value: V): void {
  const list = lists.get(key);
  if (list) list.push(value);
  else lists.set(key, [value]);
}

function workerIn({ worker, workerHost = '' }: EventOf<'call.started'>): RecordedCall['worker'] {
  return worker === undefined ? undefined : { name: worker, host: workerHost };
}
