/** A walk of a pipeline: the main path, or a branch on a copy of the context around it. Found by the paths of operations. */
import type { EventOf, Json } from '../journal/event.js';
import type { BranchRef, StageOutcome, StageStatus } from '../journal/graph-event.js';
import type { OpPath } from '../journal/ids.js';

const MAIN = 'main' as OpPath;

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

/** A visit that has begun and not ended. */
interface Running {
  readonly op: OpPath;
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
  /** Where the walk begins or goes on, whatever the edges say. */
  enterAt: string | undefined;
  readonly history: HistoryEntry[];
  /** Finished visits by node. */
  readonly visits: Map<string, number>;
  /** Of the parallel node that runs, by index. */
  readonly branches: Map<number, Walk>;
}

export const mainWalk = (): Walk => walkAt(MAIN, {});

/** The walk that a node (or one of its attempts) belongs to. */
export function walkFor(main: Walk, op: OpPath, branch?: BranchRef): Walk {
  return walkAtPath(main, op === MAIN ? op : (op.slice(0, op.lastIndexOf('/')) as OpPath), branch);
}

/** `main`, `main/fan#0[1]`, `main/fan#0[1]/inner#0[0]`: a branch begins with its first event, when the context around it stands still. */
export function walkAtPath(main: Walk, path: OpPath, branch?: BranchRef): Walk {
  if (path === MAIN) return main;
  const bracket = path.lastIndexOf('[');
  const outer = walkAtPath(main, path.slice(0, path.lastIndexOf('/', bracket)) as OpPath);
  const index = Number(path.slice(bracket + 1, -1));
  const known = outer.branches.get(index);
  if (known !== undefined) return known;
  const walk = walkAt(path, structuredClone(outer.context), branch);
  outer.branches.set(index, walk);
  return walk;
}

function walkAt(path: OpPath, context: Context, branch?: BranchRef): Walk {
  return {
    path,
    branch,
    context,
    current: undefined,
    outcome: undefined,
    next: undefined,
    running: undefined,
    enterAt: undefined,
    history: [],
    visits: new Map(),
    branches: new Map(),
  };
}
