import fs from 'node:fs/promises';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { projectFolder, resultOf, runCli, startCli, type CliProcess } from '../../support/cli.js';
import { isAlive } from '../../world/support.js';

const SLOW = `exe llm @ask(q) = sh { echo $$ > pid; sleep 30; echo "A:$q" }
show "before"
show @ask("ebb")
show "after"
`;

async function untilFile(file: string): Promise<string> {
  for (;;) {
    const text = await fs.readFile(file, 'utf8').catch(() => '');
    if (text.endsWith('\n')) return text.trim();
    await sleep(20);
  }
}

async function startSlow(argv: readonly string[]): Promise<{ readonly cwd: string; readonly child: CliProcess; readonly pid: number }> {
  const cwd = await projectFolder({ 'slow.mld': SLOW, 'llm/run/slow.mld': SLOW });
  const child = startCli(argv, { cwd });
  return { cwd, child, pid: Number(await untilFile(path.join(cwd, 'pid'))) };
}

describe('a run that is interrupted', () => {
  it.each([
    ['SIGINT', 130],
    ['SIGTERM', 143],
    ['SIGHUP', 129],
  ] as const)('ends in order after %s, and says how to go on', async (signal, status) => {
    const { cwd, child, pid } = await startSlow(['slow.mld', '--checkpoint', '--topic', 'low tide']);
    const result = resultOf(child);
    child.kill(signal);
    const { stdout, stderr, status: ended } = await result;
    expect({ stdout, ended }).toEqual({ stdout: 'before\n', ended: status });
    expect(stderr).toContain("next: mlld slow.mld --topic 'low tide' --resume");
    expect(stderr).toContain(`Stopped by ${signal === 'SIGINT' ? 'Ctrl-C' : signal}.`);
    expect(stderr).not.toContain('Error');
    expect(stderr).not.toContain('Internal error');
    expect(await isAlive(pid)).toBe(false);
    const [run] = JSON.parse((await runCli(['journal', 'list', '--json'], { cwd })).stdout) as { status: string }[];
    expect(run?.status).toBe('interrupted');
    expect((await runCli(['journal', 'verify', 'slow'], { cwd })).status).toBe(0);
  });

  it('while a call waits for its next attempt is no pause', async () => {
    const cwd = await projectFolder({
      'slow.mld': 'exe llm @ask(q) = sh { echo "connection refused" >&2; echo x > pid; exit 1 }\nshow @ask("ebb")\n',
      'mlld-config.json': '{ "calls": { "backoff": { "first": "10m", "max": "10m" } } }',
    });
    const child = startCli(['slow.mld', '--checkpoint'], { cwd });
    const result = resultOf(child);
    await untilFile(path.join(cwd, 'pid'));
    while (!(await runCli(['journal', 'show', 'slow', '--type', 'call.failed'], { cwd })).stdout.includes('failed')) await sleep(50);
    child.kill('SIGINT');
    expect(await result).toMatchObject({ status: 130 });
    const { error } = JSON.parse((await runCli(['journal', 'postmortem', 'slow', '--json'], { cwd })).stdout) as {
      error: { message: string };
    };
    expect(error).toMatchObject({ code: 'INTERRUPTED', message: 'interrupted while a call waited to start' });
  });

  it('is resumed by name where it was started by name', async () => {
    const { child } = await startSlow(['run', 'slow', '--checkpoint']);
    const result = resultOf(child);
    child.kill('SIGINT');
    expect((await result).stderr).toContain('next: mlld run slow --resume');
  });

  it('says what it waits for; interrupted a second time it ends at once, and its commands with it', async () => {
    const cwd = await projectFolder({
      'deaf.mld': `exe @f() = sh { trap '' TERM INT; echo $$ > pid; sleep 3 & wait; sleep 30; sleep 30 }\nshow @f()\n`,
    });
    const child = startCli(['deaf.mld'], { cwd });
    const pid = Number(await untilFile(path.join(cwd, 'pid')));
    const result = resultOf(child);
    child.kill('SIGINT');
    await new Promise((resolve) => child.stderr.once('data', resolve));
    child.kill('SIGINT');
    // A run that had waited for its command would have a summary.
    expect(await result).toEqual({ stdout: '', stderr: 'ending what is in flight; Ctrl-C again ends it at once\n', status: 130 });
    await expect.poll(() => isAlive(pid)).toBe(false);
  });

  it.each([
    ['one long loop', 'var @r = for @i in @numbers(3000000) => `@i`'],
    [
      'small loops inside each other',
      'var @ns = @numbers(1000)\nfor @i in @ns [\n  for @j in @ns [\n    let @r = for @k in @ns => `@k`\n  ]\n]',
    ],
    ['functions that call themselves', 'exe recursive @fold(n) = @n > 0 ? @fold(@n - 1) + @fold(@n - 1) : 0\nvar @r = @fold(60)'],
    ['a parallel loop', 'var @r = for parallel(5) @i in @numbers(3000000) => `@i`'],
  ])('ends also in the middle of %s that waits for nothing', async (_what, loop) => {
    const cwd = await projectFolder({
      'busy.mld': `exe @numbers(n) = js { return Array.from({ length: n }, (_, i) => i) }\nshow "on"\n${loop}\nshow "not reached"\n`,
    });
    const child = startCli(['busy.mld'], { cwd });
    const result = resultOf(child);
    await new Promise((resolve) => child.stdout.once('data', resolve));
    await sleep(300);
    child.kill('SIGINT');
    expect(await result).toMatchObject({ stdout: 'on\n', status: 130 });
  });

  it('hears of a signal that came just before code is called', async () => {
    const cwd = await projectFolder({
      // A call of a body is watched unless the one before was fast, and leaves the signal to the listeners then. On a busy machine not
      // every call is fast.
      'poke.mld': `exe @poke(n) = js { if (n === 6) process.kill(process.pid, "SIGINT"); return n }
exe @next() = js { return "next" }
show "on"
for @n in [1, 2, 3, 4, 5, 6] [ let @poked = @poke(@n) ]
show @next()
`,
    });
    expect(await runCli(['poke.mld'], { cwd })).toMatchObject({ stdout: 'on\n', status: 130 });
  });

  it.each(['js', 'node'])('ends %s code that is busy for ever', async (language) => {
    const cwd = await projectFolder({
      'busy.mld': `exe llm @f(x) = ${language} { console.error("busy"); for (;;) {} }\nshow @f(1)\nshow "not reached"\n`,
    });
    const child = startCli(['busy.mld', '--checkpoint'], { cwd });
    const result = resultOf(child);
    while (!(await hasBegunCall(cwd))) await sleep(20);
    await sleep(300);
    child.kill('SIGINT');
    const { stdout, stderr, status } = await result;
    expect({ stdout, status }).toEqual({ stdout: '', status: 130 });
    expect(stderr).toContain('Stopped by Ctrl-C.');
    expect(stderr).toContain('next: mlld busy.mld --resume');
    expect((await runCli(['journal', 'postmortem', 'busy', '--json'], { cwd })).stdout).toContain('"status": "interrupted"');
  });

  it.each(['js', 'node'])('ends %s code that is busy for ever when its time is over', async (language) => {
    const cwd = await projectFolder({
      'busy.mld': `exe llm @ask(x) = js { return "A:" + x }
exe llm @f(x) = ${language} { for (;;) {} }
show @ask("ebb")
show @f(1)
show "not reached"
`,
    });
    const { stdout, stderr, status } = await runCli(['busy.mld', '--checkpoint', '--timeout', '600ms'], { cwd });
    expect({ stdout, status }).toEqual({ stdout: 'A:ebb\n', status: 1 });
    expect(stderr).toMatch(/^Error: The run timed out after 600 ms\n/);
    expect(stderr).toContain('next: mlld busy.mld --timeout 600ms --resume');
    const [run] = JSON.parse((await runCli(['journal', 'list', '--json'], { cwd })).stdout) as { status: string }[];
    expect(run?.status).toBe('timed-out');
    expect((await runCli(['journal', 'verify', 'busy'], { cwd })).status).toBe(0);
    await fs.writeFile(
      path.join(cwd, 'busy.mld'),
      (await fs.readFile(path.join(cwd, 'busy.mld'), 'utf8')).replace('for (;;) {}', 'return 7'),
    );
    expect(await runCli(['busy.mld', '--resume'], { cwd })).toMatchObject({ stdout: 'A:ebb\n7\nnot reached\n', status: 0 });
  });

  it('ends a pipeline in the middle of busy code when its time is over', async () => {
    const cwd = await projectFolder({
      'p.dot': 'digraph p { goal="g"; start [shape=Mdiamond]; a [prompt="do"]; done [shape=Msquare]; start -> a -> done }\n',
      'lib.mld': 'exe llm @busy(prompt) = js { for (;;) {} }\nexport { @busy }\n',
    });
    const { stderr, status } = await runCli(['run', 'p.dot', '--backend', 'exe:lib.mld#busy', '--timeout', '600ms'], { cwd });
    expect(status).toBe(1);
    expect(stderr).toContain('p: timed-out: The run timed out after 600 ms\n');
    const [run] = JSON.parse((await runCli(['journal', 'list', '--json'], { cwd })).stdout) as { status: string }[];
    expect(run?.status).toBe('timed-out');
  });

  it('calls it a time-out, also before the first statement', async () => {
    const cwd = await projectFolder({ 'slow.mld': SLOW });
    const { stderr, status } = await runCli(['slow.mld', '--timeout', '1ms'], { cwd });
    expect(status).toBe(1);
    expect(stderr).toMatch(/^Error: The run timed out after 1 ms\n/);
  });
});

describe('output without a reader', () => {
  it('ends a run quietly', async () => {
    const cwd = await projectFolder({
      'many.mld':
        'exe @pause() = sh { sleep 0.05 }\nvar @n = [1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17,18,19,20]\nfor @i in @n [\n  run @pause()\n  show `line @i`\n]\nrun sh { touch reached }\n',
    });
    const child = startCli(['many.mld'], { cwd });
    const result = resultOf(child);
    child.stdout.once('data', () => child.stdout.destroy());
    const { stderr, status } = await result;
    expect({ stderr, status }).toEqual({ stderr: '', status: 141 });
    await expect(fs.stat(path.join(cwd, 'reached'))).rejects.toThrow('ENOENT');
  });

  it('ends a recorded run with how to resume it, and keeps its results', async () => {
    const cwd = await projectFolder({
      'many.mld': `exe llm @ask(q) = sh { sleep 0.05; echo "$q" }\n${Array.from({ length: 20 }, (_, i) => `show @ask("${i}")\n`).join('')}`,
    });
    const child = startCli(['many.mld', '--checkpoint'], { cwd });
    const result = resultOf(child);
    child.stdout.once('data', () => child.stdout.destroy());
    const { stderr, status } = await result;
    expect(status).toBe(141);
    expect(stderr).toMatch(
      /^Standard output was closed before the run was done\n {2}\d+ results? kept\n {2}look at it: .*\n\d+ calls?: .*; next: mlld many\.mld --resume\n/,
    );
    const resumed = await runCli(['many.mld', '--resume'], { cwd });
    expect(resumed.stdout.split('\n')).toHaveLength(21);
    const { stdout } = await runCli(['journal', 'list', '--json'], { cwd });
    const [second, first] = JSON.parse(stdout) as { executed: number; reused: number; status: string }[];
    expect(first?.status).toBe('interrupted');
    expect([second?.reused, second?.executed]).toEqual([first?.executed, 20 - (first?.executed ?? 0)]);
  });

  it('ends a report quietly', async () => {
    const cwd = await projectFolder();
    const child = startCli(['--help'], { cwd });
    const result = resultOf(child);
    child.stdout.destroy();
    const { stderr, status } = await result;
    expect(stderr).toBe('');
    expect([0, 141]).toContain(status);
  });
});

/** A signal that comes before the body waits for the thread that the body then keeps. */
async function hasBegunCall(cwd: string): Promise<boolean> {
  const names = await fs.readdir(path.join(cwd, '.mlld'), { recursive: true }).catch(() => []);
  const runs = names.filter((name) => name.endsWith('.ndjson'));
  const texts = await Promise.all(runs.map((name) => fs.readFile(path.join(cwd, '.mlld', name), 'utf8')));
  return texts.some((text) => text.includes('"call.started"'));
}
