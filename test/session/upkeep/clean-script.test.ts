import { beforeEach, describe, expect, it } from 'vitest';
import type { Fact } from '../../../journal/event.js';
import { openMemoryStore } from '../../../journal/storage/memory-store.js';
import type { JournalStore } from '../../../journal/store.js';
import { cleanScript } from '../../../src/session/upkeep/clean-script.js';
import { entriesOf, openRecorded, runsOf, type RecordedScript } from '../../../src/session/upkeep/recorded-script.js';
import { call, callKeyOf, finished, JOB, runRef, started } from '../../support/written-runs.js';

const PROJECT = { root: '/p', workingDirectory: '/p', config: { scriptDir: 'llm/run' } } as Parameters<typeof openRecorded>[1];
const CLEANER = { argv: ['checkpoint', 'clean'], host: 'here', pid: 7, versions: { mlld: '0.1.0', node: '20.20.0' } };
const NOW = (): number => Date.UTC(2026, 0, 2);

let store: JournalStore;
beforeEach(() => {
  store = openMemoryStore();
});

async function record(number: number, ...facts: readonly (readonly Fact[])[]): Promise<void> {
  const journal = await store.create(runRef(number));
  for (const fact of [started(runRef(number)), ...facts.flat(), finished()]) await journal.append(fact);
  await journal.close();
}

async function recorded(): Promise<RecordedScript> {
  const script = await openRecorded(store, PROJECT, 'job.mld', () => expect.unreachable());
  if (script === undefined) throw new Error('nothing is recorded');
  return script;
}

describe('what is recorded of a script', () => {
  it('is undefined before its first run', async () => {
    expect(await openRecorded(store, PROJECT, 'job.mld', () => expect.unreachable())).toBeUndefined();
  });

  it('lists its runs with their counts, and its usable results with the number of their call site', async () => {
    await record(1, call('main/ask#0', 'ebb', { site: 'job.mld:2:1' }), call('main/ask#1', 'flow', { site: 'job.mld:3:1' }));
    await record(2, call('main/ask#0', 'ebb', { site: 'job.mld:2:1', outcome: 'reused' }));
    const script = await recorded();
    expect(await runsOf(script, NOW)).toMatchObject([
      { id: runRef(1).run, outcome: 'completed', executed: 2, reused: 0 },
      { id: runRef(2).run, outcome: 'completed', executed: 0, reused: 1 },
    ]);
    // The latest run that called the function did not reach the second site, so `--resume @ask:1` could not name it.
    expect(await entriesOf(script)).toMatchObject([
      { key: callKeyOf('ebb'), fn: 'ask', args: 'ebb', site: 0, run: runRef(1).run },
      { key: callKeyOf('flow'), fn: 'ask', args: 'flow', site: null, run: runRef(1).run },
    ]);
  });
});

describe('cleaning a script', () => {
  it('invalidates all its results by a run of its own, and deletes nothing', async () => {
    await record(1, call('main/ask#0', 'ebb'), call('main/ask#1', 'flow'));
    const { ref, ...counts } = await cleanScript(await recorded(), CLEANER, NOW);
    expect(counts).toEqual({ runs: 1, entries: 2, left: [] });
    expect((await store.runs(JOB)).map(({ ref: each }) => each.run)).toEqual([runRef(1).run, ref?.run]);
    expect(await entriesOf(await recorded())).toEqual([]);
  });

  it('records nothing where no run is left to clean', async () => {
    await record(1, call('main/ask#0', 'ebb'));
    await cleanScript(await recorded(), CLEANER, NOW);
    const again = await cleanScript(await recorded(), CLEANER, NOW);
    expect(again).toMatchObject({ ref: undefined, runs: 0, entries: 0 });
    expect(await store.runs(JOB)).toHaveLength(2);
  });
});
