/**
 * Checks that a history is possible: one legal-transition function over the events of a run, for tests and for `journal verify`.
 *
 * V1 `seq` counts 0, 1, 2, … ; the first event is `run.started`, nothing follows `run.finished`
 * V2 an operation starts once, ends once after it started, never starts below one that has ended, never ends before what it contains
 * V3 `call.completed` ends a `call.started` of the same operation and key; `call.failed` too, unless the call was denied before or not
 *    executed (`upstream`). An attempt from the second on follows one of the same call that failed with `retryInMs`; what is inside the
 *    call starts again with it
 * V4 calls belong to operations that are in flight; a run that completed leaves no operation and no call in flight. A call that another
 *    run began (`begun`, of a salvage run) has its operation and its earlier attempts there
 * V5 every payload and source that events name is there
 */
import type { EventOf, JournalEvent, Payload } from '../../../journal/event.js';
import type { BlobId, CallKey, OpPath, RunRef, Seq } from '../../../journal/ids.js';
import { ownEventOf } from '../../../journal/own-fact.js';
import type { Defect, JournalStore, Position } from '../../../journal/store.js';
import { ancestorsOf } from '../../fold/op-path.js';
import { follow, type Projection } from '../../fold/projection.js';
import { index } from '../../memo/snapshot.js';
import type { ResultEvent } from '../../memo/stored-result.js';
import { summary } from '../summary/summary.js';

export interface Violation {
  readonly rule: 'V1' | 'V2' | 'V3' | 'V4' | 'V5';
  readonly seq: Seq;
  readonly message: string;
}

export interface Legality {
  readonly violations: Violation[];
  events: number;
  nextSeq: number;
  finished: boolean;
  /** Operations so far; `inFlight` counts the operations directly below that are in flight; `undefined` says that it has ended. */
  readonly operations: Map<OpPath, { inFlight: number } | undefined>;
  readonly calls: Map<OpPath, CallKey>;
  /** Calls whose last attempt failed and that wait for the next one. */
  readonly waiting: Map<OpPath, CallKey>;
  /** The operations that started inside a call in flight, by the operation of the call. */
  readonly inside: Map<OpPath, OpPath[]>;
  /** Blobs that were named, and by which event first. */
  readonly blobs: Map<BlobId, Seq>;
}

/** Folds the events of one run. */
export const legality: Projection<Legality> = {
  initial: () => ({
    violations: [],
    events: 0,
    nextSeq: 0,
    finished: false,
    operations: new Map(),
    calls: new Map(),
    waiting: new Map(),
    inside: new Map(),
    blobs: new Map(),
  }),
  apply(state, event) {
    const complain = (rule: Violation['rule'], message: string): void => void state.violations.push({ rule, seq: event.seq, message });
    checkSequence(state, event, complain);
    switch (event.type) {
      case 'run.finished':
        finishRun(state, event, complain);
        break;
      case 'source.loaded':
        if (event.blob !== undefined) nameBlob(state, event.blob, event.seq);
        break;
      case 'op.started':
        startOperation(state, event.op, complain);
        break;
      case 'op.finished':
        finishOperation(state, event.op, complain);
        break;
      case 'call.started':
        if (event.begun === undefined && !isInFlight(state, event.op))
          complain('V4', `a call starts in ${event.op}, which is not in flight`);
        startCall(state, event, complain);
        namePayload(state, event.args, event.seq);
        break;
      case 'call.withdrawn':
        withdrawCall(state, event, complain);
        break;
      case 'call.completed':
        endCall(state, event, complain);
        nameResult(state, event);
        break;
      case 'result.received':
        if (state.calls.get(event.op) !== event.key) complain('V3', `result.received in ${event.op}, where the call is not in flight`);
        nameResult(state, event);
        break;
      case 'call.failed':
        failCall(state, event, complain);
        break;
      case 'call.reused':
        if (!isInFlight(state, event.op)) complain('V4', `a result is reused in ${event.op}, which is not in flight`);
        break;
      case 'effect.performed':
        if (event.result !== undefined) namePayload(state, event.result, event.seq);
        break;
      default: {
        const own = ownEventOf(event);
        if (own !== undefined) namePayload(state, own.data, event.seq);
      }
    }
    return state;
  },
};

export interface VerifyReport {
  /**
   * Nothing is lost that was promised. A torn tail is not a loss: its append was never confirmed. Neither are lines that a report left out
   * because of their members: they are whole.
   */
  readonly ok: boolean;
  readonly ref: RunRef;
  readonly events: number;
  /** Lines and blobs that can't be read. */
  readonly defects: readonly Defect[];
  /** Events that can be read and can't have happened. */
  readonly violations: readonly Violation[];
}

export async function verifyRun(store: JournalStore, ref: RunRef): Promise<VerifyReport> {
  const defects: Defect[] = [];
  const state = legality.initial();
  // The folds that every start and `journal list` read a run with: a line that they fail on is a defect (READER-4).
  const folds = [follow(legality, state, ref), follow(index, index.initial(), ref), follow(summary, summary.initial(), ref)];
  const visit = (event: JournalEvent, position: Position): void => folds.forEach((apply) => apply(event, position));
  await store.scan(ref, visit, { onDefect: (defect) => defects.push(defect) });
  return conclude(store, ref, state, defects);
}

/** Makes the report from the fold of a whole run and the defects of its reading. Looks for the payloads that events name. */
export async function conclude(store: JournalStore, ref: RunRef, state: Legality, defects: readonly Defect[]): Promise<VerifyReport> {
  for (const [blob, seq] of state.blobs) {
    if ((await store.getBlob(blob)) === undefined) state.violations.push({ rule: 'V5', seq, message: `${blob} is missing or damaged` });
  }
  const { violations, events } = state;
  const ok = violations.length === 0 && defects.every(({ kind }) => kind === 'torn-tail' || kind === 'unknown-members');
  return { ok, ref, events, defects, violations };
}

type Complain = (rule: Violation['rule'], message: string) => void;

function checkSequence(state: Legality, event: JournalEvent, complain: Complain): void {
  if (event.seq !== state.nextSeq) complain('V1', `this event should have seq ${state.nextSeq}`);
  if ((event.type === 'run.started') !== (event.seq === 0)) {
    complain('V1', event.seq === 0 ? `the run begins with ${event.type}` : 'the run starts a second time');
  }
  if (state.finished) complain('V1', `${event.type} follows run.finished`);
  state.nextSeq = event.seq + 1;
  state.events += 1;
}

function finishRun(state: Legality, { status, lost }: EventOf<'run.finished'>, complain: Complain): void {
  state.finished = true;
  if (status !== 'completed' || lost !== undefined) return;
  for (const [op, status] of state.operations) if (status !== undefined) complain('V4', `the run completes while ${op} is in flight`);
  for (const op of state.calls.keys()) complain('V4', `the run completes while the call in ${op} is in flight`);
}

function startOperation(state: Legality, op: OpPath, complain: Complain): void {
  if (state.operations.has(op)) complain('V2', `${op} starts a second time`);
  const parent = nearest(state, op);
  if (parent !== undefined) {
    const around = state.operations.get(parent);
    if (around === undefined) complain('V2', `${op} starts below ${parent}, which has ended`);
    else around.inFlight += 1;
  }
  state.operations.set(op, { inFlight: 0 });
  if (state.calls.size === 0) return;
  for (const path of ancestorsOf(op)) if (state.calls.has(path)) state.inside.get(path)?.push(op);
}

function finishOperation(state: Legality, op: OpPath, complain: Complain): void {
  const operation = state.operations.get(op);
  if (operation === undefined) {
    complain('V2', state.operations.has(op) ? `${op} ends a second time` : `${op} ends without having started`);
    return;
  }
  if (operation.inFlight > 0) complain('V2', `${op} ends while ${operation.inFlight} of the operations in it are in flight`);
  state.operations.set(op, undefined);
  const parent = nearest(state, op);
  const around = parent === undefined ? undefined : state.operations.get(parent);
  if (around !== undefined) around.inFlight -= 1;
}

/** The innermost operation around a path that was ever started: not every step of a path is an operation. */
function nearest(state: Legality, op: OpPath): OpPath | undefined {
  for (const path of ancestorsOf(op)) if (state.operations.has(path)) return path;
  return undefined;
}

function isInFlight(state: Legality, op: OpPath): boolean {
  return state.operations.get(op) !== undefined;
}

function startCall(state: Legality, { op, key, try: tried = 1, begun }: EventOf<'call.started'>, complain: Complain): void {
  if (state.calls.has(op)) complain('V3', `an attempt starts in ${op}, where another one is in flight`);
  const isAlone = tried > 1 && begun === undefined && state.waiting.get(op) !== key;
  if (isAlone) complain('V3', `attempt ${tried} in ${op} follows no failed attempt of the same call`);
  state.waiting.delete(op);
  state.calls.set(op, key);
  state.inside.set(op, []);
}

function withdrawCall(state: Legality, { op, key, try: tried = 1 }: EventOf<'call.withdrawn'>, complain: Complain): void {
  if (state.calls.get(op) !== key) complain('V3', `call.withdrawn in ${op}, where no attempt of the call is in flight`);
  else if (state.inside.get(op)?.length) complain('V3', `call.withdrawn in ${op}, where the body of the call has begun`);
  state.calls.delete(op);
  state.inside.delete(op);
  if (tried > 1) state.waiting.set(op, key);
}

function failCall(state: Legality, event: EventOf<'call.failed'>, complain: Complain): void {
  const { op, key, denied, retryInMs } = event;
  const wasStarted = state.calls.has(op);
  if (!wasStarted && (denied === true || event.class === 'upstream' || state.waiting.get(op) === key)) {
    state.waiting.delete(op);
    return;
  }
  const started = state.inside.get(op) ?? [];
  endCall(state, event, complain);
  if (retryInMs === undefined) return;
  state.waiting.set(op, key);
  for (const path of started) state.operations.delete(path);
  // An attempt that ran out of time may leave operations that never end.
  const around = state.operations.get(op);
  if (around !== undefined) around.inFlight = 0;
}

function endCall(state: Legality, { op, key, type }: EventOf<'call.completed' | 'call.failed'>, complain: Complain): void {
  const started = state.calls.get(op);
  if (started === undefined) complain('V3', `${type} in ${op}, where no call is in flight`);
  else if (started !== key) complain('V3', `${type} in ${op} has another call key than the call that started there`);
  state.calls.delete(op);
  state.inside.delete(op);
}

function nameResult(state: Legality, { result, notes, outputs = [], files = [], seq }: ResultEvent): void {
  namePayload(state, result, seq);
  if (notes !== undefined) namePayload(state, notes, seq);
  for (const output of outputs) if ('blob' in output) nameBlob(state, output.blob, seq);
  for (const { blob } of files) if (blob !== undefined) nameBlob(state, blob, seq);
}

function namePayload(state: Legality, payload: Payload, seq: Seq): void {
  if ('blob' in payload) nameBlob(state, payload.blob, seq);
}

function nameBlob(state: Legality, blob: BlobId, seq: Seq): void {
  if (!state.blobs.has(blob)) state.blobs.set(blob, seq);
}
