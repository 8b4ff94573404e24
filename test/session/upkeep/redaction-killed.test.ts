/**
 * A redaction of runs that are one on a server is killed at a statement, then the same redaction again. team-store.md 12.
 *
 * REDACTION-TEAM-1 each run verifies at any time, and results that are not meant are reused as before
 * REDACTION-TEAM-2 of a run that was rewritten nothing that was removed is reused
 * REDACTION-TEAM-3 when the redaction has been made again, the text is in no table
 */
import { describe, expect, it } from 'vitest';
import type { Fact } from '../../../journal/event.js';
import { seqOf, type RunRef } from '../../../journal/ids.js';
import type { TeamStore } from '../../../journal/postgres/open-store.js';
import { connectClient } from '../../../journal/postgres/pg-client.js';
import { parseStoreAddress } from '../../../journal/postgres/store-address.js';
import { loadWorkflow } from '../../../replay/memo/load.js';
import { usable } from '../../../replay/memo/memo.js';
import { readResult } from '../../../replay/memo/read-result.js';
import { runsAsOne } from '../../../replay/upkeep/runs-as-one.js';
import { verifyRun } from '../../../src/api/reports/verify.js';
import { redactRun, type RedactOptions, type RedactionReport } from '../../../src/session/upkeep/redact-run.js';
import { makeDatabase, noServer, openTestStore, type TestDatabase } from '../../journal/postgres/database.js';
import { examples } from '../../support/examples.js';
import { call, callKeyOf, finished, JOB, runRef, started } from '../../support/written-runs.js';

const SECRET = 'tide-token-4711';
const FACTS = { name: 'hut', version: '0.1.0', lanes: { '': 2 } };
const CUT = Object.assign(new Error('read ECONNRESET'), { code: 'ECONNRESET' });
const STATEMENTS_MAX = 200;
/** The two ways to be killed try every other statement together. */
const STEP = examples(4, 1);
const BY_TEXT = { op: undefined, match: new RegExp(SECRET), reason: 'asked for', at: '2026-11-21T08:00:00.000Z', dryRun: false };

/** The statement at which the process is killed, and whether the server has done it then. */
interface Kill {
  readonly at: number;
  readonly isDone: boolean;
}

describe.skipIf(noServer !== undefined)(
  `a redaction that is killed${noServer === undefined ? '' : ` (not run: ${noServer})`}`,
  async () => {
    const database = noServer === undefined ? await makeDatabase() : (undefined as unknown as TestDatabase);

    /** A store whose process makes no statement any more from the n-th on. */
    function dyingStore(url: string, { at, isDone }: Kill): TeamStore {
      const address = parseStoreAddress(url, { environment: {} });
      let left = at;
      return openTestStore(url, {
        waitMs: 0,
        async connect(onLost) {
          const client = await connectClient(address, { connectMs: 5000, onLost });
          return {
            ...client,
            async query(text, values, timeoutMs) {
              if (left > 0) {
                left--;
                return client.query(text, values, timeoutMs);
              }
              if (left === 0 && isDone) await client.query(text, values, timeoutMs);
              left = -1;
              await client.end();
              throw CUT;
            },
          };
        },
      });
    }

    /** A run, the run of its worker, which was killed, and the offer that nobody took back. */
    async function record(url: string): Promise<void> {
      const store = openTestStore(url);
      const run = await store.create(runRef(1));
      const { blob } = await store.putBlob(`var @token = "${SECRET}"`);
      const large = await store.payload(`${'x'.repeat(100_000)} ${SECRET}`);
      const ofWorker = (op: string, argument: string): Fact[] => {
        const [begin, reused, end] = call(op, argument, { outcome: 'reused' }) as [Fact, Fact, Fact];
        return [begin, { ...reused, worker: 'hut', from: { run: runRef(2).run, seq: seqOf(3) } } as Fact, end];
      };
      await run.append(started(runRef(1)));
      await run.offers?.offer({ key: callKeyOf('left'), lane: '', call: JSON.stringify({ argument: SECRET }) });
      const [of] = (await store.workers.take('hut', { '': 1 }, [])).unserved;
      if (!of) throw new Error('nothing was offered');
      const { journal } = await store.workers.serve(of, FACTS, {});
      const worker: Fact[] = [
        { ...started(journal.ref), worker: { for: of.ref.run, ...FACTS } } as Fact,
        ...call('main/ask#0', `use ${SECRET}`),
        ...call('main/ask#1', 'ebb 1'),
        ...call('main/ask#2', 'large').map((fact) => (fact.type === 'call.completed' ? { ...fact, result: large } : fact)),
      ];
      for (const fact of worker) await journal.append(fact);
      const own: Fact[] = [
        { type: 'source.loaded', path: 'job.mld', blob, role: 'script' },
        ...ofWorker('main/ask#0', `use ${SECRET}`),
        ...call('main/ask#1', `also ${SECRET}`),
        ...call('main/ask#2', 'ebb 2'),
        finished(),
      ];
      for (const fact of own) await run.append(fact);
      await run.close();
      await journal.close();
      await loadWorkflow(store, JOB, { onDefect: () => undefined });
      await store.close();
    }

    /** The results that a next run would reuse, by their first argument, and those that the index of the store names. */
    async function reusable(store: TeamStore): Promise<ReadonlyMap<string, string>> {
      const { memo } = await loadWorkflow(store, JOB, { onDefect: ({ message }) => expect.unreachable(message) });
      const found = new Map<string, string>();
      for (const [key, { preview, result }] of usable(memo)) {
        const read = await readResult(store, key, result);
        if (read) found.set(preview ?? '', JSON.stringify(read.result.json));
      }
      return found;
    }

    async function look(url: string): Promise<{ readonly reused: ReadonlyMap<string, string>; readonly withText: ReadonlySet<string> }> {
      const store = openTestStore(url);
      const withText = new Set<string>();
      for (const { ref } of await runsAsOne(store, runRef(1))) {
        expect(await verifyRun(store, ref)).toMatchObject({ defects: [] });
        let text = '';
        await store.scan(ref, (event) => void (text += JSON.stringify(event)));
        if (text.includes(SECRET)) withText.add(ref.run);
      }
      const reused = await reusable(store);
      await store.close();
      return { reused, withText };
    }

    /** The tables of the project in which the text is. */
    async function tablesWithText(url: string): Promise<readonly unknown[]> {
      const project = new URL(url).searchParams.get('project');
      const runs = `select r.run_id from mlld.runs r join mlld.workflows w using (workflow_id) join mlld.projects p using (project_id) where p.name = $1`;
      const found = await database.query(
        `select 'events' as table from mlld.events where run_id in (${runs}) and line like $2
       union all select 'offers' from mlld.offers where run_id in (${runs}) and call like $2
       union all select 'blobs' from mlld.blob_parts b join mlld.projects p using (project_id)
         where p.name = $1 and convert_from(content, 'UTF8') like $2
       union all select 'asides' from mlld.asides a join mlld.workflows w using (workflow_id) join mlld.projects p using (project_id)
         where p.name = $1 and encode(a.content, 'escape') like $2`,
        [project, `%${SECRET}%`],
      );
      return found.map(({ table }) => table);
    }

    const redact = async (store: TeamStore, ref: RunRef, options: RedactOptions): Promise<RedactionReport | undefined> => {
      try {
        return await redactRun(store, '/nowhere', ref, options);
      } catch {
        return undefined;
      } finally {
        await store.close().catch(() => undefined);
      }
    };

    it.each([false, true])(
      'leaves runs that verify, and is ended by the same redaction; the statement was done: %j',
      { timeout: 300_000 },
      async (isDone) => {
        const states = new Set<number>();
        let at = STEP > 1 && isDone ? STEP / 2 : 0;
        for (; at < STATEMENTS_MAX; at += STEP) {
          const url = database.project();
          await record(url);
          expect(await tablesWithText(url)).not.toEqual([]);
          const report = await redact(dyingStore(url, { at, isDone }), runRef(1), BY_TEXT);
          const { reused, withText } = await look(url);
          states.add(withText.size);
          for (const own of ['ebb 1', 'ebb 2']) expect(reused.get(own)).toBe(JSON.stringify(`A:"${own}"`)); // REDACTION-TEAM-1
          if (!withText.has(runRef(1).run)) expect(reused.has(`also ${SECRET}`)).toBe(false); // REDACTION-TEAM-2
          if (withText.size === 0) expect([...reused].join()).not.toContain(SECRET);
          expect(await redact(openTestStore(url), runRef(1), BY_TEXT)).toMatchObject({ serving: [expect.any(String)], vacuum: null });
          expect(await tablesWithText(url)).toEqual([]); // REDACTION-TEAM-3
          const after = await look(url);
          expect([...after.reused.keys()].sort()).toEqual(['ebb 1', 'ebb 2']);
          if (report !== undefined) break;
        }
        expect(at).toBeGreaterThan(20);
        expect(at).toBeLessThan(STATEMENTS_MAX);
        expect(states).toEqual(new Set([0, 1, 2]));
      },
    );
  },
);
