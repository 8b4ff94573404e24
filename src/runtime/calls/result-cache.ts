/** The port to the results that are paid for already. `session/` builds it from the folds. */
import type { ExecutingWorker } from '../../../journal/storage/offers.js';
import type { FactOf, Json, OutputFile, Payload, PayloadUse } from '../../../journal/event.js';
import type { WrittenFile } from '../../../journal/facts/call-event.js';
import type { BlobId, CallKey, EventRef, Fingerprint, OpPath, Workflow } from '../../../journal/ids.js';
import type { RecordedResult } from '../../../journal/storage/claims.js';
import type { BlobWriter } from '../../../journal/storage/blob-writer.js';
import type { Recorded } from '../../../journal/store.js';
import type { MeasuredCall, Value } from '../../values/value.js';
import type { Awaitable } from '../awaitable.js';
import type { Outcome } from '../completion.js';
import type { Definition } from '../definitions/definition.js';
import type { ClaimedCall, ClaimedCallState, Encoded, LostClaim } from './claimed-call.js';
import type { CallFiles } from './call-files.js';
import type { InFlightCalls } from './in-flight-calls.js';
import type { CallOffers } from './offered-call.js';
import type { ResultLabels } from './result-labels.js';

export type { ClaimedCall, ClaimedCallState, Encoded, LostClaim };

export interface ResultCache {
  /** The policy for llm calls at this moment: it follows from the flags, the header and the current checkpoint scope. */
  policy(): CachePolicy;
  readonly files: OutputFiles;
  /** Absent where nothing is recorded, and in a replay. */
  readonly callFiles?: CallFiles;
  /** Definitions that this run has recorded. */
  readonly recordedDefinitions: Set<Fingerprint>;
  readonly inFlight: InFlightCalls;
  /** Present in the store of a team. */
  readonly claims?: CallClaims;
  /** Present where the run has calls executed by workers. */
  readonly offers?: CallOffers;
  /** Finds a result by its plain key, also one that was recorded under a keyed digest because a secret went into the call. */
  lookup(query: CacheQuery): Awaitable<CachedResult | undefined>;
  /** Returns whether results wait for guards: mostly none does, and this is asked for each call that is executed. */
  readonly hasUnjudged?: () => boolean;
  /**
   * Finds the result of the call that came back in an earlier execution, and that the guards behind it have not judged: it is paid for.
   * Absent where nothing is recorded.
   */
  readonly unjudged?: (query: CacheQuery) => Awaitable<UnjudgedResult | undefined>;
  /**
   * Finds the result of a call inside another one, which had not ended when the process died: that of this very operation, once.
   * Absent where nothing is recorded.
   */
  readonly lookupInside?: (query: CacheQuery) => Awaitable<CachedResult | undefined>;
  /** Present in a replay: resolves to what the recorded call of this operation used, because a replay repeats no attempt. */
  readonly recordedMeasure?: (op: OpPath) => Promise<MeasuredCall | undefined>;
  /** From now on this run reuses the next recorded result instead of this one. */
  decline(known: CachedResult): void;
  /** Returns a result that is durable now as scripts get it: a large one is read from the journal when it is looked at. */
  recall(recorded: Recorded, encoded: Encoded, call: { readonly key: CallKey; readonly fn: string }, fresh: Value): Value;
  /**
   * Encodes arguments and results: inline, or as a blob that is durable before this resolves. `isPaid`: of a call; a disk that refuses
   * writes for a while is waited for.
   */
  payload(value: Json, use?: PayloadUse & { readonly isPaid?: boolean }): Awaitable<Payload>;
  /** Returns the first argument as short text, for events that don't hold the arguments in clear. */
  preview(args: readonly Json[]): string | undefined;
  /** Encodes like `payload`, encrypted. */
  secretPayload(value: Json, about: string, isPaid?: boolean): Promise<Payload>;
  /** Resolves to what returns, for a plain key, the one under which a call with secrets in its request is recorded. */
  secretKeys(): Promise<(plain: CallKey) => CallKey>;
  /** A keyed digest. */
  digest(text: string): Promise<string>;
  /** Keeps a result that the journal can't hold in memory until the run ends. `key` is the plain key. */
  hold(key: CallKey, recorded: Recorded, result: HeldResult): void;
  /** Opens a blob that is written in pieces. Absent: nothing is recorded. */
  readonly newBlob?: () => BlobWriter;
  /** Stores a text as a blob; undefined when it could not be stored. */
  keepText(text: string): Promise<BlobId | undefined>;
  /** Applies the options of a checkpoint that was reached to the calls that follow. */
  enterScope(scope: CheckpointScope): void;
  /** Warns that a result is reused although its definition has changed since. */
  warnStaleHit(fn: string, hit: { readonly op: OpPath; readonly recorded: Fingerprint; readonly now: Fingerprint }): void;
}

/** One execution of a call at a time, of all runs that write to the store. team-store.md 6. */
export interface CallClaims {
  /**
   * Resolves when this run is to execute the call, or when another run has a result of it, which `lookup` then finds. `refused` is such
   * a result that could not be used. Rejects when the run must stop.
   */
  claim(call: ClaimedCall, refused: EventRef | undefined): Promise<ClaimedCallState>;
  /**
   * Undefined while the claim is this run's for sure. Where its lease may have run out since, the call is claimed again: resolves with
   * undefined if that succeeds. Must be asked in the step in which the body begins.
   */
  confirm(call: ClaimedCall, refused: EventRef | undefined): Promise<LostClaim | undefined> | undefined;
  /** Must be called when the call has ended. */
  giveBack(key: CallKey): void;
  /** Returns the result that another run had first, which `lookup` finds from then on; undefined when it can't be read. */
  winner(call: ClaimedCall, by: RecordedResult): Promise<CachedResult | undefined>;
}

export interface CachePolicy {
  readonly records: boolean;
  readonly reuses: boolean;
}

export interface CacheQuery {
  readonly op: OpPath;
  readonly key: CallKey;
  readonly fn: string;
  readonly definition: Definition;
  readonly hasSecret: boolean;
}

/** A worker that has executed a call for this run, with what that cost, the calls that it executed inside included, where it is known. */
export interface PaidWorker extends ExecutingWorker {
  readonly costUsd: number | undefined;
}

/** A recorded result that may be reused. */
export interface CachedResult {
  /** The key that it is recorded under. */
  readonly key: CallKey;
  readonly resultLabels: ResultLabels;
  readonly from: EventRef & { readonly workflow?: Workflow };
  /** Returns the worker that executed the call for this run; undefined when asked again, because it executed it once. */
  takeWorker?(): PaidWorker | undefined;
  /** It was taken out of a reply by an adapter. */
  readonly isInner?: true;
  /** The definition that it was made with, where that is another than now. */
  readonly editedSince?: Fingerprint;
  /** The cost of all attempts of the recorded call, where it is known. */
  readonly costUsd?: number;
  /** The cost of the calls inside it, where it is known. */
  readonly insideUsd?: number;
  /** As `call.reused` has it. */
  readonly unresolvedInside?: number;
  /** Files that the call wrote and its arguments name. */
  readonly files?: readonly WrittenFile[];
  /** Declared output files as the call had left them; undefined when it declared none. */
  outputs(): Promise<readonly OutputFile[] | undefined>;
  /** Undefined when nothing is known. */
  readonly measured?: (() => MeasuredCall | undefined) | undefined;
  /** A large one is read from the journal when a script looks at it. */
  value(): Outcome;
}

/** A result that came back and was not judged. */
export interface UnjudgedResult extends CachedResult {
  readonly fact: Omit<FactOf<'result.received'>, 'result'>;
}

export interface HeldResult {
  /** The key that it is recorded under. */
  readonly key: CallKey;
  readonly encoded: Encoded;
  readonly resultLabels: ResultLabels;
  readonly outputs: readonly OutputFile[] | undefined;
  readonly isInner?: true;
  readonly measured: (() => MeasuredCall | undefined) | undefined;
}

/** The options of a `checkpoint` for the calls up to the next one. checkpoint-resume.md 11.2. */
export interface CheckpointScope {
  readonly name: string;
  readonly resume?: 'auto' | 'manual' | 'never';
  readonly ttlMs?: number;
  /** It has a `complete` expression: earlier results are reused only if the last evaluation was true. */
  readonly hasComplete: boolean;
}

/** The store of declared output files. */
export interface OutputFiles {
  /** `--keep-files` */
  readonly keepsNewer: boolean;
  /** Stores what a call wrote; durable when this resolves, undefined when it could not be stored. */
  keep(path: string, content: Uint8Array): Promise<{ readonly blob: BlobId; readonly bytes: number } | undefined>;
  content(blob: BlobId): Promise<Uint8Array | undefined>;
  /** Resolves to true when a recorded call of this script, or of one of its fork sources, wrote this blob to this path. */
  wrote(path: string, blob: BlobId): Promise<boolean>;
}
