/** A script's output before an error is not lost, and its line ends before the error begins. */
import fs from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { inShell, projectFolder, resultOf, runCli, startCli } from '../../support/cli.js';

const FAILING = 'show "# Tides"\nshow "ebb"\noutput "flow" to stdout\nbail "no more tides"\n';

describe('a buffered run that an error ends', () => {
  it.each([
    ['--no-stream', ['--no-stream'], {}],
    ['MLLD_NO_STREAM', [], { MLLD_NO_STREAM: 'true' }],
  ])('prints what was shown, normalised, and then the error: %s', async (_, flags, env) => {
    const cwd = await projectFolder({ 'job.mld': FAILING, 'llm/run/job.mld': FAILING });
    for (const command of [['job.mld'], ['run', 'job'], ['job.mld', '--checkpoint']]) {
      const { stdout, stderr, status } = await runCli([...command, ...flags], { cwd, env });
      expect({ stdout, status }).toEqual({ stdout: '# Tides\n\nebb\n\nflow\n\n', status: 1 });
      expect(stderr).toContain('Error: no more tides');
    }
  });

  it('prints it before the error where both go to the same place', async () => {
    const cwd = await projectFolder({ 'job.mld': FAILING });
    const { stdout } = await inShell('"$@" job.mld --no-stream 2>&1', cwd);
    expect(stdout).toMatch(/^# Tides\n\nebb\n\nflow\n\nError: no more tides\n/);
  });

  it('prints it after a time limit and an interruption', async () => {
    const cwd = await projectFolder({ 'job.mld': 'show "ebb"\nrun sh { touch ready; sleep 30 }\n' });
    const timedOut = await runCli(['job.mld', '--no-stream', '--timeout', '900ms'], { cwd });
    expect(timedOut).toMatchObject({ stdout: 'ebb\n\n', status: 1 });
    fs.rmSync(path.join(cwd, 'ready'), { force: true });
    const child = startCli(['job.mld', '--no-stream'], { cwd });
    child.stdin.end();
    const ended = resultOf(child);
    while (!fs.existsSync(path.join(cwd, 'ready'))) await new Promise((resolve) => setTimeout(resolve, 10));
    child.kill('SIGINT');
    expect(await ended).toMatchObject({ stdout: 'ebb\n\n', status: 130 });
  });

  it('prints nothing where nothing was shown, and with --structured', async () => {
    const cwd = await projectFolder({ 'silent.mld': 'bail "no"\n', 'job.mld': FAILING });
    expect((await runCli(['silent.mld', '--no-stream'], { cwd })).stdout).toBe('');
    expect((await runCli(['job.mld', '--structured'], { cwd })).stdout).toBe('');
  });

  it('replays the same', async () => {
    const cwd = await projectFolder({ 'llm/run/job.mld': FAILING });
    await runCli(['run', 'job', '--no-stream'], { cwd });
    const { stdout, stderr, status } = await runCli(['journal', 'replay', 'latest'], { cwd });
    expect({ stdout, status }).toEqual({ stdout: '# Tides\n\nebb\n\nflow\n\n', status: 0 });
    expect(stderr).toMatch(/^same:/);
  });
});

describe('a line that is still open when an error begins', () => {
  const OPEN = 'exe @f() = node { process.stdout.write("ebb"); throw new Error("no flow") }\nshow @f()\n';

  it('ends where both go to the same place', async () => {
    const cwd = await projectFolder({ 'job.mld': OPEN });
    const pipe = await inShell('"$@" job.mld 2>&1 | cat', cwd);
    expect(pipe.stdout).toMatch(/^ebb\nError: no flow\n/);
    await inShell('"$@" job.mld > log 2>&1', cwd);
    expect(fs.readFileSync(path.join(cwd, 'log'), 'utf8')).toMatch(/^ebb\nError: no flow\n/);
  });

  it('does not change standard output where it is separate', async () => {
    const cwd = await projectFolder({ 'job.mld': OPEN });
    const { stdout, stderr } = await runCli(['job.mld'], { cwd });
    expect(stdout).toBe('ebb');
    expect(stderr).toMatch(/^Error: no flow\n/);
  });

  it('ends on standard error as well', async () => {
    const cwd = await projectFolder({ 'job.mld': 'run sh { printf ebb >&2 }\nbail "no flow"\n' });
    expect((await runCli(['job.mld'], { cwd })).stderr).toMatch(/^ebb\nError: no flow\n/);
  });

  it('ends before a warning, too', async () => {
    const cwd = await projectFolder({ 'job.mld': 'exe @f() = sh { printf ebb; exit 3 }\nstream @f()\n' });
    expect((await runCli(['job.mld'], { cwd })).stderr).toMatch(/^ebb\nwarning: command ended with status 3/);
    const { stdout } = await inShell('"$@" job.mld --structured 2>&1', cwd);
    expect(stdout).toMatch(/^ebb\nwarning: command ended with status 3/);
  });

  it('gets no second end, and none without an error', async () => {
    const cwd = await projectFolder({
      'whole.mld': 'show "ebb"\nbail "no flow"\n',
      'fine.mld': 'run sh { printf ebb >&2 }\nshow "flow"\n',
    });
    expect((await inShell('"$@" whole.mld 2>&1', cwd)).stdout).toMatch(/^ebb\nError/);
    expect((await runCli(['fine.mld'], { cwd })).stderr).toBe('ebb');
  });
});
