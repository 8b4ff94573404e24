/** Adds up attempts, tokens and cost by model: an attempt that used several counts for each of them. */
import { sumUsd } from '../../../journal/facts/add-usd.js';
import type { Usage } from '../../../journal/event.js';
import type { TimelineAttempt } from './timeline-attempt.js';
import type { Timeline } from './timeline.js';

export interface ModelTally {
  /** Null for attempts that did not report a model, as those in flight and those that the end of the run cut off. */
  readonly name: string | null;
  readonly attempts: number;
  readonly inputTokens: number | null;
  readonly outputTokens: number | null;
  readonly costUsd: number | null;
}

/** Returns the dearest first, then the one with the most attempts. */
export function modelsOf({ spans }: Timeline): readonly ModelTally[] {
  const tallies = new Map<string | null, ModelTally>();
  for (const { calls } of spans) {
    for (const { attempts } of calls) {
      for (const attempt of attempts) for (const usage of usagesOf(attempt)) add(tallies, usage);
    }
  }
  return [...tallies.values()].sort(
    (left, right) => (right.costUsd ?? 0) - (left.costUsd ?? 0) || right.attempts - left.attempts || compare(left.name, right.name),
  );
}

function usagesOf({ outcome, usage }: TimelineAttempt): readonly Usage[] {
  if (outcome === 'not-executed') return [];
  return usage?.models ?? [usage ?? {}];
}

function add(tallies: Map<string | null, ModelTally>, { model, inputTokens, outputTokens, costUsd }: Usage): void {
  const name = model ?? null;
  const { attempts, ...sums } = tallies.get(name) ?? { attempts: 0, inputTokens: null, outputTokens: null, costUsd: null };
  tallies.set(name, {
    name,
    attempts: attempts + 1,
    inputTokens: sumOf(sums.inputTokens, inputTokens),
    outputTokens: sumOf(sums.outputTokens, outputTokens),
    costUsd: sumUsd(sums.costUsd, costUsd),
  });
}

function sumOf(sum: number | null, more: number | undefined): number | null {
  return more === undefined ? sum : (sum ?? 0) + more;
}

function compare(left: string | null, right: string | null): number {
  return (left ?? '').localeCompare(right ?? '');
}
