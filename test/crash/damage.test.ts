/** A damaged journal stops no run; the loss is as small as possible, and is never silent. */
import { spawnSync } from 'node:child_process';
import { chmodSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';

import { answersOnDisk, callsBegun, hullProject, journalFiles, run, RUN, runIdOf } from './workflow.js';

const CALLS = 40;
const INLINE_BYTES_MAX = 64 * 1024;
const PROGRAM = fileURLToPath(new URL('../../dist/mlld.cjs', import.meta.url));

interface Recorded {
  readonly cwd: string;
  readonly file: string;
  readonly stdout: string;
}

async function recorded({ answerChars = 200 } = {}): Promise<Recorded> {
  const cwd = await hullProject({ calls: CALLS, delayMs: 1, answerChars });
  const { stdout, status } = await run(cwd);
  expect(status).toBe(0);
  const [file] = journalFiles(cwd);
  return { cwd, file: file as string, stdout };
}

/** Runs again: the same output, and how many calls it took. */
async function callsAgain({ cwd, stdout }: Recorded): Promise<{ calls: number; stderr: string }> {
  const before = callsBegun(cwd).length;
  const result = await run(cwd);
  expect(result).toMatchObject({ status: 0, stdout });
  return { calls: callsBegun(cwd).length - before, stderr: result.stderr };
}

function rewrite(file: string, change: (text: string) => string): void {
  const text = readFileSync(file, 'utf8');
  const changed = change(text);
  expect(changed, 'the damage changed nothing').not.toBe(text);
  writeFileSync(file, changed);
}

describe('a damaged journal', () => {
  it('is read up to where it was cut off, as after a crash', async () => {
    const project = await recorded();
    const cut = readFileSync(project.file).indexOf('report on hull section 20.');
    rewrite(project.file, (text) => text.slice(0, cut));
    const left = answersOnDisk(project.cwd).size;
    expect(left).toBeGreaterThan(0);
    const { calls, stderr } = await callsAgain(project);
    expect(calls).toBe(CALLS - left);
    expect(stderr).not.toContain('warning'); // a torn tail is no news: that is what a crash leaves
    const verified = await run(project.cwd, ['journal', 'verify', runIdOf(project.file)]);
    expect(verified).toMatchObject({ status: 0 });
    expect(verified.stdout).toContain('torn');
  });

  it('never reuses a result of which a letter has changed, and keeps its neighbours', async () => {
    const project = await recorded();
    rewrite(project.file, (text) => text.replace('report on hull section 7.', 'rePort on hull section 7.'));
    const first = await callsAgain(project);
    expect(first.calls).toBe(1);
    expect(first.stderr).toContain(runIdOf(project.file));
    const verified = await run(project.cwd, ['journal', 'verify', runIdOf(project.file)]);
    expect(verified.status).toBe(1);
    expect(verified.stdout).toContain('damaged');
    expect((await callsAgain(project)).calls).toBe(0); // and the result of the repaired run is used from then on
  });

  it('may hold garbage in the middle', async () => {
    const project = await recorded();
    rewrite(project.file, (text) => text.replace(/\n(.*"call\.completed".*)\n/, '\n{"v":1,"seq":\n$1\n'));
    const { calls, stderr } = await callsAgain(project);
    expect(calls).toBeLessThanOrEqual(1);
    expect(stderr).toContain(runIdOf(project.file));
  });

  it('is left alone when a newer program has written it', async () => {
    const project = await recorded();
    rewrite(project.file, (text) => text.replaceAll(/^\{"v":1,/gm, '{"v":99,'));
    const written = readFileSync(project.file);
    const { calls, stderr } = await callsAgain(project);
    expect(calls).toBe(CALLS);
    expect(stderr).toContain('version');
    expect(readFileSync(project.file).equals(written)).toBe(true);
  });

  it('executes a call again when the payload of its result is gone or replaced', async () => {
    const project = await recorded({ answerChars: INLINE_BYTES_MAX * 2 });
    const [pack = ''] = blobFiles(project.cwd).filter((file) => file.endsWith('.pack'));
    rewrite(pack, (text) => {
      const [, first = '', second = '', ...rest] = text.split(/(?<=\n)(?=\{"blob":)/);
      const gone = first.replace('"parts"', '"Parts"');
      const replaced = second.replace('report', 'rePort');
      return ['{"pack":1}\n', gone, replaced, ...rest].join('');
    });
    const { calls, stderr } = await callsAgain(project);
    expect(calls).toBe(2);
    expect(stderr).toContain('@inspect');
    expect((await callsAgain(project)).calls).toBe(0);
  });
});

describe('a journal that cannot be written', () => {
  it.each(['.mlld', '.mlld/journal'])('keeps a run from paying for calls, unless that is wanted: a file is at %s', async (place) => {
    const cwd = await hullProject({ calls: CALLS, delayMs: 1 });
    mkdirSync(path.dirname(path.join(cwd, place)), { recursive: true });
    writeFileSync(path.join(cwd, place), 'in the way\n');
    await expectPaused(cwd);
    expect(readFileSync(path.join(cwd, place), 'utf8')).toBe('in the way\n');
  });

  it.skipIf(process.getuid?.() === 0)('keeps a run from paying for calls, unless that is wanted: the folder is read-only', async () => {
    const cwd = await hullProject({ calls: CALLS, delayMs: 1 });
    mkdirSync(path.join(cwd, '.mlld'), { mode: 0o500 });
    await expectPaused(cwd);
    chmodSync(path.join(cwd, '.mlld'), 0o700);
  });

  it('continues in further files where a file may not grow any more', async () => {
    const cwd = await hullProject({ calls: CALLS, delayMs: 1, answerChars: 4000 });
    // In units of 512 or 1024 bytes, as the shell has it: in both cases some results fit into a file, and not all.
    const limited = spawnSync('sh', ['-c', `ulimit -f 250; exec "$@"`, 'sh', process.execPath, PROGRAM, ...RUN], { cwd, encoding: 'utf8' });
    expect(limited.status).toBe(0);
    expect(journalFiles(cwd).length).toBeGreaterThan(1);
    expect(callsBegun(cwd)).toHaveLength(CALLS);
    expect((await callsAgain({ cwd, file: '', stdout: limited.stdout })).calls).toBe(0);
  });
});

async function expectPaused(cwd: string): Promise<void> {
  const { status, stderr } = await run(cwd);
  expect(status).toBe(5);
  expect(stderr).toContain('--unrecorded');
  expect(callsBegun(cwd)).toEqual([]);
  expect(await run(cwd, [...RUN, '--unrecorded'])).toMatchObject({ status: 0 });
  expect(callsBegun(cwd)).toHaveLength(CALLS);
}

it('two runs of one workflow at once do not disturb each other', async () => {
  const cwd = await hullProject({ calls: CALLS, delayMs: 10 });
  const [one, other] = await Promise.all([run(cwd), run(cwd)]);
  expect(one).toMatchObject({ status: 0 });
  expect(other.stdout).toBe(one.stdout);
  const files = journalFiles(cwd);
  expect(files).toHaveLength(2);
  for (const file of files) expect(await run(cwd, ['journal', 'verify', runIdOf(file)])).toMatchObject({ status: 0 });
  expect((await callsAgain({ cwd, file: '', stdout: one.stdout })).calls).toBe(0);
});

function blobFiles(cwd: string): string[] {
  const folder = path.join(cwd, '.mlld', 'journal', 'blobs');
  const entries = readdirSync(folder, { recursive: true, withFileTypes: true, encoding: 'utf8' });
  return entries.filter((entry) => entry.isFile()).map((entry) => path.join(entry.parentPath, entry.name));
}
