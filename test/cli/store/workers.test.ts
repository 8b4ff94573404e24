/** `mlld worker` and `mlld run --workers`, as processes on a server. team-store.md 7. */
import { appendFileSync, existsSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { makeDatabase, noServer, type TestDatabase } from '../../journal/postgres/database.js';
import { emptyFolder, projectFolder, resultOf, runCli, type CliProcess } from '../../support/cli.js';
import { commandsOfTests } from './started-commands.js';

const TIMEOUT_MS = 240_000;

describe.skipIf(noServer !== undefined)(`workers${noServer === undefined ? '' : ` (not run: ${noServer})`}`, async () => {
  const database = noServer === undefined ? await makeDatabase() : (undefined as unknown as TestDatabase);
  const start = commandsOfTests();

  async function worker(url: string, words: readonly string[] = [], env = {}): Promise<CliProcess> {
    return start(['worker', '--lanes', '2', '--name', 'hut', ...words], await emptyFolder(), { MLLD_STORE: url, ...env });
  }

  async function until(isTrue: () => boolean | Promise<boolean>): Promise<void> {
    while (!(await isTrue())) await sleep(50);
  }

  /** Only of one project: a killed run leaves its offers to the upkeep. */
  async function offersOf(url: string): Promise<readonly unknown[]> {
    const rows = await database.query(
      `select o.offer_id from mlld.offers o join mlld.runs using (run_id) join mlld.workflows w on w.workflow_id = o.workflow_id
       join mlld.projects p using (project_id) where p.name = $1`,
      [new URL(url).searchParams.get('project')],
    );
    return rows.map(({ offer_id: id }) => id);
  }

  it(
    'are said to have cost what was paid: calls inside calls included, and a call that the run makes again once',
    async () => {
      const url = database.project();
      const folder = await projectFolder({
        'mlld-config.json': '{}',
        'llm/run/paid.mld':
          'exe llm @ask(q) = js { mlld.usage({ costUsd: 0.01 }); return q }\n' +
          'exe llm @wrap(q) = @ask(@q)\nfor @q in ["a", "b"] => @wrap(@q)\nfor @q in ["a", "b", "c"] => @ask(@q)\n' +
          'for @q in ["a", "b", "c"] => @wrap(@q)\nshow "done"\n',
      });
      const env = { MLLD_STORE: url };
      const hut = await worker(url);
      const run = await runCli(['run', 'paid', '--checkpoint', '--workers', '@ask,@wrap'], { cwd: folder, env });
      expect(run).toMatchObject({ status: 0, stderr: expect.stringContaining('8 calls: 4 reused, 4 executed by workers for $0.03') });
      hut.kill('SIGTERM');
      expect(await resultOf(hut)).toMatchObject({ status: 0, stdout: expect.any(String) });
      const [listed] = JSON.parse((await runCli(['journal', 'list', '--json'], { cwd: folder, env })).stdout) as [object];
      expect(listed).toMatchObject({ atWorkers: 4, atWorkersUsd: 0.03, savedUsd: 0.04 });
      const stats = JSON.parse((await runCli(['journal', 'stats', '--json'], { cwd: folder, env })).stdout) as { total: object };
      expect(stats.total).toMatchObject({ costUsd: 0.03, attempts: 6 });
    },
    TIMEOUT_MS,
  );

  it(
    'are said to have cost what they paid for calls that failed, with all attempts and the calls inside',
    async () => {
      const url = database.project();
      const folder = await projectFolder({
        'mlld-config.json': '{}',
        'llm/run/sick.mld':
          'exe llm @ask(q) = js { mlld.usage({ costUsd: 0.01 }); if (q !== "a") mlld.fail("overloaded", "too many boats"); return q } ' +
          'with { retries: 1 }\nvar @all = for parallel(2) @q in ["a", "b"] => @ask(@q)\n' +
          'exe llm @sum(q) = js { mlld.usage({ costUsd: 0.1 }); return `sum of ${q}` }\n' +
          'exe llm @both(q) = [ let @x = @sum(@q)\n let @y = @ask(@q)\n => "@x @y" ] with { retries: 0 }\n' +
          'var @two = for parallel(2) @q in ["c"] => @both(@q)\nshow "done"\n',
      });
      const env = { MLLD_STORE: url };
      const hut = await worker(url);
      const run = await runCli(['run', 'sick', '--checkpoint', '--workers', '@ask,@both'], { cwd: folder, env });
      const counted = '3 calls: 1 executed by workers for $0.01, 2 failed (overloaded), $0.14 for what failed at workers, ';
      expect(run).toMatchObject({ status: 4, stderr: expect.stringContaining(counted) });
      hut.kill('SIGTERM');
      expect(await resultOf(hut)).toMatchObject({ status: 0 });
      const audit = await runCli(['journal', 'audit', 'sick', '--json'], { cwd: folder, env });
      const workers = [{ name: 'hut', executed: 1, costUsd: 0.01, failed: 2, failedUsd: 0.14 }];
      expect(JSON.parse(audit.stdout)).toMatchObject({ team: { workers } });
      const { stdout } = await runCli(['journal', 'audit', 'sick'], { cwd: folder, env });
      expect(stdout).toMatch(/3 calls at workers: hut on \S+ 1 for \$0\.01 and 2 failed for \$0\.14/);
      const stats = JSON.parse((await runCli(['journal', 'stats', '--json'], { cwd: folder, env })).stdout) as { total: object };
      expect(stats.total).toMatchObject({ costUsd: 0.15, attempts: 7, failed: 3 });
    },
    TIMEOUT_MS,
  );

  it(
    'execute the calls of a run from the sources in the store, and the run says who did',
    async () => {
      const url = database.project();
      const folder = await projectFolder({
        'mlld-config.json': '{}',
        'llm/run/words.mld': 'exe @shout(text) = sh { printf "%s!" "$text" }\nexport { @shout }\n',
        'llm/run/hi.mld': [
          'import { @shout } from "./words.mld"',
          'var @tone = "soft"',
          'exe llm @ask(q) = template "./ask.att"',
          'exe llm @here(q) = sh { pwd; ls | wc -l }',
          'exe llm @loud(q) = [ => @shout(@q) ]',
          'exe llm @fail(q) = sh { echo "no such lane" >&2; exit 7 }',
          'exe llm @log(q) = [ show "not elsewhere"\n => "@q" ]',
          'exe llm @place(q) = js { return q + mx.for.index }',
          'var @all = for parallel(3) @q in ["a", "b", "c"] => @ask(@q)',
          'show @all',
          'var @places = for @q in ["p", "q"] => @place(@q)',
          'show @places.join(" ")',
          'show @loud("x")',
          'show @here("x")',
          'show @log("only here")',
          'show @fail("y")',
          '',
        ].join('\n'),
        'llm/run/ask.att': '@tone @q',
      });
      const env = { MLLD_STORE: url };
      const hut = await worker(url);
      const run = await runCli(['run', 'hi', '--checkpoint', '--workers', '--retries', '0'], { cwd: folder, env });
      expect(run.stdout).toContain('["soft a","soft b","soft c"]'.replaceAll(',', ',\n  ').replace('[', '[\n  ').replace(']', '\n]'));
      expect(run.stdout).toContain('x!');
      expect(run.stdout).toMatch(/\/mlld-worker-\w+\/call-\w+\n0/);
      expect(run.stderr).toContain('calls of @log are executed here: it shows something');
      expect(run.stdout).toContain('p0 q1\n');
      expect(run.stderr).toContain('calls of @place are executed here: it reads @mx');
      expect(run.stderr).toContain('no such lane');
      expect(run.stderr).toMatch(/the worker hut on \S+ executed the call/);
      expect(run.stderr).toMatch(/calls: 5 executed by workers, 3 executed, 1 failed/);
      expect(run.status).toBe(1);
      const shown = await runCli(['journal', 'show', 'hi'], { cwd: folder, env });
      expect(shown.stdout).toMatch(/@ask.* executed by the worker hut on \S+: reused/);
      expect(shown.stdout).toContain('offered to workers');
      const status = JSON.parse((await runCli(['worker', 'status', '--json'], { cwd: folder, env })).stdout) as { offers: object };
      expect(status.offers).toEqual({ waiting: 0, oldestS: null, lanes: [] });
      // The worker's run is not the last run of the script, and the replay needs no worker.
      hut.kill('SIGTERM');
      expect(await resultOf(hut)).toMatchObject({ status: 0, stderr: expect.stringContaining('executed 5 calls, 1 failed') });
      const replayed = await runCli(['journal', 'replay', 'hi'], { cwd: folder, env });
      expect(replayed).toMatchObject({ status: 0, stderr: expect.not.stringContaining('diverge') });
      const list = async (...words: string[]): Promise<readonly unknown[]> =>
        JSON.parse((await runCli(['journal', 'list', '--json', ...words], { cwd: folder, env })).stdout) as unknown[];
      expect(await list()).toMatchObject([{ status: 'failed', atWorkers: 5, worker: null }]);
      const [own] = (await list()) as { run: string }[];
      expect(await list('--workers')).toMatchObject([{ status: 'failed' }, { status: 'worker', worker: { name: 'hut', for: own?.run } }]);
      expect((await list('--status', 'worker')) as unknown[]).toHaveLength(1);
      expect(await offersOf(url)).toEqual([]);
    },
    TIMEOUT_MS,
  );

  it(
    'take over what a killed worker held, and one that is stopped ends what it holds and takes nothing new',
    async () => {
      const url = database.project();
      const folder = await projectFolder({
        'mlld-config.json': '{}',
        'llm/run/slow.mld': `exe llm @ask(q) = sh {
  if [ "$q" != first ]; then echo "$q" >> "$LEDGER"; while [ ! -e "$GO" ]; do sleep 0.05; done; fi
  echo "done $q"
}
var @all = for parallel(4) @q in ["first", "a", "b", "c"] => @ask(@q)
show @all
`,
      });
      const [ledger, go] = [path.join(folder, 'ledger'), path.join(folder, 'go')];
      const env = { MLLD_STORE: url, MLLD_LEASE: '2s' };
      const given = { ...env, LEDGER: ledger, GO: go };
      const paid = (): string[] => (existsSync(ledger) ? readFileSync(ledger, 'utf8').trim().split('\n') : []);
      const run = start(['run', 'slow', '--checkpoint', '--workers'], folder, env);
      const ended = resultOf(run);
      const first = await worker(url, [], given);
      await until(() => paid().length === 2);
      const listed = async (): Promise<readonly object[]> =>
        JSON.parse((await runCli(['journal', 'list', '--json', '--workers'], { cwd: folder, env })).stdout) as object[];
      const [served] = (await listed()) as readonly { readonly run: string }[];
      expect(await listed()).toMatchObject([{ worker: null }, { status: 'running', worker: { name: 'hut', for: served?.run } }]);
      first.kill('SIGKILL');
      const second = await worker(url, [], given);
      await until(async () => (await listed()).some((each) => 'status' in each && each.status === 'worker'));
      expect(await listed()).toContainEqual(expect.objectContaining({ status: 'worker', worker: { name: 'hut', for: served?.run } }));
      await until(() => paid().length === 4); // the third call, and after the lease one of the two
      second.kill('SIGTERM');
      const secondEnded = resultOf(second);
      await sleep(300);
      appendFileSync(go, '');
      expect(await secondEnded).toMatchObject({ status: 0, stderr: expect.stringContaining('executed 2 calls') });
      expect(paid()).toHaveLength(4);
      const third = await worker(url, ['--once'], given);
      expect(await resultOf(third)).toMatchObject({ status: 0 });
      expect(await ended).toMatchObject({ status: 0, stdout: '[\n  "done first",\n  "done a",\n  "done b",\n  "done c"\n]\n' });
      expect(paid()).toHaveLength(5);
    },
    TIMEOUT_MS,
  );

  it(
    'leave results for the next run of a coordinator that was killed',
    async () => {
      const url = database.project();
      const folder = await projectFolder({
        'mlld-config.json': '{}',
        'llm/run/hi.mld': `exe llm @ask(q) = sh { echo x >> "$LEDGER"; while [ ! -e "$GO" ]; do sleep 0.05; done; echo "done $q" }\nshow @ask("a")\n`,
      });
      const [ledger, go] = [path.join(folder, 'ledger'), path.join(folder, 'go')];
      const env = { MLLD_STORE: url };
      const hut = await worker(url, [], { LEDGER: ledger, GO: go });
      const run = start(['run', 'hi', '--checkpoint', '--workers'], folder, env);
      await until(() => existsSync(ledger));
      run.kill('SIGKILL');
      appendFileSync(go, '');
      hut.kill('SIGTERM');
      expect(await resultOf(hut)).toMatchObject({ status: 0, stderr: expect.stringContaining('executed 1 call') });
      const again = await runCli(['run', 'hi', '--checkpoint'], { cwd: folder, env });
      expect(again).toMatchObject({ status: 0, stdout: 'done a\n', stderr: expect.stringContaining('1 reused') });
      expect(readFileSync(ledger, 'utf8')).toBe('x\n');
    },
    TIMEOUT_MS,
  );

  it(
    'leave an offer that they can not read to the run, and go on',
    async () => {
      const url = database.project();
      const folder = await projectFolder({
        'mlld-config.json': '{}',
        'llm/run/hi.mld':
          'exe llm @ask(q) = cmd {printf "done %s" "@q"}\nvar @all = for parallel(3) @q in ["a", "b", "c"] => @ask(@q)\nshow @all\n',
      });
      const env = { MLLD_STORE: url, MLLD_LEASE: '2s' };
      const run = start(['run', 'hi', '--checkpoint', '--workers'], folder, env);
      const ended = resultOf(run);
      await until(async () => (await offersOf(url)).length === 1); // the others begin when it has ended
      await database.query(`update mlld.offers set call = '{"fn":' where offer_id = any ($1)`, [await offersOf(url)]);
      const hut = await worker(url, [], env);
      expect(await ended).toMatchObject({
        status: 0,
        stdout: '[\n  "done a",\n  "done b",\n  "done c"\n]\n',
        stderr: expect.stringContaining('its offer is not one that this version of mlld can read'),
      });
      hut.kill('SIGTERM');
      expect(await resultOf(hut)).toMatchObject({ status: 0, stderr: expect.stringContaining('executed 2 calls') });
    },
    TIMEOUT_MS,
  );

  it(
    'pause the run whose call meets bad credentials there, after what is in flight, and execute its calls once they are mended',
    async () => {
      const url = database.project();
      const reply = (members: string): string => `echo '{"type":"result","subtype":"success",${members}}'`;
      const folder = await projectFolder({
        'mlld-config.json': '{}',
        'llm/run/hi.mld': [
          'exe llm @ask(q) = sh {',
          '  echo "$q" >> "$LEDGER"',
          '  sleep 0.3',
          `  [ "$q" = bad ] && [ ! -e "$OK" ] && ${reply('"is_error":true,"api_error_status":401,"result":"Invalid API key"')} && exit 1`,
          `  ${reply(`"is_error":false,"total_cost_usd":0.1,"result":"done '"$q"'"`)}`,
          '} with { reply: "claude" }',
          `var @all = for parallel(60) @q in ["first", "bad", ${Array.from({ length: 58 }, (_, n) => `"q${n}"`).join(', ')}] => @ask(@q)`,
          'show @all.length',
          '',
        ].join('\n'),
      });
      const [ledger, ok] = [path.join(folder, 'ledger'), path.join(folder, 'ok')];
      const env = { MLLD_STORE: url };
      const hut = await worker(url, [], { LEDGER: ledger, OK: ok });
      const paused = await runCli(['run', 'hi', '--checkpoint', '--workers'], { cwd: folder, env });
      expect(paused).toMatchObject({
        status: 5,
        stderr: expect.stringMatching(/paused: auth in lane @ask: Invalid API key \(the worker hut\)/),
      });
      const executed = readFileSync(ledger, 'utf8').trim().split('\n');
      expect(executed.length).toBeLessThan(60);
      expect(await offersOf(url)).toEqual([]);
      expect(await runCli(['journal', 'replay', 'hi'], { cwd: folder, env })).toMatchObject({ status: 0 });
      expect(await runCli(['journal', 'verify', 'hi'], { cwd: folder, env })).toMatchObject({ status: 0 });
      appendFileSync(ok, '');
      const again = await runCli(['run', 'hi', '--checkpoint', '--workers', '--resume'], { cwd: folder, env });
      expect(again).toMatchObject({ status: 0, stdout: '60\n', stderr: expect.not.stringContaining('executed here') });
      hut.kill('SIGTERM');
      const { stderr } = await resultOf(hut);
      expect(stderr).toMatch(/^warning: auth: Invalid API key; run \S+, which offered the call, pauses$/m);
      const lines = readFileSync(ledger, 'utf8').trim().split('\n');
      expect(lines.filter((line) => line !== 'bad').sort()).toEqual([...new Set(lines)].filter((line) => line !== 'bad').sort());
    },
    TIMEOUT_MS,
  );

  it(
    'reuse for calls inside an offered one what the run would: nothing of before with --fresh, and nothing that was invalidated',
    async () => {
      const url = database.project();
      const script = (round: string): string =>
        [
          'exe llm @ask(q) = sh { echo "$q" >> "$LEDGER"; printf "A:%s" "$q" }',
          'exe llm @wrap(q, round) = [',
          '  let @a = @ask("both")',
          '  let @b = @ask("in @q")',
          '  => `@a @b`',
          ']',
          `var @all = for parallel(2) @q in ["1", "2"] => @wrap(@q, "${round}")`,
          'show @all.join(";")',
          '',
        ].join('\n');
      const folder = await projectFolder({ 'mlld-config.json': '{}', 'llm/run/nested.mld': script('first') });
      const [file, ledger] = [path.join(folder, 'llm/run/nested.mld'), path.join(folder, 'ledger')];
      const env = { MLLD_STORE: url };
      const workers = [await worker(url, ['--lanes', '1'], { LEDGER: ledger }), await worker(url, ['--lanes', '1'], { LEDGER: ledger })];
      /** Returns which calls inside were executed. */
      const executedBy = async (...words: string[]): Promise<readonly string[]> => {
        writeFileSync(ledger, '');
        const run = await runCli(['run', 'nested', '--workers', '@wrap', ...words], { cwd: folder, env });
        expect(run).toMatchObject({ status: 0, stdout: 'A:both A:in 1;A:both A:in 2\n' });
        return readFileSync(ledger, 'utf8').split('\n').filter(Boolean).sort();
      };
      const all = ['both', 'in 1', 'in 2'];
      expect(await executedBy('--checkpoint')).toEqual(all);
      expect(await executedBy('--fresh')).toEqual(all);
      expect(await executedBy('--resume', '@ask')).toEqual([]); // the calls around have their results
      writeFileSync(file, script('second'));
      expect(await executedBy('--checkpoint')).toEqual(all);
      expect(await executedBy('--resume', '@wrap')).toEqual([]); // what is inside is named by `--resume @ask`
      writeFileSync(file, script('third'));
      expect(await executedBy('--checkpoint')).toEqual([]);
      expect(await runCli(['journal', 'verify', 'nested'], { cwd: folder, env })).toMatchObject({ status: 0 });
      for (const each of workers) {
        each.kill('SIGTERM');
        expect(await resultOf(each)).toMatchObject({ status: 0 });
      }
    },
    TIMEOUT_MS,
  );

  it('are refused where the runs are in files', async () => {
    const folder = await projectFolder({ 'mlld-config.json': '{}', 'llm/run/hi.mld': 'show "hi"\n' });
    const env = { MLLD_STORE: 'files' };
    for (const words of [['run', 'hi', '--checkpoint', '--workers'], ['worker'], ['worker', 'status']]) {
      expect(await runCli(words, { cwd: folder, env })).toMatchObject({ status: 1, stderr: expect.stringContaining('are kept in files') });
    }
    for (const words of [
      ['run', 'hi', '--lanes', '4'],
      ['run', 'hi', '--workers', '@ask,9'],
      ['worker', '--lanes', '0'],
    ]) {
      expect(await runCli(words, { cwd: folder, env })).toMatchObject({ status: 1 });
    }
  });
});
