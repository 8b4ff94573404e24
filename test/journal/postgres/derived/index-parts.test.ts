/** Parts of an index in the database, with copies on each machine. team-store.md 5. */
import fs from 'node:fs';
import path from 'node:path';
import fc from 'fast-check';
import { afterAll, afterEach, describe, expect, it, vi } from 'vitest';
import type { TeamStore, TeamStoreOptions } from '../../../../journal/postgres/open-store.js';
import { realDisk } from '../../../../journal/storage/disk.js';
import { openIndexFiles } from '../../../../journal/storage/index-files.js';
import type { IndexFile, IndexFiles } from '../../../../journal/store.js';
import { removeIndex } from '../../../../replay/memo/index-on-disk.js';
import { tiersOf } from '../../../../replay/memo/tiers/changed-rows.js';
import { anyFacts } from '../../../support/any-run.js';
import { JOB, runRef } from '../../../support/written-runs.js';
import { append, essence, folded, load } from '../../../replay/memo/tiers/support.js';
import { temporaryFolder } from '../../support/folder.js';
import { started } from '../../support/facts.js';
import { makeDatabase, noServer, openTestStore, type TestDatabase } from '../database.js';

const CONTENT = 'rows of calls';
/** A part that was written long ago, as its name says. */
const OLD = '1-0000abcd';

const textOf = (file: IndexFile | undefined): string | undefined => file && Buffer.from(file.read(0, file.bytes)).toString();
const wanted = (name: string, text = CONTENT) => ({ name, bytes: text.length, isWhole: (file: IndexFile) => textOf(file) === text });

describe.skipIf(noServer !== undefined)(`parts of an index${noServer === undefined ? '' : ` (not run: ${noServer})`}`, async () => {
  const database = noServer === undefined ? await makeDatabase() : (undefined as unknown as TestDatabase);
  const opened: TeamStore[] = [];
  /** `folder` is that of a machine. */
  const open = (url: string, folder: string, options: Partial<TeamStoreOptions> = {}): TeamStore => {
    const store = openTestStore(url, { notifies: false, indexCopies: openIndexFiles(realDisk, folder), ...options });
    opened.push(store);
    return store;
  };
  const partsOf = async (url: string, folder: string): Promise<IndexFiles & Required<Pick<IndexFiles, 'fetch'>>> => {
    const store = open(url, folder);
    const journal = await store.create(runRef(1)).catch(() => undefined); // the workflow exists from its first run on
    await journal?.append(started);
    return store.indexFiles as IndexFiles & Required<Pick<IndexFiles, 'fetch'>>;
  };
  const copiesIn = (folder: string): readonly string[] =>
    fs.existsSync(folder)
      ? fs
          .readdirSync(folder, { recursive: true })
          .map(String)
          .filter((file) => file.endsWith('.tier'))
      : [];
  const write = async (parts: IndexFiles): Promise<string> => parts.write(JOB, [Buffer.from('rows '), Buffer.from('of calls')]);
  afterEach(() => void vi.useRealTimers());
  afterAll(() => Promise.all(opened.map((store) => store.close())));

  it('are opened on another machine, which keeps a copy', async () => {
    const [url, here, there] = [database.project(), temporaryFolder(), temporaryFolder()];
    const name = await write(await partsOf(url, here));
    const parts = open(url, there).indexFiles as IndexFiles & Required<Pick<IndexFiles, 'fetch'>>;
    expect(parts.open(JOB, name)).toBeUndefined(); // before it was fetched
    await parts.fetch(JOB, [wanted(name)]);
    expect(textOf(parts.open(JOB, name))).toBe(CONTENT);
    expect([copiesIn(here), copiesIn(there)].map((files) => files.map((file) => path.basename(file)))).toEqual([
      [`${name}.tier`],
      [`${name}.tier`],
    ]);
    await database.query('delete from mlld.asides', []);
    await parts.fetch(JOB, [wanted(name)]); // from the copy
    expect(textOf(parts.open(JOB, name))).toBe(CONTENT);
  });

  it('are fetched again where the copy is damaged, and not opened where the database has another content', async () => {
    const [url, here] = [database.project(), temporaryFolder()];
    const parts = await partsOf(url, here);
    const name = await write(parts);
    const [copy] = copiesIn(here).map((file) => path.join(here, file)) as [string];
    fs.writeFileSync(copy, 'rows of balls');
    await parts.fetch(JOB, [wanted(name)]);
    expect(textOf(parts.open(JOB, name))).toBe(CONTENT);
    expect(fs.readFileSync(copy, 'utf8')).toBe(CONTENT);
    await parts.fetch(JOB, [wanted(name, 'other rows')]);
    expect(parts.open(JOB, name)).toBeUndefined();
  });

  it('are used without a copy where the folder can not be written', async () => {
    const [url, here] = [database.project(), temporaryFolder()];
    const parts = await partsOf(url, here);
    fs.rmSync(here, { recursive: true, force: true });
    fs.writeFileSync(here, 'no folder');
    const name = await write(parts);
    await parts.fetch(JOB, [wanted(name)]);
    expect(textOf(parts.open(JOB, name))).toBe(CONTENT);
    expect((await parts.list(JOB)).map((each) => each.name)).toEqual([name]);
  });

  it('leave no copy that the index no longer names, and none that is no part', async () => {
    const [url, here] = [database.project(), temporaryFolder()];
    const parts = await partsOf(url, here);
    const copies = openIndexFiles(realDisk, here);
    await copies.put(JOB, OLD, [Buffer.from('text that was redacted elsewhere')]);
    const name = await write(parts);
    await parts.fetch(JOB, [wanted(name), wanted('../../evil'), wanted(OLD)]);
    expect(copiesIn(here)).toHaveLength(2); // it is named
    await parts.fetch(JOB, []);
    expect(copiesIn(here).map((file) => path.basename(file))).toEqual([`${name}.tier`]); // another process may just have read its name
    await parts.remove(JOB, name);
    expect([copiesIn(here), await parts.list(JOB)]).toEqual([[], []]);
  });

  it('leave nothing of a copy whose process was killed, once it is so old that no other one is writing it', async () => {
    const [url, here] = [database.project(), temporaryFolder()];
    const parts = await partsOf(url, here);
    async function* cutOff(): AsyncGenerator<Buffer> {
      yield Buffer.from('text that was redacted elsewhere');
      await new Promise(() => undefined); // the process is gone
    }
    void openIndexFiles(realDisk, here).put(JOB, OLD, cutOff());
    const left = (): readonly string[] =>
      fs
        .readdirSync(here, { recursive: true })
        .map(String)
        .filter((file) => file.endsWith('.tmp'));
    await expect.poll(left).toHaveLength(1);
    await parts.fetch(JOB, []);
    expect(left()).toHaveLength(1);
    vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + 3_700_000 });
    await parts.fetch(JOB, []);
    expect(left()).toEqual([]);
  });

  it('make no difference to what is loaded, on whichever machine', async () => {
    let tiers = 0;
    await fc.assert(
      fc.asyncProperty(fc.array(anyFacts, { minLength: 2, maxLength: 4 }), async (runs) => {
        const [url, here, there] = [database.project(), temporaryFolder(), temporaryFolder()];
        for (const [number, facts] of runs.entries()) {
          const store = open(url, number % 2 === 0 ? here : there);
          await append(store, number + 1, facts);
          await load(store);
          await store.close();
        }
        const expected = essence(await folded(open(url, here)));
        for (const folder of [here, there, temporaryFolder()]) {
          const loaded = await load(open(url, folder));
          if (tiersOf(loaded.memo)) tiers++;
          expect(essence(loaded)).toEqual(expected);
        }
      }),
      { numRuns: 10 },
    );
    expect(tiers).toBeGreaterThan(5);
  });

  it('go with the index', async () => {
    const [url, here] = [database.project(), temporaryFolder()];
    const store = open(url, here);
    await append(store, 1, [started]);
    await write(store.indexFiles as IndexFiles);
    await removeIndex(store, JOB);
    expect([copiesIn(here), await store.indexFiles?.list(JOB)]).toEqual([[], []]);
  });
});
