/** Selects calls by the whole text of their first argument: `@fn(= "text")`. calls.md 15. */
import type { Json } from '../../journal/event.js';
import type { CallKey, RunRef } from '../../journal/ids.js';
import type { Defect, JournalStore } from '../../journal/store.js';
import { firstArgument, PREVIEW_UNITS_MAX } from '../fold/preview.js';
import { indexWithin } from '../fold/op-path.js';
import type { FunctionCall, FunctionHistory } from '../memo/history.js';
import type { Memo } from '../memo/memo.js';
import { noExactMatch } from './selector-errors.js';
import type { FunctionSelector } from './selector.js';

/** A function target with the text that an argument has to be. */
export type ExactSelector = FunctionSelector & { readonly exact: string };

export interface ExactFacts {
  /** The memos of the workflow and of its fork sources. */
  readonly memos: readonly Memo[];
  /** The latest run that called the function, if there is one. */
  readonly history?: FunctionHistory | undefined;
  /** Keys of the calls whose whole argument was read and is the text; only for texts that are longer than a preview. */
  readonly confirmed?: ReadonlySet<CallKey> | undefined;
}

/**
 * Returns the keys of the calls with this first argument, and of the calls in loop iterations with this item where the function is an
 * ordinary one. `site`: only calls of this call site. Throws RESUME_EXACT.
 */
export function callsWithArgument(selector: ExactSelector, facts: ExactFacts, site?: string): ReadonlySet<CallKey> {
  const { exact } = selector;
  const { memos, history, confirmed } = facts;
  const isExact = (key: CallKey, preview: string | undefined): boolean =>
    isLong(exact) ? confirmed?.has(key) === true : preview === exact;
  const calls = (history?.calls ?? []).filter((call) => site === undefined || call.site === site);
  const own = site === undefined ? callsOf(selector.name, memos) : ownCalls(calls, memos);
  const items = itemsOf(calls, history);
  const keys = new Set(own.flatMap(({ key, preview }) => (isExact(key, preview) ? [key] : [])));
  for (const { text, inside } of items) if (!isLong(exact) && text === exact) for (const key of inside) keys.add(key);
  if (keys.size === 0) throw noExactMatch(selector, [...own.map(({ preview }) => preview), ...items.map(({ text }) => text)]);
  return keys;
}

/** A preview of so many units may be the beginning of a longer text. */
function isLong(text: string): boolean {
  return text.length >= PREVIEW_UNITS_MAX;
}

interface CalledWith {
  readonly key: CallKey;
  readonly preview: string | undefined;
}

function callsOf(fn: string, memos: readonly Memo[]): readonly CalledWith[] {
  return memos.flatMap(({ entries }) => [...entries].flatMap(([key, { fn: name, preview }]) => (name === fn ? [{ key, preview }] : [])));
}

/** A reused call has its key only; its text is in the memo that has its result. */
function ownCalls(calls: readonly FunctionCall[], memos: readonly Memo[]): readonly CalledWith[] {
  return calls.flatMap(({ by }) => {
    if (by === undefined) return [];
    const preview = by.preview ?? memos.map(({ entries }) => entries.get(by.key)?.preview).find((text) => text !== undefined);
    return [{ key: by.key, preview }];
  });
}

/** The items of the loops in these calls, with the calls that were made for each. */
function itemsOf(calls: readonly FunctionCall[], history: FunctionHistory | undefined) {
  const made = calls.flatMap(({ inside }) => inside);
  return (history?.items ?? []).flatMap(({ loop, index, text }) => {
    const inside = made.filter(({ op }) => indexWithin(op, loop) === index).map(({ key }) => key);
    return inside.length === 0 ? [] : [{ text, inside }];
  });
}

/** Reads the whole first arguments of the calls whose previews begin a long text. Undefined for a text that a preview holds. */
export async function confirmLongArgument(
  store: JournalStore,
  { name, exact }: ExactSelector,
  { memos, onDefect }: { readonly memos: readonly Memo[]; readonly onDefect: (defect: Defect) => void },
): Promise<ReadonlySet<CallKey> | undefined> {
  if (!isLong(exact)) return undefined;
  const candidates = new Set<CallKey>();
  const runs = new Map<string, RunRef>();
  for (const { entries } of memos) {
    for (const [key, { fn, preview, result }] of entries) {
      if (fn !== name || result === undefined || preview !== exact.slice(0, PREVIEW_UNITS_MAX)) continue;
      candidates.add(key);
      runs.set(`${result.ref.workflow}\n${result.ref.run}`, result.ref);
    }
  }
  const confirmed = new Set<CallKey>();
  for (const ref of runs.values()) {
    const started = await argumentsOf(store, ref, { candidates, onDefect });
    for (const [key, args] of started) if (firstArgument(args) === exact) confirmed.add(key);
  }
  return confirmed;
}

async function argumentsOf(
  store: JournalStore,
  ref: RunRef,
  { candidates, onDefect }: { readonly candidates: ReadonlySet<CallKey>; readonly onDefect: (defect: Defect) => void },
): Promise<ReadonlyMap<CallKey, readonly Json[]>> {
  const payloads = new Map<CallKey, Parameters<JournalStore['resolve']>[0]>();
  await store.scan(
    ref,
    (event) => {
      if (event.type === 'call.started' && candidates.has(event.key)) payloads.set(event.key, event.args);
    },
    { onDefect },
  );
  const found = new Map<CallKey, readonly Json[]>();
  for (const [key, payload] of payloads) {
    const args = await store.resolve(payload);
    if (Array.isArray(args)) found.set(key, args as readonly Json[]);
  }
  return found;
}
