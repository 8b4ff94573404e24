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
 */
import { messageOf, MlldError } from '../errors.js';

interface Outputs {
  readonly stdout: (text: string) => void;
  readonly stderr: (text: string) => void;
}

interface Streams extends Outputs {
  readonly stdin: () => Promise<string | undefined>;
  readonly message?: ((text: string) => void) | undefined;
}

// A function of any arguments can only be described with `any` or with those that it is called with: `never` fits all of them.
type Listener = (...args: never[]) => void;

/** Returns the streams, guarded. HOST-2, HOST-3, HOST-4 */
export function guardedStreams<T extends Streams>(io: T): T {
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
  return { ...io, stdin, stdout, stderr, ...(io.message && { message: ignoringFailures(io.message) }) };
}

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
