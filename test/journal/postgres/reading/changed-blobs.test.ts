/** A blob whose row was changed by SQL is not there, is not looked for without end, and is there once it was stored again. */
import { describe, expect, it } from 'vitest';
import { makeDatabase, noServer, openTestStore, type TestDatabase } from '../database.js';
import { runRef, started } from '../../support/facts.js';

describe.skipIf(noServer !== undefined)(`a changed blob${noServer === undefined ? '' : ` (not run: ${noServer})`}`, async () => {
  const database = noServer === undefined ? await makeDatabase() : (undefined as unknown as TestDatabase);

  it.each(['9000000000000000', '3000000', '-1', '0'])('of %s bytes ends the reading where its parts end', async (bytes) => {
    const url = database.project();
    const store = openTestStore(url);
    const journal = await store.create(runRef(1));
    await journal.append(started);
    const content = Buffer.alloc(2_500_000, 'many parts ');
    const { blob } = await store.putBlob(content);
    expect(content.equals((await store.getBlob(blob)) ?? Buffer.alloc(0))).toBe(true);
    await database.query(
      'update mlld.blobs b set bytes = $1 from mlld.projects p where p.project_id = b.project_id and p.name = $2 and b.digest = $3',
      [bytes, new URL(url).searchParams.get('project'), blob],
    );
    const read = await store.getBlob(blob);
    expect(read === undefined || content.equals(read)).toBe(true);
    await store.putBlob(content);
    expect(content.equals((await store.getBlob(blob)) ?? Buffer.alloc(0))).toBe(true);
    await journal.close();
    await store.close();
  });

  /** In the ways of a small blob, of one that is asked for first, and of one in several parts. */
  const SIZES = [100, 100_000, 2_500_000];
  const CHANGES = {
    'a part is another one': "update mlld.blob_parts set content = 'other'::bytea where project_id = $1 and digest = $2 and part = 0",
    'a part has the length that it had': `update mlld.blob_parts set content = overlay(content placing '?'::bytea from 10)
      where project_id = $1 and digest = $2 and part = 0`,
    'a part is gone': 'delete from mlld.blob_parts where project_id = $1 and digest = $2 and part = 0',
    'its length is another one': 'update mlld.blobs set bytes = bytes + 1 where project_id = $1 and digest = $2',
  };

  it.each(SIZES.flatMap((size) => Object.entries(CHANGES).map(([what, change]) => [size, what, change] as const)))(
    'of %s bytes is whole again when it is stored again, where %s',
    async (size, what, change) => {
      const url = database.project();
      const [store, colleague] = [openTestStore(url), openTestStore(url)];
      const journal = await store.create(runRef(1));
      await journal.append(started);
      const content = Buffer.alloc(size, 'a paid result ');
      const { blob } = await store.putBlob(content);
      const other = await store.putBlob('another result');
      const [row] = await database.query('select project_id from mlld.projects where name = $1', [
        new URL(url).searchParams.get('project'),
      ]);
      await database.query(change, [row?.['project_id'], blob]);
      const read = await store.getBlob(blob);
      if (what === 'its length is another one') expect(read === undefined || content.equals(read)).toBe(true);
      else expect(read).toBeUndefined();
      await Promise.all([store.putBlob(content), colleague.putBlob(content)]);
      expect(content.equals((await store.getBlob(blob)) ?? Buffer.alloc(0))).toBe(true);
      expect(String(await store.getBlob(other.blob))).toBe('another result');
      await journal.close();
      await Promise.all([store.close(), colleague.close()]);
    },
  );
});
