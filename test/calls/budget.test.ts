/** Attempts reserve and settle their cost until a budget is reached. calls.md 13. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';

import { Budget, type Cost, type Reserved } from '../../src/calls/budget/budget.js';
import { parseBudget } from '../../src/calls/budget/limits.js';

describe('a budget as it is written', () => {
  it.each([
    ['5usd', { usd: 5 }],
    ['0.5usd,2Mtok,300calls,3h', { usd: 0.5, tokens: 2_000_000, calls: 300, ms: 10_800_000 }],
    ['200ktok, 90s', { tokens: 200_000, ms: 90_000 }],
  ])('%s', (text, limits) => {
    expect(parseBudget(text, '--budget')).toEqual(limits);
  });

  it.each(['5', 'usd', '0usd', '1usd,2usd', '5eur', '', '-1usd', '1usd,'])('is refused: %j', (text) => {
    expect(() => parseBudget(text, '--budget')).toThrow(
      expect.objectContaining({ code: 'BUDGET', message: expect.stringContaining(`"${text}"`) }),
    );
  });
});

function started(budget: Budget, fn: string, maxCost?: Cost): Reserved {
  const admission = budget.admit(fn, 0, maxCost);
  if (admission.kind !== 'start') throw new Error(admission.kind);
  return admission.reserved;
}

describe('a reservation', () => {
  it('is what the function says that it costs at most', () => {
    const budget = new Budget({ usd: 3 });
    for (let n = 0; n < 3; n++) expect(started(budget, 'ask', { usd: 1 }).reservation).toEqual({ usd: 1, basis: 'maxCost' });
    expect(budget.admit('ask', 0, { usd: 1 })).toEqual({ kind: 'wait' });
  });

  it('is the 95th percentile of the known costs of the function, those of earlier runs included', () => {
    const costs = Array.from({ length: 100 }, (_, n) => ({ usd: (n + 1) / 100 }));
    expect(started(new Budget({ usd: 10 }, new Map([['ask', costs]])), 'ask').reservation).toEqual({ usd: 0.95, basis: 'history' });
  });

  it('is nothing for the first call of all, which runs alone until its cost is known', () => {
    const budget = new Budget({ usd: 1 });
    const first = started(budget, 'ask');
    expect(first.reservation).toEqual({ basis: 'none' });
    expect(budget.admit('ask', 0)).toEqual({ kind: 'wait' });
    budget.settle(first, { usd: 0.4 });
    expect(started(budget, 'ask').reservation).toEqual({ usd: 0.4, basis: 'history' });
    expect(budget.admit('ask', 0)).toEqual({ kind: 'wait' });
  });

  it('is known by the costs of before in dollars, where maxCost is one of tokens', () => {
    const budget = new Budget({ usd: 1 }, new Map([['ask', [{ usd: 0.4, tokens: 10 }]]]));
    expect(started(budget, 'ask', { tokens: 500 }).reservation).toEqual({ usd: 0.4, tokens: 500, basis: 'history' });
    expect(started(budget, 'ask', { tokens: 500 }).reservation).toMatchObject({ usd: 0.4 });
    expect(budget.admit('ask', 0, { tokens: 500 })).toEqual({ kind: 'wait' });
    const first = new Budget({ usd: 1, tokens: 900 });
    expect(started(first, 'ask', { tokens: 500 }).reservation).toEqual({ tokens: 500, basis: 'none' });
    expect(first.admit('ask', 0, { tokens: 500 })).toEqual({ kind: 'wait' });
  });

  it('is the largest cost of any function for one that is not known', () => {
    const budget = new Budget({ usd: 10 }, new Map([['ask', [{ usd: 0.2 }, { usd: 0.7 }]]]));
    expect(started(budget, 'judge').reservation).toEqual({ usd: 0.7, basis: 'largest' });
  });
});

describe('a budget is reached', () => {
  it('when nothing in flight can make room', () => {
    const budget = new Budget({ usd: 1 });
    budget.settle(started(budget, 'ask', { usd: 0.8 }), { usd: 0.8 });
    expect(budget.admit('ask', 0, { usd: 0.8 })).toEqual({ kind: 'reached', limit: 'usd' });
  });

  it('by an attempt that needs more than all of it, which is said', () => {
    expect(new Budget({ usd: 1 }).admit('ask', 0, { usd: 1.5 })).toEqual({ kind: 'reached', limit: 'usd', needs: 1.5 });
    expect(new Budget({ tokens: 1000 }).admit('ask', 0, { tokens: 1000 })).toMatchObject({ kind: 'start' });
  });

  it('after so many attempts, whatever is in flight', () => {
    const budget = new Budget({ calls: 2 });
    started(budget, 'ask');
    started(budget, 'ask');
    expect(budget.admit('ask', 0)).toEqual({ kind: 'reached', limit: 'calls' });
  });

  it('when its time is over', () => {
    expect(new Budget({ ms: 1_000 }).admit('ask', 1_000)).toEqual({ kind: 'reached', limit: 'ms' });
  });
});

it('is never exceeded at a start, and by no more than attempts in flight cost beyond their reservations', () => {
  const step = fc.record({
    fn: fc.constantFrom('a', 'b'),
    cents: fc.integer({ min: 0, max: 60 }),
    max: fc.option(fc.integer({ min: 1, max: 50 })),
    starts: fc.boolean(),
  });
  fc.assert(
    fc.property(fc.integer({ min: 10, max: 300 }), fc.array(step, { maxLength: 60 }), (limit, steps) => {
      const budget = new Budget({ usd: limit / 100 });
      const inFlight: { reserved: Reserved; usd: number }[] = [];
      let excess = 0;
      const settle = (): void => {
        const next = inFlight.shift();
        if (!next) return;
        budget.settle(next.reserved, { usd: next.usd });
        excess += Math.max(0, next.usd - (next.reserved.reservation.usd ?? 0));
      };
      for (const { fn, cents, max, starts } of steps) {
        if (!starts) settle();
        const admission = budget.admit(fn, 0, max === null ? undefined : { usd: max / 100 });
        if (admission.kind === 'reached') expect(inFlight.length === 0 || admission.limit !== 'usd').toBe(true);
        if (admission.kind !== 'start') continue;
        inFlight.push({ reserved: admission.reserved, usd: cents / 100 });
        const reserved = inFlight.reduce((sum, each) => sum + (each.reserved.reservation.usd ?? 0), 0);
        expect(budget.spent.usd + reserved).toBeLessThanOrEqual(limit / 100 + 1e-6);
      }
      while (inFlight.length > 0) settle();
      expect(budget.over.usd).toBeLessThanOrEqual(excess + 1e-6);
    }),
    { numRuns: 2_000 },
  );
});
