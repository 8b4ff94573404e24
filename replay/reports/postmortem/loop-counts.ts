/**
 * Counts the calls in the iterations of a loop, and estimates those that are left.
 *
 * LOOP-COUNT-1 The iterations of a loop may call different functions. They are counted by kind, which is the function that an iteration
 *    calls first: what one kind makes is no measure for another one.
 * LOOP-COUNT-2 An iteration that a pause ended (or a signal, or the end of its process) will make as many calls as whole ones of its
 *    kind, and at least those that waited.
 * LOOP-COUNT-3 A call that is reused makes none of the calls inside it. Iterations that begin with one are a kind of their own, and are
 *    measured by those that executed that function, where there are whole ones.
 */

type CallsByFunction = Map<string, number>;

export interface LoopCount {
  readonly total: number;
  /** By the function that an iteration calls first, and if that was reused; '' for iterations that have called none. */
  readonly kinds: Map<string, IterationKind>;
}

interface IterationKind {
  /** Iterations that have begun, but for those that a pause ended. */
  begun: number;
  readonly calls: CallsByFunction;
  /** Iterations that a pause ended. */
  paused: number;
  readonly pausedCalls: CallsByFunction;
  /** Calls that had not started when a pause ended what would have made them. */
  readonly waiting: CallsByFunction;
}

export interface CountedIteration {
  kind: string;
  readonly calls: CallsByFunction;
}

export function beginIteration(loop: LoopCount): CountedIteration {
  kindIn(loop, '').begun += 1;
  return { kind: '', calls: new Map() };
}

/** Counts a call at its start, or as reused, in a loop around it; `by` is -1 for a start that was withdrawn. */
export function countCall(loop: LoopCount, iteration: CountedIteration, fn: string, { by, isReused }: CountedCall): void {
  addTo(kindOf(loop, iteration, isReused ? `${fn}${REUSED}` : fn).calls, fn, by);
}

export interface CountedCall {
  readonly by: 1 | -1;
  readonly isReused: boolean;
}

/** The end of the name of a kind; no function has a space in its name. */
const REUSED = ' reused';

export function countWaiting(loop: LoopCount, iteration: CountedIteration, fn: string): void {
  addTo(kindOf(loop, iteration, fn).waiting, fn, 1);
}

export function pauseIteration(loop: LoopCount, iteration: CountedIteration): void {
  const kind = kindIn(loop, iteration.kind);
  kind.begun -= 1;
  kind.paused += 1;
  for (const [fn, count] of iteration.calls) {
    addTo(kind.calls, fn, -count);
    addTo(kind.pausedCalls, fn, count);
  }
}

/** True where whole iterations say what those will make that a pause ended, with all that is inside them. */
export function knowsRestOfPaused({ kinds }: LoopCount): boolean {
  return [...kinds.values()].some(({ begun, paused }) => begun > 0 && paused > 0);
}

/** Estimates the calls that the loop has not started, by function. */
export function callsAhead({ total, kinds }: LoopCount): ReadonlyMap<string, number> {
  const ahead: CallsByFunction = new Map();
  const all: CallsByFunction = new Map();
  let seen = 0;
  for (const [name, kind] of kinds) {
    const rest = restOfPaused(kind);
    for (const [fn, count] of rest) addTo(ahead, fn, count);
    const whole = wholeOnesOf(kinds, name);
    const share = whole === undefined ? 1 : (kind.begun + kind.paused) / whole.begun; // LOOP-COUNT-3
    const measures = whole === undefined ? [kind.calls, kind.pausedCalls, rest] : [whole.calls];
    for (const counts of measures) for (const [fn, count] of counts) addTo(all, fn, count * share);
    seen += kind.begun + (name === '' ? 0 : kind.paused); // what made nothing before the pause is as one that has not begun
  }
  // Iterations that have not begun may be of any kind: each counts as the mean of those that have.
  const left = seen === 0 ? 0 : Math.max(0, total - seen) / seen;
  for (const [fn, count] of all) addTo(ahead, fn, count * left);
  return ahead;
}

/** Returns the kind that executes what this one reused, where iterations of it are whole. */
function wholeOnesOf(kinds: LoopCount['kinds'], name: string): IterationKind | undefined {
  const executed = name.endsWith(REUSED) ? kinds.get(name.slice(0, -REUSED.length)) : undefined;
  return executed !== undefined && executed.begun > 0 ? executed : undefined;
}

/** LOOP-COUNT-2 */
function restOfPaused({ begun, calls, paused, pausedCalls, waiting }: IterationKind): ReadonlyMap<string, number> {
  const rest: CallsByFunction = new Map(waiting);
  if (begun === 0 || paused === 0) return rest;
  for (const [fn, count] of calls) {
    const left = paused * (count / begun) - (pausedCalls.get(fn) ?? 0);
    rest.set(fn, Math.max(left, waiting.get(fn) ?? 0));
  }
  return rest;
}

/** The first call decides the kind of an iteration. */
function kindOf(loop: LoopCount, iteration: CountedIteration, name: string): IterationKind {
  if (iteration.kind !== '') return kindIn(loop, iteration.kind);
  kindIn(loop, '').begun -= 1;
  iteration.kind = name;
  const kind = kindIn(loop, name);
  kind.begun += 1;
  return kind;
}

function kindIn({ kinds }: LoopCount, name: string): IterationKind {
  let kind = kinds.get(name);
  if (kind === undefined) {
    kind = { begun: 0, calls: new Map(), paused: 0, pausedCalls: new Map(), waiting: new Map() };
    kinds.set(name, kind);
  }
  return kind;
}

function addTo(counts: CallsByFunction, fn: string, count: number): void {
  counts.set(fn, (counts.get(fn) ?? 0) + count);
}
