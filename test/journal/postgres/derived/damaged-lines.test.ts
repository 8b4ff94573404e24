/** Rebuilds, around lines that SQL has damaged, what the store derives from its journals. team-store.md 12, REBUILD-5. */
import { describe, expect, it } from 'vitest';
import { sha256 } from '../../../../journal/canonical.js';
import type { Fact, JournalEvent } from '../../../../journal/event.js';
import type { TeamStore } from '../../../../journal/postgres/open-store.js';
import type { RebuildReport } from '../../../../journal/postgres/rebuild/rebuild-index.js';
import { callCompleted, callStarted, finished, runRef, started } from '../../support/facts.js';
import { makeDatabase, noServer, openTestStore, type TestDatabase } from '../database.js';

describe.skipIf(noServer !== undefined)(`damaged lines${noServer === undefined ? '' : ` (not run: ${noServer})`}`, async () => {
  const database = noServer === undefined ? await makeDatabase() : (undefined as unknown as TestDatabase);

  interface Project extends AsyncDisposable {
    readonly name: string;
    readonly store: TeamStore;
  }
  function newProject(): Project {
    const url = database.project();
    const store = openTestStore(url, { notifies: false });
    return { name: new URL(url).searchParams.get('project')!, store, [Symbol.asyncDispose]: () => store.close() };
  }

  async function rebuilt({ store }: Project, dryRun = false): Promise<RebuildReport> {
    const outcome = await store.rebuild({ dryRun });
    if (outcome.kind !== 'rebuilt') throw new Error(`in flight: ${outcome.runs.map(({ run }) => run).join()}`);
    return outcome.report;
  }

  const used = async ({ name }: Project) => {
    const rows = await database.query(
      `select a.key, r.run from mlld.answers a join mlld.runs r using (run_id) join mlld.workflows w on w.workflow_id = a.workflow_id
       join mlld.projects p using (project_id) where p.name = $1`,
      [name],
    );
    return Object.fromEntries(rows.map(({ key, run }) => [key, run]));
  };
  /** Takes, for each call, the number of the run whose result is used. */
  const results = (runs: { readonly [call: number]: number }) =>
    Object.fromEntries(Object.entries(runs).map(([call, run]) => [sha256(`key ${call}`), runRef(run).run]));

  const changeLines = ({ name }: Project, run: number, line: string, where: string) =>
    database.query(
      `update mlld.events e set line = ${line} from mlld.runs r join mlld.workflows w using (workflow_id) join mlld.projects p using (project_id)
       where r.run_id = e.run_id and p.name = $1 and r.run = $2 and ${where}`,
      [name, runRef(run).run],
    );

  /** Records two runs with a call each, and one that the second run executes again. Each attempt reserves 3 of a budget and costs 2. */
  async function twoRuns(): Promise<Project> {
    const project = newProject();
    await project.store.budgets.set('nightly', { unit: 'usd', total: 50 });
    for (const n of [0, 1]) {
      const journal = await project.store.create(runRef(n));
      await journal.append(started);
      for (const call of [n, 2]) {
        const refused = n === 1 && call === 2 && { refused: { run: runRef(0).run, seq: 4 } };
        await journal.append({ ...callStarted(call), ...refused, reserved: { usd: 3, basis: 'maxCost', shared: ['nightly'] } } as Fact);
        await journal.append({ ...callCompleted(call), usage: { costUsd: 2, inputTokens: 1, outputTokens: 1 } } as Fact);
      }
      await journal.append(finished);
      await journal.close();
    }
    return project;
  }

  describe.each([
    ['that is cut off', 'left(e.line, -10)'],
    ['with half of an escape', String.raw`replace(e.line, '"op":', '"x":"\u00zz","op":')`],
    ['with a number that no server holds', `replace(e.line, '"op":', '"x":1e400000,"op":')`],
    ['that is nested too deep', `replace(e.line, '"op":', '"x":' || repeat('[', 100000) || repeat(']', 100000) || ',"op":')`],
    ['that is a list', `'[' || e.line || ']'`],
    ['that is null', `'null'`],
    ['that is empty', `''`],
    ['that has another one behind it', 'e.line || e.line'],
  ])('a line %s', (_what, damaged) => {
    it('is that of a result: no run uses it, and its attempt counts with what it had reserved', async () => {
      await using project = await twoRuns();
      expect(await used(project)).toEqual(results({ 0: 0, 1: 1, 2: 1 }));
      expect(await rebuilt(project)).toMatchObject({ budgets: [{ spent: 8 }], damagedRuns: [] });
      await changeLines(project, 1, damaged, `e.line like '%"type":"call.completed"%'`);
      const damagedRuns = [{ ...runRef(1), lines: 2 }];
      expect(await rebuilt(project, true)).toMatchObject({ results: { removed: 1, changed: 1 }, damagedRuns });
      expect(await rebuilt(project)).toMatchObject({ budgets: [{ spent: 10, spentBefore: 8 }], damagedRuns });
      expect(await used(project)).toEqual(results({ 0: 0, 2: 0 }));
    });

    it('is that of an attempt: its result is used, and it counts in no budget', async () => {
      await using project = await twoRuns();
      await rebuilt(project);
      await changeLines(project, 1, damaged, `e.line like '%"type":"call.started"%' and e.line like '%"refused"%'`);
      expect(await rebuilt(project)).toMatchObject({
        results: { total: 3, added: 0, changed: 0, removed: 0 },
        budgets: [{ spent: 6, spentBefore: 8 }],
        damagedRuns: [{ ...runRef(1), lines: 1 }],
      });
    });
  });

  it('are named with their runs, also where no line is left, and those of other projects are not', async () => {
    await using project = await twoRuns();
    for (const run of [0, 1]) await changeLines(project, run, 'left(e.line, -1)', 'true');
    const { results: counts, budgets, damagedRuns } = await rebuilt(project);
    expect({ counts, budgets }).toMatchObject({ counts: { total: 0, removed: 3 }, budgets: [{ spent: 0 }] });
    expect(damagedRuns).toEqual([0, 1].map((run) => ({ ...runRef(run), lines: 6 })));
    await using other = await twoRuns();
    expect(await rebuilt(other)).toMatchObject({ results: { total: 3, changed: 0 }, damagedRuns: [] });
  });

  it('are not those with escapes that no server holds, also in a result with a member of the name of one that is not usable', async () => {
    await using project = newProject();
    const journal = await project.store.create(runRef(1));
    await journal.append(started);
    await journal.append(callCompleted(1, { unusable: 'one half: \ud800, nothing: \u0000, and a path: C:\\u00zz' }));
    await journal.append({ ...callCompleted(2, '\ud800'), unusable: 'its command failed' } as Fact);
    await journal.append(finished);
    await journal.close();
    expect(await rebuilt(project)).toMatchObject({ results: { total: 1, added: 0, removed: 0 }, damagedRuns: [] });
    await database.query('delete from mlld.answers where run_id in (select run_id from mlld.runs where run = $1)', [runRef(1).run]);
    expect(await rebuilt(project)).toMatchObject({ results: { total: 1, added: 1 } });
    expect(await used(project)).toEqual(results({ 1: 1 }));
  });

  it('let their run be redacted, and its other results be used', async () => {
    await using project = await twoRuns();
    await changeLines(project, 1, `replace(left(e.line, -1), '"op":', '"unusable":1,"op":')`, `e.line like '%"key":"${sha256('key 1')}"%'`);
    await changeLines(project, 1, `replace(e.line, 'run.finished"', 'call.superseded"')`, 'true'); // it names no result
    const keeper = await project.store.keeper();
    const edit = (event: JournalEvent) => (event.type === 'run.started' ? { ...event, host: 'elsewhere' } : undefined);
    expect(await keeper.rewriteRun(runRef(1), edit, { at: '2026-11-21T09:00:00.000Z', reason: 'asked for' })).toBe(1);
    expect(await used(project)).toEqual(results({ 0: 0, 2: 1 }));
  });
});
