/** Adds the usage of several replies. What none of them knows stays unknown. calls.md 9.4 and 10. */
import type { Usage } from '../../journal/facts/call-event.js';
import { withoutUndefined } from '../values/without-undefined.js';
import type { ReportedUsage } from './replies/reply.js';

const COUNTS = ['inputTokens', 'cachedInputTokens', 'cacheWriteTokens', 'outputTokens', 'reasoningTokens', 'costUsd'] as const;

/** The model is that of the first that names one. */
export function addUsage(first: ReportedUsage | undefined, second: ReportedUsage): ReportedUsage {
  if (first === undefined) return second;
  const sum: { -readonly [M in keyof ReportedUsage]: ReportedUsage[M] } = { ...second, ...first };
  for (const count of COUNTS) {
    const known = [first[count], second[count]].filter((value) => value !== undefined);
    if (known.length > 0) sum[count] = known.reduce((total, value) => total + value, 0);
  }
  if (first.estimated || second.estimated) sum.estimated = true;
  const sessions = [first.sessionCostUsd, second.sessionCostUsd].filter((cost) => cost !== undefined);
  if (sessions.length > 0) sum.sessionCostUsd = Math.max(...sessions);
  if (first.models || second.models) sum.models = [...(first.models ?? []), ...(second.models ?? [])];
  return sum;
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
