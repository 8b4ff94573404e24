/** A result of the backend `simulated` stands for no other one. graph-pipelines.md 7.3, workflows-js.md 6.3. */
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { callCli } from '../../support/in-process/call-cli.js';
import { projectFolder } from '../../support/cli.js';

const PIPELINE = 'digraph s { start [shape=Mdiamond]; exit [shape=Msquare]; a [prompt="alpha"]; start -> a -> exit }';
const SCRIPT = "export const meta = { name: 'job', description: 'x' }\nreturn await agent('one question')\n";
const REAL = ['--backend', 'cmd:echo paid >> paid.txt; echo real'];
const TRIAL = ['--backend', 'simulated'];

async function project(config: object = {}) {
  const files = { 's.dot': PIPELINE, 'copy.dot': PIPELINE, 'job.js': SCRIPT, 'copy.js': SCRIPT };
  const cwd = await projectFolder({ ...files, 'mlld-config.json': JSON.stringify(config) });
  return {
    cwd,
    run: (...words: readonly string[]) => callCli(['run', ...words], { cwd }),
    explain: async (workflow: string) => (await callCli(['journal', 'explain', workflow], { cwd })).stdout,
    /** Counts the calls that were made in earnest. */
    paid: () => (existsSync(path.join(cwd, 'paid.txt')) ? readFileSync(path.join(cwd, 'paid.txt'), 'utf8').split('\n').length - 1 : 0),
  };
}

/** Cuts the only run of a workflow off behind the first event of a type, as a crash does. */
function cutBehind(cwd: string, workflow: string, type: string): void {
  const folder = path.join(cwd, '.mlld', 'journal', workflow, 'runs');
  const [name = ''] = readdirSync(folder).filter((each) => each.endsWith('.ndjson'));
  const lines = readFileSync(path.join(folder, name), 'utf8').split('\n');
  const end = lines.findIndex((line) => line.includes(`"type":"${type}"`));
  writeFileSync(path.join(folder, name), `${lines.slice(0, end + 1).join('\n')}\n`);
}

describe('a pipeline whose run was simulated', () => {
  it.each([
    ['it had no backend', []],
    ['it had that backend', TRIAL],
  ])('has its stages executed with --checkpoint, and the plan says so: %s', async (_why, words) => {
    const file = 's.dot';
    const { run, explain, paid } = await project();
    expect(await run(file, ...words)).toMatchObject({ status: 0 });
    expect((await run(file, ...REAL, '--checkpoint', '--plan')).stdout).toMatch(/a +codergen, model is called\n/);
    expect((await run(file, ...TRIAL, '--checkpoint', '--plan')).stdout).toContain('recorded reply is reused if the prompt is the same');
    expect(await run(file, ...REAL, '--checkpoint')).toMatchObject({ status: 0, stderr: expect.stringContaining('1 call: 1 executed') });
    expect(await explain(file)).toMatch(/executed: its result in run \S+ is simulated/);
    expect(paid()).toBe(1);
  });

  it('lends nothing to a fork', async () => {
    const { run, paid } = await project();
    await run('s.dot', ...TRIAL);
    expect((await run('copy.dot', ...REAL, '--fork', 's.dot', '--plan')).stdout).toMatch(/a +codergen, model is called\n/);
    expect((await run('copy.dot', ...REAL, '--fork', 's.dot')).stderr).toContain('1 call: 1 executed');
    expect(paid()).toBe(1);
  });

  it('has the reply executed that it had when its process died', async () => {
    const { cwd, run, paid } = await project();
    await run('s.dot', ...TRIAL);
    cutBehind(cwd, 's.dot', 'call.completed');
    expect((await run('s.dot', ...TRIAL, '--resume', '--plan')).stdout).toContain('recorded reply is reused\n');
    expect((await run('s.dot', ...REAL, '--resume', '--plan')).stdout).toMatch(/a +codergen, model is called\n/);
    expect((await run('s.dot', ...REAL, '--resume')).stderr).toContain('1 call: 1 executed');
    expect(paid()).toBe(1);
  });

  it('leaves the results that were paid for before', async () => {
    const { run, paid } = await project();
    await run('s.dot', ...REAL);
    expect((await run('s.dot')).stderr).toContain('1 call: 1 executed');
    const { stderr } = await run('s.dot', ...REAL, '--checkpoint');
    expect(stderr).toContain('1 call: 1 reused');
    expect(stderr).not.toContain('simulated');
    expect((await run('s.dot', ...TRIAL, '--checkpoint')).stderr).toContain('1 call: 1 reused');
    expect(paid()).toBe(1);
  });
});

describe('a workflow script whose run was simulated', () => {
  it.each(['--resume', '--checkpoint', '--resume failed', '--changed serve'])(
    'has its agents executed with %s, and the plan says so',
    async (written) => {
      const flags = written.split(' ');
      const { run, explain, paid } = await project();
      expect((await run('job.js', ...TRIAL)).stdout).toContain('[Simulated]');
      expect((await run('job.js', ...REAL, ...flags, '--plan')).stdout).toContain('0 reused, 1 to execute');
      expect((await run('job.js', ...TRIAL, ...flags, '--plan')).stdout).toContain('1 reused, 0 to execute');
      const real = await run('job.js', ...REAL, ...flags);
      expect(real).toMatchObject({ status: 0, stdout: 'real\n', stderr: expect.stringContaining('1 call: 1 executed') });
      expect(await explain('job.js')).toMatch(/executed: its result in run \S+ is simulated/);
      expect(paid()).toBe(1);
    },
  );

  it('says that its results are for simulated agents only', async () => {
    const { run } = await project();
    await run('job.js', ...TRIAL);
    expect((await run('job.js', ...TRIAL, '--resume')).stderr).toContain('continuing: 1 result of earlier runs can be reused\n');
    const { stderr } = await run('job.js', ...REAL, '--resume');
    expect(stderr).toContain('continuing: 1 result of earlier runs can be reused; by simulated agents only\n');
  });

  it('has resumed no run that asked models, as the post-mortem knows', async () => {
    const { cwd, run } = await project();
    await run('job.js', '--backend', 'cmd:exit 7');
    await run('job.js', ...TRIAL);
    const { stdout } = await callCli(['journal', 'postmortem'], { cwd });
    expect(stdout).toMatch(/mlld run job\.js --backend 'cmd:exit 7' --resume/);
    expect(stdout).not.toContain('nothing is left to resume');
    await run('job.js', ...REAL, '--resume');
    expect((await callCli(['journal', 'postmortem'], { cwd })).stdout).toContain('Every recorded run completed');
  });

  it.each([
    ['failed', TRIAL, 'no call is without a result; 1 result is reused'],
    ['failed', REAL, '1 call has no result and will be executed; 0 results are reused'],
    ['@agent', REAL, '1 call has no result yet; 1 further result is invalidated but this run does not need it'],
  ])('counts them with --resume %s for the agents that reuse them', async (target, backend, counted) => {
    const { run } = await project();
    await run('job.js', ...TRIAL);
    const line = `--resume ${target}: ${counted}\n`;
    if (target === 'failed') expect((await run('job.js', ...backend, '--resume', target, '--plan')).stdout).toContain(line);
    expect((await run('job.js', ...backend, '--resume', target)).stderr).toContain(line);
  });

  it('counts those of agents that name this backend themselves', async () => {
    const { cwd, run } = await project();
    const two =
      "export const meta = { name: 'job', description: 'x' }\nawait agent('one', { backend: 'simulated' })\nreturn await agent('two')\n";
    writeFileSync(path.join(cwd, 'job.js'), two);
    await run('job.js', ...TRIAL);
    const { stderr } = await run('job.js', ...REAL, '--resume', 'failed');
    expect(stderr).toContain('--resume failed: 1 call has no result and will be executed; 1 result is reused\n');
    expect(stderr).toContain('2 calls: 1 reused, 1 executed');
  });

  it('lends nothing to a fork', async () => {
    const { run, paid } = await project();
    await run('job.js', ...TRIAL);
    expect((await run('copy.js', ...REAL, '--fork', 'job.js', '--plan')).stdout).toContain('0 reused, 1 to execute');
    expect(await run('copy.js', ...REAL, '--fork', 'job.js')).toMatchObject({ stdout: 'real\n' });
    expect(paid()).toBe(1);
  });

  it('leaves the results that were paid for before', async () => {
    const { run, paid } = await project();
    await run('job.js', ...REAL);
    expect(await run('job.js', ...TRIAL)).toMatchObject({ stdout: expect.stringContaining('[Simulated]') });
    expect(await run('job.js', ...REAL, '--resume')).toMatchObject({ stdout: 'real\n', stderr: expect.stringContaining('1 reused') });
    expect(paid()).toBe(1);
  });

  it('has only those agents executed that are not simulated by the configuration', async () => {
    const { run } = await project({ agent: { backend: 'simulated' } });
    await run('job.js');
    expect((await run('job.js', '--resume')).stderr).toContain('1 call: 1 reused');
    expect((await run('job.js', ...REAL, '--resume')).stderr).toContain('1 call: 1 executed');
  });
});
