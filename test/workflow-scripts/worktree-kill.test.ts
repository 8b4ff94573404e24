/** A run that is killed as soon as git has made a worktree leaves none for good: WORKTREE-2. workflows-js.md 9.4. */
import { execFileSync, spawn } from 'node:child_process';
import { chmodSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { projectFolder, runCli } from '../support/cli.js';

const CLI = join(import.meta.dirname, '..', '..', 'dist', 'mlld.cjs');
const SCRIPT = `export const meta = { name: 'job', description: 'x' }
return await agent('look', { isolation: 'worktree' })
`;

/** Stands in for git: says that the worktree is there, and returns only when it is killed. */
const gitThatHangs = (git: string, said: string): string => `#!/bin/sh
case "$*" in
*"worktree add"*) '${git}' "$@" && echo $$ > '${said}' && exec sleep 600 ;;
*) exec '${git}' "$@" ;;
esac
`;

it('removes the worktree of a run that was killed before an agent began', { timeout: 60_000 }, async () => {
  const cwd = await projectFolder({ 'mlld-config.json': '{}', 'job.js': SCRIPT, '.gitignore': '.mlld\nbin\nsaid\n' });
  const git = (...words: string[]): string =>
    execFileSync('git', ['-c', 'user.name=x', '-c', 'user.email=x@x', ...words], { cwd, encoding: 'utf8' });
  git('init', '-q');
  git('add', '.');
  git('commit', '-qm', 'first');
  mkdirSync(join(cwd, 'bin'));
  const real = execFileSync('sh', ['-c', 'command -v git'], { encoding: 'utf8' }).trim();
  const said = join(cwd, 'said');
  writeFileSync(join(cwd, 'bin', 'git'), gitThatHangs(real, said));
  chmodSync(join(cwd, 'bin', 'git'), 0o755);
  const child = spawn(process.execPath, [CLI, 'run', 'job.js', '--backend', 'simulated'], {
    cwd,
    env: { ...process.env, PATH: `${join(cwd, 'bin')}:${process.env['PATH']}` },
    stdio: 'ignore',
  });
  const closed = new Promise((resolve) => child.on('close', resolve));
  while ((!existsSync(said) || readFileSync(said, 'utf8') === '') && child.exitCode === null) {
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
  child.kill('SIGKILL');
  await closed;
  process.kill(Number(readFileSync(said, 'utf8')), 'SIGKILL');
  expect(git('worktree', 'list').trim().split('\n')).toHaveLength(2);
  const { status } = await runCli(['run', 'job.js', '--backend', 'simulated', '--resume'], { cwd });
  expect(status).toBe(0);
  expect(git('worktree', 'list').trim().split('\n')).toHaveLength(1);
});
