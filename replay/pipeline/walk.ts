/** A walk of a pipeline: the main path, or a branch on a copy of the context around it. Found by the paths of operations. */
import type { EventOf, Json } from '../../journal/event.js';
import type { BranchRef, StageOutcome, StageStatus } from '../../journal/facts/pipeline-event.js';
import type { OpPath, RunId } from '../../journal/ids.js';

export const MAIN = 'main' as OpPath;

type Context = { [key: string]: Json };
type SelectedEdge = Omit<EventOf<'edge.selected'>, 'type' | 'op' | 'branch' | 'v' | 'seq' | 'ts' | 'hash'>;

/** Named as in `checkpoint.json`. */
export interface HistoryEntry {
  readonly node_id: string;
  readonly outcome: StageStatus;
  readonly visit: number;
  readonly attempts: number;
  readonly failure_reason?: string;
  readonly branches?: readonly { readonly id: string; readonly outcome: StageStatus; readonly node_history: readonly HistoryEntry[] }[];
}

/** Events of the walk that a summary for the next model stage always names. */
export type Notable =
  | { readonly kind: 'failed'; readonly node: string; readonly visit: number }
  | { readonly kind: 'retried'; readonly node: string; readonly attempts: number }
  | { readonly kind: 'jumped'; readonly from: string; readonly to: string }
  | { readonly kind: 'answered'; readonly node: string; readonly choice: string };

/** A visit and the runs that worked on it: more than one where it was interrupted and resumed. */
export interface VisitInRuns {
  readonly op: OpPath;
  readonly runs: RunId[];
  /** The failed visits that it repeats, newest first: a bare resume entered the node again, or the parallel node around it. */
  readonly repeats: readonly VisitInRuns[];
  /** Set for a parallel node that failed: the visits with which its branches failed or were called off, by the id of the branch. */
  readonly brokenOff?: ReadonlyMap<string, VisitInRuns & { readonly node: string }>;
}

/** A visit that has begun and not ended. */
interface Running extends VisitInRuns {
  readonly node: string;
  readonly visit: number;
  retries: number;
}

/** The main path, or a branch. */
export interface Walk {
  readonly path: OpPath;
  readonly branch: BranchRef | undefined;
  readonly context: Context;
  /** The node that finished last, and its outcome. */
  current: string | undefined;
  outcome: StageOutcome | undefined;
  /** The transition behind it, once it is recorded. */
  next: SelectedEdge | undefined;
  running: Running | undefined;
  /** The node at which the walk begins or continues, whatever the edges say. */
  enterAt: string | undefined;
  /** It is entered there because the run failed, and not because somebody named the node. */
  isReentered: boolean;
  readonly history: HistoryEntry[];
  /** Finished visits by node. */
  readonly visits: Map<string, number>;
  /** The latest visit of every node, in the order in which they ended; kept so that no caller goes through the whole history. */
  readonly latest: Map<string, HistoryEntry>;
  /** The latest visit of every node whose latest visit failed. */
  readonly failed: Map<string, VisitInRuns>;
  failures: number;
  retried: number;
  /** The last of them, newest last. */
  readonly notable: Notable[];
  /** Branches of the parallel node that is in flight, by index. */
  readonly branches: Map<number, Walk>;
}

const NOTABLE_MAX = 50;

export const mainWalk = (): Walk => emptyWalk(MAIN, {});

/** A visit has ended. */
export function addToHistory(walk: Walk, entry: HistoryEntry): void {
  const { node_id: node, visit, attempts, outcome } = entry;
  walk.history.push(entry);
  walk.visits.set(node, visit + 1);
  walk.latest.delete(node);
  walk.latest.set(node, entry);
  walk.retried += attempts - 1;
  if (outcome === 'fail') {
    walk.failures += 1;
    note(walk, { kind: 'failed', node, visit });
  } else if (attempts > 1) note(walk, { kind: 'retried', node, attempts });
}

export function note({ notable }: Walk, fact: Notable): void {
  notable.push(fact);
  if (notable.length > NOTABLE_MAX) notable.shift();
}

/** Returns the failed visit of the node that has just ended, with those of its branches. */
export function failedVisit({ running, branches }: Walk, op: OpPath): VisitInRuns {
  const brokenOff = new Map<string, VisitInRuns & { readonly node: string }>();
  for (const { branch, running: cut, current: node, failed } of branches.values()) {
    const ended = node === undefined ? undefined : failed.get(node);
    const last = cut ?? (node !== undefined && ended ? { ...ended, node } : undefined);
    if (branch && last) brokenOff.set(branch.id, last);
  }
  return { op, runs: running?.runs ?? [], repeats: running?.repeats ?? [], ...(brokenOff.size > 0 && { brokenOff }) };
}

/**
 * Returns the visits that a visit which begins repeats. In a branch only its first visit repeats any, because later ones may depend on
 * what ran again before them.
 */
export function repeatedVisits(main: Walk, walk: Walk, node: string): readonly VisitInRuns[] {
  if (walk.path === MAIN) {
    const failed = walk.enterAt === node && walk.isReentered ? walk.failed.get(node) : undefined;
    return failed === undefined ? [] : [failed, ...failed.repeats];
  }
  if (walk.history.length > 0) return [];
  const parallel = walk.path.slice(0, walk.path.lastIndexOf('[')) as OpPath;
  return (walkFor(main, parallel).running?.repeats ?? []).flatMap(({ brokenOff }) => {
    const last = brokenOff?.get(walk.branch?.id ?? '');
    return last?.node === node ? [last] : [];
  });
}

/** The walk that a node (or one of its attempts) belongs to. */
export function walkFor(main: Walk, op: OpPath, branch?: BranchRef): Walk {
  return walkAtPath(main, op === MAIN ? op : (op.slice(0, op.lastIndexOf('/')) as OpPath), branch);
}

/** `main`, `main/fan#0[1]`, `main/fan#0[1]/inner#0[0]`: a branch begins with its first event, with the context around it at that time. */
export function walkAtPath(main: Walk, path: OpPath, branch?: BranchRef): Walk {
  if (path === MAIN) return main;
  const bracket = path.lastIndexOf('[');
  const outer = walkAtPath(main, path.slice(0, path.lastIndexOf('/', bracket)) as OpPath);
  const index = Number(path.slice(bracket + 1, -1));
  const known = outer.branches.get(index);
  if (known !== undefined) return known;
  const walk = emptyWalk(path, structuredClone(outer.context), branch);
  outer.branches.set(index, walk);
  return walk;
}

/** Returns a walk on which nothing has happened yet. */
export function emptyWalk(path: OpPath, context: Context, branch?: BranchRef): Walk {
  return {
    path,
    branch,
    context,
    current: undefined,
    outcome: undefined,
    next: undefined,
    running: undefined,
    enterAt: undefined,
    isReentered: false,
    history: [],
    visits: new Map(),
    latest: new Map(),
    failed: new Map(),
    failures: 0,
    retried: 0,
    notable: [],
    branches: new Map(),
  };
}
