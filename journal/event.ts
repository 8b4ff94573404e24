/**
 * What a journal can say. A new kind of fact is a new member of `Fact` and a row in `DURABILITY`, and nothing else.
 * Facts are in the past tense, plain data and readonly; members may be added to a known type (readers carry unknown
 * members along), never changed in meaning without a new `JOURNAL_VERSION` and a step in `upcast.ts`.
 */
import type { GateStatus, GraphFact } from './pipeline-event.js';
import type { BlobId, CallKey, EventRef, Fingerprint, OpPath, RunId, Seq, Workflow } from './ids.js';

export const JOURNAL_VERSION = 1;

export type Json = null | boolean | number | string | readonly Json[] | { readonly [key: string]: Json };

/** Data of an event: in its line up to a threshold, in a blob above it, or replaced because it may not be read. */
export type Payload =
  | { readonly inline: Json }
  /** `keyId`: what lies in the blob is sealed. */
  | {
      readonly blob: BlobId;
      readonly bytes: number;
      readonly keyId?: string;
      /** The blob is not JSON but a text as it is, in UTF-8. Such a result may be larger than what a text can be. */
      readonly text?: true;
    }
  /** AES-256-GCM, base64; `keyId` names the key, never holds it. */
  | { readonly sealed: string; readonly keyId: string }
  /** A secret that was not kept: only a keyed digest, to tell equal from different. */
  | { readonly digest: string }
  /** Taken out by `journal redact`: the reason. */
  | { readonly redacted: string };

export interface Usage {
  readonly inputTokens?: number;
  readonly outputTokens?: number;
  readonly costUsd?: number;
}

/** The flags that decide what a run records and serves. */
export interface CacheFlags {
  /** Recorded although no flag asks for it. Alone it reuses nothing. */
  readonly record?: boolean;
  readonly checkpoint?: boolean;
  readonly fresh?: boolean;
  /** The target of `--resume`; `''` for a bare one. */
  readonly resume?: string;
  readonly changed?: 'serve' | 'ask' | 'ask-guards';
  /** Files that were changed since a call wrote them stay, and its result is served. */
  readonly keepFiles?: boolean;
}

export interface ForkRef {
  readonly workflow: Workflow;
  readonly run?: RunId;
  readonly seq?: Seq;
}

/** What was done: `exe`, `var`, `show`, `for`, `for:iteration`, `for:batch`, `loop`, `run`, `import`, … */
export type OpKind = string;

/** One thing that a definition depends on, so that a change can be named. `preview` is short and never a secret. */
export interface DefinitionPart {
  /** `guard`, `hook`: one that was consulted while the call was executed, and is not when its result is reused. */
  readonly kind: 'body' | 'function' | 'template' | 'variable' | 'guard' | 'hook';
  readonly name: string;
  readonly digest: string;
  readonly preview?: string;
}

/**
 * How a payload holds a result; absent: it is the value. `text`: the text that the value was parsed from. `word`: a word of control on its
 * way to a loop or pipeline, `{"word":"done","value":…}`, with `form` beside `value` as here.
 */
export type ResultForm = 'text' | 'word';

/** What is known about a result, or about a part of it, beside data and labels. */
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
  /** It left a pipeline: written to a file it stays on one line. */
  readonly isResult?: true;
  /** Marked by `keep`: code sees its metadata. */
  readonly isKept?: true;
}

/** A file that a call declares to write. Its content is a blob; without one it could not be kept, and `reason` says why. */
export type OutputFile =
  | { readonly path: string; readonly blob: BlobId; readonly bytes: number }
  /** `absent`: the call did not write it. `secret`: the call's result is, and its files may not lie here in clear. */
  | { readonly path: string; readonly reason: 'absent' | 'directory' | 'unreadable' | 'too-large' | 'secret' };

/** What became of a declared output file when the recorded answer was served. */
export interface ReusedOutput {
  readonly path: string;
  readonly did: 'same' | 'restored' | 'kept' | 'absent';
}

/** What a run was given besides payload and flags, so that it can run again anywhere. What is usual is left out. */
export interface RecordedInputs {
  /** Absolute: paths in requests and answers begin with it. */
  readonly root: string;
  /** Absolute: messages show paths relative to it. */
  readonly workingDirectory: string;
  readonly mode?: 'strict' | 'markdown';
  readonly errorBehavior?: 'halt';
  readonly streaming?: false;
  readonly structured?: true;
  readonly parallelLimit?: number;
  readonly recursionDepth?: number;
  readonly prefixes?: readonly { readonly prefix: string; readonly basePath: string }[];
  /** Injected modules: pairs of name and `{ value }` or `{ text }`. */
  readonly injected?: Payload;
  readonly state?: Payload;
}

export interface RunTotals {
  /** `call.completed`. */
  readonly executed: number;
  readonly reused: number;
  /** `call.failed`. */
  readonly failed: number;
  /** Those of `executed` whose command failed or that a guard denied: every report counts them as failed. Absent: they were not counted. */
  readonly withoutResult?: number;
  readonly costUsd?: number;
  /** Graph runs. */
  readonly nodes?: number;
  readonly retries?: number;
  readonly artifacts?: number;
  readonly elapsedMs?: number;
}

/** `restarted`: a graph run that went on as another one. */
export type RunStatus = 'completed' | 'failed' | 'interrupted' | 'timed-out' | 'paused' | 'restarted';

/** Why a run was paused. `journal`: it could not be written. */
export interface Pause {
  readonly class: 'journal';
  readonly message: string;
}

export type Fact =
  // ---- run
  /** First event of every run. */
  | {
      readonly type: 'run.started';
      readonly workflow: Workflow;
      /** The script's name on the command line and in messages. */
      readonly name: string;
      readonly argv: readonly string[];
      readonly payload: Json;
      readonly flags: CacheFlags;
      /** What the script's first line says: `resume: auto`. */
      readonly header?: 'auto' | 'manual' | 'never';
      readonly forks?: readonly ForkRef[];
      readonly given?: RecordedInputs;
      /** Killed runs of which nothing goes on any more: this one has ended the processes that they had left. */
      readonly settled?: readonly RunId[];
      readonly versions: { readonly mlld: string; readonly node: string };
      readonly host: string;
      readonly pid: number;
      // Graph runs only.
      /** The identifier behind `digraph`. */
      readonly pipeline?: string;
      /** Where the files for people are: relative to the project where it can be. */
      readonly runDir?: string;
      /** Who answers model stages, where the command line said so. */
      readonly backend?: string;
      /** Its goal gates. */
      readonly gates?: readonly string[];
      /** The run that this one goes on with; events of it behind `seq` don't count any more. */
      readonly resume?: EventRef;
      /** The run whose `loop_restart` edge started this one. */
      readonly restartOf?: RunId;
      /** Where the walk begins, if not at the entry or behind what finished last. */
      readonly enterAt?: string;
      /** The manager node that supervises this run, and its attempt. */
      readonly parent?: { readonly run: RunId; readonly node: string; readonly op: OpPath };
    }
  /** Last event of a run that ended in order; its absence in a run without a living writer is a crash. */
  | {
      readonly type: 'run.finished';
      readonly status: RunStatus;
      readonly error?: { readonly code: string; readonly message: string; readonly op?: OpPath; readonly location?: string };
      readonly totals: RunTotals;
      /** Of a paused run. */
      readonly pause?: Pause;
      /** Facts of the run that are not in its journal, because it could not be written for too long. */
      readonly lost?: number;
      /** Nothing ran: `checkpoint clean` says with a run of its own that what came before is forgotten. */
      readonly cleaned?: true;
      /** Status `restarted`: the node at which the next run begins. */
      readonly next?: string;
      /** Graph runs: the node that ran, else the one that finished last. */
      readonly node?: string;
      /** Graph runs: every goal gate. */
      readonly gates?: { readonly [node: string]: GateStatus };
    }
  // ---- source
  /** The script, a module, a template was read; its text is a blob, so that the run can be replayed without the file. */
  | {
      readonly type: 'source.loaded';
      readonly path: string;
      /** Its content. */
      readonly blob: BlobId;
      readonly role: 'script' | 'module' | 'template';
      /** All of it, where the blob has marks in the place of secrets that are written in the source. */
      readonly whole?: Payload;
    }
  /** Once per run and function: what the fingerprint of its calls is made of. */
  | {
      readonly type: 'definition.recorded';
      readonly fn: string;
      readonly fingerprint: Fingerprint;
      readonly parts: readonly DefinitionPart[];
      /** The parts name every guard and hook that held. Absent: an older program recorded it, which did not look. */
      readonly interceptors?: true;
    }
  // ---- operation
  | {
      readonly type: 'op.started';
      readonly op: OpPath;
      readonly kind: OpKind;
      readonly name?: string;
      /** Where in the source a function is called: `llm/run/job.mld:12:9`. Tells call sites apart, nothing else. */
      readonly site?: string;
      /** Where the called function was declared, to tell functions of one name apart. */
      readonly declared?: string;
      readonly labels?: readonly string[];
      /** Iterations: the item as text, at most 256 UTF-16 units. */
      readonly item?: string;
      /** Loops: number of items, for progress. */
      readonly total?: number;
    }
  | {
      readonly type: 'op.finished';
      readonly op: OpPath;
      readonly outcome: 'ok' | 'reused' | 'denied' | 'failed';
      readonly message?: string;
    }
  // ---- call
  /** With the kernel before the body starts: a kill can't hide a call that may have cost money. */
  | {
      readonly type: 'call.started';
      readonly key: CallKey;
      readonly op: OpPath;
      readonly fn: string;
      readonly site?: string;
      readonly declared?: string;
      readonly args: Payload;
      /** First argument as text, at most 256 UTF-16 units; only where `args` isn't inline and it is no secret. */
      readonly preview?: string;
      readonly fingerprint: Fingerprint;
      /** From 2 on: a retry is a question of its own. */
      readonly attempt?: number;
      /** There is an answer, and it was not served for these declared output files, which are not what it had written. */
      readonly outdated?: readonly string[];
    }
  /** On disk before anyone sees the result. */
  | {
      readonly type: 'call.completed';
      readonly key: CallKey;
      readonly op: OpPath;
      readonly result: Payload;
      readonly form?: ResultForm;
      // What a served result would lack otherwise, or have too much.
      /** A list of `ResultNote`. */
      readonly notes?: Payload;
      /** Labels beyond those of arguments and function: its body met them, or a guard added them. */
      readonly labels?: readonly string[];
      /** Source markers beyond those of arguments and function. */
      readonly sources?: readonly string[];
      /** Labels of arguments or function that a guard took away. */
      readonly removed?: readonly string[];
      readonly elapsedMs: number;
      readonly usage?: Usage;
      /** Declared output files as they were when the call had ended, in the order of their declaration. */
      readonly outputs?: readonly OutputFile[];
      /** Not an answer (a command that ended with another status than 0): used once, never served. */
      readonly unusable?: string;
      /** Of the command that is its body, where it is not 0: the call failed, and its result is unusable. */
      readonly exitCode?: number;
      /** A guard denied what it does, and its own `denied` branch gave the value: unusable too. */
      readonly denied?: true;
    }
  | {
      readonly type: 'call.reused';
      readonly key: CallKey;
      readonly op: OpPath;
      readonly fn: string;
      readonly site?: string;
      readonly declared?: string;
      readonly from: EventRef & { readonly workflow?: Workflow };
      /** First argument as text, at most 256 UTF-16 units; only where the answer is borrowed and it is no secret. */
      readonly preview?: string;
      readonly fingerprint?: Fingerprint;
      /** Declared output files, in the order of their declaration. */
      readonly outputs?: readonly ReusedOutput[];
    }
  | {
      readonly type: 'call.failed';
      readonly key: CallKey;
      readonly op: OpPath;
      readonly message: string;
      /** Of an error that has one. */
      readonly code?: string;
      readonly denied?: true;
      readonly elapsedMs: number;
    }
  // ---- effect
  /** Everything that the world answered. `subject` is for people: a path, a command line, a variable's name. */
  | {
      readonly type: 'effect.performed';
      readonly op: OpPath;
      readonly kind: string;
      readonly subject: string;
      readonly request: string;
      /**
       * The answer; of a `stream.write` the text. Absent for what can't be recorded. Where a call's own body was a command or code whose
       * result is the text or value as it came, that is only in its `call.completed`: then only `durationMs` is here, or nothing.
       */
      readonly result?: Payload;
      /** Content hash of a file that was read or written. */
      readonly file?: BlobId;
      readonly error?: string;
      readonly errorCode?: string;
      readonly errorHint?: string;
      readonly elapsedMs?: number;
    }
  /** With the kernel before a program that the run started does anything: who resumes a killed run finds what that left behind. */
  | {
      readonly type: 'process.started';
      readonly op: OpPath;
      /** Its process group, whose number is that of its first process. */
      readonly group: number;
      /** Ticks between boot and the start of that process; empty where the system doesn't say. */
      readonly started: string;
      /** Of the boot; empty where the system has none. */
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
      /** Of an error that has one. `HOOK_TIMEOUT`: it was ended in the middle of its work. */
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
      /** It has an option `complete`: how that came out is said when the scope closes. */
      readonly conditional?: true;
    }
  | { readonly type: 'checkpoint.closed'; readonly name: string; readonly complete?: boolean }
  // ---- memo
  // `during`: other runs of the workflow that were going on, each with its last event that counted then (-1: none). What such a run
  // answers behind that event was not there yet, and stays.
  /** These answers are not served any more. Lasts: nothing brings them back but asking again. */
  | {
      readonly type: 'memo.invalidated';
      readonly selector: string;
      readonly keys: readonly CallKey[];
      readonly borrowed?: boolean;
      readonly during?: readonly EventRef[];
    }
  /** `--fresh`, `clean`: everything this workflow recorded before. `clean` also forgets the runs' checkpoints. */
  | { readonly type: 'memo.reset'; readonly reason: 'fresh' | 'clean'; readonly during?: readonly EventRef[] }
  // ---- graph
  | GraphFact;

/** A fact with its place in the run. `ts` is for people; only `seq` gives order. */
export type JournalEvent = Fact & {
  readonly v: number;
  readonly seq: Seq;
  readonly ts: string;
  readonly hash: string;
  /** Something was taken out of this event: when and why. `tombstone` holds the chain together then (codec C3). */
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

/**
 * What `append` promises for each type before it resolves.
 * `synced`: on disk (fdatasync). `written`: with the kernel, so that `kill -9` can't lose it. `ordered`: queued, and with the
 * kernel a few milliseconds later; never later than a written or synced event behind it.
 */
export type Durability = 'synced' | 'written' | 'ordered';
export const DURABILITY: { readonly [T in FactType]: Durability } = {
  'run.started': 'synced',
  'run.finished': 'synced',
  'source.loaded': 'ordered',
  'definition.recorded': 'ordered',
  'op.started': 'ordered',
  'op.finished': 'ordered',
  'call.started': 'written',
  'call.completed': 'synced',
  'call.reused': 'ordered',
  'call.failed': 'written',
  'effect.performed': 'ordered',
  'process.started': 'written',
  'hook.fired': 'ordered',
  'guard.decided': 'ordered',
  'checkpoint.reached': 'synced',
  'checkpoint.closed': 'synced',
  'memo.invalidated': 'synced',
  'memo.reset': 'synced',
  'node.started': 'ordered',
  'node.finished': 'synced',
  'edge.selected': 'ordered',
  'context.updated': 'ordered',
  'gate.checked': 'ordered',
  'retry.scheduled': 'written',
  'question.asked': 'written',
  'question.answered': 'synced',
  'artifact.stored': 'ordered',
  'artifact.removed': 'written',
};

/**
 * While the disk takes nothing, who appends one of these doesn't wait: nothing is paid for before an earlier line is durable, so it is
 * enough that these lines stand before the next one that is waited for. A script that makes no calls is never held up by its journal.
 */
export const MAY_LAG: ReadonlySet<FactType> = new Set<FactType>([
  'run.started',
  'run.finished',
  'process.started',
  'checkpoint.reached',
  'checkpoint.closed',
  'memo.invalidated',
  'memo.reset',
]);

/** False for a type of a newer program, or a fact that another program appended: what it means, and what it needs, is unknown. */
export function isKnownType(type: string): type is FactType {
  return Object.hasOwn(DURABILITY, type);
}
