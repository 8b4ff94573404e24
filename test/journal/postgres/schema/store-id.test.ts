import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { realDisk } from '../../../../journal/storage/disk.js';
import { runRef, started } from '../../support/facts.js';
import { temporaryFolder } from '../../support/folder.js';
import { makeDatabase, noServer, openTestStore, type TestDatabase } from '../database.js';

describe.skipIf(noServer !== undefined)(`the id of a store${noServer === undefined ? '' : ` (not run: ${noServer})`}`, async () => {
  const database = noServer === undefined ? await makeDatabase() : (undefined as unknown as TestDatabase);

  it('names no folder elsewhere: a server whose id is a path is refused', async () => {
    await database.query(`alter table mlld.meta alter store_id drop default, alter store_id type text using '../../elsewhere'`);
    const folder = temporaryFolder();
    const spill = { disk: realDisk, folder: join(folder, '.mlld', 'spill') };
    const store = openTestStore(database.project(), { spill, waitMs: 0 });
    const journal = store.create(runRef(1)).then((created) => created.append(started));
    await expect(journal).rejects.toMatchObject({ code: 'STORE_UNFIT', message: expect.stringContaining('no UUID') });
    await store.close();
    expect(await readdir(folder)).toEqual([]);
  });
});
