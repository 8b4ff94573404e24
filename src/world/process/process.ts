/**
 * Runs programs, each in a process group of its own, so that what a command started dies with it.
 *
 * PROCESS-1 `run` resolves when its program has ended and its output is complete: a program left in the background that still holds the
 *    output is waited for, one that was detached from it is left alone.
 * PROCESS-2 `endAll` ends every group whose `run` has not resolved: SIGTERM to all its members, SIGKILL after the grace time. A program
 *    that ends by itself meanwhile has its result, where all that it wrote was read; else its `run` rejects with INTERRUPTED.
 * PROCESS-3 After `endAll` nothing is started.
 * PROCESS-4 Large output goes to a file while it arrives (`output.ts`), up to a limit; a program that writes more is ended.
 * PROCESS-5 A program that is cancelled is ended like those of PROCESS-2; its `run` resolves with what it had written, but rejects where it
 *    ends well and not all of that was read.
 * PROCESS-6 When this process exits while programs run (a second Ctrl-C), it kills their groups. When it is killed, its watcher ends them.
 * PROCESS-7 A program gets its input only when the watcher knows its group and `onStarted` has resolved, and works only with input
 *    (`commands.ts`): a kill in between leaves a record without a process, never a process without a record.
 * PROCESS-8 A program that the system has no capacity for is started when another one has ended (`capacity.ts`). It fails when none runs.
 */
import type { ChildProcess } from 'node:child_process';
import { stat } from 'node:fs/promises';
import { constants } from 'node:os';
import type { Readable, Writable } from 'node:stream';
import { StringDecoder } from 'node:string_decoder';
import { setTimeout as delay } from 'node:timers/promises';
import type { BlobWriter } from '../../../journal/storage/blob-writer.js';
import { bootId, processStatus } from '../../../journal/storage/processes.js';
import { Capacity, isShortage, requireDescriptors, shortageIn } from './capacity.js';
import { LOG_BYTES_MAX, Output, OUTPUT_BYTES_MAX, OutputExceedsText, outputTooLarge } from './output.js';
import { monotonicMs } from '../stopwatch.js';
import { createWatcher } from './watcher.js';
import { type CommandResult, type StartedProcess, WorldError } from '../world.js';

/** The time from SIGTERM to SIGKILL. */
export const GRACE_MS = 2000;
/** The end of a killed group is awaited so long: where no process waits for orphans, they are members of their group for ever. */
const REAP_MS = 200;
const GROUP_POLL_MS = 10;

export interface ProcessRequest {
  readonly program: string;
  readonly args: readonly string[];
  readonly directory: string;
  readonly environment: Readonly<Record<string, string>>;
  /** Standard input; empty when absent. */
  readonly stdin?: string | undefined;
  /** Texts that the program reads from the descriptors 3, 4, … */
  readonly channels?: readonly string[];
  /** Gets what the program writes, while it arrives. */
  readonly onOutput?: ((text: string, stream: 'stdout' | 'stderr') => void) | undefined;
  /** Makes the file for large output. */
  readonly newFile?: (() => BlobWriter) | undefined;
  /** Cancels the program. */
  readonly signal?: AbortSignal | undefined;
  /** Resolves when the process is recorded. Must not reject. */
  readonly onStarted?: ((process: StartedProcess) => Promise<unknown>) | undefined;
  /** Is called once, with the code of the system, when the program has to wait: PROCESS-8. */
  readonly onWait?: ((shortage: string) => void) | undefined;
}

export interface ProcessRunner {
  run(request: ProcessRequest): Promise<CommandResult>;
  endAll(): Promise<void>;
}

export function createProcessRunner(environment: Readonly<Record<string, string>>): ProcessRunner {
  const running = new Set<ChildProcess>();
  const watcher = createWatcher(environment, GRACE_MS);
  const capacity = new Capacity();
  let ended = false;
  const onExit = (): void => {
    for (const child of running) signalGroup(child, 'SIGKILL');
  };

  function enter(child: ChildProcess): void {
    if (running.size === 0) listenToExit(onExit); // PROCESS-6
    running.add(child);
    if (child.pid === undefined) return;
    watcher.add(child.pid);
    capacity.started();
  }

  /** PROCESS-7 */
  async function release(child: ChildProcess, { onStarted, stdin, channels = [] }: ProcessRequest): Promise<void> {
    if (child.pid === undefined) return; // it may not even have streams
    if (onStarted) await onStarted(startedProcess(child.pid));
    if (stdin !== undefined) feed(child.stdin, stdin);
    channels.forEach((text, i) => feed(child.stdio[i + 3] as Writable | null, text));
  }

  function leave(child: ChildProcess): void {
    running.delete(child);
    if (running.size === 0) stopListening(onExit);
    if (child.pid === undefined) return;
    watcher.remove(child.pid);
    capacity.ended();
  }

  /** PROCESS-8 */
  async function run(request: ProcessRequest): Promise<CommandResult> {
    for (let waits = false; ; waits = true) {
      try {
        return await runOnce(request);
      } catch (error) {
        const shortage = shortageIn(error);
        if (shortage === undefined || !capacity.isInUse || request.signal?.aborted) throw error;
        if (!waits) request.onWait?.(shortage);
      }
      await capacity.untilEnded(request.signal);
    }
  }

  async function runOnce(request: ProcessRequest): Promise<CommandResult> {
    if (ended) throw new WorldError('INTERRUPTED', `${request.program} was not started: the run is ending`);
    const startedMs = monotonicMs();
    let child: ChildProcess;
    try {
      child = start(request);
    } catch (error) {
      throw await explained(request, error); // some errors are thrown, the others come as an event
    }
    enter(child);
    const end = (): void => void endGroup(child); // PROCESS-5
    if (request.signal?.aborted) end();
    else request.signal?.addEventListener('abort', end, { once: true });
    try {
      const complete = outputOf(child, request);
      void release(child, request);
      const output = await complete;
      const seemsWhole = request.signal?.aborted === true && output.exitCode === 0;
      if ((ended || seemsWhole) && !isRead(child)) throw new WorldError('INTERRUPTED', `${request.program} was ended`); // PROCESS-2
      return { ...output, durationMs: Math.round(monotonicMs() - startedMs) };
    } finally {
      request.signal?.removeEventListener('abort', end);
      leave(child);
    }
  }

  return {
    run,
    async endAll() {
      ended = true;
      await Promise.all([...running].map(endGroup));
      watcher.end();
    },
  };
}

/** Leaves out what the system can't say now: the program runs already. */
function startedProcess(group: number): StartedProcess {
  try {
    return { group, started: processStatus(group)?.started ?? '', boot: bootId() };
  } catch {
    return { group, started: '', boot: '' };
  }
}

function listenToExit(onExit: () => void): void {
  moreListeners(1);
  process.once('exit', onExit);
}

function stopListening(onExit: () => void): void {
  process.off('exit', onExit);
  moreListeners(-1);
}

/** Raises Node's limit, so that it does not warn of a leak when many runs are in one process; 0 is no limit. */
function moreListeners(change: 1 | -1): void {
  const limit = process.getMaxListeners();
  if (limit > 0) process.setMaxListeners(limit + change);
}

function start({ program, args, directory, environment, stdin, channels = [] }: ProcessRequest): ChildProcess {
  // Loaded here because many runs have no command, and this module is slow to load.
  const { spawn } = process.getBuiltinModule('node:child_process');
  const stdio: ('ignore' | 'pipe')[] = [stdin === undefined ? 'ignore' : 'pipe', 'pipe', 'pipe', ...channels.map(() => 'pipe' as const)];
  requireDescriptors(stdio.length);
  return spawn(program, args, {
    cwd: directory,
    env: environment,
    detached: true,
    windowsHide: true,
    stdio,
  });
}

function outputOf(child: ChildProcess, request: ProcessRequest): Promise<Omit<CommandResult, 'durationMs'>> {
  return new Promise((resolve, reject) => {
    const stdout = new Output(OUTPUT_BYTES_MAX, request.newFile);
    const stderr = new Output(LOG_BYTES_MAX);
    const tooLarge = (stream: string, { limitBytes }: Output): void => {
      failed = true;
      stdout.drop();
      reject(outputTooLarge('the command', stream, limitBytes));
      signalGroup(child, 'SIGKILL');
      dropStreams(child);
    };
    const { onOutput } = request;
    const onText = (stream: 'stdout' | 'stderr') => onOutput && ((text: string) => onOutput(text, stream));
    collect(child.stdout, stdout, () => tooLarge('standard output', stdout), onText('stdout'));
    collect(child.stderr, stderr, () => tooLarge('standard error', stderr), onText('stderr'));
    let failed = false;
    child.once('error', (error) => {
      failed = true; // 'close' follows nevertheless, with a status that no program returned
      void explained(request, error).then(reject);
    });
    const resultOf = async (status: number) => ({
      stdout: await textOf(stdout, status),
      stderr: await textOf(stderr, status),
      exitCode: status,
    });
    child.once('close', (status, signal) => {
      if (!failed) resultOf(exitCode(status, signal)).then(resolve, reject);
    });
  });
}

function feed(stream: Writable | null, text: string): void {
  // A program need not read its input to the end: the broken pipe that follows is not a failure.
  stream?.on('error', () => undefined);
  stream?.end(text);
}

/** Collects what the stream emits. Characters that were cut between two chunks are joined before `onText` receives them. */
function collect(stream: Readable | null, output: Output, onTooLarge: () => void, onText?: (text: string) => void): void {
  const decoder = onText && new StringDecoder('utf8');
  stream?.on('data', (chunk: Buffer) => {
    if (!output.add(chunk)) {
      onTooLarge();
      return;
    }
    const text = decoder?.write(chunk);
    if (text) onText?.(text);
  });
  stream?.once('end', () => {
    const rest = decoder?.end();
    if (rest) onText?.(rest);
  });
}

/** Returns the text of a stream that has ended. */
async function textOf(output: Output, exitCode: number): Promise<string> {
  try {
    const ended = await output.end();
    if (typeof ended === 'string') return ended;
    // A failed program has no result, so its output is not kept.
    if (exitCode === 0) throw new OutputExceedsText(await ended.keep());
    await ended.discard();
  } catch (error) {
    if (error instanceof WorldError) throw error;
    output.drop();
    throw new WorldError('OUTPUT_TOO_LARGE', `the output of the command could not be kept: ${(error as Error).message}`, { cause: error });
  }
  throw new WorldError(
    'OUTPUT_TOO_LARGE',
    `the command ended with status ${exitCode} and wrote more than a text can hold; nothing of it was kept`,
  );
}

async function endGroup(child: ChildProcess): Promise<void> {
  signalGroup(child, 'SIGTERM');
  if (!(await isGone(child, GRACE_MS))) {
    signalGroup(child, 'SIGKILL');
    await isGone(child, REAP_MS);
  }
  await isTrueWithin(REAP_MS, () => isRead(child));
  // A grandchild in a session of its own may hold the pipes open, which are not read any more.
  dropStreams(child);
  child.unref();
}

/** Returns whether all that the program wrote was read. */
function isRead({ stdout, stderr }: ChildProcess): boolean {
  return [stdout, stderr].every((stream) => stream === null || stream.readableEnded);
}

function isGone(child: ChildProcess, patienceMs: number): Promise<boolean> {
  return isTrueWithin(patienceMs, () => !signalGroup(child, 0));
}

async function isTrueWithin(patienceMs: number, isTrue: () => boolean): Promise<boolean> {
  const deadlineMs = monotonicMs() + patienceMs;
  while (!isTrue()) {
    if (monotonicMs() > deadlineMs) return false;
    await delay(GROUP_POLL_MS);
  }
  return true;
}

/** Returns false when no member of the group is left. */
function signalGroup(child: ChildProcess, signal: NodeJS.Signals | 0): boolean {
  if (child.pid === undefined) return false;
  try {
    return process.kill(-child.pid, signal);
  } catch (error) {
    // EPERM: members are left, but none that this process may signal (they changed their user).
    return (error as NodeJS.ErrnoException).code === 'EPERM' && signal !== 0;
  }
}

function dropStreams(child: ChildProcess): void {
  if (child.pid === undefined) return; // it may not even have streams
  for (const stream of child.stdio) stream?.destroy();
}

function exitCode(status: number | null, signal: NodeJS.Signals | null): number {
  return status ?? 128 + (signal ? constants.signals[signal] : 0);
}

/** Node reports a missing directory as a missing program. */
async function explained(request: ProcessRequest, error: unknown): Promise<WorldError> {
  const { code } = error as NodeJS.ErrnoException;
  if (code === 'ENOENT' || code === 'ENOTDIR') {
    const directory = await stat(request.directory).catch(() => undefined);
    if (!directory?.isDirectory()) return noSuchDirectory(request.directory);
  }
  return notStarted(request, error);
}

export function noSuchDirectory(path: string): WorldError {
  return new WorldError('WORKING_DIRECTORY', `the working directory ${path} does not exist or is not a directory`);
}

function notStarted({ program }: ProcessRequest, error: unknown): WorldError {
  const { code, message } = error as NodeJS.ErrnoException;
  if (isShortage(code)) {
    return new WorldError('PROGRAM_NOT_STARTED', `${program} could not be started: the system allows no further process (${code})`, {
      hint: 'run fewer commands at the same time',
      cause: error,
    });
  }
  switch (code) {
    case 'ENOENT':
      return new WorldError('PROGRAM_MISSING', `the program ${program} was not found`, {
        hint: `install ${program} or add its folder to PATH`,
        cause: error,
      });
    case 'E2BIG':
      return new WorldError(
        'COMMAND_TOO_LARGE',
        `${program} could not be started: the command or the environment is too large for the system`,
        { cause: error },
      );
    default:
      return new WorldError('PROGRAM_NOT_STARTED', `${program} could not be started: ${message}`, { cause: error });
  }
}
