/**
 * Random histories of runs that share their lanes, in virtual time, on the real attempts and lanes: whatever fails, is lost to another
 * process or can't be sent, each call ends, or its run is paused. team-store.md 6, 8. `TEAM_HISTORIES=10000` runs so many of them.
 */
import fc from 'fast-check';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';

import type { RunId } from '../../../journal/ids.js';
import type { LaneLog } from '../../../journal/postgres/limits/shared-lanes.js';
import type { FailureClass } from '../../../src/calls/failure.js';
import { SharedLanes } from '../../../src/calls/lanes/shared-lanes.js';
import type { CallClaims, LostClaim } from '../../../src/runtime/calls/result-cache.js';
import { FakeLaneLog } from '../../calls/fake-lane-log.js';
import { runRef } from '../../journal/support/facts.js';
import { runCalls, type PlannedAttempt, type PlannedCall, type VirtualRun } from './virtual-calls.js';

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

const numRuns = Number(process.env['TEAM_HISTORIES'] ?? 100);

const CLASSES: readonly (FailureClass | undefined)[] = [
  ...Array.from({ length: 8 }, () => undefined),
  'rate-limit',
  'rate-limit',
  'overloaded',
  'network',
  'crash',
  'quota',
];

const attempt = fc.record({
  ms: fc.integer({ min: 1, max: 3_000 }),
  class: fc.constantFrom(...CLASSES),
  retryAfterMs: fc.option(fc.integer({ min: 1, max: 5_000 }), { nil: undefined, freq: 2 }),
  resetsInMs: fc.option(fc.integer({ min: 1, max: 9_000 }), { nil: undefined }),
});
/** Says whether the claim of a call was lost by the time its start was recorded. */
const confirmation = fc.record({
  ms: fc.integer({ min: 0, max: 400 }),
  lost: fc.boolean(),
  regainedAfterMs: fc.integer({ min: 0, max: 400 }),
});
const base = {
  fn: fc.constantFrom('ask', 'judge'),
  lane: fc.constantFrom('a', 'b'),
  attempts: fc.array(attempt, { minLength: 1, maxLength: 3 }),
};
const call = fc.record({
  ...base,
  inner: fc.array(fc.record(base), { maxLength: 2 }),
  isParallel: fc.boolean(),
});
const member = fc.record({
  calls: fc.array(call, { minLength: 1, maxLength: 8 }),
  parallel: fc.integer({ min: 1, max: 6 }),
  concurrency: fc.option(fc.integer({ min: 1, max: 3 }), { nil: undefined }),
  waitQuotaMs: fc.option(fc.integer({ min: 1, max: 20_000 }), { nil: undefined, freq: 2 }),
  calledTimes: fc.option(fc.integer({ min: 1, max: 12 }), { nil: undefined, freq: 1 }),
  confirmations: fc.array(fc.option(confirmation, { nil: undefined }), { maxLength: 8 }),
});
const history = fc.record({
  processes: fc.array(member, { minLength: 1, maxLength: 3 }),
  laneMax: fc.option(fc.integer({ min: 1, max: 4 }), { nil: undefined }),
  roundTripMs: fc.integer({ min: 2, max: 300 }),
  /** Moments at which the store goes, and comes back. */
  outages: fc.array(fc.tuple(fc.integer({ min: 0, max: 5_000 }), fc.integer({ min: 1, max: 5_000 })), { maxLength: 3 }),
  seed: fc.nat(),
});
type History = typeof history extends fc.Arbitrary<infer H> ? H : never;
type Member = History['processes'][number];

const known = (defined: object): object => Object.fromEntries(Object.entries(defined).filter(([, value]) => value !== undefined));

type Inner = Omit<Member['calls'][number], 'inner' | 'isParallel'>;

function plannedInner({ fn, lane, attempts }: Inner): PlannedCall {
  const plan = (tried: number): PlannedAttempt => known(attempts[tried - 1] ?? { ms: 1 }) as PlannedAttempt;
  return { fn, options: { lane }, attempt: plan };
}

function planned({ inner, isParallel, ...own }: Member['calls'][number]): PlannedCall {
  return { ...plannedInner(own), inner: inner.map(plannedInner), ...(isParallel && { isParallel }) };
}

const sleep = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

function claimsOf({ confirmations }: Member): CallClaims {
  let asked = 0;
  let regainedAfterMs = 0;
  return {
    async claim() {
      await sleep(regainedAfterMs);
      return { kind: 'claimed', replaces: undefined };
    },
    confirm() {
      const next = confirmations[asked++];
      if (next === undefined) return undefined;
      regainedAfterMs = next.regainedAfterMs;
      const answer: LostClaim | undefined = next.lost ? { to: runRef(9).run } : undefined;
      return sleep(next.ms).then(() => answer);
    },
    giveBack: () => undefined,
    winner: async () => undefined,
  };
}

function logOf({ roundTripMs, outages }: History): LaneLog & { runEnded(run: RunId): void } {
  const lanes = new Map(['a', 'b'].map((name) => [name, new FakeLaneLog(roundTripMs, name)]));
  for (const [fromMs, forMs] of outages) {
    for (const lane of lanes.values()) {
      setTimeout(() => (lane.isAway = true), fromMs);
      setTimeout(() => (lane.isAway = false), fromMs + forMs);
    }
  }
  return {
    exchange: (request) => (lanes.get(request.lane) as FakeLaneLog).exchange(request),
    runEnded(run) {
      for (const lane of lanes.values()) lane.gone.add(run);
    },
    states: async () => (await Promise.all([...lanes.values()].map((lane) => lane.states()))).flat(),
  };
}

function play(each: History): Promise<readonly VirtualRun[]> {
  const log = logOf(each);
  return Promise.all(
    each.processes.map((one, n) => {
      const { calls, parallel, concurrency, waitQuotaMs, calledTimes } = one;
      const budget = calledTimes === undefined ? undefined : { calls: calledTimes };
      const lanes = each.laneMax === undefined ? undefined : [['a', { max: each.laneMax }] as const];
      const sharing = new SharedLanes({
        log,
        run: runRef(n + 1),
        nameOf: (lane) => lane,
        monotonicMs: () => performance.now(),
        nowMs: () => Date.now(),
      });
      return runCalls(calls.map(planned), {
        parallel,
        settings: known({ concurrency, waitQuotaMs, budget, lanes }),
        seed: each.seed + n,
        team: { sharing, claims: claimsOf(one) },
      }).finally(() => log.runEnded(runRef(n + 1).run));
    }),
  );
}

it(
  'leave no call waiting for ever',
  async () => {
    await fc.assert(
      fc.asyncProperty(history, async (each) => {
        const runs = await play(each);
        for (const [n, { results, failed, isPaused, mostAtOnce }] of runs.entries()) {
          const { calls = [], concurrency = Infinity } = each.processes[n] ?? {};
          if (!isPaused) expect(results + failed).toBe(calls.length);
          expect(mostAtOnce).toBeLessThanOrEqual(concurrency);
        }
        vi.clearAllTimers();
      }),
      { numRuns },
    );
  },
  60_000 + numRuns * 300,
);
