/** Adds the usage of several replies. What none of them knows stays unknown. calls.md 9.4 and 10. */
import { addUsd } from '../../journal/facts/add-usd.js';
import type { Usage } from '../../journal/facts/call-event.js';
import { withoutUndefined } from '../values/without-undefined.js';
import type { ReportedUsage } from './replies/reply.js';

/** No call uses or costs more. Such a figure is a mistake of the program that reported it, and would hide the others of a sum. */
const TOKENS_MAX = 1e12;
export const COST_USD_MAX = 1e6;

const COUNTS = ['inputTokens', 'cachedInputTokens', 'cacheWriteTokens', 'outputTokens', 'reasoningTokens', 'costUsd'] as const;

type Count = (typeof COUNTS)[number];

/** Returns why a figure that is an amount is none of a call; undefined where it may be one. */
export function whyExcessive(count: Count, amount: number): string | undefined {
  if (count === 'costUsd') return amount > COST_USD_MAX ? `is more than a call can cost ($${COST_USD_MAX})` : undefined;
  return amount > TOKENS_MAX ? `is more than a call can use (${TOKENS_MAX} tokens)` : undefined;
}

/** Leaves out what no call can use or cost, so that it is unknown; `warn` gets each such member. */
export function withoutExcess(usage: ReportedUsage, warn: (member: string, why: string) => void): ReportedUsage {
  const known: { -readonly [M in keyof ReportedUsage]: ReportedUsage[M] } = { ...usage };
  for (const count of COUNTS) {
    const why = whyExcessive(count, known[count] ?? 0);
    if (why === undefined) continue;
    warn(count, why);
    delete known[count];
  }
  if (usage.models) known.models = usage.models.map((part) => withoutExcess(part, warn));
  return known;
}

/** Takes both for one model where only one of them names it. Of several models, that of the largest cost comes first. */
export function addUsage(first: ReportedUsage | undefined, second: ReportedUsage): ReportedUsage {
  if (first === undefined) return second;
  const sum: { -readonly [M in keyof ReportedUsage]: ReportedUsage[M] } = { ...second, ...first };
  for (const count of COUNTS) {
    const known = [first[count], second[count]].filter((value) => value !== undefined);
    if (known.length > 0) sum[count] = known.reduce(count === 'costUsd' ? addUsd : (total, value) => total + value, 0);
  }
  if (first.requests !== undefined || second.requests !== undefined) sum.requests = (first.requests ?? 1) + (second.requests ?? 1);
  if (first.estimated || second.estimated) sum.estimated = true;
  const sessions = [first.sessionCostUsd, second.sessionCostUsd].filter((cost) => cost !== undefined);
  if (sessions.length > 0) sum.sessionCostUsd = Math.max(...sessions);
  const models = modelsOf(first, second);
  if (models === undefined) return sum;
  const [{ model, provider } = sum] = models;
  return withoutUndefined<ReportedUsage>({ ...sum, model, provider, models });
}

type OneModel = Omit<ReportedUsage, 'models'>;

/** Undefined where all is of one model. */
function modelsOf(first: ReportedUsage, second: ReportedUsage): readonly OneModel[] | undefined {
  const isOne = first.model === undefined || second.model === undefined || first.model === second.model;
  if (!first.models && !second.models && isOne) return undefined;
  const byModel = new Map<string | undefined, OneModel>();
  for (const part of [...partsOf(first), ...partsOf(second)]) {
    const known = byModel.get(part.model);
    byModel.set(part.model, known ? addUsage(known, part) : part);
  }
  return byLargestCost([...byModel.values()]);
}

/** Says nothing about where a cost comes from: that is said of the whole. */
function partsOf(usage: ReportedUsage): readonly OneModel[] {
  if (usage.models) return usage.models;
  const { model, provider } = usage;
  const counts = Object.fromEntries(COUNTS.flatMap((count) => (usage[count] === undefined ? [] : [[count, usage[count]]])));
  return [withoutUndefined<OneModel>({ model, provider, ...counts })];
}

export function byLargestCost<U extends Pick<ReportedUsage, 'costUsd'>>(parts: readonly U[]): readonly U[] {
  return parts.toSorted((left, right) => (right.costUsd ?? 0) - (left.costUsd ?? 0));
}

/** Adds the usage of the attempts of one call. The words about the cost are those of the last attempt that has one. */
export function addAttempt(before: Usage | undefined, last: Usage): Usage {
  if (before === undefined) return last;
  const { costSource = before.costSource, priceTable = before.priceTable, priceModel = before.priceModel, ...rest } = last;
  const isUnknown = costSource === 'unknown' && before.costUsd !== undefined;
  const words = isUnknown ? before : { costSource, priceTable, priceModel };
  return withoutUndefined<Usage>({
    ...addUsage(before, rest),
    costSource: words.costSource,
    priceTable: words.priceTable,
    priceModel: words.priceModel,
    estimated: before.estimated ?? last.estimated,
  });
}
