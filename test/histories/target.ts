/** The plain model of `--resume TARGET`: section 8 of the chapter on checkpoints, over lists. */
import { callsOf, isAsk, isInside, type Asked, type Record, type Result, type Trace } from './record.js';

export type Target =
  | { readonly kind: 'everything' }
  | { readonly kind: 'function'; readonly fn: string; readonly site?: number | undefined; readonly prefix?: string | undefined }
  | { readonly kind: 'checkpoint'; readonly name: string };

export interface Refusal {
  readonly error: string;
}

/** The results that a target invalidates: those of the script itself, and forked ones. */
export interface Dropped {
  readonly own: readonly Result[];
  readonly borrowed: readonly Result[];
}

export interface Situation {
  readonly own: Record;
  readonly lender: Record | undefined;
  readonly declared: readonly string[];
}

const NOTHING: Dropped = { own: [], borrowed: [] };

export function targetText(target: Target): string {
  if (target.kind === 'everything') return '';
  if (target.kind === 'checkpoint') return target.name;
  const site = target.site === undefined ? '' : `:${target.site}`;
  return `@${target.fn}${site}${target.prefix === undefined ? '' : `("${target.prefix}")`}`;
}

export function resolve(target: Target, situation: Situation): Dropped | Refusal {
  if (target.kind === 'everything') return NOTHING;
  return target.kind === 'checkpoint' ? afterCheckpoint(target.name.trim(), situation) : ofFunction(target, situation);
}

// ---- 8.4

function afterCheckpoint(name: string, situation: Situation): Dropped | Refusal {
  const prior = situation.own.runs.at(-1);
  if (prior === undefined) return { error: 'RESUME_CHECKPOINT' };
  const reached = prior.flatMap((trace) => (trace.kind === 'checkpoint' ? [trace.name] : []));
  const matches = reached.includes(name) ? [name] : reached.filter((other) => other.startsWith(name));
  if (matches.length === 0) return { error: 'RESUME_CHECKPOINT' };
  if (matches.length > 1) return { error: 'RESUME_AMBIGUOUS' };
  const at = prior.findIndex((trace) => trace.kind === 'checkpoint' && trace.name === matches[0]);
  const stays = new Set(prior.slice(0, at).flatMap((trace) => (trace.kind === 'used' ? [trace.key] : [])));
  return select(situation, ({ key }) => !stays.has(key));
}

// ---- 8.2

type FunctionTarget = Target & { readonly kind: 'function' };

function ofFunction(target: FunctionTarget, situation: Situation): Dropped | Refusal {
  const { fn, site, prefix } = target;
  const { own, declared } = situation;
  const latest = own.runs.findLast((run) => run.some((trace) => isOf(trace, fn)));
  if (latest === undefined) {
    const lent = site === undefined && prefix === undefined ? everAskedBy(fn, situation) : NOTHING;
    if (lent.borrowed.length > 0 || own.runs.length === 0 || declared.includes(fn)) return lent;
    return { error: 'RESUME_FUNCTION' };
  }
  const places = latest.flatMap((trace) => (isOf(trace, fn) ? [trace] : []));
  const sites = [...new Set(places.map((place) => place.site))];
  if (site !== undefined && site >= sites.length) return { error: 'RESUME_SITE' };
  if (site === undefined && new Set(places.map((place) => place.declared)).size > 1) return { error: 'RESUME_AMBIGUOUS' };
  if (site === undefined && prefix === undefined) return everAskedBy(fn, situation);
  const considered = site === undefined ? places : places.filter((place) => place.site === sites[site]);
  if (prefix !== undefined) return fromCursor(prefix, considered, latest, situation);
  const keys = new Set(considered.flatMap((place) => askedAt(place, latest)).map(({ key }) => key));
  return select(situation, ({ key }) => keys.has(key));
}

type Place = Trace & { readonly kind: 'ask' | 'call' };

function isOf(trace: Trace, fn: string): trace is Place {
  return (trace.kind === 'ask' || trace.kind === 'call') && trace.fn === fn;
}

function askedAt(place: Place, run: readonly Trace[]): Asked[] {
  return place.kind === 'ask' ? [place] : run.filter(isAsk).filter((asked) => isInside(asked, new Set([place.id])));
}

/**
 * A bare `@fn` selects the results of all calls that it made, or that were made inside it, in any recorded run since `--fresh`. Own results
 * are those of the script's own runs; a forked result is selected if either the script or its owner made the call there.
 */
function everAskedBy(fn: string, { own, lender }: Situation): Dropped {
  const asked = askedSinceFresh(fn, own);
  const lent = lender === undefined ? asked : new Set([...asked, ...askedSinceFresh(fn, lender)]);
  return {
    own: own.results.filter(({ key }) => asked.has(key)),
    borrowed: (lender?.results ?? []).filter(({ key }) => lent.has(key) && !own.refused.has(key)),
  };
}

function askedSinceFresh(fn: string, { runs, freshFrom }: Record): Set<string> {
  const keys = runs.slice(freshFrom).flatMap((run) => {
    const calls = callsOf(run, fn);
    return run.filter(isAsk).flatMap((ask) => (ask.fn === fn || isInside(ask, calls) ? [ask.key] : []));
  });
  return new Set(keys);
}

// ---- 8.3

function fromCursor(prefix: string, places: readonly Place[], run: readonly Trace[], situation: Situation): Dropped | Refusal {
  const invocations = inItemOrder(places.filter(isAsk));
  const first = invocations.findIndex(({ text }) => text.startsWith(prefix));
  const matchingSites = new Set(invocations.filter(({ text }) => text.startsWith(prefix)).map(({ site }) => site));
  const loops = loopsIn(places, run).filter(({ items }) => items.some(({ text }) => text.startsWith(prefix)));
  if (matchingSites.size + loops.length === 0) return { error: 'RESUME_PREFIX' };
  if (matchingSites.size + loops.length > 1) return { error: 'RESUME_AMBIGUOUS' };
  const [loop] = loops;
  if (loop === undefined) return selectBehind(invocations.slice(0, first), invocations.slice(first), situation);
  const firstItem = Math.min(...loop.items.flatMap(({ text, index }) => (text.startsWith(prefix) ? [index] : [])));
  const isBehind = (ask: Asked): boolean => ask.where.items.some((item) => item.loop === loop.id && item.index >= firstItem);
  return selectBehind(
    loop.asks.filter((ask) => !isBehind(ask)),
    loop.asks.filter(isBehind),
    situation,
  );
}

interface Loop {
  readonly id: number;
  readonly items: readonly (Trace & { readonly kind: 'item' })[];
  readonly asks: readonly Asked[];
}

/** Loops inside calls of an ordinary function; a cursor can't be in one that made no calls. */
function loopsIn(places: readonly Place[], run: readonly Trace[]): Loop[] {
  const calls = new Set(places.flatMap((place) => (place.kind === 'call' ? [place.id] : [])));
  const items = run.flatMap((trace) => (trace.kind === 'item' && trace.where.calls.some((call) => calls.has(call)) ? [trace] : []));
  return [...new Set(items.map(({ loop }) => loop))].flatMap((id) => {
    const asks = run.filter(isAsk).filter(({ where }) => where.items.some(({ loop }) => loop === id));
    return asks.length === 0 ? [] : [{ id, items: items.filter(({ loop }) => loop === id), asks }];
  });
}

/** Execution order, but item order within a loop. */
function inItemOrder(asks: readonly Asked[]): Asked[] {
  return asks.toSorted((left, right) => {
    for (const [depth, { loop, index }] of left.where.items.entries()) {
      const other = right.where.items[depth];
      if (other === undefined || other.loop !== loop) return 0;
      if (other.index !== index) return index - other.index;
    }
    return 0;
  });
}

/** Calls before the cursor keep their results, also if they are made again after it. */
function selectBehind(before: readonly Asked[], behind: readonly Asked[], situation: Situation): Dropped {
  const stays = new Set(before.map(({ key }) => key));
  const keys = new Set(behind.map(({ key }) => key));
  return select(situation, ({ key }) => keys.has(key) && !stays.has(key));
}

function select({ own, lender }: Situation, selected: (result: Result) => boolean): Dropped {
  return {
    own: own.results.filter(selected),
    borrowed: (lender?.results ?? []).filter((result) => selected(result) && !own.refused.has(result.key)),
  };
}
