/**
 * Plans which results a run would reuse and which calls it would execute. Decided from the journal, the flags and the definitions as the
 * script has them now; which calls are really made is known only during the run.
 */
import { sumUsd } from '../../journal/facts/add-usd.js';
import type { CallKey } from '../../journal/ids.js';
import { isSameChange, type DefinitionChange } from '../memo/definitions.js';
import type { MemoEntry } from '../memo/memo.js';
import { savedBy } from '../memo/stored-result.js';
import { decideJudging, decideReuse, NO_RESULT, type Decision, type ReuseFacts, type WhyNotReused } from './decide-reuse.js';
import { estimateOf, type CallNow, type CallsAhead, type CostsByFunction, type Estimate, type ExpectedCall } from './estimate.js';
import { predictCalls } from './predict-calls.js';

export interface PlannedFunction {
  readonly fn: string;
  /** Results, own and forked, that could be reused for predicted calls if it were not for the flags. */
  usable: number;
  /** The number of them whose calls will be executed again, with the reasons. */
  again: number;
  readonly reasons: { [R in WhyNotReused]?: number };
  /** Predicted calls without a result: failed, interrupted, invalidated before. */
  unresolved: number;
  /** The part of the unresolved ones that a guard denied in the last run. */
  denied: number;
  /** The part of the unresolved ones whose results came back: guards judge these, and nothing is executed for them. */
  unjudged: number;
  /** The reasons for which the results of others, which came back too, are not judged: their calls are executed. */
  readonly passedOver: { [R in WhyNotReused]?: number };
  /** Calls that the last run did not execute because of others. */
  notExecuted: number;
  /** Results from before an edit that are reused all the same. */
  stale: number;
  /**
   * Results of calls that the last run made by a function that forwards, from before its body or a variable in it changed: they are not
   * reused where it forwards something else now.
   */
  forwarded: number;
  /** The part of the reused ones that `Plan.later` counts. */
  later: number;
  /** Usable results that `Plan.unused` counts. */
  unused: number;
  /** The differences between the definition now and those that the usable results were made with. */
  readonly changes: DefinitionChange[];
  /** Captured variables that can't be compared before the run. */
  readonly unknown: readonly string[];
  /** The script, or a module that it imports, declares it; a command under `var llm` needs no declaration. */
  readonly declared: boolean;
  /** A few of the calls that will be executed again or have no result, in the order in which they were first made. */
  readonly examples: {
    readonly key: CallKey;
    readonly preview: string | null;
    readonly why: WhyNotReused | 'unresolved' | 'denied' | 'unjudged';
  }[];
}

export interface Plan {
  readonly usable: number;
  readonly again: number;
  readonly unresolved: number;
  readonly notExecuted: number;
  /** The sum of those of the functions: another bound. */
  readonly forwarded: number;
  /**
   * Results that are reused as far as the journal shows, of calls that the last run made after it had the result of a call that is now
   * executed again: if that result differs, their arguments may. What a script does with a result is not recorded, so this is a bound.
   */
  readonly later: number;
  /** Results of calls that are not predicted: recent runs did not make them, or made them only inside calls that are reused. */
  readonly unused: number;
  /** The cost of the results that are reused for predicted calls, when they were made; null where none of them is known. */
  readonly savedUsd: number | null;
  /** In the order in which they were first called. */
  readonly functions: readonly PlannedFunction[];
  /** The estimate if the run makes the same calls as the last one. Undefined without a recorded run. */
  readonly estimate: Estimate | undefined;
}

export interface PlanFacts extends ReuseFacts {
  /** Costs of results in runs before the last one. */
  readonly earlierCosts?: CostsByFunction;
  readonly ahead?: CallsAhead;
}

/** `executes`: the calls that the estimate expects, in their order; undefined without a recorded run. */
export type PlanWithCalls = Plan & { readonly executes: readonly ExpectedCall[] | undefined };

const NOTHING_AHEAD: CallsAhead = { inLoops: new Map() };
const EXAMPLES_MAX = 3;
/** Function names of the calls that `var llm @x = sh { … }` makes. */
const COMMANDS: ReadonlySet<string> = new Set(['cmd', 'sh', 'bash', 'js', 'node', 'py']);

export function planRun(facts: PlanFacts): PlanWithCalls {
  const functions = new Map<string, PlannedFunction>();
  const entryOf = (fn: string): PlannedFunction => {
    const known = functions.get(fn);
    if (known !== undefined) return known;
    const made: PlannedFunction = {
      fn,
      usable: 0,
      again: 0,
      reasons: {},
      unresolved: 0,
      denied: 0,
      unjudged: 0,
      passedOver: {},
      notExecuted: 0,
      stale: 0,
      forwarded: 0,
      later: 0,
      unused: 0,
      changes: [],
      unknown: [...new Set(facts.current.get(fn)?.flatMap(({ unknown }) => unknown))],
      declared: facts.current.has(fn) || COMMANDS.has(fn),
      examples: [],
    };
    functions.set(fn, made);
    return made;
  };
  const example = (
    entry: PlannedFunction,
    key: CallKey,
    preview: string | undefined,
    why: PlannedFunction['examples'][number]['why'],
  ): void => {
    if (entry.examples.length < EXAMPLES_MAX) entry.examples.push({ key, preview: preview ?? null, why });
  };

  const now = new Map<CallKey, CallNow>();
  const reused: { readonly key: CallKey; readonly entry: PlannedFunction }[] = [];
  let savedUsd: number | null = null;
  let callers: ReadonlySet<CallKey> | undefined;
  const isCaller = (key: CallKey): boolean => (callers ??= callersIn(facts)).has(key);
  let editsCallers = false;
  const decisions = new Map<CallKey, Decision>();
  for (const [key, entry] of everyEntry(facts)) decisions.set(key, decideReuse(key, entry, facts));
  const predicted = predictCalls(
    facts.before.memo,
    facts.forks.map(({ memo }) => memo),
    (key) => decisions.get(key)?.kind === 'reused',
    (key) => decideJudging(key, facts) === 'judged',
  );
  for (const [key, { fn, preview }] of everyEntry(facts)) {
    const entry = entryOf(fn);
    const decision = decisions.get(key) ?? NO_RESULT;
    const isPredicted = predicted.has(key);
    const judging = decision.kind === 'reused' ? undefined : decideJudging(key, facts);
    const isUnjudged = judging === 'judged';
    const measured = decision.kind === 'none' || (decision.kind === 'again' && decision.why === 'simulated') ? undefined : decision.result;
    now.set(key, {
      fn,
      isReused: !isPredicted || (decision.kind === 'reused' && !decision.forwards),
      hasResult: decision.kind !== 'none',
      isUnjudged,
      elapsedMs: measured?.elapsedMs,
      endedMs: measured?.endedMs,
      costUsd: measured?.costUsd,
    });
    if (decision.kind === 'none' || isUnjudged) {
      if (!isPredicted) continue;
      entry.unresolved++;
      const isDenied = facts.latest?.calls.get(key)?.isDenied === true;
      if (isDenied) entry.denied++;
      if (isUnjudged) entry.unjudged++;
      else if (judging !== undefined) entry.passedOver[judging] = (entry.passedOver[judging] ?? 0) + 1;
      example(entry, key, preview, isUnjudged ? 'unjudged' : isDenied ? 'denied' : (judging ?? 'unresolved'));
      continue;
    }
    if (!isPredicted) {
      entry.unused++;
      continue;
    }
    // Calls that only other runs forwarded are not predicted for the next one.
    if (decision.kind === 'reused' && decision.forwards && facts.latest?.calls.has(key) !== true) continue;
    entry.usable++;
    for (const change of decision.changes) if (!entry.changes.some((known) => isSameChange(known, change))) entry.changes.push(change);
    if (decision.kind === 'reused' && decision.forwards) {
      entry.forwarded++;
      continue;
    }
    if (decision.kind === 'reused') {
      if (decision.edited) entry.stale++;
      savedUsd = sumUsd(savedUsd, savedBy(decision.result));
      reused.push({ key, entry });
      continue;
    }
    entry.again++;
    editsCallers ||= decision.why === 'edited' && isCaller(key);
    entry.reasons[decision.why] = (entry.reasons[decision.why] ?? 0) + 1;
    example(entry, key, preview, decision.why);
  }
  const { latest, earlierCosts = new Map<string, never>(), ahead = NOTHING_AHEAD } = facts;
  const expected = latest && estimateOf({ latest, now, predicted, earlierCosts, ahead, editsCallers });
  for (const { key, entry } of reused) if (expected?.later.has(key) === true) entry.later++;
  for (const fn of expected?.notExecuted ?? []) entryOf(fn).notExecuted++;
  const all = [...functions.values()].filter(({ usable, unresolved, notExecuted }) => usable + unresolved + notExecuted > 0);
  return {
    usable: sum(all, ({ usable }) => usable),
    again: sum(all, ({ again }) => again),
    unresolved: sum(all, ({ unresolved }) => unresolved),
    notExecuted: sum(all, ({ notExecuted }) => notExecuted),
    forwarded: sum(all, ({ forwarded }) => forwarded),
    later: sum(all, ({ later }) => later),
    unused: sum([...functions.values()], ({ unused }) => unused),
    savedUsd,
    functions: all,
    estimate: expected?.estimate,
    executes: expected?.executes,
  };
}

/** Returns the calls that have made others. */
function callersIn({ before, forks }: PlanFacts): ReadonlySet<CallKey> {
  const callers = new Set<CallKey>();
  for (const { within } of [before.memo, ...forks.map(({ memo }) => memo)]) {
    for (const around of within.values()) for (const key of around) callers.add(key);
  }
  return callers;
}

/** One's own, then what only fork sources know. */
function* everyEntry({ before, forks }: PlanFacts): Generator<readonly [CallKey, MemoEntry]> {
  for (const [key, entry] of before.memo.entries) {
    // A call that was only ever reused from a fork source has its text there.
    const forked = entry.preview === undefined ? forks.map(({ memo }) => memo.entries.get(key)?.preview).find(Boolean) : undefined;
    yield [key, forked === undefined ? entry : { ...entry, preview: forked }];
  }
  const seen = new Set<CallKey>();
  for (const { memo } of forks) {
    for (const [key, entry] of memo.entries) {
      if (before.memo.entries.has(key) || seen.has(key) || entry.result === undefined) continue;
      seen.add(key);
      yield [key, entry];
    }
  }
}

function sum<Item>(items: readonly Item[], count: (item: Item) => number): number {
  return items.reduce((total, item) => total + count(item), 0);
}
