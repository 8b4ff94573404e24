/**
 * Folds the results of calls that functions had made as backends of agents which had not ended when the process died. workflows-js.md 7.
 *
 * INNER-1  An execution that was cut short goes on with the results that it had. One that ended, or failed by itself, is made anew with all
 *          its calls, as is the next attempt.
 * INNER-2  A run that completed leaves nothing behind: what it had not asked is asked by nobody, or anew.
 */
import type { EventOf } from '../../journal/event.js';
import type { CallKey, Fingerprint, OpPath } from '../../journal/ids.js';
import type { JournalStore, RunFile } from '../../journal/store.js';
import { foldRun } from '../fold/fold-run.js';
import { ancestorsOf } from '../fold/op-path.js';
import type { Projection } from '../fold/projection.js';
import { loadRevocations } from '../memo/revocations.js';
import { storedResult, type StoredResult } from '../memo/stored-result.js';

export interface InnerResult {
  readonly key: CallKey;
  readonly fingerprint: Fingerprint | undefined;
  readonly result: StoredResult;
}

interface RunResults {
  /** By the agent around, by the call. */
  readonly open: Map<OpPath, Map<OpPath, InnerResult>>;
  /** Calls that ended or failed: earlier results inside count no more. */
  readonly ended: Set<OpPath>;
  readonly fingerprints: Map<OpPath, Fingerprint>;
  isComplete: boolean;
}

/** The agent around a call: `main/agent~1f2e3d4c#0` of `main/agent~1f2e3d4c#0/ask#0/first#0`. */
const AROUND = /^(.*\/agent~[^/]+#\d+)\/./;
const AGENT = /\/agent~[^/]+#\d+$/;
/** Failures that say nothing of the call: the run stopped. */
const STOPS: ReadonlySet<string | undefined> = new Set(['quota', 'auth', 'budget']);

const innerResults: Projection<RunResults> = {
  initial: () => ({ open: new Map(), ended: new Set(), fingerprints: new Map(), isComplete: false }),
  apply(state, event, place) {
    switch (event.type) {
      case 'call.started':
        if (AROUND.test(event.op)) state.fingerprints.set(event.op, event.fingerprint);
        return state;
      case 'call.completed': {
        const { op, key } = event;
        if (AGENT.test(op)) return end(state, op);
        const agent = AROUND.exec(op)?.[1] as OpPath | undefined;
        if (agent === undefined || event.unusable !== undefined) return state;
        const results = state.open.get(agent) ?? new Map<OpPath, InnerResult>();
        state.open.set(
          agent,
          results.set(op, { key, fingerprint: state.fingerprints.get(op), result: storedResult(event, place, undefined) }),
        );
        return state;
      }
      case 'call.failed':
        return isStop(event) ? state : end(state, event.op);
      case 'run.finished':
        state.isComplete = event.status === 'completed' && event.marked === undefined && event.worker === undefined;
        return state;
      default:
        return state;
    }
  },
};

/** INNER-1 */
function end(state: RunResults, op: OpPath): RunResults {
  const agent = AROUND.exec(op)?.[1] as OpPath | undefined;
  if (agent === undefined) state.open.delete(op);
  else for (const inner of state.open.get(agent)?.keys() ?? []) if (inner.startsWith(`${op}/`)) state.open.get(agent)?.delete(inner);
  state.ended.add(op);
  return state;
}

function isStop({ class: failureClass, code, retryInMs }: EventOf<'call.failed'>): boolean {
  return retryInMs === undefined && (code === 'INTERRUPTED' || STOPS.has(failureClass));
}

/** Reads the runs since the last one that completed, latest first. Damage was reported when they were loaded. */
export async function loadInnerResults(store: JournalStore, runs: readonly RunFile[]): Promise<Map<OpPath, InnerResult>> {
  const found = new Map<OpPath, InnerResult>();
  const ended = new Set<OpPath>();
  for (const { ref } of runs.filter(({ liveness }) => liveness !== 'running').toReversed()) {
    const run = await foldRun(store, ref, innerResults, { onDefect: () => undefined });
    if (run.isComplete) break; // INNER-2
    for (const results of run.open.values()) {
      for (const [op, result] of results) {
        if (!found.has(op) && ![...ancestorsOf(op)].some((around) => ended.has(around))) found.set(op, result);
      }
    }
    for (const op of run.ended) ended.add(op);
  }
  const [one] = runs;
  if (one === undefined || found.size === 0) return found;
  const isRevoked = await loadRevocations(store, one.ref.workflow);
  for (const [op, { key, result }] of found) if (isRevoked(key, result)) found.delete(op);
  return found;
}
