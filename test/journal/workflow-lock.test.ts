import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { realDisk } from '../../journal/storage/disk.js';
import { acquireWorkflowLock } from '../../journal/storage/workflow-lock.js';
import { temporaryFolder } from './support/folder.js';

it('takes over from processes that died, and leaves their files', async () => {
  const folder = temporaryFolder();
  await acquireWorkflowLock(realDisk, folder);
  const owner = JSON.parse(readFileSync(join(folder, 'turn-1'), 'utf8')) as { pid: number };
  const other = spawn(process.execPath, ['-e', 'setTimeout(() => {}, 60000)']);
  await once(other, 'spawn');
  other.kill('SIGKILL');
  await once(other, 'exit');
  writeFileSync(join(folder, 'turn-1'), JSON.stringify({ ...owner, pid: other.pid }));
  const release = await acquireWorkflowLock(realDisk, folder);
  expect(existsSync(join(folder, 'turn-2'))).toBe(true);
  await release();
  expect([existsSync(join(folder, 'turn-1')), existsSync(join(folder, 'turn-2'))]).toEqual([true, false]);
  await (
    await acquireWorkflowLock(realDisk, folder)
  )();
});

it('fails after a while, and says why', async () => {
  const folder = temporaryFolder();
  const release = await acquireWorkflowLock(realDisk, folder);
  await expect(acquireWorkflowLock(realDisk, folder, 40)).rejects.toMatchObject({
    code: 'JOURNAL_BUSY',
    message: 'timed out after 0.04 s waiting for another process that is starting a run of this workflow',
    hint: 'wait for it, or end it',
  });
  await release();
});

it('never gives the lock to two callers at a time, however many try the same number', async () => {
  const folder = temporaryFolder();
  let inside = 0;
  let most = 0;
  const one = async (): Promise<void> => {
    const release = await acquireWorkflowLock(realDisk, folder);
    most = Math.max(most, ++inside);
    await new Promise((resolve) => setImmediate(resolve));
    inside--;
    await release();
  };
  await Promise.all(Array.from({ length: 20 }, one));
  expect(most).toBe(1);
});

it('does not give the lock to one that saw its last owner leave while another began again with the first number', async () => {
  const folder = temporaryFolder();
  const releaseFirst = await acquireWorkflowLock(realDisk, folder);
  let releaseNext: (() => Promise<void>) | undefined;
  const slow = Object.assign(Object.create(realDisk) as typeof realDisk, {
    async readWhole(path: string): Promise<Uint8Array> {
      if (releaseNext) return realDisk.readWhole(path);
      await releaseFirst();
      const missing: unknown = await realDisk.readWhole(path).catch((error: unknown) => error);
      releaseNext = await acquireWorkflowLock(realDisk, folder);
      throw missing;
    },
  });
  await expect(acquireWorkflowLock(slow, folder, 100)).rejects.toMatchObject({ code: 'JOURNAL_BUSY' });
  await releaseNext?.();
  await (
    await acquireWorkflowLock(slow, folder)
  )();
});
