/**
 * Folds what the store of a team did to the calls of a run: those that workers executed for it, and results that came too late.
 * team-store.md 4.2 and 7.
 */
import { sumUsd } from '../../../journal/facts/add-usd.js';
import type { JournalEvent } from '../../../journal/event.js';
import type { OpPath, Seq } from '../../../journal/ids.js';

export interface WorkerShare {
  readonly name: string;
  /** The machine; null where a journal of before does not say it. */
  readonly host: string | null;
  executed: number;
  failed: number;
  /** US dollars, of the calls with a result; null where nothing is known. The worker's run has the attempts. */
  costUsd: number | null;
  /** The same of the calls that failed. */
  failedUsd: number | null;
}

export interface TeamReport {
  /** The workers that executed calls of the run, in the order of their first result. */
  readonly workers: readonly Readonly<WorkerShare>[];
  /** Results that were paid for and are not used, because another run's result of the same call was recorded first. */
  readonly superseded: { readonly calls: number; readonly costUsd: number | null };
}

export interface TeamCalls {
  /** Calls were offered to workers. */
  hasOffered: boolean;
  readonly workers: Map<string, WorkerShare>;
  /** Operations whose attempt began at a worker. */
  readonly begun: Map<OpPath, WorkerShare>;
  readonly results: Map<Seq, number | undefined>;
  superseded: number;
  supersededUsd: number | null;
}

/** A result and the event that says it came too late are committed together, with no more lines than this between them. */
const SUPERSEDED_WITHIN = 5000;

export const teamCalls = {
  initial: (): TeamCalls => ({
    hasOffered: false,
    workers: new Map(),
    begun: new Map(),
    results: new Map(),
    superseded: 0,
    supersededUsd: null,
  }),
  apply(state: TeamCalls, event: JournalEvent): TeamCalls {
    switch (event.type) {
      case 'call.reused': {
        const share = shareOf(state, event);
        if (share === undefined) break;
        share.executed += 1;
        share.costUsd = sumUsd(share.costUsd, event.workerUsd);
        break;
      }
      case 'call.started': {
        const share = event.begun && shareOf(state, event);
        if (share) state.begun.set(event.op, share);
        break;
      }
      case 'call.failed': {
        const share = state.begun.get(event.op);
        if (share && event.retryInMs === undefined) {
          share.failed += 1;
          share.failedUsd = sumUsd(share.failedUsd, event.workerUsd);
        }
        state.begun.delete(event.op);
        break;
      }
      case 'call.completed':
        state.results.set(event.seq, (event.callUsage ?? event.usage)?.costUsd);
        dropOldest(state.results);
        break;
      case 'call.offered':
        state.hasOffered = true;
        break;
      case 'call.superseded':
        state.superseded += 1;
        state.supersededUsd = sumUsd(state.supersededUsd, state.results.get(event.of));
        break;
      default:
        break;
    }
    return state;
  },
};

export function reportTeam({ workers, superseded, supersededUsd }: TeamCalls): TeamReport {
  return { workers: [...workers.values()], superseded: { calls: superseded, costUsd: supersededUsd } };
}

export function dropOldest(results: Map<Seq, unknown>): void {
  const [oldest] = results.keys();
  if (results.size > SUPERSEDED_WITHIN && oldest !== undefined) results.delete(oldest);
}

function shareOf(
  { workers }: TeamCalls,
  { worker, workerHost }: { readonly worker?: string; readonly workerHost?: string },
): WorkerShare | undefined {
  if (worker === undefined) return undefined;
  const id = JSON.stringify([worker, workerHost]);
  let share = workers.get(id);
  if (share === undefined)
    workers.set(id, (share = { name: worker, host: workerHost ?? null, executed: 0, failed: 0, costUsd: null, failedUsd: null }));
  return share;
}
