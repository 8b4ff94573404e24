/** Files of an index: whole under their names or not there, readable by who has them open. */
import fs from 'node:fs';
import path from 'node:path';
import { beforeEach, expect, it } from 'vitest';
import { openFileStore } from '../../journal/storage/file-store.js';
import { openMemoryStore } from '../../journal/storage/memory-store.js';
import type { IndexFiles } from '../../journal/store.js';
import { readOnlyStore } from '../../src/session/ports/read-only-store.js';
import { call, finished, JOB, runRef, started } from '../support/written-runs.js';
import { temporaryFolder } from './support/folder.js';

const PIECES = [Buffer.from('ebb '), Buffer.from('and '), Buffer.from('flow')];

let root: string;
let files: IndexFiles;

beforeEach(() => {
  root = temporaryFolder();
  files = openFileStore(root).indexFiles!;
});

const namesIn = (): readonly string[] => fs.readdirSync(path.join(root, '.mlld/journal', JOB));

it('are written in pieces, listed, read in parts and removed', async () => {
  const name = await files.write(JOB, PIECES);
  const [listed] = await files.list(JOB);
  expect(listed?.name).toBe(name);
  expect(listed?.ageMs).toBeGreaterThanOrEqual(0);
  expect(listed?.ageMs).toBeLessThan(60_000);
  const file = files.open(JOB, name)!;
  expect(file.bytes).toBe(12);
  expect(file.read(4, 3).toString()).toBe('and');
  expect(file.read(8, 100).toString()).toBe('flow'); // where the file ends
  await files.remove(JOB, name);
  await files.remove(JOB, name);
  expect(await files.list(JOB)).toEqual([]);
  expect(files.open(JOB, name)).toBeUndefined();
  expect(file.read(0, 3).toString()).toBe('ebb'); // who has it open still reads it
});

it('are not there when a piece could not be made, and leave nothing', async () => {
  const pieces = function* (): Generator<Uint8Array> {
    yield* PIECES;
    throw new Error('no more');
  };
  await expect(files.write(JOB, pieces())).rejects.toThrow('no more');
  expect(namesIn()).toEqual([]);
});

it('have names of their own, and no one else can name another file', () => {
  for (const name of ['index', '../runs', 'a/b', '', 'mwsb6jdt-e676250c.tier']) expect(() => files.open(JOB, name)).toThrow('not a name');
});

it('are read beside the runs, which can be read without waiting', async () => {
  const store = openFileStore(root);
  const journal = await store.create(runRef(1));
  for (const fact of [started(runRef(1)), ...call('main/ask#0', 'ebb'), finished()]) await journal.append(fact);
  await journal.close();
  const [waiting, now]: [unknown[], unknown[]] = [[], []];
  await store.scan(runRef(1), (event, position) => void waiting.push([event, position]));
  files.scanNow!(runRef(1), (event, position) => void now.push([event, position]));
  expect(now).toHaveLength(6);
  expect(now).toEqual(waiting);
  files.scanNow!(runRef(9), () => expect.unreachable()); // a run that is gone has no events
});

it('are not written where nothing is recorded, and not there in memory', async () => {
  const name = await files.write(JOB, PIECES);
  const { indexFiles } = readOnlyStore(openFileStore(root));
  await expect(indexFiles!.write(JOB, PIECES)).rejects.toMatchObject({ code: 'JOURNAL_NOT_WRITABLE' });
  await indexFiles!.remove(JOB, name);
  expect(await indexFiles!.list(JOB)).toMatchObject([{ name }]);
  expect(openMemoryStore().indexFiles).toBeUndefined();
  expect(readOnlyStore(openMemoryStore()).indexFiles).toBeUndefined();
});
