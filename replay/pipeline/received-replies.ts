/** Keeps what attempts had from outside before they ended, so that a resume does not ask for it again. graph-pipelines.md 10.3. */
import type { EventOf } from '../../journal/event.js';
import type { CallKey, OpPath } from '../../journal/ids.js';
import { storedResult, type StoredResult } from '../memo/stored-result.js';
import { walkFor, type Walk } from './walk.js';

type Place = Parameters<typeof storedResult>[1];

/** Outcomes that an attempt had from outside before it ended. */
export interface Received {
  readonly reply?: CallKey;
  /** Says which reply it is: two branches can make the same call inside their stages, and have a result each. */
  readonly result?: StoredResult;
  readonly answer?: { readonly id: string; readonly answer: string; readonly by: EventOf<'question.answered'>['by'] };
}

/** The part of the state of a pipeline that is changed here. */
interface Receiving {
  readonly main: Walk;
  readonly received: Map<OpPath, Received>;
  readonly threads: Set<string>;
  /** By the path of the visit. */
  readonly threadsInFlight: ReadonlyMap<OpPath, string>;
}

export function receive(state: Pick<Receiving, 'received'>, op: OpPath, received: Received): void {
  state.received.set(op, { ...state.received.get(op), ...received });
}

export function receiveReply<S extends Receiving>(state: S, event: EventOf<'call.completed'>, place: Place): S {
  if (event.unusable !== undefined || !isOfModelCall(event.op)) return state;
  receive(state, event.op, { reply: event.key, result: storedResult(event, place, undefined) });
  return speak(state, event.op);
}

/** Adds the reply of a call that was in flight when its run was sealed, and that a salvage run holds, where its attempt has not ended. */
export function receiveSalvaged(state: Receiving, event: EventOf<'call.completed'>, place: Place): void {
  const [, op = '', ordinal] = /^(.*)\/try#(\d+)\/model#0(?:\/|$)/.exec(event.op) ?? [];
  if (op === '' || state.received.get(event.op)?.reply !== undefined) return;
  const { running } = walkFor(state.main, op as OpPath);
  if (running?.op === op && Number(ordinal) === running.retries + 1) receiveReply(state, event, place);
}

/** Recognises the call that an attempt makes to a model, and calls inside it: `main/plan#0/try#2/model#0`, `…/model#0/ask#0`. */
function isOfModelCall(op: OpPath): boolean {
  return /\/try#\d+\/model#0(?:\/|$)/.test(op);
}

export function forgetInside({ received }: Pick<Receiving, 'received'>, op: OpPath): void {
  if (received.size === 0) return;
  for (const inner of received.keys()) if (inner.startsWith(`${op}/`)) received.delete(inner);
}

/** The reply to a stage is a turn of its thread. */
export function speak<S extends Receiving>(state: S, call: OpPath): S {
  const thread = state.threadsInFlight.get(call.replace(/\/try#\d+\/model#0$/, '') as OpPath);
  if (thread !== undefined) state.threads.add(thread);
  return state;
}
