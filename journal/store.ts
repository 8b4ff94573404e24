/**
 * Separates runs from the place where their journals are kept. Implementations: `storage/file-store.ts`, `storage/memory-store.ts`,
 * `postgres/pg-store.ts`; all pass the contract suite in `test/journal/store-contract.ts`.
 */
import type { BlobWriter, StoredBlob } from './storage/blob-writer.js';
import type { JournalError } from './errors.js';
import type { Claims, RecordedResult } from './storage/claims.js';
import type { Offers } from './storage/offers.js';
import type { Durability } from './durability.js';
import type { Fact, JournalEvent, Json, Payload } from './event.js';
import type { OwnFact } from './own-fact.js';
import type { PayloadUse } from './payloads.js';
import type { Secrets } from './secrets/sealing.js';
import type { BlobId, CallKey, Position, RunId, RunRef, Seq, Workflow } from './ids.js';

export type { Position };

/** The members that make a fact an event of the run. */
export interface Recorded {
  readonly seq: Seq;
  readonly ts: string;
  /** Empty when the fact could not become a line. */
  readonly hash: string;
  readonly position: Position;
  /** Set for a `call.completed` in the store of a team that came too late: the result of another run is the one to use. */
  readonly supersededBy?: RecordedResult;
}

/** One open run and its only writer. */
export interface Journal {
  readonly ref: RunRef;
  /** Present where several machines write to the store. */
  readonly claims?: Claims;
  readonly offers?: Offers | undefined;
  /** Queues a fact behind all earlier ones; the kernel has it a few milliseconds later. Never throws: `append` reports write errors. */
  post(fact: Fact): Recorded;
  /**
   * Resolves when the fact is as durable as `DURABILITY` promises for its type, never before; while the disk takes nothing, facts of the
   * types in `MAY_LAG` resolve at once. Rejects with `JournalError` when that durability can't be reached.
   * `placed` is called before `append` returns, when the fact has its place, so that followers see events in the order of the journal.
   */
  append(fact: Fact, placed?: (recorded: Recorded) => void): Promise<Recorded>;
  /** Appends a fact of the embedding program. Resolves when it is as durable as the caller wants it; rejects as `append`. */
  appendOwn(fact: OwnFact, durability: Durability): Promise<Recorded>;
  /** Resolves when the kernel has all that was posted so far. */
  flush(): Promise<void>;
  /** The run must stop: what is kept on the own disk is handed out, whether the store has it or not. */
  hurry?(): void;
  /** Flushes, syncs and releases the run. */
  close(): Promise<void>;
}

/** A run that another one goes on with, as it was read. Without `bytes` it was read to its end, by the process that wrote it. */
export interface ContinuedRun {
  readonly ref: RunRef;
  readonly bytes?: number;
  /** Counts how often the run was taken from its writer; absent: never. */
  readonly fence?: number;
}

/** Says which run a new one continues, and how its journal deals with a disk that takes nothing for a while. */
export interface CreateOptions {
  /**
   * In the step that creates the run this one is taken from its writer, for ever. `create` rejects with JOURNAL_RUN_IN_USE where it has a
   * living writer, or was changed or taken since it was read, and does not wait for a store that is away. Ignored where the lock of a run
   * goes with its process: it can't be taken from a living one, and the lock of the workflow keeps others away.
   */
  readonly continues?: ContinuedRun | undefined;
  /** The journal gives up after so long; 60 s by default. */
  readonly waitMs?: number | undefined;
  /** Called when an outage takes longer than a moment, and without an error when it is over and nothing was lost. */
  readonly onOutage?: (error: JournalError | undefined, waitMs: number) => void;
  /** Called when a posted fact can't be a line. */
  readonly onLost?: (error: JournalError) => void;
  /** Called with a fact that the store itself has appended to the run, when it has its place. */
  readonly onAdded?: (fact: Fact, recorded: Recorded) => void;
  /**
   * Called once, with STORE_SEALED or STORE_WENT_BACK, when the store takes nothing more of the run: also of one that appends nothing.
   * Calls in flight may still end, and are kept. Never called where no other process can take a run.
   */
  readonly onTaken?: (error: JournalError) => void;
}

export type RunLiveness = 'finished' | 'running' | 'crashed';

/** Describes a run by its head, its tail and its lock, without reading all of it. */
export interface RunFile {
  readonly ref: RunRef;
  readonly liveness: RunLiveness;
  readonly bytes: number;
  /** Counts how often the run was taken from its writer; absent: never, or where that can't be. */
  readonly fence?: number;
  /** Present when the tail holds `run.finished`. */
  readonly finished?: JournalEvent & { readonly type: 'run.finished' };
  /** A newer program wrote it: nothing in it can be read, not even whether it ended. */
  readonly isOfUnknownVersion?: true;
  /** Nothing ran: it holds the ends of calls that a sealed run began. */
  readonly isSalvage?: true;
  /** A worker recorded it: it holds calls of the run that it serves. */
  readonly isWorker?: true;
  /** Names the run that it was made to serve, and the worker, where the worker has recorded no event in it. */
  readonly madeFor?: { readonly for: RunId; readonly name: string };
  /** It reads as crashed because its lease is over, and its process exists: a machine that sleeps, or a process that was stopped. */
  readonly isAsleep?: true;
}

/** Names a part of a run that can't be used. Never fatal. */
export interface Defect {
  readonly kind: 'torn-tail' | 'corrupt' | 'unknown-version' | 'unknown-members' | 'missing-blob' | 'damaged-blob' | 'unreadable';
  readonly run: RunRef;
  /** One-based. */
  readonly line?: number;
  readonly offset?: number;
  readonly message: string;
}

export interface ScanOptions {
  /** Starts behind this position (of an earlier scan of the same run) with the hash of the line that ends there. */
  readonly from?: { readonly offset: number; readonly seq: Seq; readonly hash: string } | undefined;
  /** Stops behind so many events, at least 1: a reader that takes a long run in parts continues from `end`. */
  readonly eventsMax?: number;
  readonly onDefect?: (defect: Defect) => void;
}

export interface ScanReport {
  readonly events: number;
  readonly defects: number;
  /** The end of the last usable line, from which a later scan may continue. */
  readonly end: { readonly offset: number; readonly seq: Seq; readonly hash: string };
}

/** Reads without waiting. */
export interface ImmediateReads {
  /** Tells whether the line there is whole and completes this call. Costs less than reading the event. */
  holds(ref: RunRef, position: Position, key: CallKey): boolean;
  /** Does what `readAt` of the store does. */
  readAt(ref: RunRef, position: Position): JournalEvent | undefined;
  /** Does what `resolve` of the store does. */
  resolve(payload: Payload, about?: string): Json | undefined;
}

/** Runs and blobs, without knowledge of what payloads are. */
export interface RunStore {
  /** Absent where reading takes a way over a network. */
  readonly immediate?: Pick<ImmediateReads, 'holds' | 'readAt'> & { getBlob(id: BlobId): Uint8Array | undefined };
  /** The clock that all machines share which write to the store. Absent where there is but one machine. */
  nowMs?(): Promise<number>;
  /** Creates a run and becomes its only writer. With `options` the journal waits for a disk that takes nothing now. */
  create(ref: RunRef, options?: CreateOptions): Promise<Journal>;
  /**
   * Continues a run that has no writer and no `run.finished`, behind its last whole event. Rejects with `JournalError`:
   * JOURNAL_RUN_UNKNOWN, JOURNAL_RUN_IN_USE, JOURNAL_RUN_FINISHED, JOURNAL_RUN_DAMAGED.
   */
  reopen(ref: RunRef, options?: CreateOptions): Promise<Journal>;
  /**
   * Removes the events of a run for good, whatever other runs need of it; its blobs stay until `journal gc`. Rejects with `JournalError`:
   * JOURNAL_RUN_UNKNOWN, JOURNAL_RUN_IN_USE.
   */
  deleteRun(ref: RunRef): Promise<void>;
  /**
   * Waits until no other caller, in any process, holds the lock of this workflow. Returns the function that releases it; releasing it
   * again does nothing. Held while a process decides from the prior runs which run comes next, so that two processes cannot decide
   * differently. A process that dies releases its lock.
   */
  acquireWorkflowLock(workflow: Workflow): Promise<() => Promise<void>>;
  workflows(): Promise<readonly Workflow[]>;
  /** Lists the oldest first. Reads heads, tails and locks only. */
  runs(workflow: Workflow): Promise<readonly RunFile[]>;
  find(run: RunId): Promise<RunRef | undefined>;
  /**
   * Reads the first events of these runs of a workflow at once; those that are damaged are left out. Absent where each is read as quickly
   * by a scan.
   */
  firstEvents?(workflow: Workflow, runs: readonly RunId[]): Promise<ReadonlyMap<RunId, JournalEvent>>;
  /**
   * Calls `visit` for every usable event in order, synchronously, chain verified. Torn tails and damage are reported and
   * stepped over; a run of an unknown version has no usable events. A TypeError or RangeError of `visit` counts as damage of the line
   * (READER-4).
   */
  scan(ref: RunRef, visit: (event: JournalEvent, position: Position) => void, options?: ScanOptions): Promise<ScanReport>;
  /** Reads one event again, verified; undefined when it is damaged now. */
  readAt(ref: RunRef, position: Position): Promise<JournalEvent | undefined>;
  putBlob(content: string | Uint8Array): Promise<StoredBlob>;
  /**
   * Stores a blob that may repeat parts of earlier ones, once for all that repeat them. The run that it is for must have been created.
   */
  packBlob(content: string): Promise<StoredBlob>;
  /** True for a text that continues one that it was asked about lately, and that `packBlob` would store as little more than its end. */
  continues?(text: string): boolean;
  /** True for a packed blob that is an earlier one with a new end. */
  hasGrown?(id: BlobId): boolean;
  /** Begins a blob that is written in pieces. The run that it is for must have been created. */
  newBlob(): BlobWriter;
  getBlob(id: BlobId): Promise<Uint8Array | undefined>;
  /** Reads data derived from a workflow's runs (the index). It is replaced as a whole by rename, and may vanish at any time. */
  readDerived(workflow: Workflow, name: string): Promise<Uint8Array | undefined>;
  writeDerived(workflow: Workflow, name: string, content: string | Uint8Array): Promise<void>;
  /**
   * Does what `writeDerived` does, unless something else is there than what begins with `beginning`; without one, unless anything is there.
   * Resolves with false when it was left as it is. Another process that writes at the same moment may still win.
   */
  replaceDerived(workflow: Workflow, name: string, content: string | Uint8Array, beginning: string | undefined): Promise<boolean>;
  readonly indexFiles?: IndexFiles;
}

/**
 * Files of an index that are read in parts, without waiting. Each is written once, and holds nothing that the runs do not: it may vanish,
 * or be damaged, at any time. A store without them keeps indexes that are read as a whole.
 */
export interface IndexFiles {
  list(workflow: Workflow): Promise<readonly ListedIndexFile[]>;
  /**
   * Present where files may be elsewhere: must be called with all that the index names before they are opened. Those that are not whole
   * can't be opened.
   */
  fetch?(workflow: Workflow, wanted: readonly WantedIndexFile[]): Promise<void>;
  /** Undefined when it is not there. */
  open(workflow: Workflow, name: string): IndexFile | undefined;
  /** Resolves with the name of the file when it is whole under that, and durable. */
  write(workflow: Workflow, pieces: Iterable<Uint8Array>): Promise<string>;
  remove(workflow: Workflow, name: string): Promise<void>;
  /**
   * Does what `scan` of the store does, without waiting: a file that turns out damaged is made good from the runs. Absent where that can't
   * be: who looks a result up in a file that was damaged since it was opened gets an error, and the next start fetches it again.
   */
  scanNow?(ref: RunRef, visit: (event: JournalEvent, position: Position) => void): void;
}

export interface WantedIndexFile {
  readonly name: string;
  readonly bytes: number;
  isWhole(file: IndexFile): boolean;
}

export interface ListedIndexFile {
  readonly name: string;
  /** The time since it was begun. */
  readonly ageMs: number;
}

/** Stays readable while it is in use, whoever removes the file meanwhile. */
export interface IndexFile {
  readonly bytes: number;
  /** Returns fewer bytes where the file ends. Throws what the disk throws. */
  read(offset: number, bytes: number): Uint8Array;
}

export interface PayloadStore {
  /**
   * Present where a journal can be read without waiting: then results stay in it until a script looks at one. Without it, results are
   * held in memory.
   */
  readonly immediate?: ImmediateReads;
  /**
   * Returns the value inline, at once, below the threshold; else a durable blob. One that repeats others, or will be repeated, may be a
   * blob below it, too. Throws what `jsonSize` throws.
   */
  payload(value: Json, use?: PayloadUse): Payload | Promise<Payload>;
  /** Seals the value for the call that it is about, or returns only a keyed digest where there is no sealing key. */
  secretPayload(value: Json, about: string): Promise<Payload>;
  /** Returns the value; undefined when the payload is gone, was sealed with another key or for another call, or doesn't match its name. */
  resolve(payload: Payload, about?: string): Promise<Json | undefined>;
  /** True where the user named the sealing key: other machines may have it. False for the project's own. */
  readonly hasSharedKey: boolean;
  /** Returns digests and seals; a key for digests is made if there is none. */
  secrets(): Promise<Secrets>;
  /** Returns undefined when there is no key yet, so nothing can have been recorded with one. */
  knownSecrets(): Promise<Secrets | undefined>;
}

export interface JournalStore extends Omit<RunStore, 'immediate'>, PayloadStore {
  /**
   * Ends the connections of the store when what is under way has ended. What it is asked later opens one for as long as that takes. Absent
   * where nothing stays open. Never rejects.
   */
  close?(): Promise<void>;
}
