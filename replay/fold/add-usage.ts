/** Adds up the usage of the attempts of a call. */
import { addUsd } from '../../journal/facts/add-usd.js';
import type { Usage } from '../../journal/event.js';

const SUMS = ['inputTokens', 'cachedInputTokens', 'cacheWriteTokens', 'outputTokens', 'reasoningTokens'] as const;

/** Adds what is known; the other members are those of the later attempt. Undefined where nothing is known of either. */
export function addUsage(sum: Usage | undefined, more: Usage | undefined): Usage | undefined {
  if (sum === undefined || more === undefined) return more ?? sum;
  const added: { [name in (typeof SUMS)[number]]?: number } = {};
  for (const name of SUMS) {
    if (sum[name] !== undefined || more[name] !== undefined) added[name] = (sum[name] ?? 0) + (more[name] ?? 0);
  }
  const isPriced = sum.costUsd !== undefined || more.costUsd !== undefined;
  return { ...sum, ...more, ...added, ...(isPriced && { costUsd: addUsd(sum.costUsd ?? 0, more.costUsd ?? 0) }) };
}
