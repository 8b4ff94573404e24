/**
 * A process that goes on with a run is killed, or sleeps, between the commit that takes the run and the first line of its own: a resume
 * goes on with the former run, and nothing that had ended is done again. team-store.md 4.5.
 */
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, it, vi } from 'vitest';
import { makeDatabase, noServer, type TestDatabase } from '../../../journal/postgres/database.js';
import { Between } from '../../../journal/support/between.js';
import { projectFolder, resultOf, runCli } from '../../../support/cli.js';
import { pipeline } from '../../../support/pipeline-run.js';
import { commandsOfTests } from '../started-commands.js';

const PATIENCE = { timeout: 60_000, interval: 20 };
const BEGINS = 'begin_after';
const STARTS = '"type":"run.started"';
/** Each stage says that it began; `b` fails until the file `go` is there. */
const WORK = pipeline(
  'a [shape=parallelogram, tool_command="echo a >> begun"]; b [shape=parallelogram, tool_command="echo b >> begun; test -e go"]; c [shape=parallelogram, tool_command="sleep 1; echo c >> begun"]; start -> a -> b -> c -> exit',
);
/** The first run ends at an edge that begins another one. */
const RESTARTS = pipeline(
  'a [shape=parallelogram, tool_command="echo a >> begun; test -e go || { touch go; false; }"]; start -> a; a -> exit [condition="outcome=success"]; a -> a [condition="outcome=fail", loop_restart=true]',
);

describe.skipIf(noServer !== undefined)(`a run that goes on${noServer === undefined ? '' : ` (not run: ${noServer})`}`, async () => {
  const database = noServer === undefined ? await makeDatabase() : (undefined as unknown as TestDatabase);
  const start = commandsOfTests({ MLLD_LEASE: '3s' });

  interface Project {
    readonly cwd: string;
    readonly url: string;
    readonly between: Between;
    readonly begun: () => string;
  }

  async function projectOf(text: string): Promise<Project> {
    const url = database.project();
    const cwd = await projectFolder({ 'mlld-config.json': '{}', 'p.dot': text });
    const begun = (): string =>
      existsSync(path.join(cwd, 'begun')) ? readFileSync(path.join(cwd, 'begun'), 'utf8').replaceAll('\n', '') : '';
    return { cwd, url, between: await Between.open(url), begun };
  }

  /** Resolves when the statement was sent: it is done, and nothing that is behind it. */
  async function stopsBehind({ between }: Project, statement: string, isDone: boolean): Promise<void> {
    let isReached = false;
    between.onSent = (text) => {
      const isHere: boolean = !isReached && text.includes(statement);
      isReached ||= isHere;
      return !isReached || (isHere && isDone);
    };
    await vi.waitFor(() => expect(isReached).toBe(true), PATIENCE);
    between.isDeaf = true;
    await sleep(300); // the server does it meanwhile
  }

  const ends = [
    ['before the commit', BEGINS, false],
    ['behind it', BEGINS, true],
    ['before its first line', STARTS, false],
    ['behind that', STARTS, true],
  ] as const;

  it.each(ends)('is resumed once more when a resume is killed %s', { timeout: 120_000 }, async (_, statement, isDone) => {
    const project = await projectOf(WORK);
    const { cwd, url, between, begun } = project;
    expect((await runCli(['run', 'p.dot'], { cwd, env: { MLLD_STORE: url } })).status).not.toBe(0);
    writeFileSync(path.join(cwd, 'go'), '');
    const killed = start(['run', 'p.dot', '--resume'], cwd, { MLLD_STORE: between.url });
    const ended = resultOf(killed);
    await stopsBehind(project, statement, isDone);
    killed.kill('SIGKILL');
    await ended;
    expect(await runCli(['run', 'p.dot', '--resume'], { cwd, env: { MLLD_STORE: url, MLLD_LEASE: '3s' } })).toMatchObject({
      status: 0,
      stdout: 'g: completed\n',
    });
    expect(begun()).toBe('abbc');
    expect(await runCli(['journal', 'verify', 'p.dot'], { cwd, env: { MLLD_STORE: url } })).toMatchObject({ status: 0 });
    expect((await runCli(['run', 'p.dot', '--resume'], { cwd, env: { MLLD_STORE: url } })).stderr).toContain('is completed');
  });

  it.each(ends)('is resumed when it is killed between two runs, %s', { timeout: 120_000 }, async (_, statement, isDone) => {
    const project = await projectOf(RESTARTS);
    const { cwd, url, between, begun } = project;
    const killed = start(['run', 'p.dot'], cwd, { MLLD_STORE: between.url });
    const ended = resultOf(killed);
    if (statement === STARTS) await vi.waitFor(() => expect(begun()).toBe('a'), PATIENCE); // not that of the first run
    await stopsBehind(project, statement, isDone);
    killed.kill('SIGKILL');
    await ended;
    const again = await runCli(['run', 'p.dot', '--resume'], { cwd, env: { MLLD_STORE: url, MLLD_LEASE: '3s' } });
    expect(again).toMatchObject({ status: 0, stdout: 'g: completed\n' });
    expect(begun()).toBe('aa');
  });

  it('is that of one process where the other sleeps behind the commit', { timeout: 120_000 }, async () => {
    const project = await projectOf(WORK);
    const { cwd, url, between, begun } = project;
    expect((await runCli(['run', 'p.dot'], { cwd, env: { MLLD_STORE: url } })).status).not.toBe(0);
    writeFileSync(path.join(cwd, 'go'), '');
    const asleep = start(['run', 'p.dot', '--resume'], cwd, { MLLD_STORE: between.url });
    const woken = resultOf(asleep);
    let isBegun = false;
    between.onSent = (text) => {
      if (!isBegun && text.includes(BEGINS)) {
        asleep.kill('SIGSTOP');
        isBegun = true;
      }
      return true;
    };
    await vi.waitFor(() => expect(isBegun).toBe(true), PATIENCE);
    const other = resultOf(start(['run', 'p.dot', '--resume'], cwd, { MLLD_STORE: url })); // waits for its turn
    await vi.waitFor(() => expect(begun()).toBe('abb'), PATIENCE);
    asleep.kill('SIGCONT');
    expect(await woken).toMatchObject({ status: 6 });
    expect(await other).toMatchObject({ status: 0 });
    expect(begun()).toBe('abbc');
  });
});
