/** Samples of a question, and the calls that get them: SAMPLE-1 to SAMPLE-4. workflows-js.md 6.2. */
import { expect, it } from 'vitest';

import type { CallKey, OpPath } from '../../journal/ids.js';
import { memo, type Memo, type MemoEntry } from '../../replay/memo/memo.js';
import { agentCalls, type AgentCalls } from '../../replay/workflows/agent-calls.js';
import { Samples } from '../../replay/workflows/samples.js';

const keyOf = (number: number): CallKey => `key${number}` as CallKey;
const op = (path: string): OpPath => `${path}/agent~0123abcd#0` as OpPath;

interface Recorded {
  readonly number: number;
  readonly branch: string;
  readonly hasResult?: boolean;
  readonly kind?: string;
  readonly seq?: number;
}

function recorded(...samples: readonly Recorded[]): { readonly calls: AgentCalls; readonly own: Memo; readonly forks: readonly Memo[] } {
  const calls = agentCalls.initial();
  const own = memo.initial();
  const known = new Map<CallKey, Set<OpPath | undefined>>();
  calls.byDigits.set('0123abcd', known);
  for (const { number, branch, hasResult = true, kind = 'agent', seq = number } of samples) {
    const key = keyOf(number);
    calls.byPath.set(op(branch), hasResult ? key : undefined);
    if (!hasResult) continue;
    known.set(key, new Set([branch as OpPath]));
    const result = { ref: { run: 'r1' }, seq } as unknown as MemoEntry['result'];
    calls.kinds.set(`r1:${seq}`, kind);
    own.entries.set(key, { attempt: number === 1 ? undefined : number, result } as MemoEntry);
  }
  return { calls, own, forks: [] };
}

const take = (samples: Samples, branch: string): string => {
  const { number, isRecorded } = samples.take({ op: op(branch), digits: '0123abcd', keysOf: (n) => [keyOf(n)] });
  return `${number}${isRecorded ? '' : ' executed'}`;
};

it('gives each path its own sample, whatever starts first', () => {
  const samples = new Samples(recorded({ number: 1, branch: 'main/a' }, { number: 2, branch: 'main/b' }));
  expect([take(samples, 'main/b'), take(samples, 'main/a')]).toEqual(['2', '1']);
});

it('gives a sample to one call only, and numbers a new one behind those with a result', () => {
  const samples = new Samples(recorded({ number: 1, branch: 'main/a' }, { number: 2, branch: 'main/b' }));
  expect([take(samples, 'main/x'), take(samples, 'main/y'), take(samples, 'main/z')]).toEqual(['1', '2', '3 executed']);
});

it('gives a known path without a result no sample of another branch', () => {
  const samples = new Samples(recorded({ number: 1, branch: 'main/a' }, { number: 2, branch: 'main/b', hasResult: false }));
  expect([take(samples, 'main/b'), take(samples, 'main/a')]).toEqual(['2 executed', '1']);
});

it('gives a new path the oldest sample', () => {
  const samples = new Samples(recorded({ number: 1, branch: 'main/a', seq: 9 }, { number: 2, branch: 'main/b', seq: 4 }));
  expect([take(samples, 'main/new'), take(samples, 'main/newer')]).toEqual(['2', '1']);
});

it('takes no sample of another kind, and executes under another number', () => {
  const samples = new Samples(recorded({ number: 1, branch: 'main', kind: 'llm' }, { number: 2, branch: 'main/a' }));
  expect([take(samples, 'main'), take(samples, 'main/x')]).toEqual(['3 executed', '2']);
});

it('executes under the number of an invalidated sample', () => {
  const sources = recorded({ number: 1, branch: 'main/a' }, { number: 2, branch: 'main/b' });
  sources.own.entries.set(keyOf(1), { ...(sources.own.entries.get(keyOf(1)) as MemoEntry), result: undefined });
  const samples = new Samples(sources);
  expect([take(samples, 'main/a'), take(samples, 'main/b')]).toEqual(['1 executed', '2']);
});

it('numbers the samples of a run that reuses nothing', () => {
  const samples = new Samples(undefined);
  expect([take(samples, 'main/a'), take(samples, 'main/a'), take(samples, 'main/b')]).toEqual(['1 executed', '2 executed', '3 executed']);
});

it.each([
  ['of a new question', 0, 'main'],
  ['at their own places', 2000, 'main'],
  ['in another branch', 2000, 'main/moved'],
])('looks at as many keys for the last sample as for the first: %s', (_what, count, branch) => {
  const before = Array.from({ length: count }, (_, index) => ({ number: index + 1, branch: `main/p[${index}]` }));
  const samples = new Samples(recorded(...before));
  let keys = 0;
  const takeAt = (index: number): void => {
    const path = op(branch === 'main' ? `main/p[${index}]` : branch);
    samples.take({ op: path, digits: '0123abcd', keysOf: (n) => (keys++, [keyOf(n)]) });
  };
  for (let index = 0; index < 2000; index++) takeAt(index);
  expect(keys).toBeLessThan(2000 * 8);
});
