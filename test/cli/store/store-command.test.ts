/** Commands over the store of a team, as processes. */
import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { globSync } from 'tinyglobby';
import { describe, expect, it, vi } from 'vitest';
import { MIGRATIONS, SCHEMA_VERSION } from '../../../journal/postgres/schema/migrations.js';
import { Connection } from '../../../journal/postgres/connection.js';
import { connectClient } from '../../../journal/postgres/pg-client.js';
import { parseStoreAddress } from '../../../journal/postgres/store-address.js';
import { projectFolder, resultOf, runCli, startCli, type CliResult } from '../../support/cli.js';
import { makeDatabase, noServer, type TestDatabase } from '../../journal/postgres/database.js';

const SCRIPT = `exe llm @ask(q) = cmd { echo "answer to @q" }
show @ask("one")
show @ask("two")
`;
const PASSWORD = 'geheim';

describe.skipIf(noServer !== undefined)(`the store of a team${noServer === undefined ? '' : ` (not run: ${noServer})`}`, async () => {
  const database = noServer === undefined ? await makeDatabase() : (undefined as unknown as TestDatabase);
  const empty = noServer === undefined ? await makeDatabase({ migrated: false }) : database;
  /** The server of the tests trusts everybody, so it takes any password. */
  const withPassword = (url: string): string => {
    const changed = new URL(url);
    changed.password = PASSWORD;
    return changed.href;
  };

  it('lets a colleague reuse what was paid for, in another folder, and every report read it', async () => {
    const env = { MLLD_STORE: withPassword(database.project()) };
    const [ada, bob] = await Promise.all([1, 2].map(() => projectFolder({ 'llm/run/hi.mld': SCRIPT, 'mlld-config.json': '{}' })));
    const first = await runCli(['run', 'hi', '--checkpoint'], { cwd: ada!, env });
    expect(first).toMatchObject({ status: 0, stdout: 'answer to one\nanswer to two\n', stderr: expect.stringContaining('2 executed') });
    const second = await runCli(['run', 'hi', '--checkpoint'], { cwd: bob!, env });
    expect(second).toMatchObject({ status: 0, stdout: first.stdout, stderr: expect.stringContaining('2 reused') });
    const outputs: string[] = [first.stderr, second.stderr];
    for (const [words, expected] of [
      [['journal', 'list'], 'completed'],
      [['journal', 'show', 'hi'], 'reused from event'],
      [['journal', 'verify', 'hi'], 'sound'],
      [['journal', 'stats', 'hi'], '2 runs'],
      [['journal', 'diff', 'hi@2', 'hi'], '2 calls the same'],
      [['journal', 'audit', 'hi'], '@ask'],
      [['journal', 'postmortem', 'hi'], 'completed'],
      [['journal', 'explain', 'hi'], '2 reused'],
      [['journal', 'replay', 'hi'], 'answer to one'],
      [['journal', 'export', 'hi', '--format', 'csv'], 'ask'],
      [['store', 'status'], '2 runs in this project, 0 alive'],
      [['complete', '--', 'journal', 'show', ''], 'llm/run/hi.mld'],
    ] as const) {
      const { stdout, stderr, status } = await runCli([...words], { cwd: ada!, env });
      expect({ words, status, stdout }).toMatchObject({
        status: words[1] === 'diff' ? expect.any(Number) : 0,
        stdout: expect.stringContaining(expected),
      });
      outputs.push(stdout, stderr);
    }
    expect(outputs.join('')).not.toContain(PASSWORD);
    const [found] = await database.query(`select count(*)::int as lines from mlld.events where line like '%${PASSWORD}%'`, []);
    expect(found).toEqual({ lines: 0 });
    expect(existsSync(path.join(ada!, '.mlld', 'journal'))).toBe(false);
  });

  it('keeps projects apart, and uses the files for one command', async () => {
    const env = { MLLD_STORE: database.project() };
    const cwd = await projectFolder({
      'llm/run/hi.mld': SCRIPT,
      'mlld-config.json': JSON.stringify({ store: { url: database.url, project: 'configured' } }),
    });
    expect(await runCli(['run', 'hi', '--checkpoint'], { cwd, env })).toMatchObject({ status: 0 });
    expect((await runCli(['journal', 'list'], { cwd })).stdout).toBe('No recorded runs.\n');
    expect((await runCli(['journal', 'list'], { cwd, env: { MLLD_STORE: 'files' } })).stdout).toBe('No recorded runs.\n');
    expect((await runCli(['run', 'hi', '--checkpoint'], { cwd, env: { MLLD_STORE: 'files' } })).stderr).toContain('2 executed');
    expect(existsSync(path.join(cwd, '.mlld', 'journal'))).toBe(true);
  });

  it('removes, redacts and bundles runs of the store, and saves one as a test', async () => {
    const env = { MLLD_STORE: database.project() };
    const cwd = await projectFolder({ 'llm/run/hi.mld': SCRIPT, 'mlld-config.json': '{}' });
    const run = (...words: string[]) => runCli(words, { cwd, env });
    for (let n = 0; n < 3; n++) await run('run', 'hi', '--checkpoint');
    expect(await run('journal', 'replay', 'hi@3', '--save-test', 'saved')).toMatchObject({ status: 0 });
    expect(await run('journal', 'replay', '--check', 'saved')).toMatchObject({ status: 0, stdout: 'answer to one\nanswer to two\n' });
    expect(await run('journal', 'bundle', 'hi', '-o', 'b.tgz')).toMatchObject({ status: 0, stderr: expect.stringContaining('2 runs') });
    expect(await run('journal', 'unbundle', 'b.tgz')).toMatchObject({ status: 0, stdout: expect.stringContaining('was there already') });
    const elsewhere = { cwd, env: { MLLD_STORE: database.project() } };
    expect(await runCli(['journal', 'unbundle', 'b.tgz'], elsewhere)).toMatchObject({ status: 0 });
    expect((await runCli(['journal', 'verify', 'hi'], elsewhere)).stdout).toContain('sound');
    expect((await runCli(['run', 'hi', '--checkpoint'], elsewhere)).stderr).toContain('2 reused');

    expect(await run('journal', 'redact', 'hi@3', '--match', 'answer to two', '--reason', 'asked for')).toMatchObject({
      status: 0,
      stdout: expect.stringMatching(/^Changed \d+ events[^]*1 result of llm calls[^]*backups/),
    });
    expect((await run('journal', 'show', 'hi@3', '--json')).stdout).not.toContain('answer to two');
    expect((await run('journal', 'verify', 'hi@3')).stdout).toContain('sound');
    expect((await run('run', 'hi', '--checkpoint')).stderr).toContain('1 reused, 1 executed');
    const planned = JSON.parse((await run('journal', 'gc', '--keep', '1', '--dry-run', '--json')).stdout) as {
      readonly removed: unknown[];
    };
    expect(planned.removed).toHaveLength(2);
    expect(JSON.parse((await run('journal', 'gc', '--keep', '1', '--json')).stdout)).toEqual({ ...planned, dryRun: false });
    expect(JSON.parse((await run('journal', 'list', '--json')).stdout)).toHaveLength(2);
    expect((await run('run', 'hi', '--checkpoint')).stderr).toContain('2 reused');
    expect(existsSync(path.join(cwd, '.mlld', 'journal'))).toBe(false);
  });

  it('ends with the status 6 when the run is taken away, and a new run reuses what was recorded', async () => {
    const project = database.project();
    const env = { MLLD_STORE: project, MLLD_LEASE: '2s' };
    const cwd = await projectFolder({
      'model.sh': `touch "began-$1"
test "$1" != two || until test -e go; do sleep 0.05; done
printf '{"type":"result","subtype":"success","is_error":false,"result":"answer to %s","total_cost_usd":0.25}' "$1"
`,
      'llm/run/slow.mld': `exe llm @ask(q) = cmd { sh ./model.sh "@q" } with { reply: "claude" }
show @ask("one")
show @ask("two")
show @ask("three")
`,
      'mlld-config.json': '{}',
    });
    const child = startCli(['run', 'slow', '--checkpoint'], { cwd, env });
    const ended = resultOf(child);
    await vi.waitFor(() => expect(existsSync(path.join(cwd, 'began-two'))).toBe(true), 20_000);
    await database.query(`update mlld.runs set fence = fence + 1 where not finished`, []);
    writeFileSync(path.join(cwd, 'go'), '');
    expect(await ended).toMatchObject({
      status: 6,
      stderr: expect.stringMatching(/was sealed[^]*the store takes nothing of this run[^]*^2 calls: 2 executed, \$0\.50, /m),
    });
    await database.query(`update mlld.runs set lease_until = '-infinity' where not finished`, []);
    const again = await runCli(['run', 'slow', '--resume'], { cwd, env });
    expect(again).toMatchObject({ status: 0, stdout: 'answer to one\nanswer to two\nanswer to three\n' });
    expect(again.stderr).toContain('2 reused, 1 executed');
    const listed = JSON.parse((await runCli(['journal', 'list', '--json'], { cwd, env })).stdout) as {
      readonly run: string;
      readonly status: string;
    }[];
    expect(listed.map(({ status }) => status)).toEqual(['completed', 'salvaged', 'crashed']);
    const [salvage, sealed] = listed.slice(1).map(({ run }) => run) as [string, string];
    const { stdout } = await runCli(['journal', 'postmortem', sealed], { cwd, env });
    expect(stdout).toMatch(/^slow was sealed while its process did not answer/);
    expect(stdout).toContain('  cost $0.25\n');
    expect(stdout).toContain(`  1 call that was in flight ended later: run ${salvage} has what came of it, and cost $0.25\n`);
    expect(stdout).toContain(`@ask(two) ended in run ${salvage}`);
    const asJson = JSON.parse((await runCli(['journal', 'postmortem', sealed, '--json'], { cwd, env })).stdout) as unknown;
    expect(asJson).toMatchObject({ attempts: 1, unpriced: 0, salvaged: [{ run: salvage, calls: 1, costUsd: 0.25 }] });
  });

  it('copies runs into the store and back unchanged, once, and names those that it leaves out', async () => {
    const env = { MLLD_STORE: database.project() };
    const cwd = await projectFolder({ 'llm/run/hi.mld': SCRIPT, 'mlld-config.json': '{}' });
    const files = { cwd, env: { MLLD_STORE: 'files' } };
    for (let n = 0; n < 3; n++) await runCli(['run', 'hi', '--checkpoint'], files);
    const [first, damaged] = globSync('.mlld/journal/*/runs/*.ndjson', { cwd, dot: true, absolute: true }).sort();
    const sound = readFileSync(damaged!, 'utf8');
    writeFileSync(damaged!, sound.replace('"type":"op.started"', '"type":"op.startet"'));
    const into = await runCli(['store', 'copy', '--from', '.', '--json'], { cwd, env });
    expect(into.status).toBe(1);
    expect(JSON.parse(into.stdout)).toMatchObject({ copied: { length: 2 }, there: [], left: [{ because: 'damaged' }] });
    writeFileSync(damaged!, sound);
    const again = await runCli(['store', 'copy', '--from', '.'], { cwd, env });
    expect(again).toMatchObject({ status: 0, stdout: 'Copied 1 run; 2 were there already.\n', stderr: '' });
    const elsewhere = await projectFolder({ 'llm/run/hi.mld': SCRIPT, 'mlld-config.json': '{}' });
    expect((await runCli(['run', 'hi', '--checkpoint'], { cwd: elsewhere, env })).stderr).toContain('2 reused');
    expect(await runCli(['store', 'copy', '--to', '.'], { cwd: elsewhere, env })).toMatchObject({ stdout: 'Copied 4 runs.\n' });
    expect(readFileSync(path.join(elsewhere, path.relative(cwd, first!)), 'utf8')).toBe(readFileSync(first!, 'utf8'));
    expect((await runCli(['run', 'hi', '--checkpoint'], { cwd: elsewhere, env: files.env })).stderr).toContain('2 reused');
    expect(await runCli(['store', 'copy'], { cwd, env })).toMatchObject({
      status: 1,
      stderr: expect.stringContaining('--from DIR or --to DIR'),
    });
  });

  it('rebuilds what it derives from the journals, and says what was other than they say', async () => {
    const env = { MLLD_STORE: database.project() };
    const cwd = await projectFolder({ 'llm/run/hi.mld': SCRIPT, 'mlld-config.json': '{}' });
    const run = (...words: string[]) => runCli(words, { cwd, env });
    await run('run', 'hi', '--checkpoint');
    expect(await run('store', 'rebuild')).toMatchObject({
      status: 0,
      stdout: 'The index of 2 results is what the journals say.\nFreed 0 claims and 0 offers.\n',
    });
    await run('store', 'budget', 'nightly', '5usd');
    const project = new URL(env.MLLD_STORE).searchParams.get('project');
    const ofProject = `in (select workflow_id from mlld.workflows w join mlld.projects p using (project_id) where p.name = $1)`;
    await database.query(`delete from mlld.answers where workflow_id ${ofProject}`, [project]);
    await database.query(`update mlld.budgets set spent = 2 where name = 'nightly'`, []);
    const would = 'Would make the index of 2 results anew: 2 missing.\nWould free 0 claims and 0 offers.\n';
    expect((await run('store', 'rebuild', '--dry-run')).stdout).toBe(`${would}Budget nightly: $0 spent, and now it says $2.\n`);
    expect(JSON.parse((await run('store', 'rebuild', '--json')).stdout)).toEqual({
      dryRun: false,
      results: { total: 2, added: 2, changed: 0, removed: 0 },
      claims: 0,
      offers: 0,
      budgets: [{ name: 'nightly', unit: 'usd', period: null, spent: 0, spentBefore: 2 }],
      damagedRuns: [],
    });
    expect((await run('store', 'rebuild')).stdout).toContain('Budget nightly: $0 spent, as before.\n');
  });

  it('seals a run whose lease has run out, and none that is in flight or has ended', async () => {
    const env = { MLLD_STORE: database.project(), MLLD_LEASE: '1s' };
    const cwd = await projectFolder({
      'llm/run/hi.mld': SCRIPT,
      'llm/run/slow.mld': 'run sh {\n  touch begun\n  sleep 60\n}\n',
      'mlld-config.json': '{}',
    });
    const child = startCli(['run', 'slow', '--checkpoint'], { cwd, env });
    await vi.waitFor(() => expect(existsSync(path.join(cwd, 'begun'))).toBe(true), 20_000);
    expect(await runCli(['store', 'seal', 'latest'], { cwd, env })).toMatchObject({
      status: 1,
      stderr: expect.stringContaining('is in flight'),
    });
    child.kill('SIGSTOP');
    await vi.waitFor(async () => {
      expect(await runCli(['store', 'seal', 'latest'], { cwd, env })).toMatchObject({
        status: 0,
        stdout: expect.stringMatching(/^Sealed run /),
      });
    }, 30_000);
    child.kill('SIGCONT');
    child.kill('SIGTERM');
    await resultOf(child);
    expect((await runCli(['journal', 'list'], { cwd, env })).stdout).toContain('crashed');
    await runCli(['run', 'hi', '--checkpoint'], { cwd, env });
    expect(await runCli(['store', 'seal', 'latest'], { cwd, env })).toMatchObject({
      status: 1,
      stderr: expect.stringMatching(/has ended, .*\n {2}hint: it needs no seal: no process can append to it\n/),
    });
  });

  it('refuses to go on without a record', async () => {
    const cwd = await projectFolder({ 'llm/run/hi.mld': SCRIPT, 'mlld-config.json': '{}' });
    const env = { MLLD_STORE: database.project() };
    expect(await runCli(['run', 'hi', '--unrecorded'], { cwd, env })).toMatchObject({
      status: 1,
      stdout: '',
      stderr: expect.stringContaining('no colleague would find'),
    });
  });

  it('makes the tables once, says what it would do, and names a superuser', async () => {
    const cwd = await projectFolder({ 'mlld-config.json': '{}' });
    const env = { MLLD_STORE: empty.project() };
    const run = (...words: string[]) => runCli(['store', ...words], { cwd, env });
    expect(await run('status')).toMatchObject({ status: 1, stderr: expect.stringContaining('mlld store migrate') });
    expect(await run('migrate', '--dry-run')).toMatchObject({ status: 0, stdout: expect.stringContaining('would make version 1') });
    expect(JSON.parse((await run('migrate', '--dry-run', '--json')).stdout)).toEqual({
      store: expect.stringContaining('?project='),
      from: 0,
      to: SCHEMA_VERSION,
      migrations: MIGRATIONS.map(({ version, title }) => ({ version, title })),
    });
    expect(await run('migrate')).toMatchObject({ status: 1, stderr: expect.stringContaining('--yes') });
    const both = await Promise.all([run('migrate', '--yes'), run('migrate', '--yes')]);
    expect(both).toMatchObject([
      { status: 0, stderr: '' },
      { status: 0, stderr: '' },
    ]);
    expect(await run('migrate')).toMatchObject({ status: 0, stdout: expect.stringContaining('already') });
    expect(JSON.parse((await run('status', '--json')).stdout)).toEqual({
      store: expect.stringContaining('?project='),
      project: 'p1',
      server: expect.any(String),
      schema: { version: SCHEMA_VERSION, minClient: MIGRATIONS.at(-1)?.minClient },
      bytes: expect.any(Number),
      runs: { total: 0, alive: 0 },
      damaged: [],
      budgets: [],
      offers: { waiting: 0, oldestS: null, lanes: [] },
    });
    await empty.query('update mlld.meta set min_client = 99, version = 99', []);
    expect(await runCli(['journal', 'list'], { cwd, env })).toMatchObject({ status: 1, stderr: expect.stringContaining('version 99') });
  });
});

describe.skipIf(noServer !== undefined)(
  `a schema of the store's name${noServer === undefined ? '' : ` (not run: ${noServer})`}`,
  async () => {
    const database = noServer === undefined ? await makeDatabase({ migrated: false }) : (undefined as unknown as TestDatabase);
    const migrating = async (): Promise<CliResult> =>
      runCli(['store', 'migrate', '--yes'], { cwd: await projectFolder(), env: { MLLD_STORE: database.project() } });

    it('that is not one of a store is left alone', async () => {
      await database.query('create schema mlld', []);
      expect(await migrating()).toMatchObject({
        status: 1,
        stderr: expect.stringMatching(
          /^Error: the database has a schema mlld already, of \w+: it is empty.*\n {2}hint: drop schema mlld; or name another/,
        ),
      });
      await database.query('create table mlld.mine (n int)', []);
      expect(await migrating()).toMatchObject({ status: 1, stderr: expect.stringContaining('it holds other things than a store') });
      await database.query('drop schema mlld cascade', []);
    });

    it('is made while nobody else makes it, and the process says for whom it waits', async () => {
      const other = new Connection(
        (onLost) => connectClient(parseStoreAddress(database.project(), { environment: {} }), { connectMs: 5000, onLost }),
        async () => undefined,
        'the store',
      );
      let migrated: Promise<CliResult> | undefined;
      await other.transaction(async (sql) => {
        await sql.query('select pg_advisory_xact_lock($1)', [0x6d6c6c64]);
        const child = startCli(['store', 'migrate', '--yes'], { cwd: await projectFolder(), env: { MLLD_STORE: database.project() } });
        migrated = resultOf(child);
        let said = '';
        child.stderr.on('data', (chunk: Buffer) => (said += chunk.toString()));
        await expect
          .poll(() => said, { timeout: 30_000 })
          .toMatch(/^waiting for another process that migrates the store: \w+ at \S+ \(process \d+ of the server\)\n$/);
      });
      await other.close();
      expect(await migrated).toMatchObject({ status: 0 });
    });
  },
);

it('refuses a password in the configuration, without printing it', async () => {
  const cwd = await projectFolder({
    'mlld-config.json': JSON.stringify({ store: { url: `postgres://ada:${PASSWORD}@db.example/mlld?project=p` } }),
  });
  const { status, stdout, stderr } = await runCli(['journal', 'list'], { cwd });
  expect({ status, stderr }).toMatchObject({ status: 1, stderr: expect.stringContaining('mlld-config.json holds the password') });
  expect(stdout + stderr).not.toContain(PASSWORD);
});

it('says where the runs are when they are in files', async () => {
  const cwd = await projectFolder({ 'mlld-config.json': '{}' });
  expect(await runCli(['store', 'status'], { cwd })).toMatchObject({ status: 0, stdout: 'files below .mlld/journal\n' });
  expect(await runCli(['store', 'status', '--json'], { cwd })).toMatchObject({ stdout: '{\n  "store": null\n}\n' });
  expect(await runCli(['store', 'migrate'], { cwd })).toMatchObject({ status: 1, stderr: expect.stringContaining('kept in files') });
});

it.each([[['--version']], [['run', 'hi', '--checkpoint']], [['journal', 'list']]])(
  'loads nothing of a database for %j with files',
  async (words) => {
    const cwd = await projectFolder({ 'llm/run/hi.mld': SCRIPT, 'mlld-config.json': '{}' });
    const watching = path.join(cwd, 'watching.cjs');
    writeFileSync(
      watching,
      `const load = require('node:module')._load;
require('node:module')._load = function (name, ...rest) {
  if (/^(pg|.*\\/pg\\.cjs|tls|node:tls|pgpass)$/.test(name)) require('node:fs').writeSync(2, 'LOADED ' + name + '\\n');
  return load.call(this, name, ...rest);
};
`,
    );
    const program = fileURLToPath(new URL('../../../dist/mlld.cjs', import.meta.url));
    const run = (env: { readonly [name: string]: string }, argv: readonly string[]): string =>
      spawnSync(process.execPath, ['-r', watching, program, ...argv], {
        cwd,
        env: { PATH: process.env['PATH'] ?? '', HOME: cwd, ...env },
        encoding: 'utf8',
      }).stderr;
    expect(run({}, words)).not.toContain('LOADED');
    expect(run({ MLLD_STORE: 'postgres://127.0.0.1:1/mlld?project=p' }, ['store', 'status'])).toContain('LOADED ./pg.cjs');
  },
);
