/** The page of a server words in its list what the calls of a run came to. */
import { describe, expect, it } from 'vitest';
import { noCalls } from '../../replay/fold/calls/call-counts.js';
import { hasCalls, listWords } from '../../viewer/serve/calls.js';

const { callsMs: _, failedByClass: __, ...NONE } = noCalls();
const calls = (counts: Partial<typeof NONE & { model: string }>) => ({ ...NONE, model: null, ...counts });

describe('the calls of a run', () => {
  it.each([
    [calls({}), false, ''],
    [calls({ executed: 2, attempts: 2, unpriced: 2 }), true, 'cost unknown'],
    [calls({ reused: 4, savedUsd: 0.5 }), true, '4 reused · saved $0.50'],
    [
      calls({ executed: 12, reused: 1, failed: 3, accepted: 1, notExecuted: 1, unresolved: 3, attempts: 17, retries: 2, unpriced: 1 }),
      true,
      'cost unknown · 3 unresolved · 1 reused',
    ],
    [calls({ executed: 1, attempts: 1, costUsd: 1.37, unpriced: 1, model: 'opus' }), true, '$1.37 + 1 unpriced'],
  ])('%j', (counts, has, short) => {
    expect([hasCalls(counts), listWords(counts)]).toEqual([has, short]);
  });
});
