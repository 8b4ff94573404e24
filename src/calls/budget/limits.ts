/** Reads the limits of a run as they are written: `5usd,2Mtok,300calls,3h`. calls.md 13.1. */
import { MlldError } from '../../errors.js';

export interface BudgetLimits {
  readonly usd?: number;
  /** Input and output. */
  readonly tokens?: number;
  /** Attempts. */
  readonly calls?: number;
  /** Since the start of the run. */
  readonly ms?: number;
  /** The names of budgets that all runs of a project share, in the store of a team. team-store.md 8. */
  readonly shared?: readonly string[];
}

/** The limits that a run counts by itself. */
export type LimitKind = Exclude<keyof BudgetLimits, 'shared'>;

const HINT = 'a list of limits, each at most once: 5usd, 2Mtok (k, M), 300calls, 3h (s, m, h)';

/** The name of a shared budget begins with a letter, where a limit begins with a digit. */
const SHARED_NAME = /^[A-Za-z][\w.-]{0,99}$/;

type UnitRow = readonly [pattern: RegExp, limit: LimitKind, factor: number];

const UNITS: readonly UnitRow[] = [
  [/^usd$/i, 'usd', 1],
  [/^tok(?:ens)?$/, 'tokens', 1],
  [/^ktok(?:ens)?$/, 'tokens', 1_000],
  [/^Mtok(?:ens)?$/, 'tokens', 1_000_000],
  [/^calls?$/, 'calls', 1],
  [/^s$/, 'ms', 1_000],
  [/^m$/, 'ms', 60_000],
  [/^h$/, 'ms', 3_600_000],
];

/** True for what can name a shared budget. A unit without its number is no name. */
export function isSharedName(text: string): boolean {
  return SHARED_NAME.test(text) && !UNITS.some(([unit]) => unit.test(text));
}

/** MlldError BUDGET for a text that is not such a list; `written` is where it stands, as `--budget`, and `hint` what is taken there. */
export function parseBudget(text: string, written: string, hint = HINT): BudgetLimits {
  const limits: { -readonly [L in keyof BudgetLimits]: BudgetLimits[L] } = {};
  for (const part of text.split(',')) {
    const name = part.trim();
    if (isSharedName(name)) {
      limits.shared = [...(limits.shared ?? []).filter((other) => other !== name), name];
      continue;
    }
    const [, number = '', unit = ''] = /^\s*(\d+(?:\.\d+)?)([A-Za-z]+)\s*$/.exec(part) ?? [];
    const row = UNITS.find(([pattern]) => pattern.test(unit));
    const amount = row && amountOf(Number(number), row);
    if (amount === undefined) throw new MlldError('BUDGET', `${written}: "${text}" is not a budget`, { hint });
    const [, limit] = row as UnitRow;
    if (limits[limit] !== undefined)
      throw new MlldError('BUDGET', `${written}: "${text}" is a budget with two limits of one kind`, { hint });
    limits[limit] = amount;
  }
  return limits;
}

/** Undefined for an amount that nothing can be counted against: none, a part of a call or of a token, or more than numbers hold exactly. */
function amountOf(number: number, [, limit, factor]: UnitRow): number | undefined {
  const amount = number * factor;
  if (!(amount > 0) || amount > Number.MAX_SAFE_INTEGER) return undefined;
  if (limit === 'usd') return amount;
  const whole = Math.round(amount);
  return Math.abs(amount - whole) < 1e-6 ? whole : undefined; // 1.1Mtok
}

/** Writes limits as `parseBudget` reads them, each in its largest whole unit. */
export function budgetText({ usd, tokens, calls, ms, shared = [] }: BudgetLimits): string {
  const parts: (readonly string[])[] = [
    shared,
    usd === undefined ? [] : [`${usd}usd`],
    tokens === undefined ? [] : [inUnit(tokens, TOKEN_UNITS)],
    calls === undefined ? [] : [`${calls}calls`],
    ms === undefined ? [] : [inUnit(ms, TIME_UNITS)],
  ];
  return parts.flat().join(',');
}

/** The largest first; the last one takes what no other fits. */
type Units = readonly [...larger: (readonly [factor: number, name: string])[], least: readonly [factor: number, name: string]];

const TOKEN_UNITS: Units = [
  [1_000_000, 'Mtok'],
  [1_000, 'ktok'],
  [1, 'tok'],
];
const TIME_UNITS: Units = [
  [3_600_000, 'h'],
  [60_000, 'm'],
  [1_000, 's'],
];

function inUnit(amount: number, units: Units): string {
  const [factor, name] = units.find(([each]) => amount % each === 0) ?? (units.at(-1) as Units[number]);
  return `${amount / factor}${name}`;
}
