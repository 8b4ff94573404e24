/** Describes the pause of a run: as the error that its user sees, and as the fact that its journal holds. calls.md 14.3. */
import { isOfStore, isTaken, JournalError } from '../../journal/errors.js';
import type { Pause } from '../../journal/facts/run-event.js';
import { duration } from '../../replay/fold/duration.js';
import type { Dispatcher } from '../calls/dispatch/dispatcher.js';
import type { Stop } from '../calls/dispatch/stop.js';
import { messageOf, MlldError } from '../errors.js';
import type { SecretRegistry } from '../runtime/secrets/secret-registry.js';
import { onOneLine } from '../values/shortened.js';

type Paused = Pick<Dispatcher, 'pausedBy'>;

export function pausedError({ pausedBy }: Paused): MlldError {
  if (pausedBy !== undefined && pausedBy.class !== 'journal') return dispatchStopped(pausedBy);
  if (isTaken(pausedBy?.error)) {
    return new MlldError('PAUSED', 'paused: the store takes nothing of this run any more', {
      hint: 'where no other process goes on with it (mlld journal list), run it again with --resume: a new run reuses what is recorded',
      cause: pausedBy?.error,
    });
  }
  if (isSpilled(pausedBy?.error)) {
    return new MlldError('PAUSED', "paused: the store can't be reached, and no call begins without it", {
      hint: 'run it again with --resume when it can: that brings in first what was recorded since',
      cause: pausedBy?.error,
    });
  }
  // `--unrecorded`, which helps with a disk that takes nothing, is refused with the store of a team.
  if (isOfStore(pausedBy?.error)) {
    return new MlldError('PAUSED', "paused: no call is made whose result can't be recorded", {
      hint: 'when the store records again, run it again with --resume: a new run reuses what is recorded',
      cause: pausedBy?.error,
    });
  }
  // The reason is the cause, and not in the message: the warning about the lost journal has named it, and its remedy.
  return new MlldError('PAUSED', "paused: no call is made whose result can't be recorded", {
    hint:
      pausedBy?.hint ?? 'when the journal can be written, run it again with --resume, or with --unrecorded to continue without a record',
    cause: pausedBy?.error,
  });
}

/** The store was away for too long: the own disk has what it did not take. */
function isSpilled(error: unknown): boolean {
  return error instanceof JournalError && error.code === 'STORE_SPILLED';
}

function dispatchStopped(stop: Stop): MlldError {
  const all = [stop, ...(stop.others ?? [])];
  const hints = new Set(all.map((each) => each.hint ?? remedyOf(each)));
  return new MlldError('PAUSED', `paused: ${all.map(wordsOf).join('; also ')}`, { hint: [...hints].join('; ') });
}

function wordsOf({ class: stopClass, lane, message, resetsAtMs }: Stop): string {
  const where = lane === undefined ? '' : ` in lane ${lane}`;
  const reset = resetsAtMs === undefined ? '' : `; resets ${localTime(fullMinute(resetsAtMs))}`;
  return `${stopClass}${where}: ${message}${reset}`;
}

function remedyOf({ class: stopClass, leastBudget, resetsAtMs, notWaited }: Stop): string {
  if (leastBudget !== undefined) return `run it again with --resume and a budget of at least ${leastBudget}`;
  if (notWaited !== undefined) return `${REMEDIES.quota} (${NOT_WAITED[notWaited]})`;
  return stopClass === 'quota' && resetsAtMs !== undefined ? `${REMEDIES.quota}; ${WAITING}` : REMEDIES[stopClass];
}

/** It needs to know when there is a quota again. */
const WAITING = '--wait-quota 2h waits where that is within two hours';

const NOT_WAITED: { readonly [R in NonNullable<Stop['notWaited']>]: string } = {
  'no time': '--wait-quota did not wait, because the reply names no time for that',
  'too late': 'that is later than --wait-quota allows to wait',
  'no result': '--wait-quota waits no more, because no result came behind the resets',
};

const REMEDIES: { readonly [C in Stop['class']]: string } = {
  quota: 'run it again with --resume once the allowance is there again',
  auth: 'log in or correct the key, and run it again with --resume',
  budget: 'run it again with --resume and a larger --budget',
  stalled: 'run it again with --resume when the provider works again',
  journal: 'run it again with --resume',
  store: 'run it again with --resume',
};

/**
 * Returns the line for a run that waits until an allowance is there again (`--wait-quota`), or for as long as a provider asks for.
 * calls.md 12.4 and 12.7.
 */
export function laneWait({ lane, untilMs, why, nowMs, isRecorded }: LaneWait): string {
  const what = why === 'quota' ? `for the quota of ${onOneLine(lane)}` : `in the lane ${onOneLine(lane)}, as its provider asks,`;
  const stopping = isRecorded ? 'Ctrl-C stops the run, and --resume continues it' : 'Ctrl-C ends the run, of which nothing is recorded';
  return `waits ${what} until ${localTime(fullMinute(untilMs))}, for ${duration(untilMs - nowMs)}; ${stopping}\n`;
}

interface LaneWait {
  readonly lane: string;
  /** Milliseconds since 1970. */
  readonly untilMs: number;
  readonly why: 'quota' | 'asked';
  readonly nowMs: number;
  readonly isRecorded: boolean;
}

/** `2026-11-22 18:30 GMT+1`: date, time and zone of this machine. */
function localTime(ms: number): string {
  const date = new Date(ms);
  const two = (number: number): string => String(number).padStart(2, '0');
  const zone = new Intl.DateTimeFormat('en-GB', { timeZoneName: 'short' }).formatToParts(date).find(({ type }) => type === 'timeZoneName');
  const day = `${date.getFullYear()}-${two(date.getMonth() + 1)}-${two(date.getDate())}`;
  return `${day} ${two(date.getHours())}:${two(date.getMinutes())} ${zone?.value ?? ''}`.trim();
}

const MINUTE_MS = 60_000;

/** Rounds up: a run that a timer starts at the minute that was named is not too early. */
const fullMinute = (ms: number): number => Math.ceil(ms / MINUTE_MS) * MINUTE_MS;

/** `secrets` are those that the run has met: what a provider said may hold one. calls.md 16.3. */
export function pauseOf(error: unknown, { pausedBy }: Paused, secrets?: Pick<SecretRegistry, 'redact'>): Pause {
  const redacted = (text: string): string => secrets?.redact(text) ?? text;
  const { class: stopClass = 'journal', lane, resetsAtMs, leastBudget } = pausedBy ?? {};
  return {
    class: stopClass,
    ...(lane === undefined ? {} : { lane: redacted(lane) }),
    ...(resetsAtMs === undefined ? {} : { resetsAt: new Date(resetsAtMs).toISOString() }),
    message: redacted(pausedBy?.message ?? messageOf(error)),
    ...(leastBudget === undefined ? {} : { leastBudget }),
  };
}
