import { expect, it } from 'vitest';
import type { Fact } from '../../../journal/event.js';
import { openMemoryStore } from '../../../journal/storage/memory-store.js';
import { statsOf } from '../../../replay/reports/stats/stats.js';
import { call, finished, JOB, runRef, started } from '../../support/written-runs.js';

const DAY_OF_RUNS = 24 * 60;

async function statsFor(...runs: readonly (readonly [number: number, facts: readonly Fact[]])[]) {
  const store = openMemoryStore();
  for (const [number, facts] of runs) {
    const journal = await store.create(runRef(number));
    for (const fact of [started(runRef(number)), ...facts]) await journal.append(fact);
    await journal.close();
  }
  return statsOf(store, await store.runs(JOB), () => expect.unreachable());
}

const costing = (facts: readonly Fact[], costUsd: number): Fact[] =>
  facts.map((fact): Fact => (fact.type === 'call.completed' ? { ...fact, usage: { costUsd } } : fact));

it('adds runs up, by function and by day', async () => {
  const stats = await statsFor(
    [1, [...costing(call('main/ask#0', 'ebb'), 0.5), ...call('main/judge#0', 'x', { fn: 'judge', outcome: 'failed' }), finished('failed')]],
    [2, [...call('main/ask#0', 'ebb', { outcome: 'reused' }), ...costing(call('main/ask#1', 'flow'), 0.25), finished()]],
    [DAY_OF_RUNS + 1, [...call('main/ask#0', 'ebb', { outcome: 'reused' }), ...call('main/ask#1', 'flow', { outcome: 'killed' })]],
  );
  expect(stats.statuses).toEqual({ failed: 1, completed: 1, crashed: 1 });
  expect(stats.total).toMatchObject({ runs: 3, completed: 1, executed: 2, reused: 2, failed: 1, hitRate: 0.5, costUsd: 0.75 });
  expect(stats.functions).toMatchObject([
    { fn: 'judge', executed: 0, failed: 1, hitRate: null, costUsd: null, medianMs: null },
    { fn: 'ask', executed: 2, reused: 2, failed: 0, medianMs: 5, p90Ms: 5 },
  ]);
  expect(stats.days).toMatchObject([
    { day: '2026-01-01', runs: 2, hitRate: 1 / 3 },
    { day: '2026-01-02', runs: 1, hitRate: 1, costUsd: null, medianMs: null },
  ]);
});

it('knows no cost of a result that came of calls alone, which is theirs', async () => {
  const wrap = call('main/wrap#0', 'w', { fn: 'wrap' }).map((fact): Fact =>
    fact.type === 'call.completed' ? { ...fact, onlyCalls: true } : fact,
  );
  const stats = await statsFor([1, [...wrap, ...costing(call('main/ask#0', 'ebb'), 0.5), finished()]]);
  expect(stats.functions).toMatchObject([
    { fn: 'wrap', costUsd: null, medianResultUsd: null },
    { fn: 'ask', costUsd: 0.5, medianResultUsd: 0.5 },
  ]);
});

it('counts a run that reached its end with an unresolved call as incomplete', async () => {
  const ended = [...call('main/ask#0', 'ebb', { outcome: 'failed' }), finished()];
  const stats = await statsFor([1, ended], [2, [...call('main/ask#0', 'ebb'), finished()]]);
  expect(stats.statuses).toEqual({ incomplete: 1, completed: 1 });
  expect(stats.total).toMatchObject({ runs: 2, completed: 1, unresolved: 1 });
});

it('has no figures without runs', async () => {
  expect(await statsFor()).toMatchObject({ total: { runs: 0, hitRate: null, costUsd: null, medianMs: null }, functions: [], days: [] });
});
