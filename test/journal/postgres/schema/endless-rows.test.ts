/** A lease that SQL has written for ever keeps nothing from others. team-store.md 4.5, ENDLESS-ROWS-1. */
import { describe, expect, it } from 'vitest';
import type { CallKey } from '../../../../journal/ids.js';
import { runRef, started, workflow } from '../../support/facts.js';
import { makeDatabase, noServer, openTestStore, type TestDatabase } from '../database.js';

describe.skipIf(noServer !== undefined)(`an endless lease${noServer === undefined ? '' : ` (not run: ${noServer})`}`, async () => {
  const database = noServer === undefined ? await makeDatabase() : (undefined as unknown as TestDatabase);

  it.each(['infinity', '3000-01-01', '3 hours from now'])('of a run until %s keeps no claim, and the run can be sealed', async (until) => {
    const url = database.project();
    const [gone, colleague] = [openTestStore(url), openTestStore(url)];
    const claim = { key: 'a key' as CallKey, refused: undefined };
    const abandoned = await gone.create(runRef(1));
    await abandoned.append(started);
    expect(await abandoned.claims?.claim(claim)).toMatchObject({ kind: 'claimed' });
    const run = await colleague.create(runRef(2));
    await run.append(started);
    expect(await run.claims?.claim(claim)).toMatchObject({ kind: 'taken' });
    const time = until === '3 hours from now' ? `now() + interval '3 hours'` : `'${until}'`;
    await database.query(
      `update mlld.runs r set lease_until = ${time} from mlld.workflows w join mlld.projects p using (project_id)
       where r.workflow_id = w.workflow_id and p.name = $1 and r.run = $2`,
      [new URL(url).searchParams.get('project'), runRef(1).run],
    );
    expect(await run.claims?.claim(claim)).toMatchObject({ kind: 'claimed' });
    await colleague.seal(runRef(1));
    await run.close();
    await abandoned.close().catch(() => undefined);
    await Promise.all([gone.close(), colleague.close()]);
  });

  it('of a workflow stops nobody who begins a run of it', async () => {
    const url = database.project();
    const store = openTestStore(url);
    await (
      await store.acquireWorkflowLock(workflow)
    )();
    await database.query(
      `insert into mlld.turns (workflow_id, holder, until) select workflow_id, gen_random_uuid(), 'infinity'
       from mlld.workflows join mlld.projects using (project_id) where name = $1`,
      [new URL(url).searchParams.get('project')],
    );
    await (
      await store.acquireWorkflowLock(workflow)
    )();
    await store.close();
  });

  it('is no longer behind a restart of the server either, whatever its row says', async () => {
    const [row] = await database.query(
      `select mlld.is_alive(now() - interval '1 second', 2147483647) as alive,
         pg_postmaster_start_time() + interval '1 hour' > now() as "isFresh"`,
      [],
    );
    expect(row?.['alive']).toBe(row?.['isFresh']);
  });
});
