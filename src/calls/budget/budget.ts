/**
 * Limits the cost of a run. An attempt reserves its expected cost before it starts; when it ends, the reservation is replaced by its real
 * cost. Pure but for its own state. calls.md 13.2 to 13.6.
 *
 * BUDGET-1 When an attempt starts, spent + all reservations + its own <= budget, for each limit.
 * BUDGET-2 No reservation outlives its attempt, however that ended.
 * BUDGET-3 A function whose cost is not known is executed alone: nothing of it runs beside an attempt that has nothing to reserve by, but
 *    for a call inside that attempt.
 * BUDGET-4 An attempt that its provider turned away for nothing teaches no cost: the next ones would reserve nothing.
 * BUDGET-5 Nor does an attempt that can cost nothing, such as a simulated one: others of its function may ask a model.
 */
import type { BudgetLimits, LimitKind } from './limits.js';

/** Known costs of a function that are looked at. */
const HISTORY_MAX = 100;
const PERCENTILE = 0.95;

export interface Cost {
  readonly usd?: number;
  readonly tokens?: number;
}

/** As `call.started` records it. */
export interface Reservation extends Cost {
  readonly basis: 'maxCost' | 'history' | 'largest' | 'none';
  /** The shared budgets that hold it back too. */
  readonly shared?: readonly string[];
}

/** The reservation of an attempt that was admitted; the caller hands it back when the attempt ends. */
export interface Reserved {
  readonly fn: string;
  readonly reservation: Reservation;
}

export type Admission =
  | { readonly kind: 'start'; readonly reserved: Reserved }
  /** An attempt in flight may settle and make room. */
  | { readonly kind: 'wait' }
  /** Nothing in flight can make room: the limit that is reached. `needs` is what one attempt reserves, where the whole limit is less. */
  | { readonly kind: 'reached'; readonly limit: LimitKind; readonly needs?: number };

interface FunctionCosts {
  readonly known: Cost[];
  /** Attempts in flight, and whether one of them reserves by nothing of its own. */
  inFlight: number;
  isExploring: boolean;
  /** Worked out from `known` when they are needed first: many attempts wait for one cost. */
  figures: { readonly usual: Figures; readonly largest: Figures } | undefined;
}

type Figures = { readonly [M in keyof Cost]-?: number | undefined };

export class Budget {
  private spentUsd = 0;
  private spentTokens = 0;
  private attempts = 0;
  private inFlight = 0;
  private reservedUsd = 0;
  private reservedTokens = 0;
  private readonly functions = new Map<string, FunctionCosts>();

  constructor(
    private readonly limits: BudgetLimits,
    history: ReadonlyMap<string, readonly Cost[]> = new Map(),
  ) {
    this.learn(history);
  }

  /** `history` are the known costs of earlier runs, oldest first, by function. Functions of which costs are known here learn nothing. */
  learn(history: ReadonlyMap<string, readonly Cost[]>): void {
    for (const [fn, costs] of history) {
      if (this.functions.has(fn)) continue;
      this.functions.set(fn, { known: costs.slice(-HISTORY_MAX), inFlight: 0, isExploring: false, figures: undefined });
    }
  }

  get spent(): Required<Cost> & { readonly calls: number } {
    return { usd: this.spentUsd, tokens: this.spentTokens, calls: this.attempts };
  }

  /** By how much attempts that cost more than they had reserved took the sums above the budget. */
  get over(): Required<Cost> {
    const { usd = Number.POSITIVE_INFINITY, tokens = Number.POSITIVE_INFINITY } = this.limits;
    return { usd: isAbove(this.spentUsd, usd) ? this.spentUsd - usd : 0, tokens: Math.max(0, this.spentTokens - tokens) };
  }

  /**
   * `elapsedMs` is the time since the run began; `maxCost` what the function's option says. `isStuck`: all that is in flight waits for
   * calls inside it, so that nothing will settle before one of these starts.
   */
  admit(fn: string, elapsedMs: number, maxCost?: Cost, isStuck = false): Admission {
    const { limits } = this;
    if (limits.ms !== undefined && elapsedMs >= limits.ms) return { kind: 'reached', limit: 'ms' };
    const costs = this.costsOf(fn);
    const reservation = this.reservationFor(costs, maxCost);
    const limitsCost = limits.usd !== undefined || limits.tokens !== undefined || limits.shared !== undefined;
    if (limitsCost && !isStuck && (costs.isExploring || (isUnknown(reservation) && costs.inFlight > 0))) return { kind: 'wait' }; // BUDGET-3
    const limit = this.limitBeyond(reservation);
    if (limit !== undefined && this.inFlight > 0 && limit !== 'calls' && !isStuck) return { kind: 'wait' };
    if (limit !== undefined) return { kind: 'reached', limit, ...exceeding(reservation, limit, limits) };
    this.attempts++;
    this.inFlight++;
    this.reservedUsd += reservation.usd ?? 0;
    this.reservedTokens += reservation.tokens ?? 0;
    costs.inFlight++;
    costs.isExploring ||= limitsCost && isUnknown(reservation);
    return { kind: 'start', reserved: { fn, reservation } };
  }

  /** The attempt ended. A cost that is not known counts as 0. `isTurnedAway`: its cost says nothing of what an attempt costs (BUDGET-4). */
  settle({ fn, reservation }: Reserved, cost: Cost, isTurnedAway = false): void {
    const costs = this.costsOf(fn);
    this.inFlight--;
    costs.inFlight--;
    if (costs.inFlight === 0) costs.isExploring = false;
    this.reservedUsd = this.inFlight === 0 ? 0 : this.reservedUsd - (reservation.usd ?? 0);
    this.reservedTokens = this.inFlight === 0 ? 0 : this.reservedTokens - (reservation.tokens ?? 0);
    this.spentUsd += cost.usd ?? 0;
    this.spentTokens += cost.tokens ?? 0;
    if (isTurnedAway || isFree(reservation) || (cost.usd === undefined && cost.tokens === undefined)) return;
    costs.known.push(cost);
    costs.figures = undefined;
    if (costs.known.length > HISTORY_MAX) costs.known.shift();
  }

  /** The attempt was not executed after all, so that it is none of the number that the budget allows. */
  release(reserved: Reserved): void {
    this.settle(reserved, {});
    this.attempts--;
  }

  private costsOf(fn: string): FunctionCosts {
    const found = this.functions.get(fn);
    if (found) return found;
    const fresh: FunctionCosts = { known: [], inFlight: 0, isExploring: false, figures: undefined };
    this.functions.set(fn, fresh);
    return fresh;
  }

  private reservationFor(costs: FunctionCosts, maxCost: Cost | undefined): Reservation {
    if (maxCost && this.knowsEnough({ usd: maxCost.usd, tokens: maxCost.tokens })) return { ...maxCost, basis: 'maxCost' };
    const own = { ...figuresOf(costs).usual, ...maxCost }; // a maxCost in tokens says nothing of dollars
    if (this.knowsEnough(own)) return { ...only(own), basis: 'history' };
    const all = [...this.functions.values()].map((each) => figuresOf(each).largest);
    const largest = { usd: greatest(all.map(({ usd }) => usd)), tokens: greatest(all.map(({ tokens }) => tokens)), ...maxCost };
    return this.knowsEnough(largest) ? { ...only(largest), basis: 'largest' } : { ...maxCost, basis: 'none' };
  }

  /** For each limit of cost there is a figure. */
  private knowsEnough({ usd, tokens }: Figures): boolean {
    const needsUsd = this.limits.usd !== undefined;
    const needsTokens = this.limits.tokens !== undefined;
    if (!needsUsd && !needsTokens) return usd !== undefined || tokens !== undefined;
    return (!needsUsd || usd !== undefined) && (!needsTokens || tokens !== undefined);
  }

  /** BUDGET-1 */
  private limitBeyond({ usd = 0, tokens = 0 }: Reservation): LimitKind | undefined {
    const { limits } = this;
    if (limits.calls !== undefined && this.attempts + 1 > limits.calls) return 'calls';
    if (limits.usd !== undefined && isAbove(this.spentUsd + this.reservedUsd + usd, limits.usd)) return 'usd';
    if (limits.tokens !== undefined && this.spentTokens + this.reservedTokens + tokens > limits.tokens) return 'tokens';
    // A budget that is spent lets nothing start, also where nothing can be reserved.
    if (limits.usd !== undefined && usd === 0 && !isAbove(limits.usd, this.spentUsd + this.reservedUsd)) return 'usd';
    if (limits.tokens !== undefined && tokens === 0 && this.spentTokens + this.reservedTokens >= limits.tokens) return 'tokens';
    return undefined;
  }
}

/** Returns true where nothing says what an attempt of its function costs. */
export function isUnknown({ basis }: Reservation): boolean {
  return basis === 'largest' || basis === 'none';
}

function isFree({ basis, usd, tokens }: Reservation): boolean {
  return basis === 'maxCost' && usd === 0 && tokens === 0; // BUDGET-5
}

/** Returns what the budget limits and the cost of an attempt does not tell: it counts as 0. calls.md 13.4. */
export function uncountedBy(limits: BudgetLimits | undefined, cost: Cost | undefined): readonly (keyof Cost)[] {
  const isShared = limits?.shared !== undefined && cost === undefined;
  return (['usd', 'tokens'] as const).filter((member) => isShared || (limits?.[member] !== undefined && cost?.[member] === undefined));
}

/** Sums of dollars are off by less than this; a billionth of a cent decides nothing. */
const ROUNDING_USD = 1e-9;

function isAbove(usd: number, limit: number): boolean {
  return usd > limit + ROUNDING_USD;
}

function exceeding(reservation: Reservation, limit: LimitKind, limits: BudgetLimits): { readonly needs?: number } {
  const needs = limit === 'usd' || limit === 'tokens' ? reservation[limit] : undefined;
  return needs !== undefined && isAbove(needs, limits[limit] ?? 0) ? { needs } : {};
}

function figuresOf(costs: FunctionCosts): NonNullable<FunctionCosts['figures']> {
  const { known } = costs;
  costs.figures ??= {
    usual: { usd: percentileOf(known, 'usd'), tokens: percentileOf(known, 'tokens') },
    largest: { usd: greatest(known.map(({ usd }) => usd)), tokens: greatest(known.map(({ tokens }) => tokens)) },
  };
  return costs.figures;
}

function percentileOf(costs: readonly Cost[], member: keyof Cost): number | undefined {
  const known = costs.map((cost) => cost[member]).filter((cost) => cost !== undefined);
  if (known.length === 0) return undefined;
  return known.toSorted((left, right) => left - right)[Math.ceil(known.length * PERCENTILE) - 1];
}

function greatest(costs: readonly (number | undefined)[]): number | undefined {
  const known = costs.filter((cost) => cost !== undefined);
  return known.length === 0 ? undefined : known.reduce((largest, cost) => Math.max(largest, cost));
}

function only({ usd, tokens }: Figures): Cost {
  return { ...(usd === undefined ? {} : { usd }), ...(tokens === undefined ? {} : { tokens }) };
}
