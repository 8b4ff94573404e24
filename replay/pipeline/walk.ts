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
  | { readonly kind: 'retried'; readonly node: string; readonly attempts: number; readonly answered: number }
  | { readonly kind: 'jumped'; readonly from: string; readonly to: string }
  | { readonly kind: 'answered'; readonly node: string; readonly choice: string };

/** A visit and the runs that worked on it: more than one where it was interrupted and resumed. */
export interface VisitInRuns {
  readonly op: OpPath;
  readonly runs: RunId[];
  /** The visits that it repeats, newest first: they failed or were cut off, and the walk was entered again at the node. */
  readonly repeats: readonly VisitInRuns[];
}

/** A visit that failed, or was cut off when the parallel node around it ended, or in whose branches a goal gate is not met. */
export interface BrokenVisit extends VisitInRuns {
  readonly visit: number;
  /** Holds the branches of a parallel node, by index. */
  readonly branches: ReadonlyMap<number, Walk>;
  /** Holds the values that the end of a parallel node replaced in the context, undefined where there was none. */
  readonly replaced: { readonly [key: string]: Json | undefined };
  /** The context of a parallel node that did not fail, as it was before its end. Absent for one that failed. */
  readonly context?: Readonly<Context>;
}

/** A visit that has begun and not ended. */
export interface Running extends VisitInRuns {
  readonly node: string;
  readonly visit: number;
  retries: number;
  /** The number of its attempts that a model has answered, as the keys of calls count them. */
  answered: number;
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
  /** It is entered there because the walk failed or was cut off there, and not because somebody named the node. */
  isReentered: boolean;
  readonly history: HistoryEntry[];
  /** Finished visits by node. */
  readonly visits: Map<string, number>;
  /** The latest visit of every node, in the order in which they ended; kept so that no caller goes through the whole history. */
  readonly latest: Map<string, HistoryEntry>;
  /** The latest visit of every node where that is a broken one. */
  readonly failed: Map<string, BrokenVisit>;
  /** Heads of the replies of its last model stages, by node. Another branch may have a reply of the same node. */
  readonly excerpts: Map<string, string>;
  failures: number;
  retried: number;
  /** Those of `retried` whose attempts before were answered by a model: a later run makes them as well. */
  answered: number;
  /** The last of them, newest last. */
  readonly notable: Notable[];
  /** Branches of the parallel node that is in flight, by index. */
  readonly branches: Map<number, Walk>;
}

const NOTABLE_MAX = 50;
const EXCERPTS_MAX = 50;

export const mainWalk = (): Walk => emptyWalk(MAIN, {});

/** A visit has ended. `answered` is the number of its attempts that a model had answered before the last one. */
export function addToHistory(walk: Walk, entry: HistoryEntry, answered: number): void {
  const { node_id: node, visit, attempts, outcome } = entry;
  walk.history.push(entry);
  walk.visits.set(node, visit + 1);
  walk.latest.delete(node);
  walk.latest.set(node, entry);
  walk.retried += attempts - 1;
  walk.answered += answered;
  if (outcome === 'fail') {
    walk.failures += 1;
    note(walk, { kind: 'failed', node, visit });
  } else if (attempts > 1) note(walk, { kind: 'retried', node, attempts, answered });
}

/** Returns what the branches of a parallel node did, when it has ended. */
export function branchHistories(walk: Walk, { context_updates }: StageOutcome): NonNullable<HistoryEntry['branches']> {
  // Written by the parallel handler together with this outcome; a graph whose handler is custom has none.
  const results = context_updates['parallel.results'] as readonly { readonly id: string; readonly outcome: StageStatus }[] | undefined;
  return (results ?? []).map(({ id, outcome }, index) => ({ id, outcome, node_history: walk.branches.get(index)?.history ?? [] }));
}

export function addExcerpt({ excerpts }: Walk, node: string, text: string): void {
  excerpts.delete(node);
  excerpts.set(node, text);
  const [oldest] = excerpts.keys();
  if (excerpts.size > EXCERPTS_MAX && oldest !== undefined) excerpts.delete(oldest);
}

export function note({ notable }: Walk, fact: Notable): void {
  notable.push(fact);
  if (notable.length > NOTABLE_MAX) notable.shift();
}

/** Returns the visit that the walk is in, when it fails or is cut off. */
export function brokenVisit(
  { branches }: Walk,
  { op, visit, runs, repeats }: Running,
  replaced: BrokenVisit['replaced'] = {},
): BrokenVisit {
  return { op, visit, runs, repeats, branches: new Map(branches), replaced };
}

/** Returns the visit that the next one of the node repeats. */
export function visitToRepeat(walk: Walk, node: string): BrokenVisit | undefined {
  return walk.enterAt === node && walk.isReentered ? walk.failed.get(node) : undefined;
}

/** Forgets the questions that branches of a parallel node asked, when all of them have ended: nothing waits for an answer any more. */
export function closeQuestions(questions: Map<string, { readonly op: OpPath }>, parallel: OpPath): void {
  for (const [id, { op }] of questions) if (op.startsWith(`${parallel}[`)) questions.delete(id);
}

/** The walk that a node (or one of its attempts) belongs to. */
export function walkFor(main: Walk, op: OpPath, branch?: BranchRef): Walk {
  return walkAtPath(main, op === MAIN ? op : (op.slice(0, op.lastIndexOf('/')) as OpPath), branch);
}

/** More than a pipeline has in each other, and few enough for a stack. */
const BRANCHES_INSIDE_MAX = 256;

/**
 * `main`, `main/fan#0[1]`, `main/fan#0[1]/inner#0[0]`: a branch begins with its first event, with the context around it at that time. A
 * path that names no branch, as anybody's SQL may have written it, is of the outermost walk. Throws a `RangeError` where branches lie in
 * each other too deeply.
 */
export function walkAtPath(main: Walk, path: OpPath, branch?: BranchRef, inside = 0): Walk {
  const bracket = path.lastIndexOf('[');
  const slash = path.lastIndexOf('/', bracket);
  if (bracket < 0 || slash < 0) return main;
  if (inside === BRANCHES_INSIDE_MAX) throw new RangeError(`more than ${BRANCHES_INSIDE_MAX} branches inside each other`);
  const outer = walkAtPath(main, path.slice(0, slash) as OpPath, undefined, inside + 1);
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
    excerpts: new Map(),
    failures: 0,
    retried: 0,
    answered: 0,
    notable: [],
    branches: new Map(),
  };
}
