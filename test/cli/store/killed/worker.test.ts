/**
 * A worker that is killed between two statements that it sends, at each point of what it does for a call. team-store.md 7.1.
 *
 * KILLED-WORKER-1 The run that offers ends well with another worker.
 * KILLED-WORKER-2 A call whose result was durable is not paid for again; the others are executed once by the other worker.
 * KILLED-WORKER-3 No offer and no claim is left, the journals verify, and no report complains of the run that the killed worker began,
 *    or tells how to resume it.
 * KILLED-WORKER-4 The audit of the run names each call that the killed worker had begun and recorded no end of.
 */
import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, it, vi } from 'vitest';
import { makeDatabase, noServer, type TestDatabase } from '../../../journal/postgres/database.js';
import { Between } from '../../../journal/support/between.js';
import { emptyFolder, projectFolder, resultOf, runCli } from '../../../support/cli.js';
import { commandsOfTests } from '../started-commands.js';

const QUESTIONS = ['a', 'b', 'c', 'd'];
const SCRIPT = `exe llm @ask(q) = sh { echo "$WHO $q" >> "$LEDGER"; echo "done $q" }
var @all = for parallel(4) @q in ${JSON.stringify(QUESTIONS)} => @ask(@q)
show @all.join(" ")
`;
const PATIENCE = { timeout: 60_000, interval: 50 };
const OF_RUN =
  'where r.workflow_id in (select w.workflow_id from mlld.workflows w join mlld.projects p using (project_id) where p.name = $1)';

describe.skipIf(noServer !== undefined)(`a worker that is killed${noServer === undefined ? '' : ` (not run: ${noServer})`}`, async () => {
  const database = noServer === undefined ? await makeDatabase() : (undefined as unknown as TestDatabase);
  const start = commandsOfTests({ MLLD_LEASE: '3s' });

  async function projectOf(script: string) {
    const url = database.project();
    const between = await Between.open(url);
    const folder = await projectFolder({ 'mlld-config.json': '{}', 'llm/run/hi.mld': script });
    const LEDGER = path.join(folder, 'ledger');
    const paid = (who: string): readonly string[] =>
      (existsSync(LEDGER) ? readFileSync(LEDGER, 'utf8').trim().split('\n') : [])
        .map((line) => line.split(' '))
        .filter(([by]) => by === who)
        .map(([, question = '']) => question)
        .sort();
    const worker = async (who: string, store: string) => {
      const child = start(['worker', '--lanes', '2', '--name', who], await emptyFolder(), { MLLD_STORE: store, LEDGER, WHO: who });
      return { child, ended: resultOf(child) };
    };
    const run = () => resultOf(start(['run', 'hi', '--checkpoint', '--workers'], folder, { MLLD_STORE: url }));
    /** Resolves when the server has done, or not done, the statement, and hears of nothing behind it. */
    const stopsAt = async (statement: string, isDone: boolean): Promise<void> => {
      let isReached = false;
      between.onSent = (text) => {
        isReached ||= text.includes(statement);
        between.isDeaf = isReached;
        return !isReached || (isDone && text.includes(statement));
      };
      await vi.waitFor(() => expect(isReached).toBe(true), PATIENCE);
      await sleep(500); // the server does it meanwhile
    };
    return { url, between, folder, paid, worker, run, stopsAt };
  }

  it.each([
    ['behind the making of its run', 'mlld.begin_worker', true],
    ['behind the first fact of its run', '"type":"run.started"', true],
    ['behind the claims of calls', '"held"', true],
    ['behind the start of a call', '"type":"call.started"', true],
    ['before the end of a call', '"type":"call.completed"', false],
    ['behind that', '"type":"call.completed"', true],
  ])('%s: %s (done: %j)', { timeout: 240_000 }, async (_, statement, isDone) => {
    const { url, between, folder, paid, worker, run, stopsAt } = await projectOf(SCRIPT);
    const cli = (...words: readonly string[]) => runCli(words, { cwd: folder, env: { MLLD_STORE: url } });
    const rows = (text: string) => database.query(text, [new URL(url).searchParams.get('project')]);

    const reached = stopsAt(statement, isDone);
    const killed = await worker('killed', between.url);
    const ended = run();
    await reached;
    const durable = isDone && statement.includes('call.completed') ? 1 : 0;
    const results = `select e.seq from mlld.events e join mlld.runs r using (run_id) ${OF_RUN} and e.line like '%"type":"call.completed"%'`;
    await vi.waitFor(async () => expect(await rows(results)).toHaveLength(durable), PATIENCE);
    killed.child.kill('SIGKILL');
    await killed.ended;

    const other = await worker('other', url);
    expect(await ended).toMatchObject({ status: 0, stdout: 'done a done b done c done d\n' }); // KILLED-WORKER-1
    expect(paid('other')).toHaveLength(QUESTIONS.length - durable); // KILLED-WORKER-2
    expect([...new Set([...paid('killed'), ...paid('other')])].sort()).toEqual(QUESTIONS);
    other.child.kill('SIGTERM');
    expect(await other.ended).toMatchObject({ status: 0 });

    // KILLED-WORKER-3
    expect(await cli('journal', 'verify', 'hi')).toMatchObject({ status: 0, stderr: '' });
    expect(JSON.parse((await cli('journal', 'list', '--json')).stdout)).toMatchObject([{ status: 'completed', atWorkers: 4 }]);
    const withWorkers = JSON.parse((await cli('journal', 'list', '--workers', '--json')).stdout) as readonly { readonly status: string }[];
    expect(withWorkers.map(({ status }) => status).sort()).toEqual(['completed', 'worker', 'worker']);
    expect((await cli('journal', 'stats', 'hi')).stdout).toMatch(/^1 run: 1 completed\n4 calls executed/);
    const [of] = JSON.parse((await cli('journal', 'list', '--json')).stdout) as readonly { readonly run: string }[];
    const [killedRun] = await rows(`select r.run from mlld.runs r ${OF_RUN} and r.role = 'worker' order by r.run`);
    const { stdout: report } = await cli('journal', 'postmortem', String(killedRun?.['run']));
    expect(report).toContain('A run of the worker killed crashed');
    expect(report).toContain(`mlld journal postmortem ${of?.run}`);
    expect(report).not.toContain('--resume');
    const inKilled = (type: string): Promise<readonly unknown[]> =>
      rows(`select e.seq from mlld.events e join mlld.runs r using (run_id) ${OF_RUN} and r.run = '${String(killedRun?.['run'])}'
        and e.line like '%"type":"${type}"%'`);
    const { team } = JSON.parse((await cli('journal', 'audit', 'hi', '--json')).stdout) as {
      readonly team: { readonly unended: unknown[] };
    };
    expect(team.unended).toHaveLength((await inKilled('call.started')).length - (await inKilled('call.completed')).length); // KILLED-WORKER-4
    expect(await rows(`select c.key from mlld.claims c join mlld.runs r using (run_id) ${OF_RUN}`)).toEqual([]);
    expect(await rows(`select o.key from mlld.offers o join mlld.runs r using (run_id) ${OF_RUN}`)).toEqual([]);
  });

  it('behind the end of a call that failed: nobody executes it again', { timeout: 240_000 }, async () => {
    const failing = SCRIPT.replace('echo "done $q" }', 'test "$q" != b && echo "done $q" } with { retries: 0 }');
    const { url, between, paid, worker, run, stopsAt } = await projectOf(failing);
    const reached = stopsAt('"type":"call.failed"', true);
    const killed = await worker('killed', between.url);
    const ended = run();
    await reached;
    killed.child.kill('SIGKILL');
    await killed.ended;

    const other = await worker('other', url);
    expect((await ended).stderr).toContain('for parallel: 1 of 4 failed');
    expect(paid('killed')).toContain('b');
    expect(paid('other')).not.toContain('b');
    other.child.kill('SIGTERM');
    expect(await other.ended).toMatchObject({ status: 0 });
  });
});
