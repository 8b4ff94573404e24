/** Crashed runs are read once, whatever becomes of what was kept of them. */
import { describe, expect, it } from 'vitest';
import { openMemoryStore } from '../../../journal/storage/memory-store.js';
import type { JournalStore } from '../../../journal/store.js';
import { CRASHED_RUNS, crashedRuns } from '../../../replay/reports/summary/crashed-runs.js';
import { call, finished, JOB, runRef, started } from '../../support/written-runs.js';

/** Two that crashed and one that ended; `read` counts the runs that were read whole. */
async function recorded(): Promise<{ store: JournalStore; list: () => ReturnType<typeof crashedRuns>; read: () => number }> {
  const inner = openMemoryStore();
  for (const number of [1, 2, 3]) {
    const ref = runRef(number);
    const journal = await inner.create(ref);
    const end = number === 2 ? [finished()] : [];
    for (const fact of [started(ref), ...call('main/ask#0', 'ebb'), ...call('main/ask#1', 'flow', { outcome: 'killed' }), ...end])
      await journal.append(fact);
    await journal.close();
  }
  let count = 0;
  const store = Object.create(inner, {
    scan: { value: (...args: Parameters<JournalStore['scan']>) => (count++, inner.scan(...args)) },
  }) as JournalStore;
  return { store, list: async () => crashedRuns(store, JOB, await store.runs(JOB)), read: () => count };
}

describe('crashed runs', () => {
  it('are summarised the same the first time and from what was kept, which reads no run', async () => {
    const { list, read } = await recorded();
    const first = await list();
    expect([...first.keys()]).toEqual([runRef(1).run, runRef(3).run]);
    expect(first.get(runRef(1).run)).toMatchObject({ status: 'crashed', executed: 1, inFlight: [{ fn: 'ask', preview: 'flow' }] });
    expect(read()).toBe(2);
    const again = await list();
    expect(read()).toBe(2);
    expect(JSON.parse(JSON.stringify([...again]))).toEqual(JSON.parse(JSON.stringify([...first])));
  });

  it.each([
    ['emptied', ''],
    ['torn', '{"version":1,"runs":{"20'],
    ['of another version', '{"version":99,"runs":{}}'],
    ['of other lengths', JSON.stringify({ version: 1, runs: { [runRef(1).run]: { bytes: 3, report: { status: 'completed' } } } })],
  ])('are read again when what was kept is %s', async (_, content) => {
    const { store, list, read } = await recorded();
    const first = await list();
    await store.writeDerived(JOB, CRASHED_RUNS, content);
    expect(await list()).toEqual(first);
    expect(read()).toBe(4);
  });
});
