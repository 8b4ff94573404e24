/**
 * Random histories of calls under a budget, in virtual time, on the real attempts, lanes and budget. calls.md 13.
 * `BUDGET_HISTORIES=10000` runs so many of them; `BUDGET_HISTORIES_SEED` begins elsewhere.
 */
import fc from 'fast-check';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';

import type { Fact, FactOf } from '../../../journal/event.js';
import type { FailureClass } from '../../../src/calls/failure.js';
import { runCalls, type PlannedAttempt, type PlannedCall, type VirtualRun } from './virtual-calls.js';

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

const numRuns = Number(process.env['BUDGET_HISTORIES'] ?? 200);
const seed = process.env['BUDGET_HISTORIES_SEED'];

const CLASSES: readonly (FailureClass | undefined)[] = [
  undefined,
  undefined,
  undefined,
  undefined,
  'rate-limit',
  'overloaded',
  'network',
  'crash',
  'content',
  'quota',
];

const attempt = fc.record({
  ms: fc.integer({ min: 1, max: 5_000 }),
  class: fc.constantFrom(...CLASSES),
  cents: fc.option(fc.integer({ min: 0, max: 60 }), { freq: 8 }),
  tokens: fc.integer({ min: 1, max: 900 }),
  retryAfterMs: fc.option(fc.integer({ min: 1, max: 3_000 }), { nil: undefined, freq: 2 }),
});
const call = fc.record({
  fn: fc.constantFrom('ask', 'judge', 'sum'),
  attempts: fc.array(attempt, { minLength: 1, maxLength: 4 }),
  maxCents: fc.option(fc.integer({ min: 1, max: 70 }), { freq: 2 }),
  lane: fc.constantFrom('a', 'b'),
  retries: fc.option(fc.integer({ min: 0, max: 3 }), { nil: undefined }),
});
const history = fc.record({
  calls: fc.array(call, { minLength: 1, maxLength: 30 }),
  usd: fc.option(fc.integer({ min: 5, max: 600 }), { freq: 5 }),
  tokens: fc.option(fc.integer({ min: 100, max: 9_000 }), { freq: 2 }),
  attempts: fc.option(fc.integer({ min: 1, max: 40 }), { freq: 1 }),
  parallel: fc.integer({ min: 1, max: 8 }),
  concurrency: fc.option(fc.integer({ min: 1, max: 5 }), { nil: undefined }),
  seed: fc.nat(),
});
type History = typeof history extends fc.Arbitrary<infer H> ? H : never;

const known = (defined: object): object => Object.fromEntries(Object.entries(defined).filter(([, value]) => value != null));

function planned({ fn, attempts, maxCents, lane, retries }: History['calls'][number]): PlannedCall {
  const plan = (tried: number): PlannedAttempt => {
    const {
      ms,
      class: failureClass,
      cents,
      tokens,
      retryAfterMs,
    } = attempts[Math.min(tried, attempts.length) - 1] as (typeof attempts)[number];
    const usage = cents === null ? undefined : { model: 'm', costUsd: cents / 100, inputTokens: tokens, outputTokens: 0 };
    return known({ ms, class: failureClass, usage, retryAfterMs }) as unknown as PlannedAttempt;
  };
  const maxCost = maxCents === null ? undefined : { usd: maxCents / 100, tokens: 900 };
  return { fn, options: known({ lane, retries, maxCost }), attempt: plan };
}

type Started = FactOf<'call.started'>;
type Ended = FactOf<'call.completed'> | FactOf<'call.failed'>;

/** Reads the facts as somebody does who has only the journal. */
function check({ facts, ledger, isPaused }: VirtualRun, { usd, tokens, concurrency }: History): void {
  const inFlight = new Map<string, Started>();
  const paid: string[] = [];
  const stopped = new Set<string>();
  let [spentUsd, spentTokens, excessUsd, excessTokens] = [0, 0, 0, 0];
  for (const fact of facts as readonly Fact[]) {
    if (fact.type === 'dispatch.stopped') stopped.add(fact.lane ?? 'all');
    if (fact.type === 'call.started') {
      expect([...stopped].filter((lane) => lane === 'all' || lane === fact.lane)).toEqual([]);
      expect(inFlight.has(fact.op)).toBe(false);
      inFlight.set(fact.op, fact);
      expect(inFlight.size).toBeLessThanOrEqual(concurrency ?? Number.POSITIVE_INFINITY);
      const sum = (member: 'usd' | 'tokens'): number =>
        [...inFlight.values()].reduce((all, each) => all + (each.reserved?.[member] ?? 0), 0);
      if (usd !== null) expect(spentUsd + sum('usd')).toBeLessThanOrEqual(usd / 100 + 1e-6);
      if (tokens !== null) expect(spentTokens + sum('tokens')).toBeLessThanOrEqual(tokens);
    } else if (fact.type === 'call.completed' || fact.type === 'call.failed') {
      const { op, usage } = fact as Ended;
      const begun = inFlight.get(op);
      expect(begun).toBeDefined();
      inFlight.delete(op);
      if ('class' in fact && fact.class === 'quota' && begun?.lane !== undefined) stopped.add(begun.lane);
      const cost = usage?.costUsd ?? 0;
      const used = (usage?.inputTokens ?? 0) + (usage?.outputTokens ?? 0);
      [spentUsd, spentTokens] = [spentUsd + cost, spentTokens + used];
      excessUsd += Math.max(0, cost - (begun?.reserved?.usd ?? 0));
      excessTokens += Math.max(0, used - (begun?.reserved?.tokens ?? 0));
      if (usage) paid.push(`${cost} ${used}`);
    }
  }
  expect([...inFlight.keys()]).toEqual([]); // no reservation outlives its call
  expect(paid.toSorted((left, right) => left.localeCompare(right))).toEqual(
    ledger
      .flatMap(({ usage }) => (usage ? [`${usage.costUsd} ${(usage.inputTokens ?? 0) + (usage.outputTokens ?? 0)}`] : []))
      .toSorted((left, right) => left.localeCompare(right)),
  );
  if (usd !== null) expect(Math.max(0, spentUsd - usd / 100)).toBeLessThanOrEqual(excessUsd + 1e-6);
  if (tokens !== null) expect(Math.max(0, spentTokens - tokens)).toBeLessThanOrEqual(excessTokens);
  if (isPaused) expect(facts.some(({ type }) => type === 'dispatch.stopped')).toBe(true);
}

it(
  'keep spent and reserved within the budget at each start, and leave no reservation and no paid call behind',
  async () => {
    await fc.assert(
      fc.asyncProperty(history, async (each) => {
        const { calls, usd, tokens, attempts, parallel, concurrency } = each;
        const budget = known({ usd: usd === null ? null : usd / 100, tokens, calls: attempts });
        const settings = { ...(Object.keys(budget).length > 0 ? { budget } : {}), ...(concurrency === undefined ? {} : { concurrency }) };
        check(await runCalls(calls.map(planned), { parallel, settings, seed: each.seed }), each);
      }),
      { numRuns, ...(seed === undefined ? {} : { seed: Number(seed) }) },
    );
  },
  60_000 + numRuns * 200,
);
