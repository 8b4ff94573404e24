/** The figures above functions come from the store of a team where one is configured, and stay away with it. */
import { mkdtempSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { figuresReader } from '../../src/api/commands/editor/figures.js';
import { makeDatabase, noServer, openTestStore } from '../journal/postgres/database.js';
import { recordSample } from '../server/team-runs.js';

const AWAY = 'postgres://nobody@127.0.0.1:1/none?project=away';

function project(): string {
  const folder = mkdtempSync(path.join(os.tmpdir(), 'mlld-figures-'));
  writeFileSync(path.join(folder, 'mlld-config.json'), '{}');
  return folder;
}

describe.skipIf(noServer !== undefined)('with a store', async () => {
  const database = noServer === undefined ? await makeDatabase() : undefined;

  it('counts the runs of colleagues, and reads them again after a minute', async () => {
    const address = database!.project();
    const store = openTestStore(address);
    await recordSample(store, { workflow: 'tide.mld', atMs: Date.now() - 5000, usd: 1 });
    let nowMs = 0;
    const log: string[] = [];
    const read = figuresReader({ environment: { MLLD_STORE: address }, nowMs: () => nowMs, log: (line) => void log.push(line) });
    const file = path.join(project(), 'tide.mld');
    const figures = await read(file);
    expect([figures?.runs, figures?.of, figures?.functions.get('ask')?.costUsd]).toEqual([1, 'script', 1]);
    await recordSample(store, { workflow: 'tide.mld', atMs: Date.now(), usd: 2 });
    nowMs = 59_000;
    expect((await read(file))?.runs).toBe(1);
    nowMs = 61_000;
    expect((await read(file))?.functions.get('ask')?.costUsd).toBe(3);
    expect(log).toEqual([]);
    await store.close();
  });
});

it('shows nothing while the store is away, says so once, and asks again after a minute', async () => {
  let nowMs = 0;
  const log: string[] = [];
  const read = figuresReader({ environment: { MLLD_STORE: AWAY }, nowMs: () => nowMs, log: (line) => void log.push(line) });
  const folder = project();
  expect(await read(path.join(folder, 'a.mld'))).toBeUndefined();
  expect(await read(path.join(folder, 'b.mld'))).toBeUndefined();
  nowMs = 61_000;
  expect(await read(path.join(folder, 'a.mld'))).toBeUndefined();
  expect(log).toEqual([expect.stringMatching(/^the figures above functions can't be read: /)]);
});
