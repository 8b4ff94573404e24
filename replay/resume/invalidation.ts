/**
 * What a `--resume` target drops: a selector and the past, to keys or to an error that lists candidates. Resolved in
 * the journal, never in the source text; nothing ambiguous is ever picked.
 */
import type { CallKey, OpPath } from '../../journal/ids.js';
import { usedBefore, type Checkpoints, type ReachedCheckpoint } from '../memo/checkpoints.js';
import type { Asked, FunctionCall, FunctionHistory } from '../memo/history.js';
import { usable, type Memo } from '../memo/memo.js';
import { indexWithin, isInside } from '../fold/op-path.js';
import { inExecutionOrder } from '../fold/execution-order.js';
import type { CheckpointSelector, FunctionSelector, Selector } from './selector.js';
import {
  ambiguousCheckpoint,
  ambiguousFunction,
  ambiguousPrefix,
  malformedTarget,
  noMatch,
  noRunToResume,
  nothingCounts,
  unknownCheckpoint,
  unknownFunction,
  unknownSite,
  type RecordedRuns,
} from './selector-errors.js';

/** What the target is resolved in. */
export interface Past {
  /** One's own questions. */
  readonly memo: Memo;
  /** Those of the fork sources of this run. */
  readonly forks: readonly Memo[];
  /** Of the script. */
  readonly runs: RecordedRuns;
  /** Function targets: the latest run that called the function; undefined when none did. */
  readonly history?: FunctionHistory | undefined;
  /** Checkpoint and malformed targets: the prior run; undefined when there is none. */
  readonly prior?: Checkpoints | undefined;
}

export interface Declarations {
  /** Whether the script or a module that it imports declares the function. */
  declares(fn: string): boolean;
  /** For the message about an unknown one. */
  readonly knownFunctions: readonly string[];
}

export interface Invalidation {
  /** One's own usable answers that are dropped, in the order of first asking. */
  readonly keys: readonly CallKey[];
  /** Answers of fork sources that are not borrowed any more. */
  readonly borrowedKeys: readonly CallKey[];
  /** For stderr, when there is nothing to invalidate. */
  readonly notice?: string;
}

const NOTHING: Invalidation = { keys: [], borrowedKeys: [] };

/** Throws `ReplayError`: RESUME_TARGET, RESUME_FUNCTION, RESUME_SITE, RESUME_PREFIX, RESUME_AMBIGUOUS, RESUME_CHECKPOINT. */
export function resolveSelector(selector: Selector, past: Past, declarations: Declarations): Invalidation {
  switch (selector.kind) {
    case 'none':
      return NOTHING;
    case 'checkpoint':
      return afterCheckpoint(selector, past);
    case 'function':
      return ofFunction(selector, past, declarations);
    case 'malformed':
      throw malformedTarget(selector, functionsOf(past, declarations), past.prior?.reached ?? []);
  }
}

// ---- functions

function ofFunction(selector: FunctionSelector, past: Past, declarations: Declarations): Invalidation {
  const { history } = past;
  if (history === undefined || history.sites.length === 0) return neverCalled(selector, past, declarations);
  const { site: index, prefix } = selector;
  if (index !== undefined) {
    const site = history.sites[index];
    if (site === undefined) throw unknownSite(selector, history);
    const calls = history.calls.filter((call) => call.site === site.site);
    return drop(past, prefix === undefined ? askedIn(calls) : fromPrefix(selector, prefix, calls, history, past));
  }
  if (declarationsOf(history) > 1) throw ambiguousFunction(selector, history);
  return prefix === undefined ? dropAsked(selector.name, past) : drop(past, fromPrefix(selector, prefix, history.calls, history, past));
}

function neverCalled(selector: FunctionSelector, past: Past, declarations: Declarations): Invalidation {
  const { name, text } = selector;
  // A fork source may have asked by it; those answers can be refused before one's own first run.
  const lent = selector.site === undefined && selector.prefix === undefined ? dropAsked(name, past) : NOTHING;
  if (lent.borrowedKeys.length > 0) return lent;
  if (past.runs !== 'some') return { ...NOTHING, notice: `nothing to invalidate for ${text}: ${nothingCounts(past.runs)}` };
  if (declarations.declares(name)) return { ...NOTHING, notice: `nothing to invalidate for ${text}: no recorded run called @${name}` };
  throw unknownFunction(selector, functionsOf(past, declarations));
}

function functionsOf({ memo }: Past, { knownFunctions }: Declarations): readonly string[] {
  return [...memo.called.keys(), ...knownFunctions];
}

/**
 * A bare `@fn` covers all recorded runs. What is lent is also the function's where its owner asked it there; one's own answers are so only
 * where the script itself did.
 */
function dropAsked(name: string, past: Past): Invalidation {
  const asked = everAsked(name, past.memo);
  const lent = past.forks.flatMap((source) => [...everAsked(name, source)]);
  return drop(past, asked, new Set([...asked, ...lent]));
}

function everAsked(name: string, { entries: questions }: Memo): ReadonlySet<CallKey> {
  const keys = new Set<CallKey>();
  for (const [key, { fn, inside }] of questions) if (fn === name || inside.includes(name)) keys.add(key);
  return keys;
}

function askedIn(calls: readonly FunctionCall[]): ReadonlySet<CallKey> {
  const keys = new Set<CallKey>();
  for (const { by, inside } of calls) for (const { key } of by === undefined ? inside : [by]) keys.add(key);
  return keys;
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
  past: Past,
): ReadonlySet<CallKey> {
  const matches = [...callsFrom(prefix, calls, past), ...itemsFrom(prefix, calls, history)];
  const [match, ...others] = matches;
  if (match === undefined) throw noMatch(selector, comparedTexts(calls, history, past));
  if (others.length > 0) throw ambiguousPrefix(selector, new Set(matches.map(({ site }) => site)), history);
  return match.keys;
}

/** The llm calls of the function: a match per call site, each with everything from the first matching call on. */
function callsFrom(prefix: string, calls: readonly FunctionCall[], past: Past): Match[] {
  const asked = calls.flatMap(({ by, site }) => (by === undefined ? [] : [{ ...by, site }]));
  const ordered = inExecutionOrder(asked);
  const at = ordered.findIndex((call) => startsWith(call, prefix, past));
  if (at < 0) return [];
  const sites = new Set(ordered.filter((call) => startsWith(call, prefix, past)).map(({ site }) => site));
  const keys = keysFrom(ordered, at);
  return [...sites].map((site) => ({ site, keys }));
}

function startsWith({ key, preview }: Asked, prefix: string, { memo, forks }: Past): boolean {
  return previewOfKey(key, preview, memo, forks)?.startsWith(prefix) === true;
}

/** A served call names its key only; the text is with the question, here or where it was borrowed. */
function previewOfKey(key: CallKey, preview: string | undefined, memo: Memo, forks: readonly Memo[]): string | undefined {
  if (preview !== undefined) return preview;
  for (const source of [memo, ...forks]) {
    const text = source.entries.get(key)?.preview;
    if (text !== undefined) return text;
  }
  return undefined;
}

/** What came before the cursor stays, also where it is asked again behind it. */
function keysFrom(ordered: readonly Asked[], at: number): ReadonlySet<CallKey> {
  const before = new Set(ordered.slice(0, at).map(({ key }) => key));
  return new Set(ordered.slice(at).flatMap(({ key }) => (before.has(key) ? [] : [key])));
}

/** The loops inside ordinary calls of the function that ask anything: a match per loop with a matching item. */
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

/** Of a function that calls itself, the call whose own loop it is: those around it contain it as well. */
function innermostAround(loop: OpPath, calls: readonly FunctionCall[]): FunctionCall | undefined {
  let innermost: FunctionCall | undefined;
  for (const call of calls) {
    if (isInside(loop, call.op) && call.inside.length > 0 && call.op.length > (innermost?.op.length ?? -1)) innermost = call;
  }
  return innermost;
}

/** The arguments of the llm calls, and the items of the loops that ask. */
function* comparedTexts(calls: readonly FunctionCall[], { items }: FunctionHistory, { memo, forks }: Past): Generator<string> {
  for (const { by } of calls) {
    const preview = by && previewOfKey(by.key, by.preview, memo, forks);
    if (preview !== undefined) yield preview;
  }
  const loops = new Map<OpPath, boolean>();
  for (const { loop, text } of items) {
    const asks = loops.get(loop) ?? calls.some(({ inside }) => inside.some(({ op }) => indexWithin(op, loop) !== undefined));
    loops.set(loop, asks);
    if (asks) yield text;
  }
}

// ---- checkpoints

function afterCheckpoint(selector: CheckpointSelector, past: Past): Invalidation {
  const { prior } = past;
  if (prior === undefined) throw noRunToResume(selector.name, past.runs);
  const stays = usedBefore(prior, findCheckpoint(selector, prior));
  const selected = new Set<CallKey>();
  for (const source of [past.memo, ...past.forks]) for (const [key] of usable(source)) if (!stays.has(key)) selected.add(key);
  return drop(past, selected);
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

/** Only what is usable now can be dropped, each owner's answers by themselves. */
function drop({ memo, forks }: Past, selected: ReadonlySet<CallKey>, lent = selected): Invalidation {
  const keys = [...usable(memo)].flatMap(([key]) => (selected.has(key) ? [key] : []));
  const borrowed = new Set<CallKey>();
  for (const source of forks) {
    for (const [key] of usable(source)) if (lent.has(key) && !memo.refused.has(key)) borrowed.add(key);
  }
  return { keys, borrowedKeys: [...borrowed] };
}

function declarationsOf({ sites }: FunctionHistory): number {
  return new Set(sites.map(({ declared }) => declared)).size;
}
