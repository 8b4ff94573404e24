/** The page of a server words what the calls of a run came to. */
import { describe, expect, it } from 'vitest';
import { noCalls } from '../../replay/fold/call-counts.js';
import { callWords, hasCalls, listWords } from '../../viewer/serve/calls.js';

const { callsMs: _, failedByClass: __, ...NONE } = noCalls();
const calls = (counts: Partial<typeof NONE & { model: string }>) => ({ ...NONE, model: null, ...counts });

describe('the calls of a run', () => {
  it.each([
    [calls({}), false, 'Calls: ', ''],
    [calls({ executed: 2, attempts: 2, unpriced: 2 }), true, 'Calls: 2 executed · cost unknown', 'cost unknown'],
    [calls({ reused: 4, savedUsd: 0.5 }), true, 'Calls: 4 reused · saved $0.50', '4 reused · saved $0.50'],
    [
      calls({ executed: 12, reused: 1, failed: 3, accepted: 1, notExecuted: 1, unresolved: 3, attempts: 17, retries: 2, unpriced: 1 }),
      true,
      'Calls: 12 executed · 1 reused · 2 failed · 1 accepted · 1 not executed · 3 unresolved · 2 retries · cost unknown',
      'cost unknown · 3 unresolved · 1 reused',
    ],
    [
      calls({ executed: 1, attempts: 1, inputTokens: 14_200, outputTokens: 812, costUsd: 1.37, unpriced: 1, model: 'opus' }),
      true,
      'Calls: 1 executed · 14,200 tokens in · 812 out · $1.37 + 1 unpriced · opus',
      '$1.37 + 1 unpriced',
    ],
  ])('%j', (counts, has, words, short) => {
    expect([hasCalls(counts), callWords(counts), listWords(counts)]).toEqual([has, words, short]);
  });
});
