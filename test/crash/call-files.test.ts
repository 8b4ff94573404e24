/**
 * SIGKILL while the files of a call are kept, and while they are restored.
 *
 * CALL-FILE-KILL-1 a kill between the blobs and `call.completed` leaves a call without a result: it is executed again, and its files are
 *    kept although it wrote what was there already
 * CALL-FILE-KILL-2 a kill while files are restored leaves whole files; the next run restores the rest, and executes nothing
 */
import { once } from 'node:events';
import fs from 'node:fs';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { projectFolder, runCli, startCli } from '../support/cli.js';
import { eventsOf, journalFiles } from './workflow.js';

const FILES = 20;
const BYTES = 2_000_000;
/** Writes the same files in each execution. The largest ones take a while to be stored: each blob is synced. */
const SCRIPT = `
exe llm @draw(names) = node {
  const fs = require("fs");
  fs.appendFileSync(process.cwd() + "/calls.log", "x");
  fs.mkdirSync(process.cwd() + "/out", { recursive: true });
  names.forEach((name, i) => fs.writeFileSync(process.cwd() + "/" + name, Buffer.alloc(${BYTES}, String.fromCharCode(97 + i))));
  return "drawn";
}
var @names = [${Array.from({ length: FILES }, (_, at) => `"out/f${at}.bin"`).join(', ')}]
show @draw(@names)
`;

const count = (folder: string, is: (name: string) => boolean): number =>
  fs.existsSync(folder) ? fs.readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter(is).length : 0;
const blobsIn = (cwd: string): number => count(path.join(cwd, '.mlld/journal/blobs'), (name) => /[0-9a-f]{64}$/.test(name));
const restoredIn = (cwd: string): number => count(path.join(cwd, 'out'), (name) => name.endsWith('.bin'));
const callsIn = (cwd: string): number => fs.readFileSync(path.join(cwd, 'calls.log'), 'utf8').length;
const completedIn = (cwd: string): number =>
  journalFiles(cwd)
    .flatMap(eventsOf)
    .filter(({ type }) => type === 'call.completed').length;

async function killWhen(cwd: string, isTime: () => boolean): Promise<void> {
  const child = startCli(['job.mld', '--checkpoint'], { cwd });
  child.stdin.end();
  while (child.exitCode === null && !isTime()) await sleep(1);
  child.kill('SIGKILL');
  if (child.signalCode === null && child.exitCode === null) await once(child, 'close');
}

function expectWhole(cwd: string): void {
  for (let at = 0; at < FILES; at++) {
    const content = fs.readFileSync(path.join(cwd, `out/f${at}.bin`));
    expect(content.equals(Buffer.alloc(BYTES, String.fromCharCode(97 + at))), `f${at}`).toBe(true);
  }
}

describe('a run that is killed', () => {
  it('CALL-FILE-KILL-1: between the blobs of a call and its end', { timeout: 120_000 }, async () => {
    const cwd = await projectFolder({ 'job.mld': SCRIPT });
    const before = blobsIn(cwd);
    await killWhen(cwd, () => restoredIn(cwd) === FILES && blobsIn(cwd) - before >= 3);
    expect([callsIn(cwd), completedIn(cwd)]).toEqual([1, 0]);
    expect((await runCli(['job.mld', '--checkpoint'], { cwd })).stdout).toBe('drawn\n');
    expect([callsIn(cwd), completedIn(cwd)]).toEqual([2, 1]);
    fs.rmSync(path.join(cwd, 'out'), { recursive: true });
    expect(await runCli(['job.mld', '--checkpoint'], { cwd })).toMatchObject({
      status: 0,
      stdout: 'drawn\n',
      stderr: expect.stringMatching(/^1 call: 1 reused, \S+\n$/) as string,
    });
    expect(callsIn(cwd)).toBe(2);
    expectWhole(cwd);
    expect((await runCli(['journal', 'verify', 'job@2'], { cwd })).status).toBe(0);
  });

  it('CALL-FILE-KILL-2: while its files are restored', { timeout: 120_000 }, async () => {
    const cwd = await projectFolder({ 'job.mld': SCRIPT });
    await runCli(['job.mld', '--checkpoint'], { cwd });
    fs.rmSync(path.join(cwd, 'out'), { recursive: true });
    for (const files of [1, 7, 15]) await killWhen(cwd, () => restoredIn(cwd) >= files);
    expect(await runCli(['job.mld', '--checkpoint'], { cwd })).toMatchObject({
      status: 0,
      stdout: 'drawn\n',
      stderr: expect.stringMatching(/^1 call: 1 reused, \S+\n$/) as string,
    });
    expect(callsIn(cwd)).toBe(1);
    expectWhole(cwd);
  });
});
