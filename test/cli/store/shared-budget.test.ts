/** A budget that the runs of two processes share. team-store.md 8. */
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { emptyFolder, projectFolder, resultOf, runCli, startCli } from '../../support/cli.js';
import { makeDatabase, noServer, type TestDatabase } from '../../journal/postgres/database.js';

/** Each execution of the model leaves a line in the ledger before it replies. */
const MODEL = `echo "$1" >>"$LEDGER"
printf '{"type":"result","subtype":"success","is_error":false,"result":"r%s","total_cost_usd":0.25}' "$1"
`;
const scriptOf = (words: string): string => `exe llm @ask(q) = cmd { sh ./model.sh "@q" } with { reply: "claude", maxCost: 0.25 }
var @asked = for parallel(4) @q in [${words}] => @ask(@q)
show "all: @asked.length()"
`;
const wordsOf = (name: string): string => Array.from({ length: 12 }, (_, n) => `"${name}${n}"`).join(', ');

describe.skipIf(noServer !== undefined)(`a shared budget${noServer === undefined ? '' : ` (not run: ${noServer})`}`, async () => {
  const database = noServer === undefined ? await makeDatabase() : (undefined as unknown as TestDatabase);
  const folder = (): Promise<string> =>
    projectFolder({
      'llm/run/one.mld': scriptOf(wordsOf('one')),
      'llm/run/two.mld': scriptOf(wordsOf('two')),
      'model.sh': MODEL,
      'mlld-config.json': '{}',
    });
  const paid = (cwd: string): number => readFileSync(path.join(cwd, 'ledger'), 'utf8').split('\n').length - 1;

  /** The model of a killed process may have ended with it. */
  const endModel = (cwd: string): void => {
    try {
      process.kill(Number(readFileSync(path.join(cwd, 'ledger'), 'utf8')), 'SIGKILL');
    } catch (error) {
      expect(error).toMatchObject({ code: 'ESRCH' });
    }
  };

  it('holds for two processes together, pauses both, and lets them go on when it is raised', async () => {
    const cwd = await folder();
    const env = { MLLD_STORE: database.project(), LEDGER: path.join(cwd, 'ledger') };
    const run = (...words: string[]) => runCli(words, { cwd, env });
    expect(await run('run', 'one', '--checkpoint', '--budget', 'nightly')).toMatchObject({
      status: 1,
      stderr: expect.stringMatching(/there is no shared budget nightly\n.*mlld store budget nightly 50usd makes it/),
    });
    expect(await run('store', 'budget')).toMatchObject({ status: 0, stdout: expect.stringContaining('No shared budgets') });
    expect((await run('store', 'budget', 'nightly', '2usd')).stdout).toMatch(/nightly +\$2 +\$0 +\$0 +\$2\n/);
    const both = await Promise.all(['one', 'two'].map((name) => run('run', name, '--checkpoint', '--budget', 'nightly')));
    for (const { status, stderr } of both) {
      expect({ status, stderr }).toMatchObject({
        status: 5,
        stderr: expect.stringContaining('the shared budget nightly of $2 is used up'),
      });
      expect(stderr).toContain('mlld store budget nightly 4usd raises it');
    }
    expect(paid(cwd)).toBe(8);
    expect(JSON.parse((await run('store', 'budget', 'nightly', '--json')).stdout)).toEqual({
      name: 'nightly',
      unit: 'usd',
      period: null,
      total: 2,
      spent: 2,
      reserved: 0,
    });
    expect((await run('journal', 'postmortem', 'one')).stdout).toContain('the shared budget nightly of $2 is used up');
    await run('store', 'budget', 'nightly', '6usd');
    for (const name of ['one', 'two']) {
      expect(await run('run', name, '--resume', '--budget', 'nightly')).toMatchObject({ status: 0, stdout: 'all: 12\n' });
    }
    expect(paid(cwd)).toBe(24);
    expect((await run('store', 'status')).stdout).toMatch(/nightly +\$6 +\$6 +\$0 +\$0\n/);
  });

  it('counts what a killed process had begun as spent, once', async () => {
    const cwd = await projectFolder({
      'llm/run/slow.mld': 'exe llm @ask(q) = cmd { sh ./model.sh "@q" } with { reply: "claude", maxCost: 0.25 }\nshow @ask("slow")\n',
      'model.sh': 'echo "$$" >>"$LEDGER"\nexec sleep 600\n',
      'mlld-config.json': '{}',
    });
    const env = { MLLD_STORE: database.project(), LEDGER: path.join(cwd, 'ledger'), MLLD_LEASE: '2s' };
    const budget = async (): Promise<unknown> => JSON.parse((await runCli(['store', 'budget', 'nightly', '--json'], { cwd, env })).stdout);
    await runCli(['store', 'budget', 'nightly', '1usd'], { cwd, env });
    const child = startCli(['run', 'slow', '--checkpoint', '--budget', 'nightly'], { cwd, env });
    const exited = once(child, 'exit');
    await expect.poll(() => budget(), { timeout: 60_000 }).toMatchObject({ spent: 0, reserved: 0.25 });
    await expect
      .poll(
        () => {
          try {
            return paid(cwd);
          } catch {
            return 0;
          }
        },
        { timeout: 60_000 },
      )
      .toBe(1);
    child.kill('SIGKILL');
    await exited;
    endModel(cwd);
    await expect.poll(() => budget(), { timeout: 60_000 }).toMatchObject({ spent: 0.25, reserved: 0 });
    expect(await budget()).toMatchObject({ spent: 0.25, reserved: 0 });
  });

  it('pauses the run where it does not let a call begin inside one that a worker executes', async () => {
    const cwd = await projectFolder({
      'mlld-config.json': '{}',
      'llm/run/nested.mld':
        'exe llm @ask(q) = js { mlld.usage({ costUsd: 0.1 }); return q } with { maxCost: 0.1usd }\n' +
        'exe llm @outer(q) = [ let @x = @ask(`@q one`)\n let @y = @ask(`@q two`)\n => "@x, @y" ]\nshow @outer("a")\n',
    });
    const env = { MLLD_STORE: database.project(), MLLD_LEASE: '2s' };
    const run = (...words: string[]) => runCli(words, { cwd, env });
    await run('store', 'budget', 'team', '0.15usd');
    const hut = startCli(['worker', '--lanes', '1', '--name', 'hut'], { cwd: await emptyFolder(), env });
    try {
      const paused = await run('run', 'nested', '--checkpoint', '--workers', '--budget', 'team');
      expect(paused).toMatchObject({ status: 5, stderr: expect.stringContaining('the shared budget team of $0.15 is used up') });
      expect(paused.stderr).toContain('mlld store budget team');
      await run('store', 'budget', 'team', '1usd');
      const resumed = await run('run', 'nested', '--workers', '--budget', 'team', '--resume');
      expect(resumed).toMatchObject({ status: 0, stdout: 'a one, a two\n' });
      const budget = JSON.parse((await run('store', 'budget', 'team', '--json')).stdout) as object;
      expect(budget).toMatchObject({ spent: 0.2, reserved: 0 });
    } finally {
      hut.kill('SIGTERM');
      await resultOf(hut);
    }
  });

  it('is refused where nothing can hold to it', async () => {
    const cwd = await folder();
    const files = { cwd, env: { MLLD_STORE: 'files' } };
    expect(await runCli(['run', 'one', '--checkpoint', '--budget', 'nightly'], files)).toMatchObject({
      status: 1,
      stderr: expect.stringContaining('the runs of this project are kept in files'),
    });
    expect(await runCli(['store', 'budget'], files)).toMatchObject({ status: 1, stderr: expect.stringContaining('kept in files') });
    const env = { MLLD_STORE: database.project() };
    for (const [words, message] of [
      [['nightly', '5eur'], '"5eur" is not a budget'],
      [['nightly', '3h'], 'is not the sum of a shared budget'],
      [['5usd', '3usd'], "can't be the name"],
      [['none'], 'there is no shared budget none'],
    ] as const) {
      const result = await runCli(['store', 'budget', ...words], { cwd, env });
      expect(result).toMatchObject({ status: 1, stderr: expect.stringContaining(message) });
      expect(result.stderr).not.toContain('3h (s, m, h)'); // a shared budget limits no time
    }
  });
});
