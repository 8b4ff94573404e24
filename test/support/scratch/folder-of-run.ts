/**
 * Makes the folder that holds all temporary folders of one run of the tests, and removes it at the end. It is in memory where there is
 * room and programs may be started: most of the wait for a journal is for syncs of a disk, and no test can tell, because none cuts the
 * power.
 */
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, statfsSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';

const MEMORY = '/dev/shm';
const MEMORY_BYTES_MIN = 4 * 2 ** 30;

export default function setup(): () => void {
  const folder = mkdtempSync(path.join(isRoomy(MEMORY) ? MEMORY : os.tmpdir(), 'mlld-tests-'));
  process.env['MLLD_TEST_SCRATCH'] = folder; // workers inherit it
  return () => {
    delete process.env['MLLD_TEST_SCRATCH'];
    rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
  };
}

function isRoomy(folder: string): boolean {
  const probe = path.join(folder, `mlld-probe-${process.pid}`);
  try {
    const { bavail, bsize } = statfsSync(folder);
    if (bavail * bsize < MEMORY_BYTES_MIN) return false;
    writeFileSync(probe, '#!/bin/sh\n', { mode: 0o700 });
    return spawnSync(probe).status === 0;
  } catch {
    return false;
  } finally {
    rmSync(probe, { force: true });
  }
}
