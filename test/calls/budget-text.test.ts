import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { budgetText, parseBudget } from '../../src/calls/budget/limits.js';

describe('the text of a budget', () => {
  it('is in the largest whole units', () => {
    expect(budgetText({ usd: 5, tokens: 2_000_000, calls: 300, ms: 10_800_000 })).toBe('5usd,2Mtok,300calls,3h');
    expect(budgetText({ tokens: 1_500, ms: 90_000 })).toBe('1500tok,90s');
    expect(budgetText({ tokens: 150_000, ms: 120_000 })).toBe('150ktok,2m');
    expect(budgetText({})).toBe('');
  });

  it('has amounts that can be counted against', () => {
    expect(parseBudget('1.1Mtok,0.5usd', '--budget')).toEqual({ tokens: 1_100_000, usd: 0.5 });
    for (const text of [`${'9'.repeat(400)}usd`, `${'9'.repeat(20)}calls`, '1.5calls', '1.5tok', '0usd', '1eur', '5']) {
      expect(() => parseBudget(text, '--budget')).toThrow(
        expect.objectContaining({ code: 'BUDGET', hint: expect.stringContaining('5usd') }),
      );
    }
  });

  it('reads as the same limits', () => {
    const limits = fc.record(
      {
        usd: fc.integer({ min: 1, max: 1e6 }).map((cents) => cents / 100),
        tokens: fc.integer({ min: 1, max: 1e9 }),
        calls: fc.integer({ min: 1, max: 1e6 }),
        ms: fc.integer({ min: 1, max: 1e6 }).map((seconds) => seconds * 1000),
      },
      { requiredKeys: ['usd'] },
    );
    fc.assert(
      fc.property(limits, (given) => {
        expect(parseBudget(budgetText(given), '--budget')).toEqual(given);
      }),
    );
  });
});
