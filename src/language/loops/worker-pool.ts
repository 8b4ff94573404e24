/**
 * Work that runs beside other work: so many at a time, with a least time between two starts.
 *
 * P1 What has started is waited for, also when another part fails: what it asks is paid for.
 * P2 After a failure, or once it is done, nothing more is started; the first failure is the one to throw.
 */
import type { ParallelLimits } from '../../../grammar/ast.js';
import { MlldError } from '../../errors.js';
import { performEffect } from '../../operation/perform-effect.js';
import { toNumber } from '../../values/numbers.js';
import { durationOf } from '../../values/durations.js';
import { locationOf } from '../../runtime/errors.js';
import type { Frame } from '../../runtime/frame.js';

export interface Pool {
  readonly from: number;
  /** Not included. */
  readonly to: number;
  /** At a time, at least 1. */
  readonly cap: number;
  /** Undefined: nothing has to be waited for before a start. */
  readonly pace: (() => Promise<void>) | undefined;
  readonly isDone: () => boolean;
  readonly start: (position: number) => Promise<void>;
}

export async function runPool({ from, to, cap, pace, isDone, start }: Pool): Promise<void> {
  let next = from;
  const failures: unknown[] = [];
  const goesOn = (): boolean => !isDone() && failures.length === 0;
  const worker = async (): Promise<void> => {
    while (next < to && goesOn()) {
      const position = next++;
      try {
        if (pace) await pace();
        if (goesOn()) await start(position); // P2: something may have ended while it waited
      } catch (error) {
        failures.push(error);
      }
    }
  };
  await Promise.all(Array.from({ length: Math.min(cap, to - from) }, worker)); // P1
  if (failures.length > 0) throw failures[0];
}

export interface ParallelSettings {
  readonly cap: number;
  readonly paceMs: number;
}

/** Throws BAD_LIMIT, and what a duration can throw. */
export async function limitsOf({ cap, pace }: ParallelLimits, frame: Frame, at: number): Promise<ParallelSettings> {
  const most = cap === undefined ? frame.run.settings.parallelLimit : toNumber(await frame.evaluate(cap, frame));
  if (!Number.isInteger(most) || most < 1) {
    throw new MlldError('BAD_LIMIT', 'The limit of what runs in parallel must be a whole number from 1', {
      location: locationOf(frame.module, at),
    });
  }
  const least = pace && (await frame.evaluate(pace, frame));
  return { cap: most, paceMs: least === undefined ? 0 : durationOf(least, locationOf(frame.module, at)) };
}

/** Waits until the next start may be: `paceMs` after the one before. */
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
