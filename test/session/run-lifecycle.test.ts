import { expect, it } from 'vitest';
import { MlldError } from '../../src/errors.js';
import { superviseRun, type StopReason } from '../../src/session/run-lifecycle.js';

const io = {
  stdin: async () => undefined,
  stdout: () => undefined,
  stderr: () => undefined,
  nowMs: () => 0,
  monotonicMs: () => performance.now(),
};

function options({ signal = new AbortController().signal, timeoutMs }: { signal?: AbortSignal; timeoutMs?: number } = {}) {
  return timeoutMs === undefined ? { environment: {}, io, signal } : { environment: {}, io, signal, timeoutMs };
}

/** Resolves with the reason when the signal is aborted. */
function stopOf(signal: AbortSignal): Promise<StopReason> {
  return new Promise((resolve) => signal.addEventListener('abort', () => resolve(signal.reason as StopReason)));
}

it('returns what the run returned, and closes its world behind it', async () => {
  let later: Promise<unknown> | undefined;
  const result = await superviseRun(options(), {
    onStop: 'close-world',
    work: async (world) => {
      later = new Promise((resolve) => setTimeout(resolve, 5)).then(() => world.perform('env.read', { names: ['HOME'], prefixes: [] }));
      later.catch(() => undefined);
      return 'done';
    },
  });
  expect(result).toBe('done');
  await expect(later).rejects.toMatchObject({ code: 'INTERRUPTED' });
});

it('stops a run at its deadline, with the reason that becomes its status', async () => {
  const work = async (_world: unknown, signal: AbortSignal): Promise<StopReason> => stopOf(signal);
  expect(await superviseRun(options({ timeoutMs: 10 }), { onStop: 'abort-signal', work })).toBe('timed-out');
});

it('interrupts an effect in flight when the caller aborts, and reports that as the status', async () => {
  const caller = new AbortController();
  setTimeout(() => caller.abort('SIGINT'), 10);
  const result = await superviseRun(options({ signal: caller.signal }), {
    onStop: 'close-world',
    work: async (world) => world.perform('clock.sleep', { ms: 60_000 }),
  });
  expect(result).toMatchObject({ status: 'interrupted', error: { code: 'INTERRUPTED' } });
});

it('lets a run that listens to its signal write down how it ended', async () => {
  const caller = new AbortController();
  caller.abort('SIGINT');
  const result = await superviseRun(options({ signal: caller.signal }), {
    onStop: 'abort-signal',
    work: async (world, signal) => [signal.reason, await world.perform('env.read', { names: ['NOWHERE'], prefixes: [] })],
  });
  expect(result).toEqual(['interrupted', expect.anything()]);
});

it('pauses a run', async () => {
  const work = async (_world: unknown, signal: AbortSignal, pause: () => void): Promise<StopReason> => {
    const stop = stopOf(signal);
    pause();
    return stop;
  };
  expect(await superviseRun(options(), { onStop: 'abort-signal', work })).toBe('paused');
});

it('reports an error that a user can cause, and throws any other', async () => {
  const failure = new MlldError('FILE_NOT_FOUND', 'There is no file x.mld');
  const throwing = (error: Error) => ({ onStop: 'close-world', work: async () => Promise.reject(error) }) as const;
  expect(await superviseRun(options(), throwing(failure))).toEqual({ status: 'failed', error: failure });
  await expect(superviseRun(options(), throwing(new Error('a broken invariant')))).rejects.toThrow('a broken invariant');
});

it('lets everything in flight listen to its signal, without a warning of a leak', async () => {
  const warnings: Error[] = [];
  const onWarning = (warning: Error): void => void warnings.push(warning);
  process.on('warning', onWarning);
  const work = async (_world: unknown, signal: AbortSignal): Promise<void> => {
    for (let n = 0; n < 20; n++) signal.addEventListener('abort', () => undefined);
    await new Promise((resolve) => setImmediate(resolve));
  };
  await superviseRun(options(), { onStop: 'abort-signal', work });
  process.off('warning', onWarning);
  expect(warnings).toEqual([]);
});
