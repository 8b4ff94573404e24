/**
 * Resolves a `--resume` target in the journal, never in the source text: to the keys that it invalidates, or to an error that lists
 * candidates. Nothing ambiguous is ever picked.
 */
import type { CallKey, OpPath } from '../../journal/ids.js';
import { usedBefore, type Checkpoints, type ReachedCheckpoint } from '../memo/checkpoints.js';
import type { CallRef, FunctionCall, FunctionHistory } from '../memo/history.js';
import { callsAround } from '../memo/calls-around.js';
import { usable, usableEntry, type Memo } from '../memo/memo.js';
import { unjudgedAmong } from '../memo/unjudged-results.js';
import { indexWithin, isInside } from '../fold/op-path.js';
import { inExecutionOrder } from '../fold/execution-order.js';
import { callsWithArgument, type ExactSelector } from './exact-argument.js';
import type { CallsAtPath } from './calls-at-path.js';
import type { ReusedInside } from './reused-inside.js';
import type { CheckpointSelector, FunctionSelector, PathSelector, Selector } from './selector.js';
import {
  ambiguousCheckpoint,
  ambiguousFailed,
  ambiguousFunction,
  ambiguousPrefix,
  malformedTarget,
  noMatch,
  noRunToResume,
  nothingCounts,
  pathWithoutCalls,
  unknownCheckpoint,
  unknownFunction,
  unknownPath,
  unknownSite,
  type RecordedRuns,
} from './selector-errors.js';

/** The recorded facts that a target is resolved in. */
export interface SelectorFacts {
  /** The calls of the workflow itself. */
  readonly memo: Memo;
  /** Those of the fork sources of this run. */
  readonly forks: readonly Memo[];
  /** Tells whether the script has recorded runs. */
  readonly runs: RecordedRuns;
  /** Function targets: the latest run that called the function; undefined when none did. */
  readonly history?: FunctionHistory | undefined;
  /** Exact targets with a text longer than a preview: the calls whose whole argument it is. */
  readonly confirmed?: ReadonlySet<CallKey> | undefined;
  /** Paths: what the runs have there. */
  readonly atPath?: CallsAtPath | undefined;
  /** `failed`: calls whose bodies went on without a call inside that failed. */
  readonly aroundFailures?: ReadonlySet<CallKey> | undefined;
  /** Checkpoint and malformed targets, and `failed`: the prior run; undefined when there is none. */
  readonly prior?: Checkpoints | undefined;
}

export interface Declarations {
  /** Returns whether the script or a module that it imports declares the function. */
  declares(fn: string): boolean;
  /** For the message about an unknown one. */
  readonly knownFunctions: readonly string[];
}

export interface Invalidation {
  /** Usable results of the workflow itself, in the order in which their calls were first made; then those that wait for guards. */
  readonly keys: readonly CallKey[];
  /** Results of fork sources that may not be reused any more. */
  readonly forkedKeys: readonly CallKey[];
  /** `failed`: the functions of the calls that the prior run did not execute because of others. */
  readonly notExecuted?: readonly string[];
  /** A path: results inside its calls that remain usable. */
  readonly inside?: ReusedInside;
  /** For stderr, when there is nothing to invalidate. */
  readonly notice?: string;
}

const NOTHING: Invalidation = { keys: [], forkedKeys: [] };

/**
 * Throws `ReplayError`: RESUME_TARGET, RESUME_FUNCTION, RESUME_SITE, RESUME_PREFIX, RESUME_EXACT, RESUME_PATH, RESUME_AMBIGUOUS,
 * RESUME_CHECKPOINT.
 */
export function resolveSelector(selector: Selector, facts: SelectorFacts, declarations: Declarations): Invalidation {
  switch (selector.kind) {
    case 'none':
      return NOTHING;
    case 'failed':
      if (facts.prior?.reached.some(({ name }) => name === selector.text) === true) throw ambiguousFailed();
      return facts.runs === 'some'
        ? invalidate(facts, facts.aroundFailures ?? new Set())
        : { ...NOTHING, notice: `nothing failed: ${nothingCounts(facts.runs)}` };
    case 'path':
      return atPath(selector, facts);
    case 'checkpoint':
      return afterCheckpoint(selector, facts);
    case 'function':
      return ofFunction(selector, facts, declarations);
    case 'malformed':
      throw malformedTarget(selector, functionsOf(facts, declarations), facts.prior?.reached ?? []);
  }
}

// ---- functions

function ofFunction(selector: FunctionSelector, facts: SelectorFacts, declarations: Declarations): Invalidation {
  const { history } = facts;
  if (history === undefined || history.sites.length === 0) return neverCalled(selector, facts, declarations);
  const { site: index, prefix } = selector;
  if (index !== undefined) {
    const site = history.sites[index];
    if (site === undefined) throw unknownSite(selector, history);
    if (isExact(selector)) return invalidateExactly(selector, facts, site.site);
    const calls = history.calls.filter((call) => call.site === site.site);
    return invalidate(facts, prefix === undefined ? keysOf(calls) : fromPrefix(selector, prefix, calls, history, facts));
  }
  if (declarationsOf(history) > 1) throw ambiguousFunction(selector, history);
  if (isExact(selector)) return invalidateExactly(selector, facts);
  return prefix === undefined
    ? invalidateCallsOf(selector.name, facts)
    : invalidate(facts, fromPrefix(selector, prefix, history.calls, history, facts));
}

function neverCalled(selector: FunctionSelector, facts: SelectorFacts, declarations: Declarations): Invalidation {
  const { name, text } = selector;
  // A fork source may have called it; those results can be refused before the workflow's own first run.
  const isWhole = selector.site === undefined && selector.prefix === undefined && selector.exact === undefined;
  const forked = isWhole ? invalidateCallsOf(name, facts) : NOTHING;
  if (forked.forkedKeys.length > 0) return forked;
  if (isExact(selector) && selector.site === undefined && isForked(name, facts)) return invalidateExactly(selector, facts);
  if (facts.runs !== 'some') return { ...NOTHING, notice: `nothing to invalidate for ${text}: ${nothingCounts(facts.runs)}` };
  if (declarations.declares(name)) return { ...NOTHING, notice: `nothing to invalidate for ${text}: no recorded run called @${name}` };
  throw unknownFunction(selector, functionsOf(facts, declarations));
}

function functionsOf({ memo }: SelectorFacts, { knownFunctions }: Declarations): readonly string[] {
  return [...memo.called.keys(), ...knownFunctions];
}

/**
 * A bare `@fn` covers all recorded runs. A forked result is covered also where the fork source called the function; a result of the
 * workflow itself only where the workflow called it.
 */
function invalidateCallsOf(name: string, facts: SelectorFacts): Invalidation {
  const calls = callsEverMadeBy(name, facts.memo);
  const forked = facts.forks.flatMap((source) => [...callsEverMadeBy(name, source)]);
  return invalidate(facts, calls, new Set([...calls, ...forked]));
}

function callsEverMadeBy(name: string, { entries }: Memo): ReadonlySet<CallKey> {
  const keys = new Set<CallKey>();
  for (const [key, { fn, inside }] of entries) if (fn === name || inside.includes(name)) keys.add(key);
  return keys;
}

function keysOf(calls: readonly FunctionCall[]): ReadonlySet<CallKey> {
  const keys = new Set<CallKey>();
  for (const { by, inside } of calls) for (const { key } of by === undefined ? inside : [by]) keys.add(key);
  return keys;
}

// ---- exact arguments and paths

function isExact(selector: FunctionSelector): selector is ExactSelector {
  return selector.exact !== undefined;
}

function invalidateExactly(selector: ExactSelector, facts: SelectorFacts, site?: string): Invalidation {
  const { memo, forks, history, confirmed } = facts;
  const keys = callsWithArgument(selector, { memos: [memo, ...forks], history, confirmed }, site);
  return orNotice(selector, invalidateWithAround(facts, keys));
}

function atPath(selector: PathSelector, facts: SelectorFacts): Invalidation {
  const { atPath: found } = facts;
  if (found === undefined || !found.isRecorded) throw unknownPath(selector, found?.nearest);
  if (found.keys.size === 0) throw pathWithoutCalls(selector);
  return orNotice(selector, invalidateWithAround(facts, found.keys));
}

/** A call inside another one is executed only if that one is. calls.md 15.5. */
function invalidateWithAround(facts: SelectorFacts, keys: ReadonlySet<CallKey>): Invalidation {
  return invalidate(facts, new Set([...keys, ...callsAround([facts.memo, ...facts.forks], keys)]));
}

function isForked(fn: string, { forks }: SelectorFacts): boolean {
  return forks.some(({ called }) => called.has(fn));
}

function orNotice({ text }: Selector & { readonly text: string }, invalidation: Invalidation): Invalidation {
  if (invalidation.keys.length + invalidation.forkedKeys.length > 0) return invalidation;
  return { ...invalidation, notice: `nothing to invalidate for ${text}: its calls have no result, and are executed in any case` };
}

// ---- prefix cursors

/** A place where the prefix matches: a call site, or one loop in one call. */
interface Match {
  readonly site: string;
  readonly keys: ReadonlySet<CallKey>;
}

function fromPrefix(
  selector: FunctionSelector,
  prefix: string,
  calls: readonly FunctionCall[],
  history: FunctionHistory,
  facts: SelectorFacts,
): ReadonlySet<CallKey> {
  const matches = [...callsFrom(prefix, calls, facts), ...itemsFrom(prefix, calls, history)];
  const [match, ...others] = matches;
  if (match === undefined) throw noMatch(selector, comparedTexts(calls, history, facts));
  if (others.length > 0) throw ambiguousPrefix(selector, new Set(matches.map(({ site }) => site)), history);
  return match.keys;
}

/** The llm calls of the function: a match per call site, each with everything from the first matching call on. */
function callsFrom(prefix: string, calls: readonly FunctionCall[], facts: SelectorFacts): Match[] {
  const made = calls.flatMap(({ by, site }) => (by === undefined ? [] : [{ ...by, site }]));
  const ordered = inExecutionOrder(made);
  const at = ordered.findIndex((call) => startsWith(call, prefix, facts));
  if (at < 0) return [];
  const sites = new Set(ordered.filter((call) => startsWith(call, prefix, facts)).map(({ site }) => site));
  const keys = keysFrom(ordered, at);
  return [...sites].map((site) => ({ site, keys }));
}

function startsWith({ key, preview }: CallRef, prefix: string, { memo, forks }: SelectorFacts): boolean {
  return previewOfKey(key, preview, memo, forks)?.startsWith(prefix) === true;
}

/** A reused call has its key only; the text is in the memo, the own one or that of the fork source. */
function previewOfKey(key: CallKey, preview: string | undefined, memo: Memo, forks: readonly Memo[]): string | undefined {
  if (preview !== undefined) return preview;
  for (const source of [memo, ...forks]) {
    const text = source.entries.get(key)?.preview;
    if (text !== undefined) return text;
  }
  return undefined;
}

/** A call before the cursor keeps its result, also where it is made again behind it. */
function keysFrom(ordered: readonly CallRef[], at: number): ReadonlySet<CallKey> {
  const before = new Set(ordered.slice(0, at).map(({ key }) => key));
  return new Set(ordered.slice(at).flatMap(({ key }) => (before.has(key) ? [] : [key])));
}

/** Finds the loops inside ordinary calls of the function that make calls: a match per loop with a matching item. */
function itemsFrom(prefix: string, calls: readonly FunctionCall[], { items }: FunctionHistory): Match[] {
  const firsts = new Map<OpPath, number>();
  for (const { loop, index, text } of items) {
    if (text.startsWith(prefix)) firsts.set(loop, Math.min(index, firsts.get(loop) ?? index));
  }
  return [...firsts].flatMap(([loop, first]) => {
    const call = innermostAround(loop, calls);
    const inLoop = (call?.inside ?? []).flatMap(({ key, op }) => {
      const index = indexWithin(op, loop);
      return index === undefined ? [] : [{ key, index }];
    });
    if (call === undefined || inLoop.length === 0) return [];
    const before = new Set(inLoop.filter(({ index }) => index < first).map(({ key }) => key));
    return [{ site: call.site, keys: new Set(inLoop.flatMap(({ key, index }) => (index < first || before.has(key) ? [] : [key]))) }];
  });
}

/** Finds the innermost call around a loop: of a function that calls itself, the outer calls contain the loop as well. */
function innermostAround(loop: OpPath, calls: readonly FunctionCall[]): FunctionCall | undefined {
  let innermost: FunctionCall | undefined;
  for (const call of calls) {
    if (isInside(loop, call.op) && call.inside.length > 0 && call.op.length > (innermost?.op.length ?? -1)) innermost = call;
  }
  return innermost;
}

/** Yields the arguments of the llm calls, and the items of the loops that make calls. */
function* comparedTexts(calls: readonly FunctionCall[], { items }: FunctionHistory, { memo, forks }: SelectorFacts): Generator<string> {
  for (const { by } of calls) {
    const preview = by && previewOfKey(by.key, by.preview, memo, forks);
    if (preview !== undefined) yield preview;
  }
  const loops = new Map<OpPath, boolean>();
  for (const { loop, text } of items) {
    const makesCalls = loops.get(loop) ?? calls.some(({ inside }) => inside.some(({ op }) => indexWithin(op, loop) !== undefined));
    loops.set(loop, makesCalls);
    if (makesCalls) yield text;
  }
}

// ---- checkpoints

function afterCheckpoint(selector: CheckpointSelector, facts: SelectorFacts): Invalidation {
  const { prior } = facts;
  if (prior === undefined) throw noRunToResume(selector.name, facts.runs);
  const kept = usedBefore(prior, findCheckpoint(selector, prior));
  const selected = new Set<CallKey>();
  for (const source of [facts.memo, ...facts.forks]) for (const [key] of usable(source)) if (!kept.has(key)) selected.add(key);
  for (const key of facts.memo.unjudged.keys()) if (!kept.has(key)) selected.add(key);
  return invalidate(facts, selected);
}

function findCheckpoint({ name }: CheckpointSelector, { reached }: Checkpoints): ReachedCheckpoint {
  const exact = reached.find((checkpoint) => checkpoint.name === name);
  if (exact !== undefined) return exact;
  const matches = reached.filter((checkpoint) => checkpoint.name.startsWith(name));
  const [match, ...others] = matches;
  if (match === undefined) throw unknownCheckpoint(name, reached);
  if (others.length > 0) throw ambiguousCheckpoint(name, matches);
  return match;
}

// ---- shared

/** Invalidates only results that are usable now, or wait for guards, those of the workflow and of each fork source separately. */
function invalidate({ memo, forks }: SelectorFacts, selected: ReadonlySet<CallKey>, forked = selected): Invalidation {
  const results = [...usable(memo)].flatMap(([key]) => (selected.has(key) ? [key] : []));
  const keys = [...results, ...unjudgedAmong(memo.unjudged, (key) => selected.has(key) && usableEntry(memo, key) === undefined)];
  const forkedKeys = new Set<CallKey>();
  for (const source of forks) {
    for (const [key] of usable(source)) if (forked.has(key) && !memo.refused.has(key)) forkedKeys.add(key);
  }
  return { keys, forkedKeys: [...forkedKeys] };
}

function declarationsOf({ sites }: FunctionHistory): number {
  return new Set(sites.map(({ declared }) => declared)).size;
}
