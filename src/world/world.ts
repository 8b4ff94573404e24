/**
 * Every effect of a run is performed by one function. Requests and results are plain data, so that a run can be recorded and replayed
 * from its journal (`replay/recording/recorded-world.ts`).
 */
import type { BlobWriter } from '../../journal/storage/blob-writer.js';
import type { Json } from '../../journal/event.js';

export interface CommandResult {
  readonly stdout: string;
  readonly stderr: string;
  /** The exit status; 128 + n when signal n ended it. */
  readonly exitCode: number;
  readonly durationMs: number;
}

/** Declares the request and the result of each kind of effect. */
export interface Effects {
  /** Reads UTF-8 text; a result without text says why there is none. */
  'file.read': {
    request: { path: string };
    result: { text: string } | { missing: 'absent' | 'directory' | 'unreadable' | 'too-large'; detail: string };
  };
  /** Replaces the file as a whole (temporary file and rename); creates folders. */
  'file.write': {
    request: {
      path: string;
      text: string;
      /** Survives a loss of power: synced before the rename. */
      durable?: true;
    };
    result: Record<string, never>;
  };
  /** Does nothing when there is no file. */
  'file.remove': { request: { path: string }; result: Record<string, never> };
  /** Reads the bytes of any file. */
  'file.bytes': {
    request: { path: string };
    result: { base64: string } | { missing: 'absent' | 'directory' | 'unreadable' | 'too-large'; detail: string };
  };
  /** Does what `file.write` does, with bytes that a call wrote before. */
  'file.restore': { request: { path: string; base64: string }; result: Record<string, never> };
  'file.append': { request: { path: string; text: string }; result: Record<string, never> };
  'file.stat': { request: { path: string }; result: { kind: 'file' | 'directory' | 'none' } };
  /** Finds files only: absolute paths in code unit order. `root` is absolute, `pattern` relative to it or absolute. */
  'file.glob': { request: { root: string; pattern: string }; result: { paths: readonly string[] } };
  /** Lists the names of the immediate entries of a folder, sorted. */
  'file.list': { request: { path: string }; result: { files: readonly string[]; folders: readonly string[] } };
  /** Finds names near a missing path, for "did you mean". */
  'file.similar': { request: { path: string }; result: { names: readonly string[] } };
  /** Runs one process: `sh -c`, `bash`, `python3`. `variables` become environment variables (files above 64 KB) or Python values. */
  'command.run': {
    request: {
      language: 'cmd' | 'sh' | 'bash' | 'py';
      code: string;
      /** Executed by the shell instead of `code`, which is for people: the same command with its values beside it. Not recorded. */
      executed?: string;
      /** Executed instead of `code`, which shows it to people: a program and its arguments, which no shell reads. Not recorded. */
      words?: readonly string[];
      /** The command holds a secret, which must not be visible in the list of processes. Not recorded. */
      isSecret?: true;
      directory: string;
      variables: { readonly [name: string]: Json };
      stdin?: string;
      /** Shadow functions of the language: name to source and parameters. */
      shadow?: readonly ShadowFunction[];
      /** Shows the output on standard error while it arrives: on standard output it appears once, when the script shows it. */
      stream?: boolean;
    };
    result: CommandResult;
  };
  /** Runs JavaScript in this process (`js`) or in an isolated context (`node`). `unset` names parameters that were not passed. */
  'code.run': {
    request: {
      language: 'js' | 'node';
      code: string;
      directory?: string;
      variables: { readonly [name: string]: unknown };
      /** Holds the members of `@mx` that the code mentions. */
      mx?: object;
      unset: readonly string[];
      shadow?: readonly ShadowFunction[];
      /** `console.log` also writes to standard output at once. */
      echo: boolean;
    };
    /** `value` is undefined when nothing was returned; `log` holds what console.log wrote. */
    result: { value: unknown; log: string };
  };
  /** Returns the exports of a Node module, for `import { x } from node @path`. Not recordable: the module runs in this process. */
  'node.import': { request: { module: string; from: string }; result: { exports: { readonly [name: string]: unknown } } };
  'clock.now': { request: Record<string, never>; result: { ms: number } };
  'clock.sleep': { request: { ms: number }; result: Record<string, never> };
  'stdin.read': { request: Record<string, never>; result: { text?: string } };
  'env.read': {
    request: { names: readonly string[]; prefixes: readonly string[] };
    result: { values: { readonly [name: string]: string } };
  };
  'env.set': { request: { name: string; value: string }; result: Record<string, never> };
  'stream.write': { request: { stream: 'stdout' | 'stderr'; text: string }; result: Record<string, never> };
}

export type EffectKind = keyof Effects;
export type EffectRequest<K extends EffectKind> = Effects[K]['request'];
export type EffectResult<K extends EffectKind> = Effects[K]['result'];

export interface ShadowFunction {
  readonly name: string;
  readonly params: readonly string[];
  readonly code: string;
}

/** Line and column in the text of a body, both from 1. */
export interface CodePlace {
  readonly line: number;
  readonly column: number;
}

/** Reports the failure of a process, a disk or a piece of code. Messages are for people; the evaluator adds the location. */
export class WorldError extends Error {
  readonly code: string;
  readonly hint: string | undefined;
  /** Says where in the body of code it was thrown; undefined where that is not known. */
  readonly place: CodePlace | undefined;
  constructor(code: string, message: string, details: { hint?: string | undefined; cause?: unknown; place?: CodePlace | undefined } = {}) {
    super(message, { cause: details.cause });
    this.place = details.place;
    this.name = 'WorldError';
    this.code = code;
    this.hint = details.hint;
  }
}

/** Limits the time that code may take. */
export interface Deadline {
  /** Returns a negative number once the deadline has passed. */
  leftMs(): number;
  /** To be called by the first who notices that it has passed. */
  expire(): void;
}

/** Receives what a body reports about the call around it; its arguments are whatever the body passes. calls.md 9. */
export interface CallReport {
  usage(members: unknown): void;
  /** Throws the failure. The attempt has failed also where the body catches it. */
  fail(failureClass: unknown, message: unknown, details: unknown): never;
  headers(headers: unknown): void;
  /** Returns the file in which programs report, made for the first of them; undefined when there can be none. */
  file(): string | undefined;
}

/** Accompanies a request: it is not data, and not a part of what is recorded. */
export interface EffectOptions {
  /** Ends a command or a wait early: it then resolves with what there is. */
  readonly signal?: AbortSignal;
  /** For code, which is interrupted then if it doesn't end by itself. */
  readonly deadline?: Deadline;
  /** For a command, which starts to work only when this has resolved. Must not reject. */
  readonly onStarted?: (process: StartedProcess) => Promise<unknown>;
  /** For a command: is called once, with the code of the system, when it has to wait until another command has ended. */
  readonly onWait?: (shortage: string) => void;
  /** For a command: makes the file for output that is too large to be held in memory. */
  readonly newFile?: () => BlobWriter;
  /** For a command: gets what it writes while it arrives. */
  readonly onOutput?: (text: string, stream: 'stdout' | 'stderr') => void;
  /** For code and commands: the span that they work in, as a W3C trace context. */
  readonly traceparent?: string;
  /** For code and commands inside a call. */
  readonly report?: CallReport;
  /** For a wait: receives the timer that keeps the process alive until it is over. */
  readonly onTimer?: (timer: TimerHandle) => void;
}

/** Identifies a process, and distinguishes it from a later one with the same number. */
export interface StartedProcess {
  /** The process group, whose number is that of its first process. */
  readonly group: number;
  /** The ticks between boot and the start of that process; empty where the system doesn't say. */
  readonly started: string;
  /** The id of the boot; empty where the system has none. */
  readonly boot: string;
}

/** The part of Node's timers that decides whether they keep the process alive. */
export interface TimerHandle {
  ref(): unknown;
  unref(): unknown;
}

export interface World {
  /** Rejects with a `WorldError` when the effect fails. */
  perform<K extends EffectKind>(effect: K, request: EffectRequest<K>, options?: EffectOptions): Promise<EffectResult<K>>;
  /** Ends what is still running (processes with their children) and refuses further effects. */
  close(reason: string): Promise<void>;
}
