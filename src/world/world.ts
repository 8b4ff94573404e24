/**
 * Everything that reaches outside goes through one function: ask the world, get an answer. Requests and answers are plain
 * data, so that a run can be recorded and answered again from its journal (`replay/recording/recorded-world.ts`).
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

/** One row per kind of request: what is asked, what is answered. */
export interface Effects {
  /** UTF-8 text; an answer without text says why there is none. */
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
  /** Nothing happens when there is none. */
  'file.remove': { request: { path: string }; result: Record<string, never> };
  /** The content as it is, whatever it is. */
  'file.bytes': {
    request: { path: string };
    result: { base64: string } | { missing: 'absent' | 'directory' | 'unreadable' | 'too-large'; detail: string };
  };
  /** As `file.write`, for content that a call wrote before. */
  'file.restore': { request: { path: string; base64: string }; result: Record<string, never> };
  'file.append': { request: { path: string; text: string }; result: Record<string, never> };
  'file.stat': { request: { path: string }; result: { kind: 'file' | 'directory' | 'none' } };
  /** Absolute paths in code unit order, files only. `root` is absolute, `pattern` relative to it or absolute. */
  'file.glob': { request: { root: string; pattern: string }; result: { paths: readonly string[] } };
  /** Names of the immediate entries of a folder, sorted. */
  'file.list': { request: { path: string }; result: { files: readonly string[]; folders: readonly string[] } };
  /** Names near a missing path, for "did you mean". */
  'file.similar': { request: { path: string }; result: { names: readonly string[] } };
  /** One process: `sh -c`, `bash`, `python3`. `variables` become environment variables (files above 64 KB) or Python values. */
  'command.run': {
    request: {
      language: 'cmd' | 'sh' | 'bash' | 'py';
      code: string;
      /** What the shell gets instead of `code`, which is for people: the same command with its values beside it. Not recorded. */
      executed?: string;
      /** A secret is in it, which is not to be seen in the list of processes. Not recorded. */
      isSecret?: true;
      directory: string;
      variables: { readonly [name: string]: Json };
      stdin?: string;
      /** Shadow functions of the language: name to source and parameters. */
      shadow?: readonly ShadowFunction[];
      /** Show the output on standard error while it arrives: on standard output it appears when it is shown, once. */
      stream?: boolean;
    };
    result: CommandResult;
  };
  /** JavaScript in this process (`js`) or in an isolated context (`node`). `unset` names parameters that were not passed. */
  'code.run': {
    request: {
      language: 'js' | 'node';
      code: string;
      directory?: string;
      variables: { readonly [name: string]: unknown };
      unset: readonly string[];
      shadow?: readonly ShadowFunction[];
      /** `console.log` also writes to standard output at once. */
      echo: boolean;
    };
    /** `value` is what was returned, undefined when nothing was; `log` what console.log wrote. */
    result: { value: unknown; log: string };
  };
  /** Exports of a Node module, for `import { x } from node @path`. Not recordable: the module runs in this process. */
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
export type EffectRequest<Q extends EffectKind> = Effects[Q]['request'];
export type EffectResult<Q extends EffectKind> = Effects[Q]['result'];

export interface ShadowFunction {
  readonly name: string;
  readonly params: readonly string[];
  readonly code: string;
}

/** What a failing process, disk or piece of code did. Messages are for people; the evaluator adds the place. */
export class WorldError extends Error {
  readonly code: string;
  readonly hint: string | undefined;
  constructor(code: string, message: string, details: { hint?: string | undefined; cause?: unknown } = {}) {
    super(message, { cause: details.cause });
    this.name = 'WorldError';
    this.code = code;
    this.hint = details.hint;
  }
}

/** Until when something may take. */
export interface Deadline {
  /** Negative when it is past. */
  leftMs(): number;
  /** To be called by whoever notices first that it is past. */
  expire(): void;
}

/** What stands beside a request: it is no data, and no part of what was asked. */
export interface EffectOptions {
  /** Ends a command or a wait early: it then answers with what there is. */
  readonly signal?: AbortSignal;
  /** Of code: it is broken into then, if it doesn't give way. */
  readonly deadline?: Deadline;
  /** Of a command: it works only when this has resolved, which must not reject. */
  readonly onStarted?: (process: StartedProcess) => Promise<unknown>;
  /** Of a command: where its output goes while it arrives, when it is too large to be held. */
  readonly newFile?: () => BlobWriter;
  /** Of a wait: is handed what keeps the process alive until it is over. */
  readonly onTimer?: (timer: TimerHandle) => void;
}

/** What it takes to find a process again, and to tell it from one that got its number later. */
export interface StartedProcess {
  /** Its process group, whose number is that of its first process. */
  readonly group: number;
  /** Ticks between boot and the start of that process; empty where the system doesn't say. */
  readonly started: string;
  /** Empty where the system has no id for it. */
  readonly boot: string;
}

/** A timer of Node has this. */
export interface TimerHandle {
  ref(): unknown;
  unref(): unknown;
}

export interface World {
  /** Answers, or rejects with a `WorldError`. */
  perform<Q extends EffectKind>(question: Q, request: EffectRequest<Q>, beside?: EffectOptions): Promise<EffectResult<Q>>;
  /** Ends what is still running (processes with their children) and refuses new questions. */
  close(reason: string): Promise<void>;
}
