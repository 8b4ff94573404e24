/** What an operation is, and the narrow ports through which `perform` meets the rest of a run. Design section 2. */
import type { Fact, Json, OpKind } from '../../journal/event.js';
import type { CallKey, EventRef, Fingerprint, Workflow } from '../../journal/ids.js';
import type { Position, Recorded } from '../../journal/store.js';
import type { Value } from '../values/value.js';
import type { Frame } from '../language/frame.js';
import type { Denial } from './denial.js';
import type { Question } from './identity.js';

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
  /** The call is a stage of a pipeline (or its source) that can run again. */
  readonly repeatable: boolean;
  /** The function's own `denied` branch. */
  readonly onDenied?: (frame: Frame, denial: Denial) => Promise<Value>;
  readonly guards?: GuardSwitch;
}

/** `with { guards: … }` */
export type GuardSwitch = { readonly off: true } | { readonly only: readonly string[] } | { readonly except: readonly string[] };

/** An operation that carries the label `llm` directly: it has a key, is looked up and recorded. */
export interface LlmCall {
  /** Forms the question from the inputs as the before-hooks left them. */
  question(inputs: readonly Value[]): Promise<{ readonly question: Question; readonly body?: Body }>;
  fingerprint(): Promise<{ readonly fingerprint: Fingerprint; readonly parts: () => Fact & { type: 'definition.recorded' } }>;
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
export interface KnownAnswer {
  readonly from: EventRef & { readonly workflow?: Workflow };
  readonly fingerprint?: Fingerprint;
  value(): Value;
}

/** What is paid for already. `run.ts` builds it from the folds. */
export interface Answers {
  /** What the flags, the header and the open checkpoint scope say about llm calls right now. */
  policy(): { readonly records: boolean; readonly serves: boolean };
  lookup(key: CallKey): Promise<KnownAnswer | undefined>;
  /** A call of this run was recorded: from now on it answers the same question. */
  learn(key: CallKey, answer: { readonly recorded: Recorded; readonly fingerprint: Fingerprint; readonly form?: 'text' }): KnownAnswer;
  /** Encodes arguments and results: inline or as a blob that is durable before this resolves. */
  payload(value: Json): Promise<import('../../journal/event.js').Payload>;
  /** A result was served although its definition has changed since. */
  servedOld(fn: string, recorded: Fingerprint, now: Fingerprint): void;
}

export type { Position };
