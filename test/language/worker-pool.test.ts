import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { runPool, type Pool } from '../../src/language/loops/worker-pool.js';

const pool = (given: Partial<Pool>): Promise<void> =>
  runPool({ from: 0, to: 6, cap: 2, pace: async () => {}, isDone: () => false, start: async () => {}, ...given });

describe('work that runs beside other work', () => {
  it('runs all of it, so many at a time', async () => {
    let running = 0;
    let most = 0;
    const started: number[] = [];
    await pool({
      async start(position) {
        started.push(position);
        most = Math.max(most, ++running);
        await sleep(5);
        running--;
      },
    });
    expect({ started, most }).toEqual({ started: [0, 1, 2, 3, 4, 5], most: 2 });
  });

  it.each(['while it waits for its turn', 'while it works'])(
    'waits for what has started when a part fails %s, and starts nothing more',
    async (when) => {
      const log: string[] = [];
      let turns = 0;
      const failure = new Error('interrupted');
      const run = pool({
        async pace() {
          if (++turns === 2 && when === 'while it waits for its turn') throw failure;
        },
        async start(position) {
          log.push(`begins ${position}`);
          if (position === 1) throw failure;
          await sleep(20);
          log.push(`ends ${position}`);
        },
      });
      await expect(run).rejects.toBe(failure);
      expect(log.filter((line) => line !== 'begins 1')).toEqual(['begins 0', 'ends 0']);
    },
  );

  it('lets the event loop have a turn before all of a large number have started', async () => {
    let started = 0;
    const startedAtTurn = new Promise<number>((resolve) => setImmediate(() => resolve(started)));
    await runPool({
      from: 0,
      to: 1000,
      cap: 1000,
      pace: undefined,
      isDone: () => false,
      start: async () => {
        started++;
        await sleep(1);
      },
    });
    expect(started).toBe(1000);
    expect(await startedAtTurn).toBeLessThan(200);
  });

  it('starts no waiting part once all is done', async () => {
    let done = false;
    const started: number[] = [];
    await pool({
      pace: () => sleep(started.length === 0 ? 0 : 10),
      isDone: () => done,
      async start(position) {
        started.push(position);
        done = true;
      },
    });
    expect(started).toEqual([0]);
  });
});
