/**
 * Runs work in parallel: at most so many at a time, with a minimum time between two starts.
 *
 * POOL-1  Started work is always waited for, also after a failure: the calls that it makes are paid for.
 * POOL-2  After a failure, or once it is done, nothing more is started. The first failure is thrown.
 * POOL-3  The event loop has a turn between the first parts, so the first calls of a large loop are made while the others are prepared.
 */
import type { ParallelLimits } from '../../../grammar/ast.js';
import { MlldError } from '../../errors.js';
import { performEffect } from '../../operation/perform-effect.js';
import { toNumber } from '../../values/numbers.js';
import { durationOf } from '../../values/durations.js';
import { locationOf } from '../../runtime/errors.js';
import type { Frame } from '../../runtime/frame.js';

const STARTS_BETWEEN_YIELDS = 32;

export interface Pool {
  readonly from: number;
  /** Is the position after the last. */
  readonly to: number;
  /** Limits how many run at a time; at least 1. */
  readonly cap: number;
  /** Resolves when the next start is allowed; undefined where every start is. */
  readonly pace: (() => Promise<void>) | undefined;
  readonly isDone: () => boolean;
  readonly start: (position: number) => Promise<unknown>;
  /** Was started before; it takes one of the places until it has ended. */
  readonly running?: Promise<void>;
}

export async function runPool({ from, to, cap, pace, isDone, start, running }: Pool): Promise<void> {
  let next = from;
  const failures: unknown[] = [];
  const mayStart = (): boolean => !isDone() && failures.length === 0;
  const worker = async (number: number): Promise<void> => {
    if (number === 0) await running?.catch((error: unknown) => failures.push(error));
    while (next < to && mayStart()) {
      const position = next++;
      try {
        if (pace) await pace();
        if (mayStart()) await start(position); // POOL-2: another part may have ended or failed during the wait
      } catch (error) {
        failures.push(error);
      }
    }
  };
  const workers: Promise<void>[] = [];
  for (const count = Math.min(cap, to - from + (running ? 1 : 0)); workers.length < count;) {
    workers.push(worker(workers.length));
    if (workers.length % STARTS_BETWEEN_YIELDS === 0) await new Promise((resolve) => setImmediate(resolve)); // POOL-3
  }
  await Promise.all(workers); // POOL-1
  if (failures.length > 0) throw failures[0];
}

export interface ParallelSettings {
  readonly cap: number;
  readonly paceMs: number;
}

/** Evaluates `(CAP, PACE)`. Throws BAD_LIMIT, BAD_DURATION. */
export async function limitsOf({ cap, pace }: ParallelLimits, frame: Frame, at: number): Promise<ParallelSettings> {
  const capacity = cap === undefined ? frame.run.settings.parallelLimit : toNumber(await frame.evaluate(cap, frame));
  if (!Number.isInteger(capacity) || capacity < 1) {
    throw new MlldError('BAD_LIMIT', 'The limit of parallel work must be a whole number, 1 or more', {
      location: locationOf(frame.module, at),
    });
  }
  const interval = pace && (await frame.evaluate(pace, frame));
  return { cap: capacity, paceMs: interval === undefined ? 0 : durationOf(interval, locationOf(frame.module, at)) };
}

/** Returns a wait until `paceMs` after the start before; undefined for a pace of 0. */
export function createPace(paceMs: number, frame: Frame): (() => Promise<void>) | undefined {
  if (paceMs === 0) return undefined;
  let lastStartMs = Number.NEGATIVE_INFINITY;
  return async () => {
    const now = frame.run.monotonicMs();
    const startMs = Math.max(now, lastStartMs + paceMs);
    lastStartMs = startMs;
    if (startMs > now) await performEffect(frame, 'clock.sleep', { ms: startMs - now });
  };
}
