import { expect, it } from 'vitest';
import { sha256 } from '../../journal/canonical.js';
import type { CallKey } from '../../journal/ids.js';
import { bounded, splitInvalidation } from '../../src/session/ports/fit-facts.js';
import { callStarted, finished } from '../journal/support/facts.js';

const LONG = 'x'.repeat(70_000);

it('passes on a fact whose texts fit, without a copy', () => {
  const fact = callStarted(1);
  expect(bounded(fact)).toBe(fact);
});

it('cuts a long message, and says how long it was', () => {
  const error = { code: 'CODE_THREW', message: LONG };
  const cut = bounded({ type: 'run.finished', status: 'failed', error, totals: { executed: 0, reused: 0, failed: 1 } });
  const message = cut.type === 'run.finished' ? (cut.error?.message ?? '') : '';
  expect(message).toHaveLength(64 * 1024 + '… (the beginning of 70000 characters)'.length);
  expect(message.endsWith('… (the beginning of 70000 characters)')).toBe(true);
  expect(cut).toMatchObject({ error: { code: 'CODE_THREW' } });
  expect(error.message).toBe(LONG);
});

it('leaves the run without an error as it is', () => {
  expect(bounded(finished)).toBe(finished);
});

it('splits an invalidation of very many keys, and loses none', () => {
  const keys: readonly CallKey[] = Array.from({ length: 250_001 }, (_, n) => sha256(`${n % 7}`) as CallKey);
  const parts = splitInvalidation({ type: 'memo.invalidated', selector: '@review', keys, borrowed: true });
  expect(parts.map((part) => (part.type === 'memo.invalidated' ? part.keys.length : 0))).toEqual([100_000, 100_000, 50_001]);
  expect(parts.every((part) => part.type === 'memo.invalidated' && part.borrowed === true && part.selector === '@review')).toBe(true);
  expect(splitInvalidation({ type: 'memo.reset', reason: 'fresh' })).toEqual([{ type: 'memo.reset', reason: 'fresh' }]);
});
