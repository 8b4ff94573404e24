import { beforeEach, describe, expect, it } from 'vitest';
import type { Fact } from '../../../journal/event.js';
import { workflowOf } from '../../../journal/ids.js';
import { openFileStore } from '../../../journal/storage/file-store.js';
import type { JournalStore } from '../../../journal/store.js';
import { copyRuns } from '../../../src/session/upkeep/copy-runs.js';
import { sealRun } from '../../../src/session/upkeep/seal-run.js';
import { readRun } from '../../journal/support/read.js';
import { callCli } from '../../support/in-process/call-cli.js';
import { projectFolder } from '../../support/cli.js';
import { recordRun } from '../../support/recorded-project.js';
import { call, JOB, runRef, started } from '../../support/written-runs.js';

interface Place {
  readonly store: JournalStore;
  readonly root: string;
}

let from: Place;
let to: Place;
beforeEach(async () => {
  const [here, there] = await Promise.all([projectFolder(), projectFolder()]);
  from = { store: openFileStore(here), root: here };
  to = { store: openFileStore(there), root: there };
});

describe('copied runs', () => {
  it('are the same events, with the blobs that they name', async () => {
    const { blob } = await from.store.putBlob('show "tide"');
    await recordRun(from.root, 1, [{ type: 'source.loaded', path: 'job.mld', blob, role: 'script' }], call('main/ask#0', 'ebb'));
    expect(await copyRuns(from, to)).toEqual({ copied: [runRef(1)], there: [], left: [] });
    expect((await readRun(to.store, runRef(1))).events).toEqual((await readRun(from.store, runRef(1))).events);
    expect(await to.store.getBlob(blob)).toEqual(await from.store.getBlob(blob));
    expect(await copyRuns(from, to)).toEqual({ copied: [], there: [runRef(1)], left: [] });
  });

  it('are those of workers and salvage runs also where they did not end, and no prior runs', async () => {
    const serving = [
      { ...started(runRef(2)), worker: { for: runRef(1).run, name: 'hut', lanes: { '': 2 } } },
      { ...started(runRef(3)), salvages: runRef(1).run },
    ] as Fact[];
    await recordRun(from.root, 1, call('main/ask#0', 'ebb'));
    for (const [n, first] of serving.entries()) {
      const journal = await from.store.create(runRef(n + 2));
      for (const fact of [first, ...call('main/ask#1', `flow ${n}`)]) await journal.append(fact);
      await journal.close();
    }
    await copyRuns(from, to);
    expect(await to.store.runs(JOB)).toMatchObject([
      { ref: runRef(1), liveness: 'finished' },
      { ref: runRef(2), liveness: 'crashed', isWorker: true },
      { ref: runRef(3), liveness: 'crashed', isSalvage: true },
    ]);
    const { stdout } = await callCli(['journal', 'list', '--workers', '--json'], { cwd: to.root });
    expect((JSON.parse(stdout) as { run: string; status: string }[]).map(({ run, status }) => [run, status])).toEqual([
      [runRef(3).run, 'salvaged'],
      [runRef(1).run, 'completed'],
      [runRef(2).run, 'worker'], // below the run that it serves
    ]);
    const latest = await callCli(['journal', 'show', 'latest', '--json'], { cwd: to.root });
    expect(latest.stdout).toContain('"ebb"');
  });

  it('never take the place of another run of their name, and are not copied while they are written', async () => {
    await recordRun(from.root, 1, call('main/ask#0', 'ebb'));
    await recordRun(to.root, 1, call('main/ask#0', 'flow'));
    const journal = await from.store.create(runRef(2));
    await journal.append(started(runRef(2)));
    const before = (await readRun(to.store, runRef(1))).events;
    expect(await copyRuns(from, to)).toEqual({
      copied: [],
      there: [],
      left: [
        { ref: runRef(1), because: 'other' },
        { ref: runRef(2), because: 'running' },
      ],
    });
    await journal.close();
    expect((await readRun(to.store, runRef(1))).events).toEqual(before);
    expect(await to.store.runs(JOB)).toHaveLength(1);
  });

  it('are none whose id a run of another script has there, because commands name a run by its id', async () => {
    const { blob } = await from.store.putBlob('show "tide"');
    await recordRun(from.root, 1, [{ type: 'source.loaded', path: 'job.mld', blob, role: 'script' }]);
    const journal = await to.store.create(runRef(1, workflowOf('other.mld')));
    await journal.append(started(runRef(1, workflowOf('other.mld'))));
    await journal.close();
    expect(await copyRuns(from, to)).toEqual({ copied: [], there: [], left: [{ ref: runRef(1), because: 'elsewhere' }] });
    expect(await to.store.runs(JOB)).toEqual([]);
  });
});

it('seals nothing in files, where a lock goes with its process', async () => {
  await recordRun(from.root, 1, call('main/ask#0', 'ebb'));
  const [run] = await from.store.runs(JOB);
  await expect(sealRun(from.store, run!)).rejects.toMatchObject({ code: 'USAGE' });
});
