/**
 * Everything that reaches outside goes through one function: ask the world, get an answer. Requests and answers are plain
 * data, so that a run can be recorded and answered again from its journal (`replay/recording/recorded-world.ts`).
 */
import type { BlobWriter } from '../../journal/storage/blob-writer.js';
import type { Json } from '../../journal/event.js';

export interface CommandAnswer {
  readonly stdout: string;
  readonly stderr: string;
  /** The exit status; 128 + n when signal n ended it. */
  readonly exitCode: number;
  readonly durationMs: number;
}

/** One row per kind of request: what is asked, what is answered. */
export interface Questions {
  /** UTF-8 text; an answer without text says why there is none. */
  'file.read': {
    ask: { path: string };
    answer: { text: string } | { missing: 'absent' | 'directory' | 'unreadable' | 'too-large'; detail: string };
  };
  /** Replaces the file as a whole (temporary file and rename); creates folders. */
  'file.write': {
    ask: {
      path: string;
      text: string;
      /** Survives a loss of power: synced before the rename. */
      durable?: true;
    };
    answer: Record<string, never>;
  };
  /** Nothing happens when there is none. */
  'file.remove': { ask: { path: string }; answer: Record<string, never> };
  /** The content as it is, whatever it is. */
  'file.bytes': {
    ask: { path: string };
    answer: { base64: string } | { missing: 'absent' | 'directory' | 'unreadable' | 'too-large'; detail: string };
  };
  /** As `file.write`, for content that a call wrote before. */
  'file.restore': { ask: { path: string; base64: string }; answer: Record<string, never> };
  'file.append': { ask: { path: string; text: string }; answer: Record<string, never> };
  'file.stat': { ask: { path: string }; answer: { kind: 'file' | 'directory' | 'none' } };
  /** Absolute paths in code unit order, files only. `root` is absolute, `pattern` relative to it or absolute. */
  'file.glob': { ask: { root: string; pattern: string }; answer: { paths: readonly string[] } };
  /** Names of the immediate entries of a folder, sorted. */
  'file.list': { ask: { path: string }; answer: { files: readonly string[]; folders: readonly string[] } };
  /** Names near a missing path, for "did you mean". */
  'file.similar': { ask: { path: string }; answer: { names: readonly string[] } };
  /** One process: `sh -c`, `bash`, `python3`. `variables` become environment variables (files above 64 KB) or Python values. */
  'command.run': {
    ask: {
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
    answer: CommandAnswer;
  };
  /** JavaScript in this process (`js`) or in an isolated context (`node`). `unset` names parameters that were not passed. */
  'code.run': {
    ask: {
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
    answer: { value: unknown; log: string };
  };
  /** Exports of a Node module, for `import { x } from node @path`. Not recordable: the module runs in this process. */
  'node.import': { ask: { module: string; from: string }; answer: { exports: { readonly [name: string]: unknown } } };
  'clock.now': { ask: Record<string, never>; answer: { ms: number } };
  'clock.sleep': { ask: { ms: number }; answer: Record<string, never> };
  'stdin.read': { ask: Record<string, never>; answer: { text?: string } };
  'env.read': { ask: { names: readonly string[]; prefixes: readonly string[] }; answer: { values: { readonly [name: string]: string } } };
  'env.set': { ask: { name: string; value: string }; answer: Record<string, never> };
  'stream.write': { ask: { stream: 'stdout' | 'stderr'; text: string }; answer: Record<string, never> };
}

export type Question = keyof Questions;
export type Ask<Q extends Question> = Questions[Q]['ask'];
export type Answer<Q extends Question> = Questions[Q]['answer'];

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
export interface Beside {
  /** Ends a command or a wait early: it then answers with what there is. */
  readonly signal?: AbortSignal;
  /** Of code: it is broken into then, if it doesn't give way. */
  readonly deadline?: Deadline;
  /** Of a command: it works only when this has resolved, which must not reject. */
  readonly onStarted?: (process: StartedProcess) => Promise<unknown>;
  /** Of a command: where its output goes while it arrives, when it is too large to be held. */
  readonly newFile?: () => BlobWriter;
  /** Of a wait: is handed what keeps the process alive until it is over. */
  readonly onTimer?: (timer: Holder) => void;
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
export interface Holder {
  ref(): unknown;
  unref(): unknown;
}

export interface World {
  /** Answers, or rejects with a `WorldError`. */
  ask<Q extends Question>(question: Q, request: Ask<Q>, beside?: Beside): Promise<Answer<Q>>;
  /** Ends what is still running (processes with their children) and refuses new questions. */
  close(reason: string): Promise<void>;
}
