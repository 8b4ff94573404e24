/**
 * SIGKILL between the rows of a tier and the index that names it, in a team's store.
 *
 * TEAM-INDEX-KILL-1 after a kill before, between or within the statements that write an index, every result of the past is found
 * TEAM-INDEX-KILL-2 the next process leaves an index that equals the fold of the runs
 * TEAM-INDEX-KILL-3 rows of tiers that no index names go, once they are old enough that no process is about to name them
 */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Fact } from '../../../../journal/event.js';
import { sha256Hex } from '../../../../journal/sha256.js';
import type { TeamStore } from '../../../../journal/postgres/open-store.js';
import { loadWorkflow } from '../../../../replay/memo/load.js';
import type { Memo } from '../../../../replay/memo/memo.js';
import { index } from '../../../../replay/memo/snapshot.js';
import { tiersOf } from '../../../../replay/memo/tiers/changed-rows.js';
import { projectFolder, resultOf, startCli } from '../../../support/cli.js';
import { call, finished, JOB, runRef, started } from '../../../support/written-runs.js';
import { Between } from '../../support/between.js';
import { makeDatabase, noServer, openTestStore, type TestDatabase } from '../database.js';

/** Enough calls for a tier of two rows, and as many more that it is written anew. */
const [FIRST, MORE] = [25_000, 9_000];
const WRITES = /(insert into|delete from) mlld\.asides/g;
/** The name of a part that was written long ago. */
const OLD = '1-0000abcd';

/** Comparing so many entries one by one takes a minute. */
const digestOf = ({ entries }: Memo): string => sha256Hex(JSON.stringify([...entries]));

describe.skipIf(noServer !== undefined)(`a process that is killed${noServer === undefined ? '' : ` (not run: ${noServer})`}`, async () => {
  const database = noServer === undefined ? await makeDatabase() : (undefined as unknown as TestDatabase);
  const url = database?.project() ?? '';
  const opened: TeamStore[] = [];
  const open = (): TeamStore => {
    const store = openTestStore(url, { notifies: false });
    opened.push(store);
    return store;
  };
  /** Leaves no connections to the end of the file: other files have no more than the server gives. */
  async function load() {
    const store = open();
    const loaded = await loadWorkflow(store, JOB, { onDefect: ({ message }) => expect.unreachable(message) });
    await store.close();
    return loaded;
  }
  const names = async (): Promise<readonly string[]> =>
    (await database.query('select name from mlld.asides order by name', [])).map(({ name }) => String(name));

  async function record(number: number, from: number, to: number): Promise<void> {
    const journal = await open().create(runRef(number));
    const calls = Array.from({ length: to - from }, (_, at): Fact[] => call(`main/for#0[${from + at}]/ask#0`, `buoy ${from + at}`));
    for (const fact of [started(runRef(number)), ...calls.flat(), finished()]) journal.post(fact);
    await journal.close();
  }

  async function folded(): Promise<string> {
    const [store, state] = [open(), index.initial()];
    for (const { ref } of await store.runs(JOB)) {
      await store.scan(ref, (event, position) => void index.apply(state, event, { ref, position }));
    }
    expect(state.memo.entries.size).toBe(FIRST + MORE);
    return digestOf(state.memo);
  }

  /** Runs a command that writes the index, and kills it at a statement about it. Returns how many such statements it has sent. */
  async function killAt(statement: number, isSent: boolean): Promise<{ readonly statements: number; readonly status: number | undefined }> {
    const between = await Between.open(url);
    const cwd = await projectFolder({ 'mlld-config.json': '{}', 'job.mld': 'show "nothing"\n' });
    const child = startCli(['checkpoint', 'list', 'job.mld', '--json'], { cwd, env: { MLLD_STORE: between.url } });
    const ended = resultOf(child);
    let statements = 0;
    between.onSent = (text) => {
      const found = text.match(WRITES)?.length ?? 0;
      statements += found;
      if (found === 0 || statements <= statement) return true;
      child.kill('SIGKILL');
      return isSent;
    };
    const { status } = await ended;
    between.cut();
    return { statements, status };
  }

  let made: readonly string[];
  beforeAll(async () => {
    if (noServer !== undefined) return;
    await record(1, 0, FIRST);
    await database.query('create table public.saved (what text, workflow_id int, name text, content bytea)', []);
    await load();
    made = await names();
    await record(2, FIRST, FIRST + MORE);
    await database.query(`insert into public.saved select 'adds to', * from mlld.asides`, []);
  }, 120_000);
  afterAll(() => Promise.all(opened.map((store) => store.close())));

  const restore = async (what: string): Promise<void> => {
    await database.query('delete from mlld.asides', []);
    await database.query('insert into mlld.asides select workflow_id, name, content from public.saved where what = $1', [what]);
  };

  it.each([
    ['makes', 3],
    ['adds to', 3], // a later one removes the tier that it has merged
  ])('while it %s an index leaves every result to the next, in %i statements', { timeout: 300_000 }, async (what, statements) => {
    expect(made).toHaveLength(3);
    await restore(what);
    expect(await killAt(Infinity, true)).toEqual({ statements, status: 0 });
    const expected = await folded();
    for (let statement = 0; statement < statements; statement++) {
      for (const isSent of [false, true]) {
        await restore(what);
        expect((await killAt(statement, isSent)).status).toBeUndefined();
        expect(digestOf((await load()).memo)).toBe(expected); // TEAM-INDEX-KILL-1
        const { memo } = await load();
        expect(tiersOf(memo)).toBeDefined(); // TEAM-INDEX-KILL-2
        expect(digestOf(memo)).toBe(expected);
      }
    }
  });

  it('leaves rows of a tier that a later index removes', { timeout: 120_000 }, async () => {
    await restore('makes');
    await killAt(1, false);
    await expect.poll(names).toHaveLength(1); // the first row of a tier that has two
    const [left] = await names();
    await database.query('update mlld.asides set name = $1', [`index/${OLD}`]);
    await database.query(`insert into mlld.asides select workflow_id, $1, '' from mlld.asides where name = $2`, [
      `index/${OLD}/7`,
      `index/${OLD}`,
    ]);
    await load();
    expect(left).toMatch(/^index\//);
    expect(await names()).toEqual(['index', expect.stringMatching(/^index\/[^/]+$/), expect.stringMatching(/^index\/[^/]+\/1$/)]);
  });
});
