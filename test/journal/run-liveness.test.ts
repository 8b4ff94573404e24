import { spawn } from 'node:child_process';
import { once } from 'node:events';
import fs, { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it, onTestFinished, vi } from 'vitest';
import { realDisk } from '../../journal/storage/disk.js';
import { openFileStore } from '../../journal/storage/file-store.js';
import { journalFolder, lockPath } from '../../journal/storage/layout.js';
import { isAlive, markAlive, ownerOf } from '../../journal/storage/runs/run-liveness.js';
import { finished, runRef, started, workflow } from './support/facts.js';
import { temporaryFolder } from './support/folder.js';

const nothing = (): void => undefined;

it('is held by a living process, and taken once', async () => {
  const path = join(temporaryFolder(), 'lock');
  expect(await isAlive(realDisk, path)).toBe(false);
  markAlive(realDisk, path, nothing);
  expect(await isAlive(realDisk, path)).toBe(true);
  expect(() => markAlive(realDisk, path, nothing)).toThrow('EEXIST');
});

it.each<[string, (holder: { pid: number; started: string; boot: string }) => string]>([
  ['of a process that is gone', (holder) => JSON.stringify({ ...holder, pid: 4_194_304 + 1 })],
  ['whose process id was given out again', (holder) => JSON.stringify({ ...holder, started: `${holder.started}1` })],
  ['from before a reboot', (holder) => JSON.stringify({ ...holder, boot: 'another' })],
  ['that was cut off', (holder) => JSON.stringify(holder).slice(0, 12)],
  ['that is empty', () => ''],
  ['that holds something else', () => 'null'],
])('is not held when there is a lock %s', async (_title, change) => {
  const path = join(temporaryFolder(), 'lock');
  markAlive(realDisk, path, nothing);
  const holder = JSON.parse(readFileSync(path, 'utf8')) as { pid: number; started: string; boot: string };
  writeFileSync(path, change(holder));
  expect(await isAlive(realDisk, path)).toBe(false);
});

it.skipIf(!existsSync('/proc/self/stat'))('is not held by a process that was killed and whose parent has not waited for it', async () => {
  const path = join(temporaryFolder(), 'lock');
  markAlive(realDisk, path, nothing);
  const { boot } = JSON.parse(readFileSync(path, 'utf8')) as { boot: string };
  // The shell becomes a program that never waits for the child which it has.
  const parent = spawn('/bin/sh', ['-c', 'sleep 30 & echo $!; exec sleep 30'], { stdio: ['ignore', 'pipe', 'ignore'] });
  onTestFinished(() => void parent.kill('SIGKILL'));
  const [line] = (await once(parent.stdout, 'data')) as [Buffer];
  const pid = Number(line.toString());
  const stat = (): readonly string[] => readFileSync(`/proc/${pid}/stat`, 'latin1').split(') ')[1]?.split(' ') ?? [];
  writeFileSync(path, JSON.stringify({ pid, started: stat()[19], boot }));
  expect(await isAlive(realDisk, path)).toBe(true);
  await expect.poll(() => readFileSync(`/proc/${parent.pid}/comm`, 'latin1').trim()).toBe('sleep'); // the shell would wait for it
  process.kill(pid, 'SIGKILL');
  await expect.poll(() => stat()[0]).toBe('Z');
  expect(await isAlive(realDisk, path)).toBe(false);
});

it.each(['EMFILE', 'EIO'])('is not taken for that of a dead process when it can not be read now: %s', async (code) => {
  const root = temporaryFolder();
  const journal = await openFileStore(root).create(runRef(1));
  await journal.append(started);
  const failing = { ...realDisk, readWhole: () => Promise.reject(Object.assign(new Error(`${code}: no`), { code })) };
  const store = openFileStore(root, { disk: failing });
  await expect(isAlive(failing, lockPath(journalFolder(root), runRef(1)))).rejects.toMatchObject({ code: 'JOURNAL_IO' });
  await expect(store.deleteRun(runRef(1))).rejects.toMatchObject({ code: 'JOURNAL_IO' });
  await expect(store.acquireWorkflowLock(workflow)).resolves.toBeTypeOf('function'); // nobody has it: there is no lock to read
  await expect(store.acquireWorkflowLock(workflow)).rejects.toMatchObject({ code: 'JOURNAL_IO' });
  await journal.close();
});

it('is not taken for that of a dead process while the system can not say whether its process lives', async () => {
  const path = join(temporaryFolder(), 'lock');
  markAlive(realDisk, path, nothing);
  const read = fs.readFileSync;
  const reading = vi.spyOn(fs, 'readFileSync').mockImplementation((file, ...options) => {
    if (String(file).startsWith('/proc/')) throw Object.assign(new Error('EMFILE: too many open files'), { code: 'EMFILE' });
    return read(file, ...(options as []));
  });
  onTestFinished(() => reading.mockRestore());
  await expect(isAlive(realDisk, path)).rejects.toMatchObject({ code: 'JOURNAL_IO' });
  expect(await ownerOf(realDisk, path)).toBe('unreadable'); // so that nobody removes the claim of a pack
  reading.mockRestore();
  expect(await ownerOf(realDisk, path)).toBe('alive');
});

it('is gone when the run is closed', async () => {
  const root = temporaryFolder();
  const store = openFileStore(root);
  const lock = lockPath(journalFolder(root), runRef(1));
  const journal = await store.create(runRef(1));
  await journal.append(started);
  expect(existsSync(lock)).toBe(true);
  await journal.close();
  expect(existsSync(lock)).toBe(false);
  expect((await store.runs(workflow))[0]?.liveness).toBe('crashed');
});

it('is not looked for where a run has ended, and the end of one that ends meanwhile counts', async () => {
  const root = temporaryFolder();
  const looked: string[] = [];
  let end: (() => Promise<unknown>) | undefined;
  const disk = {
    ...realDisk,
    async readWhole(path: string) {
      looked.push(path);
      await end?.(); // behind the first look at the run, and before that at its lock
      return realDisk.readWhole(path);
    },
  };
  const store = openFileStore(root, { disk });
  const ended = await store.create(runRef(1));
  for (const fact of [started, finished]) await ended.append(fact);
  await ended.close();
  const ending = await store.create(runRef(2));
  await ending.append(started);
  end = async () => {
    end = undefined;
    await ending.append(finished);
    await ending.close();
  };
  expect((await store.runs(workflow)).map(({ liveness }) => liveness)).toEqual(['finished', 'finished']);
  expect(looked).toEqual([lockPath(journalFolder(root), runRef(2))]);
});
