import { describe, expect, it } from 'vitest';
import { projectFolder, runCli, withoutSummary } from '../../support/cli.js';

describe('mlld FILE', () => {
  it('runs a file, code, and standard input', async () => {
    const cwd = await projectFolder({ 'main.mld': 'show `t=@payload.topic`\n' });
    expect(await runCli(['main.mld', '--topic', 'tides'], { cwd })).toEqual({ stdout: 't=tides\n', stderr: '', status: 0 });
    expect((await runCli(['-e', 'show `t=@payload.topic`', '--topic', 'tides'], { cwd })).stdout).toBe('t=tides\n');
    expect((await runCli(['/dev/stdin', '--topic', 'x'], { cwd, stdin: 'show `t=@payload.topic`' })).stdout).toBe('t=x\n');
  });

  it('shows a parse error with its place and runs nothing', async () => {
    const cwd = await projectFolder({ 'bad.mld': 'show "never"\nvar @a = [1, 2\n' });
    const { stdout, stderr, status } = await runCli(['bad.mld'], { cwd });
    expect({ stdout, status }).toEqual({ stdout: '', status: 1 });
    expect(stderr).toMatch(/^Parse error: (?!Parse error)/);
    expect(stderr).toMatch(/bad\.mld:2:\d+\n/);
    expect(stderr).toMatch(/\^/);
  });

  it('shows a run-time error behind what the script has said', async () => {
    const cwd = await projectFolder({ 'main.mld': 'show "one"\nshow @nope\n' });
    const { stdout, stderr, status } = await runCli(['main.mld'], { cwd });
    expect({ stdout, status }).toEqual({ stdout: 'one\n', status: 1 });
    expect(stderr).toMatch(/^Error: .*@nope[^\n]*\n {2}main\.mld:2:6\n/);
    expect(stderr).not.toMatch(/^\s+at /m);
  });

  it('adds to the environment what --mlld-env says', async () => {
    const cwd = await projectFolder({
      'main.mld': 'run sh { echo "$FIRST-$SECOND" }\n',
      'dev.env': '# for tests\nFIRST=a b\n\nSECOND=c=d\n',
    });
    expect((await runCli(['main.mld', '--mlld-env', 'FIRST=1,SECOND=2'], { cwd })).stdout).toBe('1-2\n');
    expect((await runCli(['main.mld', '--mlld-env', 'dev.env'], { cwd })).stdout).toBe('a b-c=d\n');
    expect((await runCli(['main.mld', '--mlld-env', 'A=1,B'], { cwd })).stderr).toContain('"B" is not K=V');
  });

  it('times out', async () => {
    const cwd = await projectFolder({ 'main.mld': 'run sh { sleep 20 }\n' });
    const { stderr, status } = await runCli(['main.mld', '--timeout', '300ms'], { cwd });
    expect(status).toBe(1);
    expect(stderr).toContain('timed out');
  });

  it('keeps measurements and diagnostics off standard output', async () => {
    const cwd = await projectFolder({ 'main.mld': 'show "out"\n', 'llm/run/main.mld': 'show "out"\n' });
    const measured = await runCli(['main.mld', '--metrics'], { cwd });
    expect(measured.stdout).toBe('out\n');
    expect(measured.stderr).toMatch(/^Total time: \d+ ms\n$/);
    const debugged = await runCli(['run', 'main', '--debug'], { cwd });
    expect(debugged.stdout).toBe('out\n');
    expect(debugged.stderr).toMatch(/"msg":"run ended"[^]*Metrics:\n/);
  });
});

describe('mlld run', () => {
  it('announces the file on standard error and runs it', async () => {
    const cwd = await projectFolder({ 'llm/run/hello.mld': 'show `Hello @payload.name`\n' });
    expect(await runCli(['run', 'hello', '--name', 'Bo'], { cwd })).toEqual({
      stdout: 'Hello Bo\n',
      stderr: expect.stringMatching(/^Running llm\/run\/hello\.mld\.\.\.\n0 calls, \d+ms\n$/) as string,
      status: 0,
    });
  });

  it('records under the same name as the file does', async () => {
    const job = 'exe llm @ask(q) = sh { echo asked >> calls; echo "A:$q" }\nshow @ask("ebb")\nrun sh { wc -l < calls }\n';
    const cwd = await projectFolder({ 'llm/run/job.mld': job });
    expect((await runCli(['run', 'job', '--checkpoint'], { cwd })).stdout).toBe('A:ebb\n1\n');
    expect((await runCli(['llm/run/job.mld', '--checkpoint'], { cwd })).stdout).toBe('A:ebb\n1\n');
    expect((await runCli(['checkpoint', 'list', 'job'], { cwd })).stdout).toBe('Checkpoint entries for job:\n- ask | ebb\nTotal: 1\n');
  });

  it('says what flags come to nothing under `resume: never`', async () => {
    const cwd = await projectFolder({ 'job.mld': 'resume: never\nshow "ran"\n' });
    const said = async (...flags: string[]): Promise<string> => withoutSummary((await runCli(['job.mld', ...flags], { cwd })).stderr);
    expect(await said('--checkpoint')).toBe(
      'warning: --checkpoint had no effect: the script says resume: never; --resume overrides that\n',
    );
    expect(await said('--fresh', '--fork', 'nowhere')).toContain('--fresh and --fork had no effect');
    for (const flags of [[], ['--resume'], ['--checkpoint', '--resume'], ['--no-checkpoint']]) expect(await said(...flags)).toBe('');
  });
});
