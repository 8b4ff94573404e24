/**
 * SIGKILL while declared output files are written for the first time, and while they are restored.
 *
 * OUTPUT-KILL-1 after a kill at any moment the same command ends with every file as the calls wrote it
 * OUTPUT-KILL-2 no call whose result was on disk is executed again, however many of its files were restored
 */
import { once } from 'node:events';
import fs from 'node:fs';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { projectFolder, runCli, startCli } from '../support/cli.js';
import { eventsOf, journalFiles } from './workflow.js';

const CALLS = 40;
const SCRIPT = `
exe llm @draw(name) = node {
  const fs = require("fs");
  fs.appendFileSync(process.cwd() + "/calls.log", name + "\\n");
  fs.mkdirSync(process.cwd() + "/out/" + name, { recursive: true });
  for (const part of ["a", "b", "c"]) fs.writeFileSync(process.cwd() + "/out/" + name + "/" + part, (name + part).repeat(20000));
  return "drew " + name;
} with { writes: ["@root/out/@name/a", "@root/out/@name/b", "@root/out/@name/c"] }
exe @names() = js { return Array.from({ length: ${CALLS} }, (_, i) => "n" + i) }
var @names_ = @names()
var @drawn = for @name in @names_ => @draw(@name)
show @drawn.length
`;

function outputsIn(cwd: string): string[] {
  const folder = path.join(cwd, 'out');
  if (!fs.existsSync(folder)) return [];
  return fs.readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((name) => /^n\d+\/[abc]$/.test(name));
}

const callsIn = (cwd: string): string[] => fs.readFileSync(path.join(cwd, 'calls.log'), 'utf8').split('\n').filter(Boolean);

/** Kills the run as soon as so many output files are there. */
async function killAt(cwd: string, files: number): Promise<void> {
  const child = startCli(['job.mld', '--checkpoint'], { cwd });
  child.stdin.end();
  while (child.exitCode === null && outputsIn(cwd).length < files) await sleep(1);
  child.kill('SIGKILL');
  if (child.signalCode === null && child.exitCode === null) await once(child, 'close');
}

function expectWhole(cwd: string): void {
  for (let index = 0; index < CALLS; index++) {
    for (const part of ['a', 'b', 'c']) {
      const name = `n${index}`;
      expect(fs.readFileSync(path.join(cwd, 'out', name, part), 'utf8') === (name + part).repeat(20_000), name).toBe(true);
    }
  }
}

describe('a run with declared output files that is killed', () => {
  it.each([1, 50, 118])('while it makes them (%i files there) makes the rest', { timeout: 60_000 }, async (files) => {
    const cwd = await projectFolder({ 'job.mld': SCRIPT });
    await killAt(cwd, files);
    const answered = journalFiles(cwd)
      .flatMap(eventsOf)
      .filter(({ type }) => type === 'call.completed').length;
    const before = callsIn(cwd).length;
    expect((await runCli(['job.mld', '--checkpoint'], { cwd })).stdout).toBe(`${CALLS}\n`);
    expect(callsIn(cwd).length - before).toBe(CALLS - answered);
    expectWhole(cwd);
  });

  it.each([1, 2, 60, 119])('while it puts them back (%i files there) puts back the rest', { timeout: 60_000 }, async (files) => {
    const cwd = await projectFolder({ 'job.mld': SCRIPT });
    await runCli(['job.mld', '--checkpoint'], { cwd });
    fs.rmSync(path.join(cwd, 'out'), { recursive: true });
    await killAt(cwd, files);
    expect(await runCli(['job.mld', '--checkpoint'], { cwd })).toMatchObject({
      status: 0,
      stdout: `${CALLS}\n`,
      stderr: expect.stringMatching(/^40 calls: 40 reused, \S+\n$/) as string,
    });
    expect(callsIn(cwd)).toHaveLength(CALLS);
    expectWhole(cwd);
  });
});
