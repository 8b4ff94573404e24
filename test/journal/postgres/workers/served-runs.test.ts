/** The run of a worker outlives the run that it served, and is a worker's run also in a copy. team-store.md 7.1 and 12. */
import { describe, expect, it } from 'vitest';
import type { Fact } from '../../../../journal/event.js';
import { runIdAt } from '../../../../journal/ids.js';
import { callCompleted, callStarted, finished, runRef, started, workflow } from '../../support/facts.js';
import { readRun } from '../../support/read.js';
import { makeDatabase, noServer, openTestStore, type TestDatabase } from '../database.js';

const KEY = (callStarted(1) as Extract<Fact, { type: 'call.started' }>).key;
const FACTS = { name: 'hut', version: '0.1.0', lanes: { '': 2 } };

describe.skipIf(noServer !== undefined)(
  `runs of workers on a server${noServer === undefined ? '' : ` (not run: ${noServer})`}`,
  async () => {
    const database = noServer === undefined ? await makeDatabase() : (undefined as unknown as TestDatabase);

    /** A run that has ended, and the run of a worker for it that was killed behind a result. */
    async function served() {
      const store = openTestStore(database.project(), { leaseMs: 1000 });
      const run = await store.create(runRef(1));
      await run.append(started);
      await run.offers?.offer({ key: KEY, lane: '', call: '{"n":"argument"}' });
      const [of] = (await store.workers.take('hut', { '': 1 }, [])).unserved;
      if (!of) throw new Error('nothing was offered');
      const { journal } = await store.workers.serve(of, FACTS, {});
      const { ref } = journal;
      await journal.append({ ...started, worker: { for: of.ref.run, ...FACTS } } as Fact);
      await journal.append(callStarted(1));
      await journal.append(callCompleted(1, 'paid'));
      await run.append(finished);
      await run.close();
      await journal.close();
      return { store, ref };
    }

    it('are readable when the run that they served is removed', async () => {
      const { store, ref } = await served();
      await store.deleteRun(runRef(1));
      expect(await store.runs(workflow)).toMatchObject([{ ref, isWorker: true }]);
      expect(JSON.stringify((await readRun(store, ref)).events)).toContain('paid');
      const next = await store.create(runRef(5));
      await next.append(started);
      expect(await next.claims?.claim({ key: KEY, refused: undefined, isAlone: false })).toMatchObject({
        kind: 'answered',
        by: { run: ref.run },
      });
      await next.close();
      await store.close();
    });

    it('are runs of workers in a copy, although they did not end', async () => {
      const { store, ref } = await served();
      const keeper = await store.keeper();
      const runs = [];
      for (const each of [runRef(1), ref]) runs.push({ ref: each, lines: await keeper.lines(each) });
      const other = openTestStore(database.project());
      await (await other.keeper()).storeBundle({ runs, blobs: new Map() });
      expect(await other.runs(workflow)).toMatchObject([{ ref: runRef(1) }, { ref, isWorker: true, liveness: 'crashed' }]);
      await other.close();
      await store.close();
    });

    it('come behind the run that they serve, whatever the clocks of the two say', async () => {
      const store = openTestStore(database.project(), { leaseMs: 1000 });
      const ahead = { workflow, run: runIdAt(Date.now() + 600_000, '0000') };
      const run = await store.create(ahead);
      await run.append(started);
      await run.offers?.offer({ key: KEY, lane: '', call: '{"n":"argument"}' });
      const [of] = (await store.workers.take('hut', { '': 1 }, [])).unserved;
      const { journal } = await store.workers.serve(of as NonNullable<typeof of>, FACTS, {});
      expect(journal.ref.run > ahead.run).toBe(true);
      await run.close();
      await journal.close();
      await store.close();
    });

    it('leave no arguments in offers when they are redacted', async () => {
      const { store } = await served();
      await database.query(
        `insert into mlld.offers (workflow_id, key, run_id, call) select workflow_id, 'left', run_id, '{"n":"argument"}' from mlld.runs where run = $1 order by run_id desc limit 1`,
        [runRef(1).run],
      );
      const keeper = await store.keeper();
      await keeper.rewriteRun(runRef(1), (event) => (event.type === 'run.started' ? { ...event, argv: [] } : undefined), {
        at: '2026-11-21T09:00:00.000Z',
        reason: 'r',
      });
      expect(await database.query(`select * from mlld.offers where key = 'left'`, [])).toEqual([]);
      await store.close();
    });
  },
);
