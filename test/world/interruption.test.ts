/** WORLD-1, WORLD-2, PROCESS-2: `close` ends what runs and rejects what is pending. */
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it, vi } from 'vitest';
import { GRACE_MS } from '../../src/world/process/process.js';
import type { World } from '../../src/world/world.js';
import { eventually, isAlive, openWorld, temporaryFolder } from './support.js';

vi.setConfig({ testTimeout: 60_000 }); // the machine may be busy

const interrupted = expect.objectContaining({ code: 'INTERRUPTED' });

async function pidsIn(file: string, count: number): Promise<number[]> {
  let pids: number[] = [];
  await eventually(async () => {
    pids = (await readFile(file, 'utf8').catch(() => '')).split('\n').filter(Boolean).map(Number);
    return pids.length === count;
  });
  expect(pids).toHaveLength(count);
  return pids;
}

it('ends a command with its grandchildren', async () => {
  const { world, command } = openWorld();
  const folder = await temporaryFolder();
  const running = command('sh', 'echo $$ >> pids; sleep 60 & echo $! >> pids; sh -c "echo \\$\\$ >> pids; sleep 60; true" & wait', {
    directory: folder,
  });
  running.catch(() => undefined);
  const pids = await pidsIn(join(folder, 'pids'), 3);
  for (const pid of pids) expect(await isAlive(pid)).toBe(true);
  await world.close('test');
  await expect(running).rejects.toEqual(interrupted);
  for (const pid of pids) expect(await isAlive(pid)).toBe(false);
});

it('kills what ignores the request to end, after the grace time', async () => {
  const { world, command } = openWorld();
  const folder = await temporaryFolder();
  const running = command('sh', 'trap "" TERM; echo $$ >> pids; while true; do sleep 0.05; done', { directory: folder });
  running.catch(() => undefined);
  const [pid = 0] = await pidsIn(join(folder, 'pids'), 1);
  const startedMs = performance.now();
  await world.close('test');
  expect(performance.now() - startedMs).toBeGreaterThan(GRACE_MS - 50);
  expect(await isAlive(pid)).toBe(false);
});

it('lets a command clean up within the grace time', async () => {
  const { world, command } = openWorld();
  const folder = await temporaryFolder();
  const running = command('sh', 'trap "echo cleaned > note; exit 0" TERM; echo $$ >> pids; while true; do sleep 0.05; done', {
    directory: folder,
  });
  running.catch(() => undefined);
  await pidsIn(join(folder, 'pids'), 1);
  await world.close('test');
  expect(await readFile(join(folder, 'note'), 'utf8')).toBe('cleaned\n');
});

describe('a model program that has its reply after the request to end', () => {
  const REPORT = { usage: () => undefined, fail: () => undefined as never, headers: () => undefined, file: () => undefined };
  const run = async (ending: string, isCall: boolean): Promise<{ readonly running: Promise<unknown>; readonly world: World }> => {
    const { world } = openWorld();
    const directory = await temporaryFolder();
    const words = ['sh', '-c', `trap "${ending}" TERM; echo $$ >> pids; while true; do sleep 0.05; done`];
    const request = { language: 'cmd', code: words.join(' '), words, directory, variables: {} } as const;
    const running = world.perform('command.run', request, isCall ? { report: REPORT } : {});
    running.catch(() => undefined);
    await pidsIn(join(directory, 'pids'), 1);
    return { running, world };
  };

  it('gives it where it ends well', async () => {
    const { running, world } = await run('sleep 0.3; printf %100000s whole; exit 0', true);
    await world.close('test');
    const { stdout } = (await running) as { readonly stdout: string };
    expect(stdout.trim()).toBe('whole');
    expect(stdout).toHaveLength(100_000);
  });

  it.each([
    ['it does not end well', 'echo whole; exit 3', true],
    ['it is part of no call', 'echo whole; exit 0', false],
    ['not all of it is read', 'setsid sleep 2 & echo part; exit 0', true],
  ])('gives nothing where %s', async (_, ending, isCall) => {
    const { running, world } = await run(ending, isCall);
    await world.close('test');
    await expect(running).rejects.toEqual(interrupted);
  });
});

it.each([
  ['gives its reply where that is read to its end', 'echo whole', 'whole'],
  ['gives nothing where a grandchild holds the output', 'setsid sleep 2 & echo part', undefined],
])('a program that is cancelled and ends with the status 0 %s', async (_, ending, reply) => {
  const { world } = openWorld();
  const directory = await temporaryFolder();
  const words = ['sh', '-c', `trap "${ending}; exit 0" TERM; echo $$ >> pids; while true; do sleep 0.05; done`];
  const cancelling = new AbortController();
  const request = { language: 'cmd', code: words.join(' '), words, directory, variables: {} } as const;
  const running = world.perform('command.run', request, { signal: cancelling.signal });
  running.catch(() => undefined);
  await pidsIn(join(directory, 'pids'), 1);
  cancelling.abort();
  if (reply === undefined) await expect(running).rejects.toEqual(interrupted);
  else expect(((await running) as { readonly stdout: string }).stdout.trim()).toBe(reply);
  await world.close('test');
});

it('does not wait for a grandchild that left the group and holds the output', async () => {
  const { world, command } = openWorld();
  const folder = await temporaryFolder();
  const running = command('sh', 'setsid sh -c "echo \\$\\$ >> pids; exec sleep 600" & wait', { directory: folder });
  running.catch(() => undefined);
  const [pid = 0] = await pidsIn(join(folder, 'pids'), 1);
  await world.close('test');
  expect(await isAlive(pid)).toBe(true);
  process.kill(pid, 'SIGKILL');
});

it('leaves a program alone that a finished command put into the background', async () => {
  const { world, command } = openWorld();
  const { stdout } = await command('sh', 'sleep 30 >/dev/null 2>&1 & echo $!');
  await world.close('test');
  const pid = Number(stdout);
  expect(await isAlive(pid)).toBe(true);
  process.kill(pid, 'SIGKILL');
});

it('rejects whatever is pending: sleep, code, standard input', async () => {
  const { world, js, node } = openWorld({ stdin: () => new Promise(() => undefined) });
  const pending = [
    world.perform('clock.sleep', { ms: 60_000 }),
    js('await new Promise(() => {})'),
    node('await new Promise((done) => setTimeout(done, 60000))'),
    world.perform('stdin.read', {}),
  ];
  const settled = Promise.allSettled(pending);
  await new Promise((resolve) => setTimeout(resolve, 20));
  await world.close('the reason');
  for (const result of await settled)
    expect(result).toMatchObject({
      status: 'rejected',
      reason: { code: 'INTERRUPTED', message: expect.stringContaining('the reason') as string },
    });
});

it('refuses new questions, and may be closed twice', async () => {
  const { world, js } = openWorld();
  await Promise.all([world.close('one'), world.close('two')]);
  await expect(js('1')).rejects.toEqual(interrupted);
  await expect(world.perform('clock.now', {})).rejects.toThrow('one');
});

it('closes when its signal fires, also when it had fired before', async () => {
  const controller = new AbortController();
  const { world, command } = openWorld({ signal: controller.signal });
  const running = command('sh', 'sleep 60');
  running.catch(() => undefined);
  controller.abort();
  await expect(running).rejects.toEqual(interrupted);
  await world.close('again');
  await expect(openWorld({ signal: controller.signal }).js('1')).rejects.toEqual(interrupted);
});
