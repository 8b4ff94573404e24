/**
 * Keeps a run from the functions of its host: what was paid for is recorded, whatever these do.
 *
 * HOST-1 A listener that throws, or whose promise rejects, is reported once on standard error. The run goes on, and it hears of the rest.
 * HOST-2 A standard output that throws fails the script where it writes, so that the run ends in order and is recorded as failed. One whose
 *    promise rejects is too late for that, and is reported as a listener is.
 * HOST-3 An `io.stderr` or `io.message` that throws, or whose promise rejects, is ignored: nothing is left that could report it, and a
 *    message that is not seen is no reason to end paid work.
 * HOST-4 A standard input that throws fails the script where it reads.
 * HOST-5 A handler or a backend that returns a wrong outcome or reply fails its stage, and the run ends in order.
 * HOST-6 A clock (`io.nowMs`, `io.monotonicMs`) that throws, or returns no time, is reported once, and the clock of the machine continues
 *    from its last time.
 */
import { messageOf, MlldError } from '../errors.js';
import type { HostDefaults } from '../world/host-defaults.js';

interface Outputs {
  readonly stdout: (text: string) => void;
  readonly stderr: (text: string) => void;
}

interface Streams extends Outputs {
  readonly stdin: () => Promise<string | undefined>;
  readonly message?: ((text: string) => void) | undefined;
  readonly nowMs: () => number;
  readonly monotonicMs: () => number;
}

// A function of any arguments can only be described with `any` or with those that it is called with: `never` fits all of them.
type Listener = (...args: never[]) => void;

/** Returns the streams and clocks, guarded. HOST-2, HOST-3, HOST-4, HOST-6 */
export function guardedStreams<T extends Streams>(io: T, host: HostDefaults['io']): T {
  const stderr = ignoringFailures(io.stderr);
  const report = onceOn(stderr);
  const stdout = (text: string): void => {
    try {
      watchPromise('io.stdout', io.stdout(text), report);
    } catch (cause) {
      throw new MlldError('OUTPUT_FAILED', `io.stdout threw: ${messageOf(cause)}`, { cause });
    }
  };
  const stdin = async (): Promise<string | undefined> => {
    try {
      return await io.stdin();
    } catch (cause) {
      throw new MlldError('INPUT_FAILED', `io.stdin threw: ${messageOf(cause)}`, { cause });
    }
  };
  const nowMs = guardedClock('io.nowMs', io.nowMs, { host: host.nowMs, report, isTime: isDate });
  const monotonicMs = guardedClock('io.monotonicMs', io.monotonicMs, { host: host.monotonicMs, report, isTime: Number.isFinite });
  return { ...io, stdin, stdout, stderr, nowMs, monotonicMs, ...(io.message && { message: ignoringFailures(io.message) }) };
}

interface ClockGuard {
  /** The clock of the machine. */
  readonly host: () => number;
  readonly report: Report;
  readonly isTime: (value: number) => boolean;
}

/** HOST-6. Reads the clock of the machine from the first failure on, so that no time is before an earlier one. */
function guardedClock(name: string, read: () => number, { host, report, isTime }: ClockGuard): () => number {
  if (read === host) return read;
  let last: number | undefined;
  let aheadMs: number | undefined;
  return () => {
    if (aheadMs !== undefined) return host() + aheadMs;
    try {
      const time = read();
      if (isTime(time)) return (last = time);
      report(name, new TypeError(`it returned ${typeof time === 'number' ? time : `a ${typeof time}`}`));
    } catch (error) {
      report(name, error);
    }
    const now = host();
    aheadMs = last === undefined ? 0 : last - now;
    return now + aheadMs;
  };
}

/** Milliseconds since 1970, with a year of four digits, as the id of a run has it. */
function isDate(value: number): boolean {
  return Number.isFinite(value) && value >= 0 && value < YEAR_10000_MS;
}

const YEAR_10000_MS = Date.UTC(10_000, 0);

function ignoringFailures(write: (text: string) => void): (text: string) => void {
  return (text) => {
    try {
      watchPromise('', write(text), () => undefined);
    } catch {
      // HOST-3
    }
  };
}

/** Returns those of the members that are functions, guarded, under their names. HOST-1 */
export function guardedListeners<T extends object>(listeners: T, { stderr }: Outputs): T {
  const report = onceOn(stderr);
  const guard = ([name, listener]: [string, unknown]): [string, unknown] =>
    typeof listener === 'function' ? [name, guarded(name, listener as Listener, report)] : [name, listener];
  return Object.fromEntries(Object.entries(listeners).map(guard)) as T;
}

function guarded(name: string, listener: Listener, report: Report): Listener {
  return (...args) => {
    try {
      watchPromise(name, listener(...args), report);
    } catch (error) {
      report(name, error);
    }
  };
}

/** A function that is declared to return nothing may be an async one. */
function watchPromise(name: string, returned: unknown, report: Report): void {
  if (returned instanceof Promise) returned.catch((error: unknown) => report(name, error));
}

type Report = (name: string, error: unknown) => void;

function onceOn(stderr: Outputs['stderr']): Report {
  const told = new Set<string>();
  return (name, error) => {
    if (told.has(name)) return;
    told.add(name);
    stderr(`warning: ${name} failed, and the run goes on: ${messageOf(error)}\n`);
  };
}
