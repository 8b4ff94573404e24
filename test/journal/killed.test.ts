/** A real process that is killed while it writes. */
import { spawn, type ChildProcessByStdio } from 'node:child_process';
import { once } from 'node:events';
import type { Readable, Writable } from 'node:stream';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';
import { beforeAll, expect, it } from 'vitest';
import { openFileStore } from '../../journal/storage/file-store.js';
import { runRef, started, workflow } from './support/facts.js';
import { temporaryFolder } from './support/folder.js';
import { factOf, readRun } from './support/read.js';

let program: string;

beforeAll(async () => {
  const built = await build({
    entryPoints: [fileURLToPath(new URL('./support/endless-writer.ts', import.meta.url))],
    bundle: true,
    platform: 'node',
    format: 'esm',
    target: 'node20',
    write: false,
  });
  program = built.outputFiles[0]?.text ?? '';
});

function startWriter(root: string): ChildProcessByStdio<Writable, Readable, null> {
  const child = spawn(process.execPath, ['--input-type=module', '-', root], { stdio: ['pipe', 'pipe', 'inherit'] });
  child.stdin.end(program);
  return child;
}

async function killAfter(root: string, acknowledgements: number): Promise<number[]> {
  const child = startWriter(root);
  let output = '';
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    output += text;
    if (!child.killed && output.split('\n').length > acknowledgements) child.kill('SIGKILL');
  });
  const [code, signal] = (await once(child, 'close')) as [number | null, string | null];
  expect({ code, signal }).toEqual({ code: null, signal: 'SIGKILL' });
  return output.split('\n').slice(0, -1).map(Number);
}

async function eventsIn(root: string): Promise<number> {
  const store = openFileStore(root);
  return (await store.runs(workflow)).length === 0 ? 0 : (await readRun(store, runRef(1))).events.length;
}

it.each([1, 40, 700, 3000])('has every event that was acknowledged before kill -9: after %i', async (count) => {
  const root = temporaryFolder();
  const acknowledged = await killAfter(root, count);
  const store = openFileStore(root);
  const { events, defects } = await readRun(store, runRef(1));
  expect(acknowledged.length).toBeGreaterThanOrEqual(count);
  expect(events.length).toBeGreaterThan(Math.max(...acknowledged));
  expect(events.map(({ seq }) => seq)).toEqual(events.map((_, i) => i));
  expect(events[0] && factOf(events[0])).toEqual(started);
  expect(defects.filter(({ kind }) => kind !== 'torn-tail')).toEqual([]);
  expect((await store.runs(workflow)).map(({ liveness }) => liveness)).toEqual(['crashed']);
});

it('keeps the process waiting while its acknowledgements are not read', async () => {
  const root = temporaryFolder();
  const child = startWriter(root);
  const counts = [-1];
  const grows = async (): Promise<boolean> => {
    counts.push(await eventsIn(root));
    return counts.at(-1) === 0 || counts.at(-1) !== counts.at(-2);
  };
  // A journal that does not grow any more belongs to a process whose pipe is full, or to one that ended for it.
  await expect.poll(grows, { interval: 500, timeout: 50_000 }).toBe(false);
  const { exitCode } = child;
  child.kill('SIGKILL');
  expect(exitCode).toBe(null);
});

it('tells that a run of another process is alive', async () => {
  const root = temporaryFolder();
  const store = openFileStore(root);
  const child = startWriter(root);
  await once(child.stdout, 'data');
  const alive = await store.runs(workflow);
  child.kill('SIGKILL');
  await once(child, 'close');
  expect(alive.map(({ liveness }) => liveness)).toEqual(['running']);
  expect((await store.runs(workflow)).map(({ liveness }) => liveness)).toEqual(['crashed']);
});
