/**
 * Folds the results of calls that functions had made as backends of agents which had not ended when the process died, or which failed
 * because a call inside them did. workflows-js.md 7.
 *
 * INNER-1  An execution that was cut short, or that failed because a call inside it did, goes on with the results that it had. One that
 *          ended, or failed by itself, is made anew with all its calls, as is the next attempt.
 * INNER-2  A run that completed leaves behind only what agents had that failed: what it had not asked is asked by nobody, or anew.
 * INNER-3  A trial, whose agents are simulated, ends no execution of an agent that asks a model.
 */
import type { EventOf } from '../../journal/event.js';
import { SIMULATED } from '../../journal/facts/simulated-backend.js';
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
  /** Calls that ended, or failed by themselves: earlier results inside count no more. */
  readonly ended: Set<OpPath>;
  /** Failed calls inside agents that have no result. */
  readonly failures: Set<OpPath>;
  /** Agents that failed because calls inside them did. */
  readonly failedInside: Set<OpPath>;
  readonly fingerprints: Map<OpPath, Fingerprint>;
  isTrial: boolean;
  isComplete: boolean;
}

/** The agent around a call: `main/agent~1f2e3d4c#0` of `main/agent~1f2e3d4c#0/ask#0/first#0`. */
const AROUND = /^(.*\/agent~[^/]+#\d+)\/./;
const AGENT = /\/agent~[^/]+#\d+$/;
/** Failures that say nothing of the call: the run stopped. */
const STOPS: ReadonlySet<string | undefined> = new Set(['quota', 'auth', 'budget']);

const innerResults: Projection<RunResults> = {
  initial: () => ({
    open: new Map(),
    ended: new Set(),
    failures: new Set(),
    failedInside: new Set(),
    fingerprints: new Map(),
    isTrial: false,
    isComplete: false,
  }),
  apply(state, event, place) {
    switch (event.type) {
      case 'run.started':
        state.isTrial = event.backend === SIMULATED;
        return state;
      case 'call.started':
        if (AROUND.test(event.op)) state.fingerprints.set(event.op, event.fingerprint);
        return state;
      case 'call.completed': {
        const { op, key } = event;
        if (AGENT.test(op)) return end(state, op);
        state.failures.delete(op);
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
        return isStop(event) ? state : fail(state, event);
      case 'run.finished':
        state.isComplete = event.status === 'completed' && event.marked === undefined && event.worker === undefined;
        return state;
      default:
        return state;
    }
  },
};

/** INNER-1 */
function fail(state: RunResults, { op, retryInMs, accepted }: EventOf<'call.failed'>): RunResults {
  const isAgent = AGENT.test(op);
  if (!isAgent && !AROUND.test(op)) return state;
  const inside = forgetFailures(state, op);
  if (retryInMs !== undefined || inside === 0) end(state, op);
  else if (isAgent) state.failedInside.add(op);
  if (!isAgent && retryInMs === undefined && accepted !== true) state.failures.add(op);
  return state;
}

/** Returns the number of failed calls inside. Those that are in flight at the same time have a few. */
function forgetFailures({ failures }: RunResults, op: OpPath): number {
  const inside = [...failures].filter((failed) => failed.startsWith(`${op}/`));
  for (const failed of inside) failures.delete(failed);
  return inside.length;
}

function end(state: RunResults, op: OpPath): RunResults {
  const agent = AROUND.exec(op)?.[1] as OpPath | undefined;
  forgetFailures(state, op);
  if (agent === undefined) state.open.delete(op);
  else for (const inner of state.open.get(agent)?.keys() ?? []) if (inner.startsWith(`${op}/`)) state.open.get(agent)?.delete(inner);
  state.ended.add(op);
  return state;
}

function isStop({ class: failureClass, code, retryInMs }: EventOf<'call.failed'>): boolean {
  return retryInMs === undefined && (code === 'INTERRUPTED' || STOPS.has(failureClass));
}

/**
 * Reads the runs since the last one that completed, latest first, and those before it where agents had failed in it. Damage was reported
 * when they were loaded.
 */
export async function loadInnerResults(store: JournalStore, runs: readonly RunFile[]): Promise<Map<OpPath, InnerResult>> {
  const found = new Map<OpPath, InnerResult>();
  const ended = new Set<OpPath>();
  /** The agents that have results left; undefined before the first run that completed. */
  let failed: ReadonlySet<OpPath> | undefined = undefined;
  for (const { ref } of runs.filter(({ liveness }) => liveness !== 'running').toReversed()) {
    const run = await foldRun(store, ref, innerResults, { onDefect: () => undefined });
    if (run.isTrial) continue; // INNER-3
    // INNER-2
    if (run.isComplete) failed = new Set([...run.failedInside].filter((agent) => failed?.has(agent) !== false));
    if (failed?.size === 0) break;
    for (const [agent, results] of run.open) {
      if (failed?.has(agent) === false) continue;
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
