/** Details of the command line of workflow scripts that no conformance case has. workflows-js.md 3, 9.4, 12 and 13. */
import { execFileSync } from 'node:child_process';
import { existsSync, readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { callCli } from '../support/in-process/call-cli.js';
import { projectFolder } from '../support/cli.js';

const script = (name: string, body: string): string => `export const meta = { name: '${name}', description: 'x' }\n${body}\n`;

it('says that a kept worktree is gone when its result is reused', async () => {
  const cwd = await projectFolder({
    'mlld-config.json': '{}',
    'job.js': script('job', "return await agent('write', { label: 'writer', isolation: 'worktree' })"),
  });
  const git = (...words: string[]): Buffer => execFileSync('git', ['-c', 'user.name=x', '-c', 'user.email=x@x', ...words], { cwd });
  git('init', '-q');
  git('commit', '-q', '--allow-empty', '-m', 'x');
  const run = (): ReturnType<typeof callCli> =>
    callCli(['run', 'job.js', '--resume', '--backend', 'cmd:echo new > new.txt; echo done'], { cwd });
  const first = await run();
  const [name = ''] = readdirSync(join(cwd, '.mlld', 'worktrees'));
  expect(first.stderr).toContain(`an agent changed files in its worktree, which is kept: .mlld/worktrees/${name}`);
  const second = await run();
  expect(second).toMatchObject({ stdout: 'done\n', stderr: expect.not.stringContaining('worktree') as string });
  rmSync(join(cwd, '.mlld', 'worktrees'), { recursive: true });
  for (const again of [await run(), await run()]) {
    expect(again.stdout).toBe('done\n');
    expect(again.stderr).toContain(`the worktree that the agent writer changed is gone: .mlld/worktrees/${name}; its result is reused`);
  }
  const shown = await callCli(['journal', 'show', 'job.js@4', '--json'], { cwd });
  expect(shown.stdout).toContain(`HEAD is now at ${git('rev-parse', '--short', 'HEAD').toString().trim()}`);
});

it('takes no cost from the end of a usage file that is too large', async () => {
  const cwd = await projectFolder({ 'mlld-config.json': '{}', 'job.js': script('job', "return await agent('look')") });
  const backend = `cmd:head -c 2000000 /dev/zero > "$MLLD_AGENT_USAGE"; printf '\\n{"cost_usd":3}\\n' >> "$MLLD_AGENT_USAGE"; echo seen`;
  const { status, stdout, stderr } = await callCli(['run', 'job.js', '--backend', backend], { cwd });
  expect({ status, stdout }).toEqual({ status: 0, stdout: 'seen\n' });
  expect(stderr).toContain('warning: the file of MLLD_AGENT_USAGE is ignored: it is larger than 1 MiB');
  expect(stderr).not.toContain('$3');
});

it('refuses a program that is not on PATH, before anything runs', async () => {
  const cwd = await projectFolder({ 'mlld-config.json': '{}', 'job.js': script('job', "return await agent('look')") });
  const env = { PATH: '/nowhere' };
  const { status, stderr } = await callCli(['run', 'job.js', '--backend', 'codex'], { cwd, env });
  expect(status).toBe(1);
  expect(stderr).toContain('the program codex is not on PATH');
  expect(existsSync(join(cwd, '.mlld'))).toBe(false);
});

it('lets a nested script begin with the phase of the one that calls it', async () => {
  const cwd = await projectFolder({
    'mlld-config.json': '{}',
    'job.js': script('job', "await agent('before'); phase('Write'); return await workflow({ scriptPath: 'child.js' })"),
    'child.js': script('child', "return await agent('say')"),
  });
  const run = (...words: string[]): ReturnType<typeof callCli> => callCli(['run', 'job.js', '--backend', 'simulated', ...words], { cwd });
  await run();
  const { stderr } = await run('--resume', 'Write');
  expect(stderr).toContain('2 calls: 1 reused, 1 executed');
});

it('finds the record of a script by its meta.name', async () => {
  const cwd = await projectFolder({
    'mlld-config.json': '{}',
    '.claude/workflows/a.js': script('audit', "return await agent('look')"),
    '.claude/workflows/b.js': script('other', "return await agent('look')"),
  });
  const run = (...words: string[]): ReturnType<typeof callCli> => callCli(words, { cwd });
  expect(await run('run', 'audit', '--backend', 'simulated')).toMatchObject({ status: 0 });
  expect((await run('checkpoint', 'list', 'audit')).stdout).toContain('agent | look');
  expect((await run('journal', 'explain', 'audit')).stdout).toContain('1 executed');
  expect((await run('run', 'other', '--backend', 'simulated', '--fork', 'audit')).stderr).toContain('1 call: 1 reused');
  expect((await run('journal', 'show', 'nobody')).stderr).toContain('There is no run "nobody"');
});

it('advises no --checkpoint where no run of a script is recorded', async () => {
  const cwd = await projectFolder({ '.claude/workflows/look.js': script('look', 'return 1'), 'ask.mld': 'show "x"\n' });
  const hintFor = async (name: string): Promise<string> => (await callCli(['journal', 'list', name], { cwd })).stderr;
  expect(await hintFor('look')).toBe('Error: No run of "look" is recorded\n  hint: each run of it is recorded\n');
  expect(await hintFor('ask')).toContain('hint: run it with --checkpoint to record it');
});

it('names the first item of a parallel() or pipeline() whose function failed', async () => {
  const thunks = `[() => 1, () => { throw new Error('torn') }]`;
  const stages = `[1, 2, 3], (x) => { if (x > 1) throw new TypeError('odd'); return x }`;
  const cwd = await projectFolder({
    'mlld-config.json': '{}',
    'job.js': script('job', `return [await parallel(${thunks}), await pipeline(${stages})]`),
  });
  const { status, stderr } = await callCli(['run', 'job.js', '--backend', 'simulated'], { cwd });
  expect(status).toBe(0);
  expect(stderr).toContain('warning: in parallel(), item 2 of 2: a function failed, so that its result is null: torn (job.js:2:');
  expect(stderr).toContain(
    'warning: 2 times, first: in pipeline(), item 2 of 3: a function failed, so that its result is null: TypeError: odd',
  );
});

it.each(['500k', '5usd'])('keeps its backend and its budget of %s in the command that continues it', async (budget) => {
  const cwd = await projectFolder({ 'mlld-config.json': '{}', 'job.js': script('job', "return await agent('look')") });
  const words = ['run', 'job.js', '--backend', 'cmd:exit 3', '--budget', budget];
  const next = `mlld run job.js --backend 'cmd:exit 3' --budget ${budget} --resume`;
  const { stderr } = await callCli([...words, '--checkpoint'], { cwd });
  expect(stderr).toContain(`ask just these again: ${next} failed\n`);
  expect((await callCli(['journal', 'postmortem', 'job.js'], { cwd })).stdout).toContain(next);
});
