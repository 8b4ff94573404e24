import fs from 'node:fs/promises';
import { globSync } from 'tinyglobby';
import { describe, expect, it } from 'vitest';
import { openDeleter } from '../../../journal/upkeep/delete-runs.js';
import { openFileStore } from '../../../journal/storage/file-store.js';
import type { Fact } from '../../../journal/event.js';
import { hasNewcomers, planCollection, unreferencedBlobs } from '../../../replay/upkeep/garbage-collection.js';
import { verifyRun } from '../../../replay/reports/audit/verify.js';
import { failingDisk } from '../../journal/support/failing-disk.js';
import { callCli } from '../../support/in-process/call-cli.js';
import { projectFolder } from '../../support/cli.js';
import { recordRun } from '../../support/recorded-project.js';
import { call, runRef } from '../../support/written-runs.js';

const big = (text: string): string => text.repeat(100_000);

/** Records a call whose result is a blob. */
async function asked(cwd: string, op: string, question: string, answer: string): Promise<Fact[]> {
  const result = await openFileStore(cwd).payload(answer);
  return call(op, question).map((fact): Fact => (fact.type === 'call.completed' ? { ...fact, result } : fact));
}

/** Records two runs that are not needed, one whose results are reused, and the latest. A removed run and a kept one share a blob. */
async function project(): Promise<string> {
  const cwd = await projectFolder();
  await recordRun(cwd, 1, await asked(cwd, 'main/ask#0', 'ebb', big('old')));
  await recordRun(cwd, 2, await asked(cwd, 'main/ask#0', 'ebb', big('shared')));
  await recordRun(cwd, 3, await asked(cwd, 'main/ask#0', 'ebb', big('new')), await asked(cwd, 'main/ask#1', 'flow', big('shared')));
  await recordRun(cwd, 4, call('main/ask#0', 'ebb', { outcome: 'reused' }));
  return cwd;
}

/** The blobs that are stored, whichever files hold them. */
const blobsIn = async (cwd: string): Promise<string[]> => (await openDeleter(cwd).blobs()).map(({ blob }) => blob).sort();

describe('mlld journal gc', () => {
  it('says what it would remove, and then removes that', async () => {
    const cwd = await project();
    const dry = JSON.parse((await callCli(['journal', 'gc', '--keep', '1', '--dry-run', '--json'], { cwd })).stdout) as Record<
      string,
      unknown
    >;
    expect(dry).toMatchObject({ removed: [runRef(1), runRef(2)], kept: [{ ref: runRef(3), reason: 'results' }], blobs: { count: 1 } });
    expect(await blobsIn(cwd)).toHaveLength(3);
    const done = JSON.parse((await callCli(['journal', 'gc', '--keep', '1', '--json'], { cwd })).stdout) as Record<string, unknown>;
    expect(done).toEqual({ ...dry, dryRun: false });
    expect(await blobsIn(cwd)).toHaveLength(2);
    const { stdout } = await callCli(['journal', 'gc', '--keep', '1'], { cwd });
    expect(stdout).toMatch(
      /^Removed 0 runs and 0 blobs \(0 B\)\.\nKept 1 run .*\n {2}RUN +SCRIPT +WHY\n.*the next run reuses its results\n$/,
    );
  });

  it('leaves contents alone while a run goes on, and where a record is damaged', async () => {
    const cwd = await project();
    const running = await openFileStore(cwd).create(runRef(5));
    const first = JSON.parse((await callCli(['journal', 'gc', '--keep', '1', '--json'], { cwd })).stdout) as Record<string, unknown>;
    expect(first).toMatchObject({ removed: [runRef(1), runRef(2)], blobsLeft: 'running' });
    await running.close();
    const [file] = globSync(`.mlld/journal/*/runs/${runRef(3).run}.ndjson`, { cwd, dot: true, absolute: true });
    await fs.appendFile(file as string, '{"v":1}\n');
    const second = JSON.parse((await callCli(['journal', 'gc', '--keep', '1', '--json'], { cwd })).stdout) as Record<string, unknown>;
    expect(second).toMatchObject({
      removed: [],
      kept: expect.arrayContaining([{ ref: runRef(3), reason: 'damaged' }]),
      blobsLeft: 'damaged',
    });
    expect(await blobsIn(cwd)).toHaveLength(3);
  });

  it.each([
    ['--keep', 'few'],
    ['--older-than', 'a while'],
  ])('refuses %s %s', async (option, value) => {
    expect(await callCli(['journal', 'gc', option, value], { cwd: await project() })).toMatchObject({ status: 1, stdout: '' });
  });

  it('leaves a store that verifies and serves the same, wherever it is killed', async () => {
    for (let n = 1; ; n++) {
      const cwd = await project();
      const failing = failingDisk(n, 'dead');
      await collect(cwd, failing.disk).catch(() => undefined);
      const store = openFileStore(cwd);
      const left = await store.runs(runRef(1).workflow);
      for (const { ref } of left) expect(await verifyRun(store, ref), `call ${n}`).toMatchObject({ ok: true });
      expect(left.map(({ ref }) => ref.run)).toEqual(expect.arrayContaining([runRef(3).run, runRef(4).run]));
      await collect(cwd); // the next one ends what this one began
      expect((await store.runs(runRef(1).workflow)).map(({ ref }) => ref)).toEqual([runRef(3), runRef(4)]);
      expect(await blobsIn(cwd)).toHaveLength(2);
      await fs.rm(cwd, { recursive: true });
      if (!failing.struck()) {
        expect(n).toBeGreaterThan(15);
        break;
      }
    }
  });
});

/** The command's steps, on a disk that may fail. */
async function collect(cwd: string, disk?: Parameters<typeof openDeleter>[1]): Promise<void> {
  const store = openFileStore(cwd);
  const deleter = openDeleter(cwd, disk);
  await deleter.recover();
  const { remove } = await planCollection(store, { keep: 1, sinceMs: undefined, workflow: undefined, needed: 'stays' });
  for (const ref of remove) await deleter.deleteRun(ref);
  const { blobs, seen } = await unreferencedBlobs(
    store,
    (await deleter.blobs()).map(({ blob }) => blob),
    remove,
  );
  await deleter.trash(blobs);
  expect(await hasNewcomers(store, seen)).toBe(false);
  await deleter.deleteTrashed(blobs);
}

it('puts contents back that were set aside', async () => {
  const cwd = await project();
  const deleter = openDeleter(cwd);
  const before = await blobsIn(cwd);
  await deleter.trash((await deleter.blobs()).map(({ blob }) => blob));
  expect(await deleter.blobs()).toEqual([]);
  await deleter.recover();
  expect(await blobsIn(cwd)).toEqual(before);
});
