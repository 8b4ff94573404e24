/** Programs wait where the system has too few descriptors or processes for them. src/world/process/room.ts, watcher.ts. */
import childProcess from 'node:child_process';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { Room } from '../../src/world/process/room.js';
import { createWatcher } from '../../src/world/process/watcher.js';
import { inShell, projectFolder, runCli, withoutSummary } from '../support/cli.js';

describe('a room for programs', () => {
  /** Waits in a room of so many programs; `tried` has who tried again, in order. */
  function waitingIn(programs: number, names: readonly string[]) {
    const room = new Room();
    for (let n = 0; n < programs; n++) room.enter();
    const tried: string[] = [];
    const controllers = new Map(names.map((name) => [name, new AbortController()]));
    for (const [name, { signal }] of controllers) void room.untilLeft(signal).then(() => tried.push(name));
    return { room, tried, controllers };
  }
  const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

  it('lets the one that has waited longest try again at each end', async () => {
    const { room, tried } = waitingIn(3, ['a', 'b', 'c']);
    room.leave();
    await turn();
    expect(tried).toEqual(['a']);
    room.leave();
    await turn();
    expect(tried).toEqual(['a', 'b']);
  });

  it('lets all try again behind the last end', async () => {
    const { room, tried } = waitingIn(1, ['a', 'b', 'c']);
    room.leave();
    expect(room.isInUse).toBe(false);
    await turn();
    expect(tried).toEqual(['a', 'b', 'c']);
  });

  it('lets one go whose program is cancelled, and wakes the next one in its place', async () => {
    const { room, tried, controllers } = waitingIn(2, ['a', 'b']);
    controllers.get('a')?.abort();
    await turn();
    expect(tried).toEqual(['a']);
    room.leave();
    await turn();
    expect(tried).toEqual(['a', 'b']);
  });
});

it.skipIf(process.platform === 'win32')(
  'are all executed, with as many at once as there are descriptors for',
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
    expect({ stdout, warnings: withoutSummary(stderr), status }).toEqual({ stdout: '60\n', warnings: '', status: 0 });
    expect(stderr).toContain('60 calls: 60 executed');
    expect((await runCli(['journal', 'verify', 'ask'], { cwd })).status).toBe(0);
  },
);

it('are all named to a watcher that had no room when the first of them began', () => {
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
