/**
 * SIGKILL while secret results are being written, then the same command again.
 *
 * SECRET-KILL-1 no file of the journal ever holds the secret in clear, not even the tail that the kill tore
 * SECRET-KILL-2 a result that was on disk is reused, other calls are executed again; without a sealing key every call is executed again
 * SECRET-KILL-3 the output is that of an undisturbed run
 */
import { randomBytes } from 'node:crypto';
import { readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { expect, it } from 'vitest';
import { projectFolder, runCli, type CliResult } from '../support/cli.js';
import { callsBegun, eventsOf, journalFiles } from './workflow.js';

const CALLS = 24;
const AT_ONCE = 6;
const KEY = randomBytes(32).toString('hex');

/** Small results are in their event, large ones in a blob; the call of that number kills the run `afterMs` later. */
function project(): Promise<string> {
  return projectFolder({
    'job.mld': `import { MLLD_TOKEN } from @input
var secret @token = @MLLD_TOKEN
exe llm @ask(i, t) = node {
  const fs = require("fs");
  fs.appendFileSync(process.cwd() + "/calls.log", i + "\\n");
  const begun = fs.readFileSync(process.cwd() + "/calls.log", "utf8").split("\\n").length - 1;
  const end = JSON.parse(fs.readFileSync(process.cwd() + "/end.json", "utf8"));
  if (begun === end.begun) setTimeout(() => process.kill(process.pid, "SIGKILL"), end.afterMs);
  await new Promise((resolve) => setTimeout(resolve, 2 + (Number(i) * 7) % 11));
  return i + ": " + (t + " ").repeat(i % 3 === 0 ? 6000 : 3);
}
exe @numbers() = js { return Array.from({ length: ${CALLS} }, (_, i) => String(i)) }
var @all = @numbers()
var @answers = for parallel(${AT_ONCE}) @i in @all => @ask(@i, @token)
show @answers.join("\\n")
`,
  });
}

interface Env {
  readonly [name: string]: string;
}

function run(cwd: string, env: Env, end: { readonly begun: number; readonly afterMs: number }): Promise<CliResult> {
  writeFileSync(path.join(cwd, 'end.json'), JSON.stringify(end));
  return runCli(['job.mld', '--checkpoint'], { cwd, env });
}

const UNDISTURBED = { begun: -1, afterMs: 0 };

function leaks(cwd: string, canary: string): string[] {
  const folder = path.join(cwd, '.mlld');
  const files = readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((file) => statSync(path.join(folder, file)).isFile());
  return files.filter((file) => readFileSync(path.join(folder, file), 'latin1').includes(canary));
}

function answersOnDisk(cwd: string): number {
  const completed = journalFiles(cwd)
    .flatMap(eventsOf)
    .filter(({ type }) => type === 'call.completed');
  expect(completed.every(({ result }) => result?.inline === undefined)).toBe(true);
  return completed.length;
}

it.each([
  ['the key of the project', 1, 0, {}],
  ['the key of the project', 8, 1, {}],
  ['the key of the project', 17, 4, {}],
  ['a given key', 13, 2, { MLLD_JOURNAL_KEY: KEY }],
  ['a given key', CALLS, 3, { MLLD_JOURNAL_KEY: KEY }],
  ['no key', 11, 2, { MLLD_JOURNAL_KEY: 'none' }],
])('with %s, killed when call %i has begun', async (_which, begun, afterMs, key: Env) => {
  const canary = `Canary${randomBytes(9).toString('hex')}`;
  const env = { MLLD_TOKEN: canary, ...key };
  const undisturbed = await run(await project(), env, UNDISTURBED);
  expect(undisturbed.stdout).toContain(`5: ${canary}`);

  const cwd = await project();
  expect((await run(cwd, env, { begun, afterMs })).status).toBeUndefined();
  expect(leaks(cwd, canary)).toEqual([]); // SECRET-KILL-1
  const before = callsBegun(cwd).length;
  const onDisk = key['MLLD_JOURNAL_KEY'] === 'none' ? 0 : answersOnDisk(cwd);

  const { stdout, status } = await run(cwd, env, UNDISTURBED);
  expect(status).toBe(0);
  expect(stdout).toBe(undisturbed.stdout); // SECRET-KILL-3
  expect(callsBegun(cwd).length - before).toBe(CALLS - onDisk); // SECRET-KILL-2
  expect(leaks(cwd, canary)).toEqual([]);
  expect((await runCli(['journal', 'verify', 'job'], { cwd, env })).status).toBe(0);
});
