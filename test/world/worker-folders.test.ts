/** The folders of workers, and what the killed ones left. team-store.md 7.2. */
import { existsSync, mkdirSync, symlinkSync, utimesSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { describeProcess } from '../../journal/postgres/writer-process.js';
import { CallFolders, makeWorkerFolder } from '../../src/world/files/worker-folders.js';
import { emptyFolder } from '../support/cli.js';

const HOUR_AGO_S = Date.now() / 1000 - 3600;
const THIS = JSON.parse(describeProcess()) as { readonly namespace: string; readonly owner: object };
/** The note of a process that had the number of this one before. */
const DEAD = JSON.stringify({ ...THIS, owner: { ...THIS.owner, started: '1' } });

describe('folders of workers', () => {
  afterEach(() => vi.unstubAllEnvs());

  async function temporary(): Promise<string> {
    const folder = await emptyFolder();
    vi.stubEnv('TMPDIR', folder);
    return folder;
  }

  /** A folder with a file in it, and perhaps the note of a process. */
  function left(parent: string, name: string, note?: string): string {
    const folder = path.join(parent, name);
    mkdirSync(path.join(folder, 'call-x'), { recursive: true });
    writeFileSync(path.join(folder, 'call-x', 'file'), 'text');
    if (note !== undefined) writeFileSync(path.join(folder, '.process'), note);
    return folder;
  }

  it('are removed by the next worker when their process is gone, and only then', async () => {
    const parent = await temporary();
    const dead = left(parent, 'mlld-worker-dead', DEAD);
    const kept = [
      left(parent, 'mlld-worker-alive', describeProcess()),
      left(parent, 'mlld-worker-elsewhere', JSON.stringify({ ...THIS, namespace: 'of another boot' })),
      left(parent, 'mlld-worker-foreign'),
      left(parent, 'other-dead', DEAD),
    ];
    const made = await makeWorkerFolder();
    expect(existsSync(dead)).toBe(false);
    expect(kept.filter((folder) => !existsSync(folder))).toEqual([]);
    expect(await makeWorkerFolder()).not.toBe(made);
    expect(existsSync(made)).toBe(true);
  });

  it('are removed without a note when they are empty and not new', async () => {
    const parent = await temporary();
    for (const name of ['mlld-worker-new', 'mlld-worker-old']) mkdirSync(path.join(parent, name));
    utimesSync(path.join(parent, 'mlld-worker-old'), HOUR_AGO_S, HOUR_AGO_S);
    await makeWorkerFolder();
    expect(existsSync(path.join(parent, 'mlld-worker-old'))).toBe(false);
    expect(existsSync(path.join(parent, 'mlld-worker-new'))).toBe(true);
  });

  it('are not followed through a link', async () => {
    const parent = await temporary();
    const elsewhere = left(await emptyFolder(), 'elsewhere', DEAD);
    symlinkSync(elsewhere, path.join(parent, 'mlld-worker-link'));
    await makeWorkerFolder();
    expect(existsSync(path.join(elsewhere, 'call-x', 'file'))).toBe(true);
  });

  it('have an empty folder for each call, which serves the next one when it is empty again', async () => {
    await temporary();
    const folders = new CallFolders(await makeWorkerFolder());
    const [first, second] = [await folders.take(), await folders.take()];
    expect(first).not.toBe(second);
    writeFileSync(path.join(first, 'file'), 'text');
    await folders.giveBack(first);
    await folders.giveBack(second);
    expect(existsSync(first)).toBe(false);
    expect([await folders.take(), await folders.take()]).toEqual([second, expect.not.stringContaining(second)]);
  });
});
