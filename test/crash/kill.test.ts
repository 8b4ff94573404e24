/**
 * SIGKILL in the middle of a run, then the same command again. Run it with `MLLD_KILLS=100` and another `MLLD_KILL_SEED` for more.
 *
 * KILL-1 the output is that of an undisturbed run
 * KILL-2 no call whose result was on disk is executed again
 * KILL-3 a call that is executed again was in flight at the kill
 * KILL-4 every journal verifies, and the killed run is listed as crashed with what it had in flight
 */
import { beforeAll, describe, expect, it } from 'vitest';

import {
  answersOnDisk,
  callsBegun,
  CALLS_AT_ONCE,
  eventsOf,
  hullProject,
  journalFiles,
  listedRuns,
  run,
  runIdOf,
  runKilled,
} from './workflow.js';

const CALLS = 120;
const DELAY_MS = 15;
const KILLS = Number(process.env['MLLD_KILLS'] ?? 5);
const SEED = Number(process.env['MLLD_KILL_SEED'] ?? 1);

let undisturbed: string;

beforeAll(async () => {
  const { stdout, status } = await run(await hullProject({ calls: CALLS, delayMs: DELAY_MS }));
  expect(status).toBe(0);
  undisturbed = stdout;
});

describe('a run that is killed and started again', () => {
  it.each(moments(KILLS, SEED))(
    'loses no answer that was on disk (killed $afterMs ms after call $begun began)',
    async ({ begun, afterMs }) => {
      const cwd = await hullProject({ calls: CALLS, delayMs: DELAY_MS });
      expect((await runKilled(cwd, { begun, afterMs })).status).toBeUndefined();

      const onDisk = answersOnDisk(cwd);
      expect(onDisk.size).toBeGreaterThanOrEqual(begun - CALLS_AT_ONCE); // the next call starts when the result before it is on disk
      const before = callsBegun(cwd);
      const [killed] = await listedRuns(cwd);
      expect(killed?.status).toBe('crashed'); // KILL-4
      expect(killed?.inFlight).toHaveLength(callsInFlight(cwd));

      const { stdout, status } = await run(cwd);
      expect(status).toBe(0);
      expect(stdout).toBe(undisturbed); // KILL-1
      const after = callsBegun(cwd).slice(before.length);
      expect(after.filter((question) => onDisk.has(question))).toEqual([]); // KILL-2
      const again = after.filter((question) => before.includes(question));
      expect(again.length).toBeLessThanOrEqual(CALLS_AT_ONCE); // KILL-3
      expect([...again].sort()).toEqual(before.filter((question) => !onDisk.has(question)).sort());
      for (const file of journalFiles(cwd)) {
        const verified = await run(cwd, ['journal', 'verify', runIdOf(file)]);
        expect(verified, verified.stdout + verified.stderr).toMatchObject({ status: 0 });
      }
    },
  );

  it('may be killed again and again', async () => {
    const cwd = await hullProject({ calls: CALLS, delayMs: DELAY_MS });
    const lost: number[] = [];
    for (const begun of [30, 60, 90]) {
      await runKilled(cwd, { begun, afterMs: 1 });
      lost.push(new Set(callsBegun(cwd)).size - answersOnDisk(cwd).size);
    }
    const { stdout } = await run(cwd);
    expect(stdout).toBe(undisturbed);
    expect(callsBegun(cwd).length - CALLS).toBeLessThanOrEqual(lost.reduce((sum, each) => sum + each, 0));
    expect((await listedRuns(cwd)).map(({ status }) => status)).toEqual(['completed', 'crashed', 'crashed', 'crashed']);
  });
});

/** Started and neither completed nor failed, in the only journal there is. */
function callsInFlight(cwd: string): number {
  const [file] = journalFiles(cwd);
  const count = (type: string): number => eventsOf(file as string).filter((event) => event.type === type).length;
  return count('call.started') - count('call.completed') - count('call.failed');
}

interface Moment {
  readonly begun: number;
  readonly afterMs: number;
}

/** Two fixed ones at the edges, the others by a small generator, so that a failure can be repeated. A call takes at least DELAY_MS. */
function moments(count: number, seed: number): Moment[] {
  let state = seed;
  const below = (limit: number): number => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return Math.floor((state / 2 ** 32) * limit);
  };
  const random = Array.from({ length: count }, () => ({ begun: 2 + below(CALLS - 3), afterMs: below(DELAY_MS) }));
  return [{ begun: 1, afterMs: 0 }, { begun: CALLS, afterMs: 1 }, ...random];
}
