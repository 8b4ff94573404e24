/**
 * Folds how one run called one function: where, and which calls it made itself or contained. Function targets of `--resume` are resolved
 * in this. Memory in proportion to the calls of that function.
 */
import type { CallKey, OpPath } from '../../journal/ids.js';
import { ancestorsOf, iterationOf, nameIn } from '../fold/op-path.js';
import { previewOf } from '../fold/preview.js';
import type { Projection } from '../fold/projection.js';

/** A call and the operation that made it. */
export interface CallRef {
  readonly op: OpPath;
  readonly key: CallKey;
  /** First argument as text; undefined when the event does not have it. */
  readonly preview: string | undefined;
}

export interface FunctionCall {
  readonly op: OpPath;
  readonly site: string;
  /** Declared `llm`: the call is its own, and calls inside it belong to other functions. */
  readonly isLlm: boolean;
  /** The call that this invocation made itself, when the function is declared `llm`. */
  by: CallRef | undefined;
  /** Calls made inside this invocation, when the function is an ordinary one. */
  readonly inside: CallRef[];
}

export interface Site {
  readonly site: string;
  readonly declared: string | undefined;
}

export interface LoopItem {
  readonly loop: OpPath;
  readonly index: number;
  readonly text: string;
}

export interface FunctionHistory {
  readonly fn: string;
  /** In the order of their first execution: the index is what `@fn:N` counts. */
  readonly sites: Site[];
  /** Invocations that made calls, in the order in which they made the first. */
  readonly calls: FunctionCall[];
  /** Items of the loops inside calls of the function. */
  readonly items: LoopItem[];
  /** Calls that have not ended. */
  readonly inFlight: Map<OpPath, FunctionCall>;
}

/** Folds the events of one run. */
export function functionHistory(fn: string): Projection<FunctionHistory> {
  return {
    initial: () => ({ fn, sites: [], calls: [], items: [], inFlight: new Map() }),
    apply(state, event) {
      switch (event.type) {
        case 'op.started':
          // An llm call has its site in `call.started`; the operation around it doesn't repeat it.
          if (event.kind === 'exe' && nameIn(event.op) === fn && !event.labels?.includes('llm')) openCall(state, event, false);
          else if (event.kind === 'for:iteration') addItem(state, event.op, event.item);
          return state;
        case 'op.finished':
          state.inFlight.delete(event.op);
          return state;
        case 'call.started':
          addCall(state, event, event.preview ?? previewOf(event.args));
          return state;
        case 'call.withdrawn':
          removeCall(state, event);
          return state;
        case 'call.reused':
          addCall(state, event, event.preview);
          return state;
        default:
          return state;
      }
    },
  };
}

interface Called {
  readonly op: OpPath;
  readonly site?: string;
  readonly declared?: string;
}

function openCall(state: FunctionHistory, { op, site = '', declared }: Called, isLlm: boolean): FunctionCall {
  if (!state.sites.some((known) => known.site === site && known.declared === declared)) state.sites.push({ site, declared });
  const call: FunctionCall = { op, site, isLlm, by: undefined, inside: [] };
  state.inFlight.set(op, call);
  return call;
}

function addItem(state: FunctionHistory, op: OpPath, text: string | undefined): void {
  if (state.inFlight.size === 0 || text === undefined) return;
  const iteration = iterationOf(op);
  if (iteration === undefined || !isInsideOpenCall(state, op)) return;
  state.items.push({ ...iteration, text });
}

function isInsideOpenCall(state: FunctionHistory, op: OpPath): boolean {
  for (const path of ancestorsOf(op)) if (state.inFlight.has(path)) return true;
  return false;
}

function addCall(
  state: FunctionHistory,
  event: Called & { readonly fn: string; readonly key: CallKey },
  preview: string | undefined,
): void {
  const ref: CallRef = { op: event.op, key: event.key, preview };
  if (event.fn === state.fn) {
    const call = state.inFlight.get(event.op) ?? openCall(state, event, true);
    // A guard may retry an operation: two calls of one invocation.
    state.calls.push(call.by === undefined ? call : { ...call, by: ref });
    call.by ??= ref;
  }
  for (const path of ancestorsOf(event.op)) {
    const call = state.inFlight.get(path);
    if (call === undefined || call.isLlm) continue;
    if (call.inside.length === 0) state.calls.push(call);
    call.inside.push(ref);
  }
}

/** Another run had the call: a start of it, or its reuse, may follow. */
function removeCall(state: FunctionHistory, { op }: { readonly op: OpPath }): void {
  const own = state.inFlight.get(op);
  if (own?.by !== undefined) {
    state.calls.splice(
      state.calls.findLastIndex(({ by }) => by?.op === op),
      1,
    );
    own.by = undefined;
  }
  for (const path of ancestorsOf(op)) {
    const call = state.inFlight.get(path);
    const index = call?.inside.findLastIndex((ref) => ref.op === op) ?? -1;
    if (call === undefined || index < 0) continue;
    call.inside.splice(index, 1);
    if (call.inside.length === 0) state.calls.splice(state.calls.lastIndexOf(call), 1);
  }
}
