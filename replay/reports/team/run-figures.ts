/**
 * Counts what one run did, in all and by function; a list over all runs of a project adds that up. The counts of runs that are over are
 * kept beside the runs of their workflow, because every event was read for them.
 *
 * FIGURES-1  The file is derived: it may be gone, stale or torn at any time, which costs reading the runs again.
 * FIGURES-2  It counts only for a run of the same length, that of its salvage runs included: what they have changes its counts.
 * FIGURES-3  It holds names of functions and numbers, and nothing that a redaction would have to remove.
 */
import type { EventOf } from '../../../journal/event.js';
import type { RunStatus } from '../../../journal/facts/run-event.js';
import type { OpPath, RunId, RunRef, Workflow } from '../../../journal/ids.js';
import type { JournalStore, RunLiveness, ScanReport } from '../../../journal/store.js';
import type { CallCounts } from '../../fold/calls/call-counts.js';
import { emptyLedger, endRun, followCall, type CallLedger } from '../../fold/calls/call-ledger.js';
import { countedStatus, reportedStatus, type CountedStatus } from '../../fold/reported-status.js';

/** Costs are in US dollars, null where nothing was priced. */
export type AddedCounts = Pick<CallCounts, 'executed' | 'reused' | 'failed' | 'unresolved' | 'costUsd' | 'unpriced' | 'savedUsd'> & {
  /** Those of `reused` that workers executed for the run: the run of the worker has them as executed, with their price. */
  readonly atWorkers: number;
};

export interface RunFigures extends AddedCounts {
  readonly status: CountedStatus;
  /** The time of the last event; null where there is none. */
  readonly lastTs: string | null;
  readonly functions: { readonly [fn: string]: AddedCounts };
  /** Attempts in flight. */
  readonly inFlight: number;
  /** Those that a running pipeline waits for. */
  readonly questions: readonly WaitingQuestion[];
}

export interface WaitingQuestion {
  readonly id: string;
  readonly node: string;
  readonly text: string;
  readonly options: readonly { readonly key: string; readonly label: string }[];
  /** ISO 8601, UTC. */
  readonly askedAt: string;
}

const FIGURES_FILE = 'team-figures';
/** 3: a call that a guard had executed again counts once, and a result that waited for its guards counts in the salvage run. */
const VERSION = 3;

export type KeptFigures = Map<RunId, { readonly bytes: number; readonly figures: RunFigures }>;

/** Reads a run as far as it is written; the next call reads on from there. */
export interface RunFollower {
  /** `salvaged`: the operations whose attempts count in salvage runs of this one. */
  figures(liveness: RunLiveness, salvaged?: ReadonlySet<OpPath>): Promise<RunFigures>;
}

export function followFigures(store: Pick<JournalStore, 'scan'>, ref: RunRef): RunFollower {
  const ledger = emptyLedger();
  const atWorkers = new Map<string, number>();
  let status: RunStatus | undefined;
  let lastTs: string | undefined;
  let end: ScanReport['end'] | undefined;
  const questions = new Map<string, EventOf<'question.asked'>>();
  return {
    async figures(liveness, salvaged) {
      const report = await store.scan(
        ref,
        (event) => {
          lastTs = event.ts;
          if (event.type === 'run.finished') status = event.status;
          if (event.type === 'question.asked') questions.set(event.id, event);
          if (event.type === 'question.answered') questions.delete(event.id);
          if (event.type === 'call.reused' && event.worker !== undefined) atWorkers.set(event.fn, (atWorkers.get(event.fn) ?? 0) + 1);
          followCall(ledger, event);
        },
        { from: end },
      );
      end = report.end;
      const reported = reportedStatus(status, liveness);
      const isRunning = reported === 'running';
      if (!isRunning) endRun(ledger, salvaged);
      return {
        status: countedStatus(reported, { unresolved: ledger.total.unresolved, unresolvedBefore: ledger.unresolvedBefore }),
        lastTs: lastTs ?? null,
        ...countsIn(ledger, atWorkers),
        inFlight: isRunning ? ledger.attempts.size : 0,
        questions: isRunning ? Array.from(questions.values(), waitingQuestion) : [],
      };
    },
  };
}

function waitingQuestion({ id, node, text, options, ts }: EventOf<'question.asked'>): WaitingQuestion {
  return { id, node, text, options: options.map(({ key, label }) => ({ key, label })), askedAt: ts };
}

function countsIn({ total, functions }: CallLedger, atWorkers: ReadonlyMap<string, number>): AddedCounts & Pick<RunFigures, 'functions'> {
  let sum = 0;
  for (const count of atWorkers.values()) sum += count;
  const ofFunctions = [...functions].map(([fn, counts]) => [fn, addedCounts(counts, atWorkers.get(fn))] as const);
  return { ...addedCounts(total, sum), functions: Object.fromEntries(ofFunctions) };
}

export function addedCounts(counts: Omit<AddedCounts, 'atWorkers'>, atWorkers = 0): AddedCounts {
  const { executed, reused, failed, unresolved, costUsd, unpriced, savedUsd } = counts;
  return { executed, reused, failed, unresolved, costUsd, unpriced, savedUsd, atWorkers };
}

export async function readKeptFigures(store: Pick<JournalStore, 'readDerived'>, workflow: Workflow): Promise<KeptFigures> {
  const content = await store.readDerived(workflow, FIGURES_FILE);
  if (!content) return new Map();
  try {
    const { version, runs } = JSON.parse(Buffer.from(content).toString('utf8')) as { readonly version?: unknown; readonly runs?: object };
    return version === VERSION && runs ? new Map(Object.entries(runs) as [RunId, { bytes: number; figures: RunFigures }][]) : new Map();
  } catch {
    return new Map(); // FIGURES-1
  }
}

/** Whoever may only read the store keeps nothing in it. */
export async function keepFigures(store: Pick<JournalStore, 'writeDerived'>, workflow: Workflow, figures: KeptFigures): Promise<void> {
  const content = JSON.stringify({ version: VERSION, runs: Object.fromEntries(figures) });
  await store.writeDerived(workflow, FIGURES_FILE, content).catch(() => undefined); // FIGURES-1
}
