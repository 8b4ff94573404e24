/** A blob whose row was changed by SQL is not there, and is not looked for without end. */
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
    await journal.close();
    await store.close();
  });
});
