/** What an operation is, and the narrow ports through which `perform` meets the rest of a run. design.md 2. */
import type { BlobWriter } from '../../journal/storage/blob-writer.js';
import type { DefinitionPart, Fact, Json, OpKind, OutputFile, Payload } from '../../journal/event.js';
import type { BlobId, CallKey, EventRef, Fingerprint, OpPath, Workflow } from '../../journal/ids.js';
import type { Recorded } from '../../journal/store.js';
import type { Value } from '../values/value.js';
import type { Frame } from './frame.js';
import type { ResultLabels } from './result-labels.js';
import type { Denial } from './denial.js';
import type { Encoded } from '../operation/encode-result.js';
import type { CallRequest } from './identity.js';
import type { OutputFiles } from '../operation/outputs.js';
import type { InFlightCalls } from './in-flight-calls.js';

/** At hand, or only later. Most calls wait for nothing but their answer, and every needless wait is paid by each of a thousand of them. */
export type Awaitable<T> = T | Promise<T>;

/** What only a call has. */
export interface CallFacts {
  /** Name at the declaration. */
  readonly declared: string;
  /** Names under which it was called: `['excavate']`, through a namespace `['dig', 'mine.dig']`. */
  readonly called: readonly string[];
  readonly params: readonly string[];
  /** The language of a body that is code: guards filter by it. */
  readonly language?: string;
  /** `file:line:column` of the call; told only when something is recorded. */
  readonly site: () => string;
  readonly declaredAt: () => string;
  /** The call is a stage of a pipeline whose source can run again: a guard's `retry` means something there. */
  readonly repeatable: boolean;
  /** The function's own `denied` branch; `inputs` as the before-hooks left them. */
  readonly onDenied?: (frame: Frame, inputs: readonly Value[], denial: Denial) => Promise<Value>;
  readonly guards?: GuardSwitch;
}

/** `with { guards: … }` */
export type GuardSwitch = { readonly off: true } | { readonly only: readonly string[] } | { readonly except: readonly string[] };

export interface FormedCall {
  readonly request: CallRequest;
  readonly body?: Body;
  /** A value beyond the inputs went into it, and is secret. */
  readonly hasSecret?: boolean;
  /** The key under which this very operation was answered before a crash, when that counts more than the question. */
  readonly recordedAs?: CallKey;
}

/** What a call is made with: the function with everything it uses, and the guards and hooks that hold for it. */
export interface Definition {
  readonly fingerprint: Fingerprint;
  readonly parts: readonly DefinitionPart[];
  /** Of a function: what may happen while it is executed, as filters name it. */
  readonly reach?: Reach;
}

/** The names of operations, by kind of filter. */
export interface Reach {
  readonly functions: ReadonlySet<string>;
  readonly operations: ReadonlySet<string>;
  readonly labels: ReadonlySet<string>;
}

/** An operation that carries the label `llm` directly: it has a key, is looked up and recorded. */
export interface LlmCall {
  /** Forms the question from the inputs as the before-hooks left them. */
  request(inputs: readonly Value[]): Awaitable<FormedCall>;
  definition(): Awaitable<Definition>;
  /** Absolute paths of the files that it declares to write. */
  writes?(inputs: readonly Value[]): Promise<readonly string[]>;
  /** Its result is the output of one command, which is no answer when the command failed. */
  readonly isCommand: boolean;
  /** Labels and source markers that a fresh result would carry beyond those of the arguments. */
  readonly labels: readonly string[];
  readonly sources: readonly string[];
}

export interface Operation {
  readonly kind: OpKind;
  /** Name in the path; usually the name, else the kind. */
  readonly segment: string;
  readonly name: string | null;
  readonly labels: readonly string[];
  readonly inputs: readonly Value[];
  readonly target?: string;
  readonly call?: CallFacts;
  readonly llm?: LlmCall;
  /** Loops: number of items. */
  readonly total?: number;
  /** Iterations: their number, which stands in the path instead of an ordinal. */
  readonly index?: number;
  /** Visits and attempts of graph nodes: the ordinal in the path, where it isn't that of the order of execution. */
  readonly ordinal?: number;
}

export type Body = (frame: Frame, inputs: readonly Value[]) => Promise<Value>;

/** Where facts go. Nothing here throws for a disk's sake: a run outlives its journal. */
export interface Recorder {
  /** False: nothing is kept, and nobody needs to build a fact. */
  readonly on: boolean;
  post(fact: Fact): void;
  /** Resolves when as durable as promised; undefined when it could not be kept (the user was told once). */
  append(fact: Fact): Promise<Recorded | undefined>;
}

/** An answer that can be served. */
export interface CachedResult {
  /** Under which it is recorded. */
  readonly key: CallKey;
  readonly resultLabels: ResultLabels;
  readonly from: EventRef & { readonly workflow?: Workflow };
  /** The definition that it was made with, where that is another than now. */
  readonly editedSince?: Fingerprint;
  /** Declared output files as the call had left them; undefined when it declared none. */
  outputs(): Promise<readonly OutputFile[] | undefined>;
  /** Read from the journal when a script looks at it. */
  value(): Value;
}

export interface CacheQuery {
  readonly op: OpPath;
  readonly key: CallKey;
  readonly fn: string;
  readonly definition: Definition;
  readonly hasSecret: boolean;
}

export interface HeldResult {
  /** Under which it is recorded. */
  readonly key: CallKey;
  readonly encoded: Encoded;
  readonly resultLabels: ResultLabels;
  readonly outputs: readonly OutputFile[] | undefined;
}

/** What a `checkpoint` says about the calls up to the next one. checkpoint-resume.md 11.2. */
export interface CheckpointScope {
  readonly name: string;
  readonly resume?: 'auto' | 'manual' | 'never';
  readonly ttlMs?: number;
  /** It has a `complete` expression: earlier results are served only if the last evaluation was true. */
  readonly hasComplete: boolean;
}

/** What is paid for already. `run.ts` builds it from the folds. */
export interface ResultCache {
  /** What the flags, the header and the open checkpoint scope say about llm calls right now. */
  policy(): { readonly records: boolean; readonly serves: boolean };
  readonly files: OutputFiles;
  /** Definitions that this run has recorded. */
  readonly recordedDefinitions: Set<Fingerprint>;
  /** Questions that are being asked now. */
  readonly inFlight: InFlightCalls;
  /** `key` is that of the plain question: what was asked with secrets is found as well. */
  lookup(question: CacheQuery): Awaitable<CachedResult | undefined>;
  /** This answer is not served in this run: from now on `lookup` gives the next one that there is. */
  decline(known: CachedResult): void;
  /** A result that is safe in the journal now: large ones are read there again by whoever looks at them. */
  recall(recorded: Recorded, encoded: Encoded, asked: { readonly key: CallKey; readonly fn: string }, fresh: Value): Value;
  /** Encodes arguments and results: inline or as a blob that is durable before this resolves. */
  /** `isPaid`: of a call; a disk that takes nothing for a while is waited for. */
  payload(value: Json, isPaid?: boolean): Awaitable<Payload>;
  /** The first argument as short text, for events that don't hold the arguments in clear. */
  preview(args: readonly Json[]): string | undefined;
  /** As `payload`, for what may not be read in the journal. */
  secretPayload(value: Json, about: string, isPaid?: boolean): Promise<Payload>;
  /** The key under which a question with secrets is recorded. */
  secretKey(key: CallKey): Promise<CallKey>;
  /** A keyed digest. */
  digest(text: string): Promise<string>;
  /** An answer that the journal can't keep is served from memory while the run goes on. `key` is that of the plain question. */
  hold(key: CallKey, recorded: Recorded, answer: HeldResult): void;
  /** A blob whose content comes in pieces. Absent: nothing is recorded. */
  readonly newBlob?: () => BlobWriter;
  /** Keeps a text as a blob; undefined when it could not be kept. */
  keepText(text: string): Promise<BlobId | undefined>;
  /** A checkpoint was reached: its options hold for the calls that follow. */
  enterScope(scope: CheckpointScope): void;
  /** A result was served although its definition has changed since. */
  warnStaleHit(fn: string, recorded: Fingerprint, now: Fingerprint): void;
}
