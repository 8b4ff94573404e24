/** Records a run that offered calls, and the run of the worker that executed them. team-store.md 7. */
import type { Fact } from '../../journal/event.js';
import { seqOf } from '../../journal/ids.js';
import { openMemoryStore } from '../../journal/storage/memory-store.js';
import type { JournalStore } from '../../journal/store.js';
import { call, runRef, started } from '../support/written-runs.js';

/** Gives the events of one type further members. */
export function changed(facts: readonly Fact[], type: Fact['type'], members: object): Fact[] {
  return facts.map((fact) => (fact.type === type ? ({ ...fact, ...members } as Fact) : fact));
}

/**
 * Run 1 offered three calls: the worker executed two ($0.01 and $0.02), and one failed there. It executed a fourth itself ($0.01). Run 2 is
 * that of the worker.
 */
export async function recordServed({ isRunning }: { readonly isRunning: boolean }): Promise<JournalStore> {
  const store = openMemoryStore();
  const at = { worker: 'hut', workerHost: 'db7' };
  const cost = (usd: number): object => ({ usage: { costUsd: usd, costSource: 'told' } });
  const atWorker = (op: string, argument: string, usd: number): Fact[] =>
    changed(call(op, argument, { outcome: 'reused' }), 'call.reused', { ...at, workerUsd: usd });
  const begun = { run: runRef(2).run, seq: seqOf(2) };
  const failedThere = changed(call('main/ask#2', 'neap', { outcome: 'failed' }), 'call.started', { ...at, begun });
  const offering = [
    { ...started(runRef(1)), user: 'ada' } as Fact,
    ...atWorker('main/ask#0', 'ebb', 0.01),
    ...atWorker('main/ask#1', 'flow', 0.02),
    ...changed(failedThere, 'call.failed', { onlyCalls: true }),
    ...changed(call('main/ask#3', 'tide'), 'call.completed', cost(0.01)),
  ];
  const ofWorker = [
    { ...started(runRef(2)), user: 'svc', host: 'db7', worker: { for: runRef(1).run, name: 'hut', lanes: {} } } as Fact,
    ...changed(call('main/ask#0', 'ebb'), 'call.completed', cost(0.01)),
    ...changed(call('main/ask#1', 'flow'), 'call.completed', cost(0.02)),
    ...call('main/ask#2', 'neap', { outcome: 'failed' }),
  ];
  const reusedTotals = { executed: 1, reused: 2, failed: 1, unresolved: 1, attempts: 2, costUsd: 0.01, atWorkers: 2, atWorkersUsd: 0.03 };
  const workerTotals = { executed: 2, reused: 0, failed: 1, unresolved: 1, attempts: 3, costUsd: 0.03, unpriced: 1 };
  for (const [number, facts, totals, worker] of [
    [1, offering, reusedTotals, undefined],
    [2, ofWorker, workerTotals, { for: runRef(1).run, name: 'hut' }],
  ] as const) {
    const journal = await store.create(runRef(number));
    for (const fact of facts) await journal.append(fact);
    if (isRunning) continue;
    await journal.append({ type: 'run.finished', status: 'completed', totals, ...(worker && { worker }) });
    await journal.close();
  }
  return store;
}
