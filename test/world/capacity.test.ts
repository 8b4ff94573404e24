/** Programs wait where the system has too few descriptors or processes for them. src/world/process/capacity.ts, watcher.ts. */
import childProcess from 'node:child_process';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { Capacity } from '../../src/world/process/capacity.js';
import { createWatcher } from '../../src/world/process/watcher.js';
import { inShell, projectFolder, runCli, withoutSummary } from '../support/cli.js';

describe('the capacity for programs', () => {
  /** Waits beside so many programs; `tried` has who tried again, in order. */
  function waitingBeside(programs: number, names: readonly string[]) {
    const capacity = new Capacity();
    for (let n = 0; n < programs; n++) capacity.started();
    const tried: string[] = [];
    const controllers = new Map(names.map((name) => [name, new AbortController()]));
    for (const [name, { signal }] of controllers) void capacity.untilEnded(signal).then(() => tried.push(name));
    return { capacity, tried, controllers };
  }
  const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

  it('lets the one that has waited longest try again at each end', async () => {
    const { capacity, tried } = waitingBeside(3, ['a', 'b', 'c']);
    capacity.ended();
    await turn();
    expect(tried).toEqual(['a']);
    capacity.ended();
    await turn();
    expect(tried).toEqual(['a', 'b']);
  });

  it('lets all try again behind the last end', async () => {
    const { capacity, tried } = waitingBeside(1, ['a', 'b', 'c']);
    capacity.ended();
    expect(capacity.isInUse).toBe(false);
    await turn();
    expect(tried).toEqual(['a', 'b', 'c']);
  });

  it('lets one go whose program is cancelled, and wakes the next one in its place', async () => {
    const { capacity, tried, controllers } = waitingBeside(2, ['a', 'b']);
    controllers.get('a')?.abort();
    await turn();
    expect(tried).toEqual(['a']);
    capacity.ended();
    await turn();
    expect(tried).toEqual(['a', 'b']);
  });
});

it.skipIf(process.platform === 'win32')(
  'commands are all executed, as many at once as there are descriptors for, and a warning says that some wait',
  { timeout: 120_000 },
  async () => {
    const script = [
      'exe @all() = js { return Array.from({ length: 60 }, (_, i) => "q" + i) }',
      'exe llm @ask(q) = sh { sleep 0.05; echo "done $q" }',
      'var @answers = for parallel(40) @q in @all() => @ask(@q)',
      'show @answers.length',
    ];
    const cwd = await projectFolder({ 'ask.mld': script.join('\n') });
    const { stdout, stderr, status } = await inShell('ulimit -n 60 && exec "$@" ask.mld --checkpoint', cwd);
    expect({ stdout, status }).toEqual({ stdout: '60\n', status: 0 });
    const shortage = String.raw`the system has no capacity for so many commands at once \(EMFILE\): some wait until .*\n(?: .*\n)*`;
    // It comes again, and says so, where a slow machine takes longer than a warning is held back.
    const warnings = new RegExp(`^warning: (?:\\d+ times: )?${shortage}(?:warning: (?:once more|\\d+ more times): ${shortage})*$`);
    expect(withoutSummary(stderr)).toMatch(warnings);
    expect(stderr).toContain('60 calls: 60 executed');
    expect((await runCli(['journal', 'verify', 'ask'], { cwd })).status).toBe(0);
  },
);

it('the watcher learns of all programs when it could not be started for the first of them', () => {
  const written: string[] = [];
  const stdin = { on: () => stdin, unref: () => undefined, write: (line: string) => written.push(line), end: () => undefined };
  const started = (pid: number | undefined) => ({
    pid,
    stdin: pid === undefined ? undefined : stdin,
    on: () => undefined,
    unref: () => undefined,
  });
  const spawning = vi
    .spyOn(childProcess, 'spawn')
    .mockReturnValueOnce(started(undefined) as never)
    .mockReturnValueOnce(started(7) as never);
  onTestFinished(() => spawning.mockRestore());
  const watcher = createWatcher({}, 100);
  watcher.add(101);
  watcher.add(102);
  watcher.remove(101);
  expect(written).toEqual(['+ 101\n', '+ 102\n', '- 101\n']);
});
