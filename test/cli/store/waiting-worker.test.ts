/** Workers that wait for calls, as processes on a server: when they are seen, and when `mlld worker --once` ends. WORKER-6, WORKER-7 */
import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { makeDatabase, noServer, type TestDatabase } from '../../journal/postgres/database.js';
import { emptyFolder, projectFolder, resultOf, runCli } from '../../support/cli.js';
import { commandsOfTests } from './started-commands.js';

describe.skipIf(noServer !== undefined)(`a worker that waits${noServer === undefined ? '' : ` (not run: ${noServer})`}`, async () => {
  const database = noServer === undefined ? await makeDatabase() : (undefined as unknown as TestDatabase);
  const start = commandsOfTests();

  async function offered(env: { readonly MLLD_STORE: string }, cwd: string): Promise<void> {
    const waiting = async (): Promise<number> =>
      (JSON.parse((await runCli(['worker', 'status', '--json'], { cwd, env })).stdout) as { offers: { waiting: number } }).offers.waiting;
    while ((await waiting()) === 0) await sleep(50);
  }

  it('executes all calls of a run, also those that are offered when its first ones have ended', async () => {
    const cwd = await projectFolder({
      'mlld-config.json': '{}',
      'llm/run/hi.mld': [
        'exe llm @ask(q) = sh { echo "answer to $q" }',
        'var @all = for parallel(3) @q in ["a", "b", "c"] => @ask(@q)',
        'var @pause = run sh { sleep 1 }',
        'show @ask(@all.join(", "))',
        '',
      ].join('\n'),
    });
    const env = { MLLD_STORE: database.project() };
    const run = start(['run', 'hi', '--checkpoint', '--workers'], cwd, env);
    const ended = resultOf(run);
    await offered(env, cwd);
    const worker = await runCli(['worker', '--once', '--lanes', '2', '--json'], { cwd: await emptyFolder(), env });
    expect(JSON.parse(worker.stdout)).toMatchObject({ executed: 4, failed: 0, error: null });
    expect(await ended).toMatchObject({ status: 0, stdout: 'answer to answer to a, answer to b, answer to c\n' });
  }, 60_000);

  it('is listed as idle while it waits for its first call, and no longer when it was asked to end', async () => {
    const env = { MLLD_STORE: database.project() };
    const cwd = await emptyFolder();
    const status = async (): Promise<string> => (await runCli(['worker', 'status'], { cwd, env })).stdout;
    expect(await status()).toContain('No worker is there for this project');
    const worker = start(['worker', '--lanes', '2', '--name', 'hut'], cwd, env);
    const ended = resultOf(worker);
    await expect.poll(status, { timeout: 20_000 }).toMatch(/^hut +\S+ +0\/2 +idle +\d/m);
    worker.kill('SIGTERM');
    expect(await ended).toMatchObject({ status: 0 });
    expect(await status()).toContain('No worker is there for this project');
  }, 60_000);

  it('ends all the same while a run that it served executes something else for long', async () => {
    const cwd = await projectFolder({
      'mlld-config.json': '{}',
      'llm/run/hi.mld': 'exe llm @ask(q) = sh { echo "answer to $q" }\nshow @ask("a")\nvar @pause = run sh { sleep 100 }\n',
    });
    const env = { MLLD_STORE: database.project() };
    start(['run', 'hi', '--checkpoint', '--workers'], cwd, env);
    await offered(env, cwd);
    const worker = await runCli(['worker', '--once', '--json'], { cwd: await emptyFolder(), env });
    expect(JSON.parse(worker.stdout)).toMatchObject({ executed: 1, failed: 0, error: null });
  }, 60_000);

  it('waits for the lease of a killed worker that has the last call, and executes that', async () => {
    const cwd = await projectFolder({
      'mlld-config.json': '{}',
      'llm/run/hi.mld': 'exe llm @ask(q) = sh { echo "$q" >> "$LEDGER"; sleep "$TAKES"; echo "answer to $q" }\nshow @ask("a")\n',
    });
    const ledger = path.join(cwd, 'ledger');
    const env = { MLLD_STORE: database.project(), MLLD_LEASE: '4s', LEDGER: ledger };
    const ended = resultOf(start(['run', 'hi', '--checkpoint', '--workers'], cwd, env));
    const killed = start(['worker'], await emptyFolder(), { ...env, TAKES: '100' });
    await expect.poll(() => readFile(ledger, 'utf8').catch(() => ''), { timeout: 20_000 }).toBe('a\n');
    killed.kill('SIGKILL');
    const worker = await runCli(['worker', '--once', '--json'], { cwd: await emptyFolder(), env: { ...env, TAKES: '0' } });
    expect(JSON.parse(worker.stdout)).toMatchObject({ executed: 1, failed: 0, error: null });
    expect(await ended).toMatchObject({ status: 0, stdout: 'answer to a\n' });
  }, 60_000);

  it('leaves the last call to a worker that has it and is alive', async () => {
    const cwd = await projectFolder({
      'mlld-config.json': '{}',
      'llm/run/hi.mld': 'exe llm @ask(q) = sh { echo "$q" >> "$LEDGER"; sleep 100; echo "answer to $q" }\nshow @ask("a")\n',
    });
    const ledger = path.join(cwd, 'ledger');
    const env = { MLLD_STORE: database.project(), MLLD_LEASE: '4s', LEDGER: ledger };
    start(['run', 'hi', '--checkpoint', '--workers'], cwd, env);
    start(['worker'], await emptyFolder(), env);
    await expect.poll(() => readFile(ledger, 'utf8').catch(() => ''), { timeout: 20_000 }).toBe('a\n');
    const worker = await runCli(['worker', '--once', '--json'], { cwd: await emptyFolder(), env });
    expect(JSON.parse(worker.stdout)).toMatchObject({ executed: 0, failed: 0, error: null });
  }, 60_000);
});
