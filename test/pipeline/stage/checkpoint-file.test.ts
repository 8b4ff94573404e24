/** `checkpoint.json` follows the state without slowing the run, and is never ahead of the journal. graph-pipelines.md 10.2. */
import { expect, it } from 'vitest';
import { createCheckpointFile } from '../../../src/pipeline/stage/checkpoint-file.js';
import type { World } from '../../../src/world/world.js';

/** A run whose state is a number, whose clock is set by hand, and whose writes end on demand. */
function running() {
  const log: string[] = [];
  const writes: { end: () => void; fail: () => void }[] = [];
  const run = { state: 0, nowMs: 0, isTaken: false, log, writes };
  const world = {
    perform: (effect: string, { text, durable }: { readonly text: string; readonly durable: boolean }) => {
      log.push(`${effect} ${text}${durable ? ' durable' : ''}`);
      return new Promise<void>((resolve, reject) => writes.push({ end: resolve, fail: () => reject(new Error('the disk is full')) }));
    },
  } as unknown as World; // only `file.write` is performed
  const file = createCheckpointFile({
    path: '/run/checkpoint.json',
    world,
    render: () => String(run.state),
    recorded: async () => void log.push('recorded'),
    isTaken: () => run.isTaken,
    monotonicMs: () => run.nowMs,
    onTrouble: (error) => log.push(`trouble: ${(error as Error).message}`),
    onWritten: () => log.push('written'),
  });
  return { run, file };
}

const settle = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

it('waits until the state is recorded, then writes it durably (CHECKPOINT-FILE-1, CHECKPOINT-FILE-4)', async () => {
  const { run, file } = running();
  run.state = 1;
  file.update();
  await settle();
  expect(run.log).toEqual(['recorded', 'file.write 1 durable']);
  run.writes[0]?.end();
  await settle();
  expect(run.log.at(-1)).toBe('written');
});

it('has one write in flight, and a flush covers what changed meanwhile (CHECKPOINT-FILE-2)', async () => {
  const { run, file } = running();
  run.state = 1;
  file.update();
  await settle();
  run.state = 2;
  file.update();
  const flushed = file.flush();
  await settle();
  expect(run.writes).toHaveLength(1);
  run.writes[0]?.end();
  await settle();
  expect(run.log).toContain('file.write 2 durable');
  run.writes[1]?.end();
  await flushed;
  expect(run.writes).toHaveLength(2);
});

it('rests nine times as long as a write took (CHECKPOINT-FILE-3)', async () => {
  const { run, file } = running();
  file.update();
  await settle();
  run.nowMs = 10;
  run.writes[0]?.end();
  await settle();
  run.nowMs = 99;
  file.update();
  await settle();
  expect(run.writes).toHaveLength(1);
  run.nowMs = 100;
  file.update();
  await settle();
  expect(run.writes).toHaveLength(2);
});

it('reports a write that failed, and tries again at the next flush', async () => {
  const { run, file } = running();
  const failed = file.flush();
  await settle();
  run.writes[0]?.fail();
  await failed;
  expect(run.log).toContain('trouble: the disk is full');
  expect(run.log).not.toContain('written');
  const flushed = file.flush();
  await settle();
  run.writes[1]?.end();
  await flushed;
  expect(run.log.at(-1)).toBe('written');
});

it('is left to another process that has taken the run, of which the journal says (CHECKPOINT-FILE-5)', async () => {
  const { run, file } = running();
  run.isTaken = true;
  await file.flush();
  expect(run.log).toEqual(['recorded']);
});
