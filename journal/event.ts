/**
 * Declares every fact that a journal can record. A new kind of fact is a new member of `Fact` and a row in `DURABILITY`, and nothing
 * else. Facts are in the past tense, plain data and readonly; members may be added to a known type (readers carry unknown members
 * along), never changed in meaning without a new `JOURNAL_VERSION` and a step in `upcast.ts`.
 */
import type { CallFact } from './facts/call-event.js';
import type { BlobId, CallKey, EventRef, Fingerprint, OpPath, Seq } from './ids.js';
import type { Json, Payload } from './payloads.js';
import type { PipelineFact } from './facts/pipeline-event.js';
import type { RunFact } from './facts/run-event.js';

export const JOURNAL_VERSION = 1;
/**
 * Marks lines that name a blob that may be in a pack, so that programs that can't read packs say that they don't know these lines. Their
 * members are those of `JOURNAL_VERSION`.
 */
export const PACKED_VERSION = 2;

export type { OutputFile, ResultForm, ReusedOutput, Usage } from './facts/call-event.js';
export type { Json, Payload, PayloadUse } from './payloads.js';

/** Names the construct: `exe`, `var`, `show`, `for`, `for:iteration`, `for:batch`, `loop`, `run`, `import`, … */
export type OpKind = string;

/** Names one thing that a definition depends on, so that a change can be named. `preview` is short and never a secret. */
export interface DefinitionPart {
  /** A `guard` or `hook` was consulted while the call was executed, and is not when its result is reused. */
  readonly kind: 'body' | 'function' | 'template' | 'schema' | 'variable' | 'guard' | 'hook';
  readonly name: string;
  readonly digest: string;
  readonly preview?: string;
  /** Code of another language has it, or a member of a value or an argument: older programs did not look there. */
  readonly inCode?: true;
  /** The function that a stage or an agent has as its backend needs it, or it holds because of that: older programs did not look there. */
  readonly inBackend?: true;
}

/** Records what is known about a result, or about a part of it, beside data and labels. */
export interface ResultMetadata {
  /** The members and indexes that lead to the part; absent: the whole (of a word, what it carries). */
  readonly at?: readonly (string | number)[];
  /** The text that it was read from, where that is not the payload (`form` `text`). */
  readonly text?: string;
  /** It was loaded from this file: the path relative to the project's folder, and the file's frontmatter. */
  readonly file?: { readonly path: string; readonly frontmatter?: Json };
  /** It was printed by this command. The line is cut after 1,000 UTF-16 units. */
  readonly command?: {
    readonly source: string;
    readonly line: string;
    readonly durationMs: number;
    /** Absent: 0. */
    readonly exitCode?: number;
    readonly stderr?: string;
  };
  /** The text is what was printed, and not the text view. */
  readonly isPrinted?: true;
  /** It left a pipeline: written to a file it stays on one line. */
  readonly isResult?: true;
  /** Marked by `keep`: code sees its metadata. */
  readonly isKept?: true;
}

export type Fact =
  | RunFact
  // ---- source
  /** A script, a module or a template was read. Its text is a blob, so that the run can be replayed without the file. */
  | {
      readonly type: 'source.loaded';
      readonly path: string;
      /** Holds the text. */
      readonly blob: BlobId;
      readonly role: 'script' | 'module' | 'template';
      /** Holds the whole text, where the blob has marks in the place of secrets that are written in the source. */
      readonly whole?: Payload;
      /** Is the published module that the file is, as the lock of the project had it. */
      readonly module?: { readonly name: string; readonly version?: string; readonly sha256: string };
    }
  /** Recorded once per run and function: the parts that the fingerprint of its calls is made of. */
  | {
      readonly type: 'definition.recorded';
      readonly fn: string;
      readonly fingerprint: Fingerprint;
      readonly parts: readonly DefinitionPart[];
      /** The parts name every guard and hook that held. Absent when an older program recorded it, which did not look for them. */
      readonly interceptors?: true;
      /** The parts name all that code lists and is given. Absent when an older program recorded it, which did not look for that. */
      readonly code?: true;
    }
  // ---- operation
  | {
      readonly type: 'op.started';
      readonly op: OpPath;
      readonly kind: OpKind;
      readonly name?: string;
      /** The phase of a workflow script that the operation belongs to. */
      readonly group?: string;
      /** The place in the source of the call: `llm/run/job.mld:12:9`. Distinguishes call sites, nothing else. */
      readonly site?: string;
      /** The place of the function's declaration, to distinguish functions of one name. */
      readonly declared?: string;
      readonly labels?: readonly string[];
      /** The item of an iteration as text, at most 256 UTF-16 units. */
      readonly item?: string;
      /** The number of items of a loop, for progress. */
      readonly total?: number;
    }
  | {
      readonly type: 'op.finished';
      readonly op: OpPath;
      readonly outcome: 'ok' | 'reused' | 'denied' | 'failed';
      readonly message?: string;
    }
  // ---- call
  | CallFact
  // ---- effect
  /** Records every effect. `subject` is for people: a path, a command line, a variable's name. */
  | {
      readonly type: 'effect.performed';
      readonly op: OpPath;
      readonly kind: string;
      readonly subject: string;
      readonly request: string;
      /**
       * The outcome; of a `stream.write` the text. Absent for what can't be recorded. When a call's own body was a command or code whose
       * outcome is the call's result unchanged, that is only in its `call.completed`: then only `durationMs` is here, or nothing.
       */
      readonly result?: Payload;
      /** The digest of a file that was read or written. */
      readonly file?: BlobId;
      readonly error?: string;
      readonly errorCode?: string;
      readonly errorHint?: string;
      /** Says where in the text of its body code threw the error, both from 1: a replay reports it at the same place of the script. */
      readonly errorAt?: { readonly line: number; readonly column: number };
      readonly elapsedMs?: number;
    }
  /** The kernel has it before a program that the run started does anything: a resume of a killed run finds the processes it left. */
  | {
      readonly type: 'process.started';
      readonly op: OpPath;
      /** The process group, whose number is that of its first process. */
      readonly group: number;
      /** The ticks between boot and the start of that process; empty where the system doesn't say. */
      readonly started: string;
      /** The id of the boot; empty where the system has none. */
      readonly boot: string;
    }
  // ---- hook, guard
  | {
      readonly type: 'hook.fired';
      readonly op: OpPath;
      readonly hook: string;
      readonly timing: 'before' | 'after';
      readonly filter: string;
      readonly transformed: boolean;
      readonly elapsedMs: number;
      readonly error?: string;
      /** The code of an error that has one. `HOOK_TIMEOUT`: the hook was ended in the middle of its work. */
      readonly errorCode?: string;
    }
  | {
      readonly type: 'guard.decided';
      readonly op: OpPath;
      readonly guard: string;
      readonly timing: 'before' | 'after';
      readonly filter: string;
      readonly decision: 'allow' | 'deny' | 'retry';
      readonly reason?: string;
      readonly transformed: boolean;
    }
  // ---- checkpoint
  | {
      readonly type: 'checkpoint.reached';
      readonly name: string;
      readonly resume?: 'auto' | 'manual' | 'never';
      readonly ttlMs?: number;
      /** It has an option `complete`, whose outcome is recorded when the scope closes. */
      readonly conditional?: true;
    }
  | { readonly type: 'checkpoint.closed'; readonly name: string; readonly complete?: boolean }
  // ---- memo
  // `during` lists the runs of the workflow that were in flight, each with its last event that counted then (-1: none). Results that such
  // a run recorded behind that event are not invalidated.
  /** These results are not reused any more. This lasts: only executing the calls again makes them reusable. */
  | {
      readonly type: 'memo.invalidated';
      readonly selector: string;
      readonly keys: readonly CallKey[];
      readonly borrowed?: boolean;
      readonly during?: readonly EventRef[];
    }
  /** Invalidates everything that this workflow recorded before (`--fresh`, `clean`). `clean` also removes the runs' checkpoints. */
  | { readonly type: 'memo.reset'; readonly reason: 'fresh' | 'clean'; readonly during?: readonly EventRef[] }
  // ---- pipeline
  | PipelineFact;

/** A fact with its place in the run. `ts` is for people; only `seq` defines the order. */
export type JournalEvent = Fact & {
  readonly v: number;
  readonly seq: Seq;
  readonly ts: string;
  readonly hash: string;
  /** Says when and why something was removed from this event. `tombstone` then holds the chain together (CODEC-3). */
  readonly redacted?: Redacted;
  readonly tombstone?: string;
};

export interface Redacted {
  /** ISO 8601, UTC. */
  readonly at: string;
  readonly reason: string;
}

export type FactType = Fact['type'];
export type EventOf<T extends FactType> = Extract<JournalEvent, { type: T }>;
export type FactOf<T extends FactType> = Extract<Fact, { type: T }>;
