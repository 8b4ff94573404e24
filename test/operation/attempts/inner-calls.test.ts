/** Holds calls that make calls to their lanes and budgets: the outer one waits for the inner ones, and they never for it. calls.md 13.6. */
import { afterEach, beforeEach, expect, it, vi } from 'vitest';

import { runCalls, type PlannedCall } from './virtual-calls.js';

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

const inner: PlannedCall = {
  fn: 'inner',
  options: { maxCost: { usd: 0.6 } },
  attempt: () => ({ ms: 10, usage: { model: 'm', costUsd: 0.3, inputTokens: 1, outputTokens: 1 } }),
};
const outer: PlannedCall = {
  fn: 'outer',
  options: { lane: '@outer', maxCost: { usd: 0.6 } },
  attempt: () => ({ ms: 10, usage: { model: 'm', costUsd: 0.1, inputTokens: 1, outputTokens: 1 } }),
  inner: [inner],
};

it('a budget that has no room for the inner call beside the outer one pauses the run', async () => {
  const run = await runCalls([outer], { settings: { budget: { usd: 1 } } });
  expect(run).toMatchObject({ isPaused: true, results: 0 });
  expect(run.facts).toContainEqual(expect.objectContaining({ type: 'dispatch.stopped', class: 'budget' }));
});

it('neither waits for the other where two outer calls have used the budget up', async () => {
  const run = await runCalls([outer, outer], { settings: { budget: { usd: 1.3 } } });
  expect(run).toMatchObject({ isPaused: true, results: 0 });
});

it('a call of a function with unknown cost may call that function', async () => {
  const leaf = { ...inner, fn: 'ask', options: {} };
  const run = await runCalls([{ ...outer, fn: 'ask', options: { lane: '@outer' }, inner: [leaf] }], { settings: { budget: { usd: 1 } } });
  expect(run).toMatchObject({ isPaused: false, results: 1 });
});

it('a budget that has room lets both go on', async () => {
  expect(await runCalls([outer, outer], { parallel: 1, settings: { budget: { usd: 2 } } })).toMatchObject({ isPaused: false, results: 2 });
});

it('the time in which an inner call waits for its lane counts for no limit of a call around it', async () => {
  const held = {
    ...inner,
    attempt: (tried: number) => (tried === 1 ? { ms: 10, class: 'rate-limit' as const, retryAfterMs: 60_000 } : { ms: 10 }),
  };
  const middle = { ...outer, fn: 'middle', options: { lane: '@middle' }, inner: [held] };
  const run = await runCalls([{ ...outer, options: { lane: '@outer', timeoutMs: 1000, retries: { timeout: 0 } }, inner: [middle] }]);
  expect(run).toMatchObject({ results: 1, failed: 0 });
  expect(run.elapsedMs).toBeGreaterThan(60_000);
});

it('the time in which an inner call is executed counts, also while another one waits', async () => {
  const slow = { ...inner, fn: 'slow', options: { lane: '@slow' }, attempt: () => ({ ms: 5000 }) };
  const held = {
    ...inner,
    attempt: (tried: number) => (tried === 1 ? { ms: 10, class: 'rate-limit' as const, retryAfterMs: 60_000 } : { ms: 10 }),
  };
  const options = { lane: '@outer', timeoutMs: 1000, retries: { timeout: 0 } };
  const run = await runCalls([{ ...outer, options, inner: [held, slow], isParallel: true }]);
  expect(run).toMatchObject({ results: 0, failed: 1 });
  const end = run.facts.findLast(({ type }) => type === 'call.failed');
  expect(end).toMatchObject({ class: 'timeout', evidence: 'clock' });
});

it('an outer call whose lane of inner calls is stopped is not timed out while the rest of the run goes on', async () => {
  const stopped = { ...inner, attempt: () => ({ ms: 10, class: 'quota' as const }) };
  const outside = { ...inner, fn: 'outside', options: { lane: '@outside' }, attempt: () => ({ ms: 60_000 }) };
  const options = { lane: '@outer', timeoutMs: 1000 };
  const run = await runCalls([{ ...outer, options, inner: [stopped] }, outside]);
  expect(run).toMatchObject({ isPaused: true, results: 1, failed: 0 });
  expect(run.facts.filter((fact) => fact.type === 'call.failed')).toMatchObject([{ class: 'quota' }, { code: 'INTERRUPTED' }]);
});

it('a concurrency of 1 counts no attempt that waits for a call inside it', async () => {
  expect(await runCalls([outer, outer], { settings: { concurrency: 1 } })).toMatchObject({ isPaused: false, results: 2 });
});

it('a lane that lets one attempt start holds the outer and the inner call', async () => {
  const both = { ...outer, options: { lane: 'provider' }, inner: [{ ...inner, inner: [inner] }] };
  const run = await runCalls([both, both, both], { settings: { lanes: [['provider', { max: 1 }]] } });
  expect(run).toMatchObject({ isPaused: false, results: 3 });
});

it('a run is paused when outer calls for ever wait for a stopped lane, but not before the others have ended', async () => {
  const stopped = { ...inner, attempt: () => ({ ms: 10, class: 'quota' as const }) };
  const outside = { ...inner, fn: 'outside', options: { lane: '@outside' } };
  const run = await runCalls([{ ...outer, inner: [stopped] }, outside, outside], { settings: { concurrency: 1 } });
  expect(run).toMatchObject({ isPaused: true, results: 2 });
});
