/** A large part of an index is several rows in the database, and is never in memory as a whole. team-store.md 5, PARTS-4. */
import { createHash } from 'node:crypto';
import fs from 'node:fs';
import path from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import type { TeamStore } from '../../../../journal/postgres/open-store.js';
import { realDisk } from '../../../../journal/storage/disk.js';
import { openIndexFiles } from '../../../../journal/storage/index-files.js';
import type { IndexFile, IndexFiles } from '../../../../journal/store.js';
import { JOB, runRef } from '../../../support/written-runs.js';
import { started } from '../../support/facts.js';
import { temporaryFolder } from '../../support/folder.js';
import { makeDatabase, noServer, openTestStore, type TestDatabase } from '../database.js';

const MIB = 1024 * 1024;
const ROW = 4 * MIB;
type Parts = IndexFiles & Required<Pick<IndexFiles, 'fetch'>>;

const digestOf = (file: IndexFile): string => {
  const hash = createHash('sha256');
  for (let at = 0; at < file.bytes; at += MIB) hash.update(file.read(at, Math.min(MIB, file.bytes - at)));
  return hash.digest('hex');
};

/** Pieces that all differ, and whose edges are no edges of rows. */
function* piecesOf(bytes: number): Generator<Buffer> {
  for (let left = bytes, n = 0; left > 0; n++) {
    const piece = Buffer.alloc(Math.min(left, 300_007), `piece ${n} `);
    left -= piece.length;
    yield piece;
  }
}

describe.skipIf(noServer !== undefined)(`large parts of an index${noServer === undefined ? '' : ` (not run: ${noServer})`}`, async () => {
  const database = noServer === undefined ? await makeDatabase() : (undefined as unknown as TestDatabase);
  const opened: TeamStore[] = [];
  afterAll(() => Promise.all(opened.map((store) => store.close())));

  function open(url: string, folder: string): Parts {
    const store = openTestStore(url, { notifies: false, indexCopies: openIndexFiles(realDisk, folder) });
    opened.push(store);
    return store.indexFiles as Parts;
  }
  async function write(bytes: number) {
    const [url, here] = [database.project(), temporaryFolder()];
    const parts = open(url, here);
    const journal = await opened.at(-1)!.create(runRef(1)); // the workflow exists from its first run on
    await journal.append(started);
    await journal.close();
    const name = await parts.write(JOB, piecesOf(bytes));
    const digest = createHash('sha256');
    for (const piece of piecesOf(bytes)) digest.update(piece);
    const text = digest.digest('hex');
    const wanted = { name, bytes, isWhole: (file: IndexFile) => digestOf(file) === text };
    const rows = async (): Promise<readonly unknown[]> => {
      const found = await database.query(
        `select a.name, octet_length(a.content) as bytes from mlld.asides a join mlld.workflows using (workflow_id)
           join mlld.projects p using (project_id) where p.name = $1 and starts_with(a.name, 'index/') order by a.name`,
        [new URL(url).searchParams.get('project')],
      );
      return found.map((row) => [String(row['name']).slice(`index/${name}`.length), row['bytes']]);
    };
    return { url, here, parts, name, wanted, rows };
  }
  const copyIn = (folder: string): string =>
    path.join(
      folder,
      fs
        .readdirSync(folder, { recursive: true })
        .map(String)
        .find((file) => file.endsWith('.tier')) ?? 'none',
    );

  it.each([
    [
      9 * MIB,
      [
        ['', ROW],
        ['/1', ROW],
        ['/2', MIB],
      ],
    ],
    [
      8 * MIB,
      [
        ['', ROW],
        ['/1', ROW],
      ],
    ],
    [
      20 * MIB + 7,
      [
        ['', ROW],
        ['/1', ROW],
        ['/2', ROW],
        ['/3', ROW],
        ['/4', ROW],
        ['/5', 7],
      ],
    ],
  ])('of %i bytes are rows of a bounded size, and on each machine one file', { timeout: 60_000 }, async (bytes, expected) => {
    const { url, here, parts, name, wanted, rows } = await write(bytes);
    expect(await rows()).toEqual(expected);
    expect((await parts.list(JOB)).map((each) => each.name)).toEqual([name]);
    const there = temporaryFolder();
    for (const folder of [here, there, there]) {
      const machine = open(url, folder);
      await machine.fetch(JOB, [wanted]);
      const part = machine.open(JOB, name);
      expect(part && wanted.isWhole(part)).toBe(true);
      expect(fs.statSync(copyIn(folder)).size).toBe(bytes);
    }
    const [file, at] = [fs.openSync(copyIn(there), 'r+'), bytes - 5];
    fs.writeSync(file, 'damage', at - 100);
    fs.closeSync(file);
    const machine = open(url, there);
    await machine.fetch(JOB, [wanted]); // again from the database
    expect(wanted.isWhole(machine.open(JOB, name)!)).toBe(true);
    await parts.remove(JOB, name);
    expect([await rows(), await parts.list(JOB)]).toEqual([[], []]);
  });

  it.each(['', '/1', '/2'])('are not opened without the row "%s", and are removed all the same', { timeout: 60_000 }, async (row) => {
    const { url, parts, name, wanted, rows } = await write(9 * MIB);
    await database.query('delete from mlld.asides where name = $1', [`index/${name}${row}`]);
    const there = temporaryFolder();
    const machine = open(url, there);
    await machine.fetch(JOB, [wanted]);
    expect(machine.open(JOB, name)).toBeUndefined();
    expect(fs.readdirSync(there, { recursive: true }).filter((file) => String(file).includes('.tier'))).toEqual([]);
    const nowhere = temporaryFolder();
    fs.rmSync(nowhere, { recursive: true, force: true });
    fs.writeFileSync(nowhere, 'no folder');
    const without = open(url, nowhere);
    await without.fetch(JOB, [wanted]);
    expect(without.open(JOB, name)).toBeUndefined();
    expect((await parts.list(JOB)).map((each) => each.name)).toEqual([name]);
    await parts.remove(JOB, name);
    expect(await rows()).toEqual([]);
  });

  it('are used where no copy can be kept', { timeout: 60_000 }, async () => {
    const { url, name, wanted } = await write(9 * MIB);
    const there = temporaryFolder();
    fs.rmSync(there, { recursive: true, force: true });
    fs.writeFileSync(there, 'no folder');
    const machine = open(url, there);
    const again = await machine.write(JOB, piecesOf(9 * MIB));
    await machine.fetch(JOB, [wanted, { ...wanted, name: again }]);
    for (const each of [name, again]) expect(wanted.isWhole(machine.open(JOB, each)!)).toBe(true);
  });

  it('that an older program wrote as one row are opened', { timeout: 60_000 }, async () => {
    const { url, name, wanted, rows } = await write(9 * MIB);
    await database.query(
      `update mlld.asides set content = (select string_agg(content, '' order by name) from mlld.asides where starts_with(name, $1))
       where name = $1`,
      [`index/${name}`],
    );
    await database.query(`delete from mlld.asides where starts_with(name, $1)`, [`index/${name}/`]);
    expect(await rows()).toEqual([['', 9 * MIB]]);
    const machine = open(url, temporaryFolder());
    await machine.fetch(JOB, [wanted]);
    expect(wanted.isWhole(machine.open(JOB, name)!)).toBe(true);
  });

  it('say what failed where a row can not be stored, and name nothing', async () => {
    const { url } = await write(1);
    const store = openTestStore(url, { notifies: false, indexCopies: openIndexFiles(realDisk, temporaryFolder()) });
    opened.push(store);
    function* failing(): Generator<Buffer> {
      yield Buffer.alloc(5 * MIB);
      throw new Error('a row could not be read');
    }
    await expect(store.indexFiles?.write(JOB, failing())).rejects.toThrow('a row could not be read');
  });
});
