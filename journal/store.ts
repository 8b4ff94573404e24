/**
 * The seam between runs and where their journals lie. Implementations: `file-store.ts`, `memory-store.ts`; both pass the
 * contract suite in `test/journal/store-contract.ts`.
 */
import type { BlobWriter, StoredBlob } from './storage/blob-writer.js';
import type { JournalError } from './errors.js';
import type { Fact, JournalEvent, Json, Payload } from './event.js';
import type { Secrets } from './secrets/keyring.js';
import type { BlobId, CallKey, RunId, RunRef, Seq, Workflow } from './ids.js';

/** Where an event lies in its run: opaque to everyone but the store that gave it. */
export interface Position {
  readonly offset: number;
  readonly bytes: number;
}

/** What the journal adds to a fact when it makes it an event of the run. */
export interface Recorded {
  readonly seq: Seq;
  readonly ts: string;
  /** Empty when the fact could not become a line. */
  readonly hash: string;
  readonly position: Position;
}

/** One open run and its only writer. */
export interface Journal {
  readonly ref: RunRef;
  /** Queues a fact behind all earlier ones; it is with the kernel a few milliseconds later. Never throws: a write error is kept for the next `append`. */
  post(fact: Fact): Recorded;
  /**
   * Resolves when the fact is as durable as `DURABILITY` promises for its type, never before; while the disk takes nothing, facts of the
   * types in `MAY_LAG` resolve at once. Rejects with `JournalError` when it can't be.
   * `placed` is called before `append` returns, when the fact has its place: who follows a run sees it in the order of its journal.
   */
  append(fact: Fact, placed?: (recorded: Recorded) => void): Promise<Recorded>;
  /** Resolves when all that was posted so far is with the kernel. */
  flush(): Promise<void>;
  /** Flushes, syncs and releases the run. */
  close(): Promise<void>;
}

/** How a journal deals with a disk that takes nothing for a while. */
export interface CreateOptions {
  /** How long it tries again before it gives up; 60 s by default. */
  readonly waitMs?: number;
  /** Called when that takes longer than a moment, and without an error when it is over and nothing was lost. */
  readonly onOutage?: (error: JournalError | undefined, waitMs: number) => void;
  /** A posted fact can't be a line. */
  readonly onLost?: (error: JournalError) => void;
}

export type RunLiveness = 'finished' | 'running' | 'crashed';

/** What can be told of a run from its head, its tail and its lock, without reading it. */
export interface RunFile {
  readonly ref: RunRef;
  readonly liveness: RunLiveness;
  readonly bytes: number;
  /** `run.finished`, when the tail holds it. */
  readonly finished?: JournalEvent & { readonly type: 'run.finished' };
  /** A newer program wrote it: nothing in it can be read, not even whether it came to its end. */
  readonly isOfUnknownVersion?: true;
}

/** Something in a run that can't be used, named exactly. Never fatal. */
export interface Defect {
  readonly kind: 'torn-tail' | 'corrupt' | 'unknown-version' | 'missing-blob' | 'damaged-blob' | 'unreadable';
  readonly run: RunRef;
  /** One-based line, where there is one. */
  readonly line?: number;
  readonly offset?: number;
  readonly message: string;
}

export interface ScanOptions {
  /** Start behind this position (of an earlier scan of the same run) with the hash of the line that ends there. */
  readonly from?: { readonly offset: number; readonly seq: Seq; readonly hash: string };
  /** Stop behind so many events, at least 1: a reader that takes a long run in parts goes on from `end`. */
  readonly eventsMax?: number;
  readonly onDefect?: (defect: Defect) => void;
}

export interface ScanReport {
  readonly events: number;
  readonly defects: number;
  /** Where the last usable line ends; a later scan may go on from here. */
  readonly end: { readonly offset: number; readonly seq: Seq; readonly hash: string };
}

/**
 * Reading without waiting, where a journal lies at hand: results stay in it until a script looks at one. A store that can't
 * leaves it out, and results are held in memory.
 */
export interface ImmediateReads {
  /** The line there is whole and completes this call. Costs less than reading the event. */
  holds(ref: RunRef, position: Position, key: CallKey): boolean;
  /** As `readAt` and `resolve` of the store. */
  readAt(ref: RunRef, position: Position): JournalEvent | undefined;
  resolve(payload: Payload, about?: string): Json | undefined;
}

export interface JournalStore {
  readonly immediate?: ImmediateReads;
  /** Creates a run and becomes its only writer. With `options` a disk that takes nothing now is waited for by the journal. */
  create(ref: RunRef, options?: CreateOptions): Promise<Journal>;
  /**
   * Waits until nobody else, in any process, has the turn of this workflow, and gives what ends it; ending it again does nothing. For
   * whoever decides from the past which run comes next. A process that dies gives up its turn.
   */
  acquireWorkflowLock(workflow: Workflow): Promise<() => Promise<void>>;
  workflows(): Promise<readonly Workflow[]>;
  /** Oldest first. Reads heads, tails and locks only. */
  runs(workflow: Workflow): Promise<readonly RunFile[]>;
  find(run: RunId): Promise<RunRef | undefined>;
  /**
   * Calls `visit` for every usable event in order, synchronously, chain verified. Torn tails and damage are reported and
   * stepped over; a run of an unknown version has no usable events.
   */
  scan(ref: RunRef, visit: (event: JournalEvent, position: Position) => void, options?: ScanOptions): Promise<ScanReport>;
  /** One event again, verified; undefined when it is damaged now. */
  readAt(ref: RunRef, position: Position): Promise<JournalEvent | undefined>;
  /** Inline below the threshold, and at once; else a durable blob. Throws what `jsonSize` throws. */
  payload(value: Json): Payload | Promise<Payload>;
  /** Sealed for what it is about, or only a keyed digest where there is no sealing key. */
  secretPayload(value: Json, about: string): Promise<Payload>;
  /** The value again; undefined when the payload is gone, was sealed with another key or about something else, or doesn't match its name. */
  resolve(payload: Payload, about?: string): Promise<Json | undefined>;
  /** Digests and seals; a key for digests is made if there is none. */
  secrets(): Promise<Secrets>;
  /** As `secrets`; undefined when there is no key yet, so nothing can have been recorded with one. */
  knownSecrets(): Promise<Secrets | undefined>;
  putBlob(content: string | Uint8Array): Promise<StoredBlob>;
  /** A blob whose content comes in pieces. The run that it is for must have been created. */
  newBlob(): BlobWriter;
  getBlob(id: BlobId): Promise<Uint8Array | undefined>;
  /** Auxiliary data of a workflow (the index): replaced as a whole by rename; may vanish at any time. */
  readDerived(workflow: Workflow, name: string): Promise<Uint8Array | undefined>;
  writeDerived(workflow: Workflow, name: string, content: string | Uint8Array): Promise<void>;
}
