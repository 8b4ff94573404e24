/** Rebuilds on a server what the store derives from its journals. team-store.md 4.2, 12. */
import { setTimeout as sleep } from 'node:timers/promises';
import fc from 'fast-check';
import { afterAll, describe, expect, it } from 'vitest';
import { sha256 } from '../../../../journal/canonical.js';
import type { Fact } from '../../../../journal/event.js';
import { opPath, type EventRef } from '../../../../journal/ids.js';
import type { TeamStore } from '../../../../journal/postgres/open-store.js';
import type { RebuildReport } from '../../../../journal/postgres/rebuild/rebuild-index.js';
import type { Journal } from '../../../../journal/store.js';
import { callCompleted, callStarted, finished, runRef, started } from '../../support/facts.js';
import { examples } from '../../../support/examples.js';
import { Line } from '../away/breakable-line.js';
import { makeDatabase, noServer, openTestStore, type TestDatabase } from '../database.js';

interface Step {
  readonly run: number;
  readonly call: number;
  /** The result that the caller refuses: none, the one that is used now, or any that was recorded before. */
  readonly refuses: 'none' | 'used' | number;
  readonly ends: 'completed' | 'unusable' | 'failed' | 'never';
}

const RUNS = 3;
const CALLS = 3;
const steps = fc.array(
  fc.record({
    run: fc.integer({ min: 0, max: RUNS - 1 }),
    call: fc.integer({ min: 0, max: CALLS - 1 }),
    refuses: fc.oneof(fc.constantFrom('none' as const, 'used' as const, 'used' as const), fc.nat(20)),
    ends: fc.constantFrom(
      'completed' as const,
      'completed' as const,
      'completed' as const,
      'unusable' as const,
      'failed' as const,
      'never' as const,
    ),
  }),
  { minLength: 5, maxLength: 25 },
);

describe.skipIf(noServer !== undefined)(`a store that is rebuilt${noServer === undefined ? '' : ` (not run: ${noServer})`}`, async () => {
  const database = noServer === undefined ? await makeDatabase() : (undefined as unknown as TestDatabase);
  const opened: TeamStore[] = [];
  const open = (url: string, line?: Line): TeamStore => {
    const store = openTestStore(url, { notifies: false, ...(line && { connect: line.connect }) });
    opened.push(store);
    return store;
  };
  afterAll(() => Promise.all(opened.map((store) => store.close())));

  const closing = (store: TeamStore) => Object.assign(store, { [Symbol.asyncDispose]: () => store.close() });
  const projectOf = (url: string): string => new URL(url).searchParams.get('project')!;
  const answers = (url: string) =>
    database.query(
      `select a.key, r.run, a.seq, a.at, a.bytes from mlld.answers a join mlld.runs r using (run_id)
       join mlld.workflows w on w.workflow_id = a.workflow_id join mlld.projects p using (project_id) where p.name = $1 order by a.key`,
      [projectOf(url)],
    );
  const change = (url: string, statement: string) =>
    database.query(
      `${statement} in (select w.workflow_id from mlld.workflows w
    join mlld.projects p using (project_id) where p.name = $1)`,
      [projectOf(url)],
    );

  async function rebuilt(store: TeamStore, dryRun = false): Promise<RebuildReport> {
    const outcome = await store.rebuild({ dryRun });
    if (outcome.kind !== 'rebuilt') throw new Error(`in flight: ${outcome.runs.map(({ run }) => run).join()}`);
    return outcome.report;
  }

  async function play(journals: readonly Journal[], history: readonly Step[], url: string): Promise<void> {
    const results: EventRef[][] = Array.from({ length: CALLS }, () => []);
    for (const [n, { run, call, refuses, ends }] of history.entries()) {
      const journal = journals[run]!;
      const key = sha256(`key ${call}`);
      const op = opPath(`main/review#${n}`);
      const used = (await answers(url)).find((row) => row['key'] === key);
      const refused =
        refuses === 'used' ? used && { run: used['run'], seq: used['seq'] } : refuses === 'none' ? undefined : results[call]![refuses];
      await journal.append({ ...callStarted(call), op, ...(refused && { refused }) } as Fact);
      const completed = { ...callCompleted(call, `"unusable": \u0000 "refused":{ ${n}`), op };
      if (ends === 'failed') await journal.append({ type: 'call.failed', key, op, message: 'no', elapsedMs: 1 });
      if (ends === 'unusable') await journal.append({ ...completed, unusable: 'its command failed' } as Fact);
      if (ends !== 'completed') continue;
      const { seq } = await journal.append(completed as Fact);
      results[call]!.push({ run: journal.ref.run, seq });
    }
  }

  it.each([
    ['a key that is null', `regexp_replace(e.line, '"key":"[^"]+"', '"key":null')`],
    ['a number as key', `regexp_replace(e.line, '"key":"[^"]+"', '"key":5')`],
    ['a text as what it refused', `replace(e.line, '"fn":', '"refused":{"run":5,"seq":"x"},"fn":')`],
    ['a text as its try', `replace(e.line, '"op":', '"try":"x","op":')`],
    ['texts as its usage', `replace(e.line, '"op":', '"usage":{"costUsd":"x","inputTokens":{}},"op":')`],
    ['a text as what it reserved', `replace(e.line, '"reserved":{"usd":1', '"reserved":{"usd":"x"')`],
    ['an object as its budgets', `replace(e.line, '"shared":["nightly","words"]', '"shared":{"of":{"shared":[1]}}')`],
    ['a text as its time', `regexp_replace(e.line, '"ts":"[^"]+"', '"ts":"2026-13-13T00:00:00.000Z"')`],
    ['a number as its time', `regexp_replace(e.line, '"ts":"[^"]+"', '"ts":7')`],
    ['tokens without an end', `replace(e.line, '"op":', '"usage":{"inputTokens":9e131071,"outputTokens":9e131071},"op":')`],
    ['a number that no event has', `replace(e.line, 'run.finished"', 'call.superseded","of":99999999999999')`],
  ])('is rebuilt around a line with %s', async (_what, line) => {
    const url = database.project();
    await using store = closing(open(url));
    await store.budgets.set('words', { unit: 'tok', total: 50 });
    await store.budgets.set('nightly', { unit: 'usd', total: 50 });
    for (const n of [0, 1]) {
      const journal = await store.create(runRef(n));
      const reserved = { usd: 1, basis: 'maxCost', shared: ['nightly', 'words'] };
      for (const fact of [started, { ...callStarted(n), reserved } as Fact, callCompleted(n), finished]) await journal.append(fact);
      await journal.close();
    }
    const before = await answers(url);
    expect(before).toHaveLength(2);
    await database.query(
      `update mlld.events e set line = ${line} from mlld.runs r join mlld.workflows w using (workflow_id) join mlld.projects p using (project_id)
       where r.run_id = e.run_id and p.name = $1 and r.run = $2`,
      [projectOf(url), runRef(1).run],
    );
    expect(await rebuilt(store)).toMatchObject({ damagedRuns: [] });
    const after = (await answers(url)).map(({ run }) => run as string);
    expect(after).toContain(runRef(0).run);
  });

  it('has the results that the appends noted, whatever happened, and whatever the index has become', { timeout: 120_000 }, async () => {
    await fc.assert(
      fc.asyncProperty(steps, async (history) => {
        const url = database.project();
        await using store = closing(openTestStore(url, { notifies: false }));
        const journals = await Promise.all(Array.from({ length: RUNS }, (_, n) => store.create(runRef(n + 1))));
        for (const journal of journals) await journal.append(started);
        await play(journals, history, url);
        for (const journal of journals) await journal.append(finished);
        for (const journal of journals) await journal.close();
        const before = await answers(url);
        expect((await rebuilt(store)).results).toEqual({ total: before.length, added: 0, changed: 0, removed: 0 });
        await change(url, `update mlld.answers set seq = 0, at = 0 where key < '8' and workflow_id`);
        await change(url, `delete from mlld.answers where key >= '8' and workflow_id`);
        await rebuilt(store);
        expect(await answers(url)).toEqual(before);
      }),
      { numRuns: examples(10, 100) },
    );
  });

  async function oneRun(url: string): Promise<void> {
    const store = open(url);
    const journal = await store.create(runRef(1));
    for (const fact of [started, callStarted(1), callCompleted(1), finished]) await journal.append(fact);
    await journal.close();
  }

  it('loses entries without a journal, claims of the dead and offers; a dry run only says so', async () => {
    const url = database.project();
    await oneRun(url);
    const store = open(url);
    const dead = await store.create(runRef(2));
    await dead.append(started);
    await dead.claims?.claim({ key: sha256('key 9') });
    await change(url, `update mlld.runs set lease_until = '-infinity' where not finished and workflow_id`);
    const ofProject = `from mlld.runs r join mlld.workflows w using (workflow_id) join mlld.projects p using (project_id) where p.name = $1`;
    const project = [projectOf(url)];
    await database.query(`insert into mlld.answers select workflow_id, 'none', run_id, 1, 1, 1 ${ofProject} and not finished`, project);
    await database.query(
      `insert into mlld.offers (workflow_id, key, run_id, call) select workflow_id, 'k', run_id, '{}' ${ofProject}`,
      project,
    );
    const expected = { results: { total: 1, added: 0, changed: 0, removed: 1 }, claims: 1, offers: 2, budgets: [], damagedRuns: [] };
    expect(await rebuilt(store, true)).toEqual({ dryRun: true, ...expected });
    expect(await rebuilt(store)).toEqual({ dryRun: false, ...expected });
    expect(await rebuilt(store)).toMatchObject({ results: { removed: 0 }, claims: 0, offers: 0 });
  });

  it('has no entry of a run that was removed, also where it is removed while the store is rebuilt', async () => {
    const url = database.project();
    await oneRun(url);
    const orphans = 'select a.key from mlld.answers a where not exists (select from mlld.runs r where r.run_id = a.run_id)';
    const line = new Line(url);
    let removal: Promise<unknown> | undefined;
    line.before = async (text) => {
      if (text !== 'commit') return;
      removal = database.query(
        `delete from mlld.runs r using mlld.workflows w join mlld.projects p using (project_id)
        where w.workflow_id = r.workflow_id and p.name = $1`,
        [projectOf(url)],
      );
      await sleep(100); // it waits for the rebuild
    };
    await change(url, 'delete from mlld.answers where workflow_id');
    expect(await rebuilt(open(url, line))).toMatchObject({ results: { added: 1 } });
    await removal;
    expect(removal).toBeDefined();
    expect(await answers(url)).toEqual([]);
    expect(await database.query(orphans, [])).toEqual([]);
  });

  it('is left alone while a run is in flight', async () => {
    const url = database.project();
    await oneRun(url);
    const store = open(url);
    const journal = await store.create(runRef(2));
    await journal.append(started);
    await change(url, 'delete from mlld.answers where workflow_id');
    expect(await store.rebuild({ dryRun: false })).toEqual({ kind: 'in flight', runs: [runRef(2)] });
    expect(await answers(url)).toEqual([]);
    await journal.append(finished);
    await journal.close();
    expect(await rebuilt(store)).toMatchObject({ results: { total: 1, added: 1 } });
  });

  it('is as it was when the connection is cut at any statement, and can be rebuilt then', async () => {
    const url = database.project();
    await oneRun(url);
    await change(url, 'update mlld.answers set at = 0 where workflow_id');
    const before = await answers(url);
    const line = new Line(url);
    const store = open(url, line);
    await store.workflows();
    for (let cutAt = 1; ; cutAt++) {
      let sent = 0;
      line.before = async () => {
        if (++sent === cutAt) await line.cut();
      };
      const outcome = await store.rebuild({ dryRun: false }).catch((error: Error) => error);
      line.isCut = false;
      if (!(outcome instanceof Error)) break;
      expect(await answers(url)).toEqual(before);
      expect(cutAt).toBeLessThan(30);
    }
    expect(await answers(url)).not.toEqual(before);
  });
});
