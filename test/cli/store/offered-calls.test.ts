/** Runs that offer calls which guards hold for, or with secrets in them, as processes on a server. team-store.md 7.2 and 9.3. */
import { createHash } from 'node:crypto';
import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { copyFile } from 'node:fs/promises';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { makeDatabase, noServer, type TestDatabase } from '../../journal/postgres/database.js';
import { emptyFolder, projectFolder, resultOf, runCli, type CliProcess } from '../../support/cli.js';
import { commandsOfTests } from './started-commands.js';

const TIMEOUT_MS = 240_000;

describe.skipIf(noServer !== undefined)(`offers${noServer === undefined ? '' : ` (not run: ${noServer})`}`, async () => {
  const database = noServer === undefined ? await makeDatabase() : (undefined as unknown as TestDatabase);
  const start = commandsOfTests();

  async function worker(url: string, env = {}, cwd?: string): Promise<CliProcess> {
    const words = ['worker', '--lanes', '4', '--name', 'hut'];
    return start(words, cwd ?? (await emptyFolder()), { MLLD_STORE: url, MLLD_LEASE: '2s', ...env });
  }

  async function until(isTrue: () => Promise<boolean>): Promise<void> {
    while (!(await isTrue())) await sleep(50);
  }

  /** Everything that the database holds, as text and with blobs decoded. */
  async function everything(): Promise<string> {
    const tables = await database.query(`select tablename as name from pg_tables where schemaname = 'mlld'`);
    const rows = await Promise.all(tables.map(({ name }) => database.query(`select to_jsonb(t)::text as row from mlld.${String(name)} t`)));
    const blobs = await database.query(`select encode(content, 'base64') as content from mlld.blob_parts`);
    const decoded = blobs.map(({ content }) => Buffer.from(String(content), 'base64').toString('latin1'));
    return [...rows.flat().map(({ row }) => String(row)), ...decoded].join('\n');
  }

  const offersIn = async (url: string): Promise<readonly { readonly id: string; readonly call: string }[]> =>
    (
      await database.query(
        `select o.offer_id as id, o.call from mlld.offers o join mlld.runs using (run_id) join mlld.workflows w on w.workflow_id = o.workflow_id
         join mlld.projects p using (project_id) where p.name = $1 order by o.offer_id`,
        [new URL(url).searchParams.get('project')],
      )
    ).map(({ id, call }) => ({ id: String(id), call: String(call) }));

  it(
    'pass the guards of the run first: what they deny is not offered, and what they replace goes with the offer',
    async () => {
      const url = database.project();
      const folder = await projectFolder({
        'mlld-config.json': '{}',
        'llm/run/guarded.mld': `
exe llm @ask(q) = sh { printf 'said %s' "$q"; pwd >&2 }
exe llm @check(q) = sh { printf 'checked %s' "$q" }
exe llm @after(q) = sh { printf 'after %s' "$q" }
exe @part(q) = sh { printf 'part %s' "$q" }
exe llm @inside(q) = [ => @part(@q) ]
exe llm @labelled(q) = [ let @x = sh (@q) { printf 'labelled %s' "$q" }
  => @x ]
exe @visit(q) = when [
  denied => \`refused: @mx.guard.reason\`
  * => @ask(@q)
]
exe llm @kept(q) = when [
  denied => "kept: shut"
  * => \`given @q\`
]
guard @strict before @ask = when [
  @input[0] == "bad" => deny "not that one"
  @input[0] == "dull" => allow "bright"
  @check(@input[0]) == "checked none" => deny "none"
]
guard @shut before @kept = when [ @input[0] == "bad" => deny "shut"; * => allow ]
guard @late after @after = when [ * => allow \`@output, and guarded\` ]
guard @parts before @part = when [ * => allow ]
guard @pii before pii = when [ * => allow ]
var pii @name = "Rosa"
show @visit("bad")
show @visit("dull")
show @visit("fine")
show @kept("bad")
show @kept("good")
show @after("x")
show @inside("y")
show @labelled(@name)
show @labelled("nobody")
var @reply = @ask(@name)
show @reply
show @reply.mx.labels.join(" ")
`,
      });
      const env = { MLLD_STORE: url, MLLD_LEASE: '2s' };
      const stdout = [
        'refused: not that one',
        'said bright',
        'said fine',
        'kept: shut',
        'given good',
        'after x, and guarded',
        'part y',
        'labelled Rosa',
        'labelled nobody',
        'said Rosa',
        'pii llm',
        '',
      ].join('\n');
      const hut = await worker(url);
      const run = await runCli(['run', 'guarded', '--checkpoint', '--workers'], { cwd: folder, env });
      expect(run).toMatchObject({ status: 0, stdout });
      expect(run.stderr).toContain('calls of @after are executed here: an after-guard holds for it');
      expect(run.stderr).toContain('calls of @inside are executed here: guards hold for what happens inside it');
      expect(run.stderr).toContain('calls of @labelled are executed here: guards hold for what happens inside it');
      expect(run.stderr).not.toMatch(/calls of @(ask|check|kept) are executed here/);
      const shown = await runCli(['journal', 'show', 'guarded'], { cwd: folder, env });
      expect(shown.stdout).toMatch(/@ask.* executed by the worker hut on \S+: reused/);
      expect(await runCli(['journal', 'replay', 'guarded'], { cwd: folder, env })).toMatchObject({
        status: 0,
        stderr: expect.not.stringContaining('diverge'),
      });
      // The results are found under the keys and definitions of calls that the run would have executed itself.
      const again = await runCli(['run', 'guarded', '--checkpoint', '--changed', 'ask'], { cwd: folder, env });
      expect(again).toMatchObject({ status: 0, stdout, stderr: expect.stringContaining('8 reused, 2 denied') });
      hut.kill('SIGTERM');
      expect(await resultOf(hut)).toMatchObject({ status: 0 });
    },
    TIMEOUT_MS,
  );

  it(
    'are not made of calls that make calls, where only the run knows which results count for these',
    async () => {
      const url = database.project();
      const ledger = path.join(await emptyFolder(), 'ledger');
      const job = (word: string, ...more: string[]): string =>
        `exe llm @ask(q) = sh { echo "$q" >> "$LEDGER"; echo "${word} $q" }\n${more.join('\n')}\n`;
      const outer = ['exe llm @wrap(q) = @ask(@q)', 'show @wrap("a")'];
      const folder = await projectFolder({
        'mlld-config.json': '{}',
        'llm/run/job.mld': job('old', 'show @ask("a")'),
        'llm/run/forking.mld': job('old', ...outer),
        'llm/run/edited.mld': job('new', ...outer),
      });
      const env = { MLLD_STORE: url, MLLD_LEASE: '2s', LEDGER: ledger };
      const asked = (): number => readFileSync(ledger, 'utf8').split('\n').length - 1;
      expect(await runCli(['run', 'job', '--checkpoint'], { cwd: folder, env })).toMatchObject({ status: 0, stdout: 'old a\n' });
      const hut = await worker(url, { LEDGER: ledger });
      const forked = await runCli(['run', 'forking', '--fork', 'job', '--workers'], { cwd: folder, env });
      expect(forked).toMatchObject({ status: 0, stdout: 'old a\n' });
      expect(forked.stderr).toContain('calls of @wrap are executed here: a worker would look up the calls inside it without --fork\n');
      expect(asked()).toBe(1);
      await copyFile(path.join(folder, 'llm/run/edited.mld'), path.join(folder, 'llm/run/job.mld'));
      const changed = await runCli(['run', 'job', '--changed', 'ask', '--workers', '@wrap'], { cwd: folder, env });
      expect(changed).toMatchObject({ status: 0, stdout: 'new a\n' });
      expect(changed.stderr).toContain('without --changed\n');
      expect(asked()).toBe(2);
      hut.kill('SIGTERM');
      expect(await resultOf(hut)).toMatchObject({ status: 0 });
    },
    TIMEOUT_MS,
  );

  it(
    'are executed although the slot of the only worker has a call that waits for the run which offers them',
    async () => {
      const url = database.project();
      const ledger = path.join(await emptyFolder(), 'ledger');
      const folder = await projectFolder({
        'mlld-config.json': '{}',
        'llm/run/knot.mld': [
          'exe llm @pre(q) = sh { echo "pre $q" >> "$LEDGER"; sleep 1; echo "pre $q" }',
          'exe llm @ask(q) = sh { echo "ask $q" >> "$LEDGER"; echo "ask $q" }',
          'exe @two(q) = [ let @p = @pre(@q)\n => @ask(@q) ]',
          'exe llm @wrap(q) = @two(@q)',
          'exe llm @outer(q) = [ => @wrap(@q) ]',
          'if @payload.which == "second" [ show @outer("a") ]',
          'checkpoint "x" with { ttl: 1h }',
          'show @wrap("a")',
          '',
        ].join('\n'),
      });
      const env = { MLLD_STORE: url, MLLD_LEASE: '2s', LEDGER: ledger };
      const hut = start(['worker', '--lanes', '1', '--name', 'hut'], await emptyFolder(), env);
      const asked = (): readonly string[] => (existsSync(ledger) ? readFileSync(ledger, 'utf8').trim().split('\n') : []);
      const first = resultOf(start(['run', 'knot', '--which', 'first', '--checkpoint', '--workers'], folder, env));
      await until(async () => asked().length > 0);
      const second = resultOf(start(['run', 'knot', '--which', 'second', '--checkpoint', '--workers'], folder, env));
      expect(await first).toMatchObject({ status: 0, stdout: 'ask a\n' });
      expect(await second).toMatchObject({ status: 0, stdout: 'ask a\nask a\n' });
      expect(asked()).toEqual(['pre a', 'ask a']);
      hut.kill('SIGTERM');
      expect(await resultOf(hut)).toMatchObject({ status: 0 });
    },
    TIMEOUT_MS,
  );

  const TOKEN = 'tok-4711-golden-lighthouse';
  const CAPTURED = 'cap-0815-silver-gannet';
  const KEY = 'ab'.repeat(32);
  /** Its secrets come from the environment, so that no source has them. */
  const script = (lines: string): string => `
import { MLLD_TOKEN, MLLD_CAPTURED } from @input
var secret @token = @MLLD_TOKEN
var secret @captured = @MLLD_CAPTURED
exe llm @ask(q, t) = sh { echo x >> "$LEDGER"; printf '%s has %s units' "$q" "$(printf %s "$t" | wc -c | tr -d ' ')" }
exe llm @use(q) = sh (@q, @captured) { echo x >> "$LEDGER"; printf '%s: %s' "$q" "$captured" }
exe llm @fail(t) = sh { echo "no $t here" >&2; exit 3 }
exe llm @make(q) = sh { echo x >> "$LEDGER"; printf 'made %s' "$q" }
${lines}`;
  const given = { MLLD_TOKEN: TOKEN, MLLD_CAPTURED: CAPTURED };

  function textsBelow(folder: string): string {
    return readdirSync(folder)
      .map((name) => path.join(folder, name))
      .map((each) => (statSync(each).isDirectory() ? textsBelow(each) : readFileSync(each, 'latin1')))
      .join('\n');
  }

  async function project(lines: string): Promise<{ readonly folder: string; readonly ledger: string; readonly paid: () => number }> {
    const folder = await projectFolder({ 'mlld-config.json': '{}', 'llm/run/secrets.mld': script(lines) });
    const ledger = path.join(folder, 'ledger');
    return { folder, ledger, paid: () => readFileSync(ledger, 'utf8').length / 2 };
  }

  it(
    'have secrets sealed with the key that both sides were given, and in clear text nowhere',
    async () => {
      const url = database.project();
      const { folder, ledger, paid } = await project(`
show @ask("a", @token)
show @use("b").trim().length
var secret @kept = @make("c")
show @kept.length
show @fail(@token)
`);
      const env = { MLLD_STORE: url, MLLD_LEASE: '2s', MLLD_JOURNAL_KEY: KEY };
      const run = start(['run', 'secrets', '--checkpoint', '--workers', '--retries', '0'], folder, { ...env, ...given });
      const ended = resultOf(run);
      await until(async () => (await offersIn(url)).length > 0);
      const [offer] = await offersIn(url);
      expect(offer?.call).toContain('"sealed"');
      expect(await everything()).not.toContain(TOKEN);
      const hutFolder = await emptyFolder();
      const hut = await worker(url, { MLLD_JOURNAL_KEY: KEY, LEDGER: ledger }, hutFolder);
      const { stdout, stderr } = await ended;
      expect(stdout).toBe(`a has ${TOKEN.length} units\n${'b: '.length + CAPTURED.length}\n6\n`);
      expect(stderr).not.toContain('executed here');
      expect(stderr).toMatch(/calls: 3 executed by workers, 1 failed/);
      expect(paid()).toBe(3);
      const status = await runCli(['worker', 'status'], { cwd: folder, env });
      hut.kill('SIGTERM');
      const { stderr: said } = await resultOf(hut);
      const shown = await runCli(['journal', 'show', 'secrets'], { cwd: folder, env });
      const cat = await runCli(['journal', 'postmortem', 'secrets', '--json'], { cwd: folder, env });
      const all = [await everything(), textsBelow(hutFolder), textsBelow(folder), shown.stdout, cat.stdout, status.stdout];
      for (const secret of [TOKEN, CAPTURED]) {
        for (const spelling of [secret, Buffer.from(secret).toString('base64').slice(2, -4), Buffer.from(secret).toString('hex')]) {
          expect(all.join('\n').includes(spelling), spelling).toBe(false);
        }
      }
      expect(said.replace(`no ${TOKEN} here`, '')).not.toContain(TOKEN);
      const again = await runCli(['run', 'secrets', '--checkpoint'], { cwd: folder, env: { ...env, ...given, LEDGER: ledger } });
      expect(again.stderr).toContain('3 reused');
      expect(paid()).toBe(3);
    },
    TIMEOUT_MS,
  );

  it(
    'are not made for secrets without such a key, and the run says so once',
    async () => {
      const url = database.project();
      const { folder, ledger, paid } = await project(`
show @ask("a", @token)
show @ask("b", @token)
var @c = "c"
var secret @kept = @make(@c)
show @kept.length
show @make("d")
`);
      const env = { MLLD_STORE: url, MLLD_LEASE: '2s', ...given, LEDGER: ledger };
      const hut = await worker(url, { LEDGER: ledger });
      const run = await runCli(['run', 'secrets', '--checkpoint', '--workers'], { cwd: folder, env });
      expect(run).toMatchObject({ status: 0, stdout: `a has ${TOKEN.length} units\nb has ${TOKEN.length} units\n6\nmade d\n` });
      const because =
        'a secret is among what it needs or returns, and workers can have no key for it (set MLLD_JOURNAL_KEY here and there)';
      expect(run.stderr.split(`calls of @ask are executed here: ${because}`)).toHaveLength(2);
      expect(run.stderr).toContain(`calls of @make are executed here: ${because}`);
      expect(run.stderr).toMatch(/calls: 1 executed by workers, 3 executed/);
      expect(paid()).toBe(4);
      hut.kill('SIGTERM');
      await resultOf(hut);
    },
    TIMEOUT_MS,
  );

  it(
    'are not made where another value has a secret without its label, which only the run knows',
    async () => {
      const url = database.project();
      const { folder, ledger, paid } = await project(`
exe @keep(v) = js { globalThis.kept = v; return "kept" }
exe @kept() = js { return globalThis.kept }
show @keep(@token)
var @unlabelled = @kept()
show @unlabelled.mx.labels.length
show @ask(@unlabelled, @captured)
`);
      const env = { MLLD_STORE: url, MLLD_LEASE: '2s', MLLD_JOURNAL_KEY: KEY, ...given, LEDGER: ledger };
      const hut = await worker(url, { MLLD_JOURNAL_KEY: KEY, LEDGER: ledger });
      const run = await runCli(['run', 'secrets', '--checkpoint', '--workers'], { cwd: folder, env });
      expect(run).toMatchObject({ status: 0, stdout: `kept\n0\n${TOKEN} has ${CAPTURED.length} units\n` });
      expect(run.stderr).toContain('calls of @ask are executed here: a secret that has no label is among what it needs');
      expect(await everything()).not.toContain(TOKEN);
      expect(paid()).toBe(1);
      hut.kill('SIGTERM');
      await resultOf(hut);
    },
    TIMEOUT_MS,
  );

  it(
    'are left by a worker that has another key, which says so once, and the run then executes such calls at once',
    async () => {
      const url = database.project();
      const { folder, ledger, paid } = await project('var @all = for @q in ["a", "b", "c"] => @ask(@q, @token)\nshow @all\n');
      const env = { MLLD_STORE: url, MLLD_LEASE: '2s', MLLD_JOURNAL_KEY: KEY, ...given, LEDGER: ledger };
      const hut = await worker(url, { MLLD_JOURNAL_KEY: 'cd'.repeat(32), LEDGER: ledger });
      const run = await runCli(['run', 'secrets', '--checkpoint', '--workers'], { cwd: folder, env });
      expect(run.status).toBe(0);
      const because = 'it is sealed with a key that the worker does not have: give both the same MLLD_JOURNAL_KEY';
      expect(run.stderr).toContain(`calls of @ask are executed here: the worker hut can't execute them (${because})`);
      expect(paid()).toBe(3);
      hut.kill('SIGTERM');
      const { stderr } = await resultOf(hut);
      expect(stderr.split(because)).toHaveLength(2);
      expect(stderr).not.toContain(TOKEN);
    },
    TIMEOUT_MS,
  );

  it(
    'can not be given to another function by somebody who writes into the database',
    async () => {
      const url = database.project();
      const { folder, ledger } = await project('show @ask("a", @token)\nshow @use("b").length\n');
      const env = { MLLD_STORE: url, MLLD_LEASE: '2s', MLLD_JOURNAL_KEY: KEY, ...given, LEDGER: ledger };
      const run = start(['run', 'secrets', '--checkpoint', '--workers'], folder, env);
      const ended = resultOf(run);
      await until(async () => (await offersIn(url)).length > 0);
      const [offer] = (await offersIn(url)) as readonly [{ readonly id: string; readonly call: string }];
      const call = JSON.parse(offer.call) as { sources: { path: string; blob: string }[] };
      const loot = path.join(await emptyFolder(), 'loot');
      // The function is the same, and so is its fingerprint; what is beside it is another's.
      const evil = script(`exe sh = { @printf }\nexe @printf(x) = sh { echo "$x" >> ${loot} }\n`);
      const digest = `sha256:${createHash('sha256').update(evil).digest('hex')}`;
      const [{ id }] = (await database.query(`select project_id as id from mlld.projects where name = $1`, [
        new URL(url).searchParams.get('project'),
      ])) as unknown as readonly [{ id: number }];
      await database.query(`insert into mlld.blob_parts values ($1, $2, 0, $3)`, [id, digest, Buffer.from(evil)]);
      await database.query(`insert into mlld.blobs values ($1, $2, $3, now())`, [id, digest, Buffer.byteLength(evil)]);
      const sources = call.sources.map((source) => ({ ...source, blob: digest }));
      const forged = JSON.stringify({ ...call, sources });
      await database.query(`update mlld.offers set call = $1 where offer_id = $2`, [forged, offer.id]);
      const hut = await worker(url, { MLLD_JOURNAL_KEY: KEY, LEDGER: ledger });
      const { stderr } = await ended;
      expect(stderr).toContain("the worker hut can't execute them (its secrets were sealed for another offer)");
      expect(existsSync(loot)).toBe(false);
      hut.kill('SIGTERM');
      await resultOf(hut);
    },
    TIMEOUT_MS,
  );
});
