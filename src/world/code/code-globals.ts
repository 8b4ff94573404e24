/** Makes the globals of a JavaScript body: a console whose output is captured, a `process` that cannot end the run. */
import { Console } from 'node:console';
import { Writable } from 'node:stream';
import { isFolder } from '../files/folders.js';
import { LOG_BYTES_MAX, outputTooLarge } from '../process/output.js';
import { noSuchDirectory } from '../process/process.js';
import { type EffectOptions, type EffectRequest, type Deadline, WorldError, type CodePlace } from '../world.js';

export interface CodeHost {
  /** The world's environment; bodies may change it. */
  readonly environment: Record<string, string>;
  readonly stdout: (text: string) => void;
  readonly stderr: (text: string) => void;
  /** Limits the whole run. */
  readonly deadline?: Deadline;
  /** Throws INTERRUPTED when the world has been closed. */
  readonly checkOpen: () => void;
}

/** Adds what `console.log` and its like write to standard output to `log`, and echoes it when requested. */
export class CapturedOutput {
  log = '';
  private made: Console | undefined;
  constructor(
    private readonly host: CodeHost,
    private readonly echo: boolean,
  ) {}

  get console(): Console {
    this.made ??= new Console({
      stdout: sink((text) => {
        if (this.log.length + text.length > LOG_BYTES_MAX) throw outputTooLarge('the code', 'standard output', LOG_BYTES_MAX);
        this.log += text;
        if (this.echo) this.host.stdout(text);
      }),
      stderr: sink((text) => this.host.stderr(text)),
      colorMode: false,
      // A body that writes without end has to be stopped by what it calls: nothing else runs in this thread.
      ignoreErrors: false,
    });
    return this.made;
  }
}

function sink(write: (text: string) => void): Writable {
  return new Writable({
    decodeStrings: false,
    write(chunk: string | Uint8Array, _encoding, done) {
      write(typeof chunk === 'string' ? chunk : Buffer.from(chunk).toString('utf8'));
      done();
    },
  });
}

/** Returns `process` as bodies see it: the world's environment, the working directory of the call, and no way to end the run. */
export function guardedProcess(host: CodeHost, directory: string | undefined): NodeJS.Process {
  const refused = (what: string) => (): never => {
    throw new Error(`process.${what}() is not available in code: it would end the whole run`);
  };
  const own = new Map<string | symbol, unknown>([
    ['env', new Proxy(host.environment, { set: (target, name, value) => Reflect.set(target, name, String(value)) })],
    ['stdout', sink(host.stdout)],
    ['stderr', sink(host.stderr)],
    ['cwd', () => directory ?? process.cwd()],
    ['exit', refused('exit')],
    ['reallyExit', refused('reallyExit')],
    ['abort', refused('abort')],
    ['chdir', refused('chdir')],
  ]);
  return new Proxy(process, {
    get: (target, key) => (own.has(key) ? own.get(key) : (Reflect.get(target, key, target) as unknown)),
  });
}

/** Returns the global `mlld`, by which a body learns and reports about its own call. Outside of a call reports do nothing. calls.md 9. */
export function callFacts({ language, directory, unset }: EffectRequest<'code.run'>, { report, traceparent }: EffectOptions): object {
  return Object.freeze({
    language,
    directory: directory ?? process.cwd(),
    unset: [...unset],
    traceparent: traceparent ?? null,
    usage: (members: unknown) => report?.usage(members),
    fail: (failureClass: unknown, message: unknown, details: unknown) => report?.fail(failureClass, message, details),
    headers: (headers: unknown) => report?.headers(headers),
  });
}

/** Throws when the working directory of a call is not a directory; examines the disk once per directory. */
export function checkDirectory(known: Set<string>, directory: string | undefined): void {
  if (directory === undefined || known.has(directory)) return;
  if (!isFolder(directory)) throw noSuchDirectory(directory);
  known.add(directory);
}

/** Returns an error for what a body threw, with its message unchanged. */
export function thrown(error: unknown, place?: CodePlace): WorldError {
  if (error instanceof WorldError) return error;
  return new WorldError('CODE_THREW', messageOfAnyRealm(error), { cause: error, place });
}

function messageOfAnyRealm(error: unknown): string {
  // Errors of another realm are not instances of this realm's `Error`.
  if (typeof error === 'object' && error !== null && 'message' in error && typeof error.message === 'string') return error.message;
  try {
    return typeof error === 'object' && error !== null ? JSON.stringify(error) : String(error);
  } catch {
    return Object.prototype.toString.call(error);
  }
}
