/**
 * Performs effects in the real world: processes, files, clock, environment and code of other languages. A table maps each kind of effect
 * to its function; each family has a file of its own.
 *
 * WORLD-1 An effect resolves or rejects; after `close` every pending and every new one rejects with INTERRUPTED, but for a model program
 *    that has its reply before it is ended.
 * WORLD-2 `close` resolves when no process of ours runs and no file is half written.
 * WORLD-3 Nothing of the host is read later than here: the environment is a copy, streams and standard input are arguments.
 */
import { createClock } from './clock.js';
import { createCommands } from './process/commands.js';
import { createFiles } from './files/files.js';
import { type Importing, createImporting } from './code/importing.js';
import { createJavaScript } from './code/javascript.js';
import { createNodeContext } from './code/node-context.js';
import { importNodeModule } from './code/node-import.js';
import { hasEndedWell, isModelProgram } from './late-reply.js';
import { createProcessRunner } from './process/process.js';
import {
  type EffectResult,
  type EffectRequest,
  type EffectOptions,
  type Deadline,
  type EffectKind,
  type World,
  WorldError,
} from './world.js';

export interface LiveWorldOptions {
  /** A copy is kept; `env.set` changes the copy and what later processes see, never this object. */
  readonly environment: { readonly [name: string]: string | undefined };
  /** Called at most once. */
  readonly stdin: () => Promise<string | undefined>;
  readonly stdout: (text: string) => void;
  readonly stderr: (text: string) => void;
  /** Closes the world when it fires. */
  readonly signal?: AbortSignal;
  /** Ends the whole run: interrupts code that keeps the run's timers from ending it. */
  readonly deadline?: Deadline | undefined;
}

type Performers = {
  readonly [K in EffectKind]: (request: EffectRequest<K>, options: EffectOptions) => EffectResult<K> | Promise<EffectResult<K>>;
};

const NOTHING: EffectOptions = {};

export function createLiveWorld({ environment, stdin, stdout, stderr, signal, deadline }: LiveWorldOptions): World {
  const variables = copyOf(environment);
  const processes = createProcessRunner(variables);
  const files = createFiles();
  const clock = createClock();
  const codeHost = { environment: variables, stdout, stderr, checkOpen, ...(deadline && { deadline }) };
  let made: Importing | undefined;
  const importing = (): Importing => (made ??= createImporting());
  const js = createJavaScript(codeHost, importing);
  const node = createNodeContext(codeHost, importing);
  const runCommand = createCommands({ environment: variables, processes, live: stderr });
  let input: Promise<string | undefined> | undefined;

  const performers: Performers = {
    'file.read': files.read,
    'file.bytes': files.bytes,
    'file.restore': files.restore,
    'file.write': files.write,
    'file.append': files.append,
    'file.remove': files.remove,
    'file.stat': files.stat,
    'file.glob': files.glob,
    'file.list': files.list,
    'file.similar': files.similar,
    'command.run': (request, options) => runCommand(request, options),
    'code.run': (request, options) => (request.language === 'js' ? js : node).run(request, options),
    'node.import': (request) => importNodeModule(importing(), request),
    'clock.now': () => ({ ms: Date.now() }),
    'clock.sleep': clock.sleep,
    'stdin.read': async () => {
      input ??= stdin();
      const text = await input;
      return text === undefined ? {} : { text };
    },
    'env.read': ({ names, prefixes }) => ({ values: chosen(variables, names, prefixes) }),
    'env.set': ({ name, value }) => {
      variables[name] = value;
      return {};
    },
    'stream.write': ({ stream, text }) => {
      (stream === 'stdout' ? stdout : stderr)(text);
      return {};
    },
  };

  const pending = new Pending();
  let closed: { readonly reason: string; readonly done: Promise<void> } | undefined;

  function checkOpen(): void {
    if (closed) throw interrupted(closed.reason);
  }

  function perform<K extends EffectKind>(kind: K, request: EffectRequest<K>, options: EffectOptions = NOTHING): Promise<EffectResult<K>> {
    return new Promise((resolve, reject) => {
      checkOpen();
      const result = performers[kind](request, options);
      if (!(result instanceof Promise)) {
        resolve(result);
        return;
      }
      const effect = isModelProgram(kind, request, options.report) ? undefined : pending.add(reject);
      result.then(
        (value) => {
          if (effect) pending.remove(effect);
          if (effect === undefined && closed && !hasEndedWell(value)) reject(interrupted(closed.reason));
          else resolve(value);
        },
        (error: unknown) => {
          if (effect) pending.remove(effect);
          reject(error); // a `WorldError`; anything else is a bug of this program, and is passed on unchanged
        },
      );
    });
  }

  function close(reason: string): Promise<void> {
    if (closed) return closed.done;
    signal?.removeEventListener('abort', onAbort);
    const done = Promise.all([processes.endAll(), files.settled()]).then(() => undefined);
    closed = { reason, done };
    clock.stop();
    node.stop();
    const error = interrupted(reason);
    pending.rejectAll(error);
    return done;
  }

  const onAbort = (): void => void close('it was cancelled');
  if (signal?.aborted) onAbort();
  else signal?.addEventListener('abort', onAbort, { once: true });
  return { perform, close };
}

interface PendingEffect {
  /** Its place in the list. */
  at: number;
  readonly reject: (error: WorldError) => void;
}

/**
 * The effects that have not ended. Not a Set: V8 links the table that a Set has outgrown to the next one, so that one old table keeps all
 * later ones, with what the effects in them refer to, until all memory is collected: ten thousand results of calls.
 */
class Pending {
  private readonly effects: PendingEffect[] = [];

  add(reject: PendingEffect['reject']): PendingEffect {
    const effect = { at: this.effects.length, reject };
    this.effects.push(effect);
    return effect;
  }

  remove(effect: PendingEffect): void {
    const last = this.effects.pop();
    if (last === undefined || last === effect) return;
    this.effects[effect.at] = last;
    last.at = effect.at;
  }

  rejectAll(error: WorldError): void {
    for (const { reject } of this.effects.splice(0)) reject(error);
  }
}

function interrupted(reason: string): WorldError {
  return new WorldError('INTERRUPTED', `interrupted: ${reason}`);
}

function copyOf(environment: LiveWorldOptions['environment']): Record<string, string> {
  // It has no prototype: a variable may be called `constructor`.
  const copy = Object.create(null) as Record<string, string>;
  for (const [name, value] of Object.entries(environment)) if (value !== undefined) copy[name] = value;
  return copy;
}

function chosen(
  variables: Readonly<Record<string, string>>,
  names: readonly string[],
  prefixes: readonly string[],
): Record<string, string> {
  const values: Record<string, string> = {};
  for (const [name, value] of Object.entries(variables)) {
    if (names.includes(name) || prefixes.some((prefix) => name.startsWith(prefix))) values[name] = value;
  }
  return values;
}
