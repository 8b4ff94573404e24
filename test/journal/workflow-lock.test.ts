import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { realDisk } from '../../journal/storage/disk.js';
import { acquireWorkflowLock } from '../../journal/storage/workflow-lock.js';
import { temporaryFolder } from './support/folder.js';

it('steps over the turns of processes that died, and leaves their files', async () => {
  const folder = temporaryFolder();
  await acquireWorkflowLock(realDisk, folder);
  const holder = JSON.parse(readFileSync(join(folder, 'turn-1'), 'utf8')) as { pid: number };
  const other = spawn(process.execPath, ['-e', 'setTimeout(() => {}, 60000)']);
  await once(other, 'spawn');
  other.kill('SIGKILL');
  await once(other, 'exit');
  writeFileSync(join(folder, 'turn-1'), JSON.stringify({ ...holder, pid: other.pid }));
  const end = await acquireWorkflowLock(realDisk, folder);
  expect(existsSync(join(folder, 'turn-2'))).toBe(true);
  await end();
  expect([existsSync(join(folder, 'turn-1')), existsSync(join(folder, 'turn-2'))]).toEqual([true, false]);
  await (
    await acquireWorkflowLock(realDisk, folder)
  )();
});

it('gives up after a while, and says why', async () => {
  const folder = temporaryFolder();
  const end = await acquireWorkflowLock(realDisk, folder);
  await expect(acquireWorkflowLock(realDisk, folder, 40)).rejects.toMatchObject({ code: 'JOURNAL_BUSY', hint: 'wait for it, or end it' });
  await end();
});

it('never gives a turn twice, however many want the same number', async () => {
  const folder = temporaryFolder();
  let inside = 0;
  let most = 0;
  const one = async (): Promise<void> => {
    const end = await acquireWorkflowLock(realDisk, folder);
    most = Math.max(most, ++inside);
    await new Promise((resolve) => setImmediate(resolve));
    inside--;
    await end();
  };
  await Promise.all(Array.from({ length: 20 }, one));
  expect(most).toBe(1);
});
