/** Folds where a run of a workflow script or program made calls: by path, digits of call keys, and phase. workflows-js.md 6, 7 and 15. */
import { SIMULATED } from '../../journal/facts/simulated-backend.js';
import { textOfRef, type CallKey, type EventRef, type OpPath } from '../../journal/ids.js';
import { parentOf } from '../fold/op-path.js';
import type { Projection } from '../fold/projection.js';

/** Stands in the path of a call for the digits of its call key where its request has a secret: digits could be guessed from words. */
export const SECRET_DIGITS = 'secret';
/** The segment of a call: `agent~1f2e3d4c#0`. The digits are those of its call key without `attempt`. */
const CALL = new RegExp(`/(agent|llm|step|sleep)~([0-9a-f]{8}|${SECRET_DIGITS})#\\d+$`);

export interface AgentCalls {
  /** Every path at which a call was made, with the key of the sample that it got there, if any. */
  readonly byPath: Map<OpPath, CallKey | undefined>;
  /** By the digits of the first call key: its samples, each with the branches that used it. */
  readonly byDigits: Map<string, Map<CallKey, Set<OpPath | undefined>>>;
  /**
   * Says of each result, by its run and event, which kind of call it belongs to: `agent`, `llm`, `step` or `sleep`. Calls of several
   * kinds may have the same key, since their names and arguments make it, and none may reuse what another kind recorded.
   */
  readonly kinds: Map<string, string>;
  readonly about: Map<CallKey, { readonly label: string | undefined; readonly phase: string | undefined }>;
  /** In the order in which they were first reached. */
  readonly phases: Set<string>;
  /** The run was a trial, whose simulated agents are at no path of the work: the paths are those of the runs that asked models. */
  isTrial: boolean;
  /** Labels and phases of operations that have not ended. */
  readonly started: Map<OpPath, { readonly label: string | undefined; readonly phase: string | undefined }>;
}

export const agentCalls: Projection<AgentCalls> = {
  initial: () => ({
    byPath: new Map(),
    byDigits: new Map(),
    kinds: new Map(),
    about: new Map(),
    phases: new Set(),
    isTrial: false,
    started: new Map(),
  }),
  apply(state, event, { ref }) {
    switch (event.type) {
      case 'run.started':
        state.isTrial = event.backend === SIMULATED;
        return state;
      case 'checkpoint.reached':
        state.phases.add(event.name);
        return state;
      case 'op.started':
        if (keyDigitsOf(event.op) === undefined) return state;
        state.started.set(event.op, { label: event.name, phase: event.group });
        if (event.group !== undefined) state.phases.add(event.group);
        if (!state.isTrial && !state.byPath.has(event.op)) state.byPath.set(event.op, undefined);
        return state;
      case 'call.completed':
        if (event.unusable !== undefined) return state;
        return noteCall(state, event, { run: ref.run, seq: event.seq });
      case 'call.reused':
        return noteCall(state, event, event.from);
      case 'result.received':
        noteAbout(state, event); // no sample: it is no result yet
        return state;
      case 'op.finished':
        state.started.delete(event.op);
        return state;
      default:
        return state;
    }
  },
};

function noteCall(state: AgentCalls, { op, key }: { readonly op: OpPath; readonly key: CallKey }, result: EventRef): AgentCalls {
  const [, kind, digits] = CALL.exec(op) ?? [];
  if (kind === undefined || digits === undefined) return state;
  if (!state.isTrial) state.byPath.set(op, key);
  state.kinds.set(textOfRef(result), kind);
  const samples = state.byDigits.get(digits) ?? new Map<CallKey, Set<OpPath | undefined>>();
  state.byDigits.set(digits, samples);
  const branches = samples.get(key) ?? new Set();
  samples.set(key, state.isTrial ? branches : branches.add(parentOf(op)));
  noteAbout(state, { op, key });
  return state;
}

function noteAbout(state: AgentCalls, { op, key }: { readonly op: OpPath; readonly key: CallKey }): void {
  const about = state.started.get(op);
  if (about) state.about.set(key, about);
}

/** The digits in the path of a call, or `SECRET_DIGITS`; undefined for other paths. */
export function keyDigitsOf(op: OpPath): string | undefined {
  return CALL.exec(op)?.[2];
}

/** The kind of the call at a path; undefined for other paths. */
export function kindOf(op: OpPath): string | undefined {
  return CALL.exec(op)?.[1];
}

/** Adds what an earlier run knows and a later one does not. `later` belongs to the caller. */
export function withEarlier(later: AgentCalls, earlier: AgentCalls): AgentCalls {
  for (const [op, key] of earlier.byPath) if (later.byPath.get(op) === undefined) later.byPath.set(op, key);
  for (const [digits, samples] of earlier.byDigits) {
    const known = later.byDigits.get(digits) ?? new Map<CallKey, Set<OpPath | undefined>>();
    later.byDigits.set(digits, known);
    for (const [key, branches] of samples) if (!known.has(key)) known.set(key, branches);
  }
  for (const [result, kind] of earlier.kinds) later.kinds.set(result, kind); // the earlier run is nearer to the one that executed it
  for (const [key, about] of earlier.about) if (!later.about.has(key)) later.about.set(key, about);
  for (const phase of earlier.phases) later.phases.add(phase);
  return later;
}
