/**
 * Facts of the embedding program, in runs of its own: the journal as a store of what happened, for programs that are not scripts or
 * pipelines.
 *
 * OWN-RUN-1 A run of own facts begins with `run.started` and ends with `run.finished`, as every run does. Both are on disk when `createRun`
 *    and `finish` resolve. A kill before the first leaves no run, or one without events, which `reopenRun` begins; a kill before the second
 *    leaves a run that `reopenRun` continues.
 * OWN-RUN-2 `append` resolves when the fact is as durable as was wished. A kill before that leaves the fact whole or not at all: a torn
 *    line is not an event. Facts become durable in the order of `append`.
 * OWN-RUN-3 A payload that is too large for a line is on disk before the fact that names it is appended. A kill in between leaves a blob
 *    that no event names; `journal gc` removes it.
 * OWN-RUN-4 `reopenRun` and `deleteRun` refuse a run that a living process writes. A kill in the middle of `deleteRun` leaves the run as it
 *    was, or files that belong to no run, which `journal gc` removes.
 */
import type { Durability } from '../../journal/durability.js';
import type { JournalEvent, Json } from '../../journal/event.js';
import type { RunRef, Seq, Workflow } from '../../journal/ids.js';
import { isOwnType, ownEventOf, type OwnEvent, type OwnType } from '../../journal/own-fact.js';
import type { CreateOptions, Journal, JournalStore } from '../../journal/store.js';
import { hostFacts } from '../world/host.js';
import { VERSION } from '../version.js';
import { badOption } from './check.js';
import { readEvents } from './reports/events.js';
import { newRunId } from './ids.js';
import { refOf, type ReadOptions, type RunTarget } from './run-target.js';

export { isOwnType, ownEventOf };
export type { Durability, OwnEvent, OwnType };
export type { OwnFact } from '../../journal/own-fact.js';

export interface OwnRunOptions {
  /** The name of the run in lists; by default that of the workflow. */
  readonly name?: string;
  /** `append` waits so long for a disk that takes nothing before it rejects: milliseconds, 60,000 by default. */
  readonly journalWaitMs?: number;
  /** Called when such an outage takes longer than a moment, and without an error when it is over. */
  readonly onOutage?: NonNullable<CreateOptions['onOutage']>;
}

export interface AppendOptions {
  /**
   * `synced` (the default) survives a loss of power, `written` a kill of the process, `ordered` an end of the program in order: it is with
   * the kernel a few milliseconds later, and never later than a fact that was appended after it.
   */
  readonly durability?: Durability;
  /** Seals the data with the store's key; without a key only a digest is kept, and reading it gives no data. */
  readonly isSecret?: boolean;
}

/** A run of own facts that this process writes. */
export interface OwnRun {
  readonly ref: RunRef;
  /**
   * Appends a fact and returns its place in the run. Data of more than 64 Ki characters of JSON becomes a blob. Throws BAD_OPTION for a
   * type that is not `app.<namespace>.<name>`, and `JournalError` when the data is not JSON (NOT_JSON), the disk fails, or the run is
   * closed.
   */
  append(type: OwnType, data: Json, options?: AppendOptions): Promise<Seq>;
  /** Ends the run for good, on disk. Throws `JournalError` when the disk fails. */
  finish(status?: 'completed' | 'failed', error?: { readonly code: string; readonly message: string }): Promise<void>;
  /** Releases the run, with all facts on disk, without an end: `reopenRun` continues it, and lists call it crashed until then. */
  close(): Promise<void>;
}

/**
 * Begins a run of own facts; this process is its only writer. Throws `JournalError` when the disk fails.
 *
 * ```js
 * const run = await createRun(store, workflowOf('threads/support-17'));
 * await run.append('app.saver.checkpoint', { step: 1, state });
 * await run.finish();
 * ```
 */
export async function createRun(store: JournalStore, workflow: Workflow, options: OwnRunOptions = {}): Promise<OwnRun> {
  if (workflow === '' || typeof workflow !== 'string')
    throw badOption('createRun()', 'workflow is missing', "workflowOf('threads/support-17')");
  const ref: RunRef = { workflow, run: newRunId() };
  const journal = await store.create(ref, journalOptions(options));
  await begin(journal, options.name ?? workflow);
  return ownRun(store, journal);
}

/**
 * Continues a run of own facts whose writer closed it or died, behind its last whole event. Reads the run once. Throws `JournalError`:
 * JOURNAL_RUN_UNKNOWN, JOURNAL_RUN_IN_USE (a process that lives writes it), JOURNAL_RUN_FINISHED, JOURNAL_RUN_DAMAGED.
 *
 * ```js
 * const [last] = (await store.runs(workflow)).slice(-1);
 * const run = last?.liveness === 'crashed' ? await reopenRun(store, last) : await createRun(store, workflow);
 * ```
 */
export async function reopenRun(store: JournalStore, run: RunTarget, options: OwnRunOptions = {}): Promise<OwnRun> {
  const ref = refOf(run);
  const journal = await store.reopen(ref, journalOptions(options));
  const { events } = await store.scan(ref, () => undefined, { eventsMax: 1 });
  if (events === 0) await begin(journal, options.name ?? ref.workflow); // OWN-RUN-1
  return ownRun(store, journal);
}

/**
 * Removes a run for good. Meant for runs of own facts: results, checkpoints and invalidations that later runs need go with any other run,
 * which only `mlld journal gc` prevents. Blobs stay until that runs. Throws `JournalError`: JOURNAL_RUN_UNKNOWN, JOURNAL_RUN_IN_USE, or
 * what the disk did.
 *
 * ```js
 * for (const { ref } of await store.runs(workflowOf('threads/support-17'))) await deleteRun(store, ref);
 * ```
 */
export function deleteRun(store: JournalStore, run: RunTarget): Promise<void> {
  return store.deleteRun(refOf(run));
}

/** An own fact as it is read again. */
export interface ReadFact {
  readonly type: OwnType;
  /** Undefined when it was secret and there is no key, was redacted, or its blob is gone. */
  readonly data: Json | undefined;
  readonly seq: Seq;
  /** ISO 8601, UTC; for people: order is `seq`. */
  readonly ts: string;
}

/**
 * Reads the own facts of a run, in order, with their data. Throws `JournalError` when the disk fails.
 *
 * ```js
 * for await (const { type, data } of readFacts(store, run)) console.log(type, data);
 * ```
 */
export async function* readFacts(store: JournalStore, run: RunTarget, options: ReadOptions = {}): AsyncGenerator<ReadFact, void, void> {
  for await (const event of readEvents(store, run, { ...options, types: ['app'] })) {
    const fact = await factOf(store, event);
    if (fact !== undefined) yield fact;
  }
}

/**
 * Reads the data of an event that is an own fact; undefined for every other event. For events of `followRun`, and for those that a
 * fold has kept. Throws `JournalError` when the disk fails.
 *
 * ```js
 * for await (const event of followRun(store, run)) console.log((await factOf(store, event))?.data);
 * ```
 */
export async function factOf(store: JournalStore, event: JournalEvent): Promise<ReadFact | undefined> {
  const own = ownEventOf(event);
  return own && { type: own.type, data: await store.resolve(own.data, own.type), seq: own.seq, ts: own.ts };
}

function journalOptions({ journalWaitMs, onOutage }: OwnRunOptions): CreateOptions {
  return { ...(journalWaitMs !== undefined && { waitMs: journalWaitMs }), ...(onOutage && { onOutage }) };
}

async function begin(journal: Journal, name: string): Promise<void> {
  const { name: host, pid, node } = hostFacts();
  const { workflow } = journal.ref;
  const versions = { mlld: VERSION, node };
  try {
    await journal.append({ type: 'run.started', workflow, name, argv: [], payload: {}, flags: {}, versions, host, pid });
  } catch (error) {
    await journal.close().catch(() => undefined); // the first error is the one to report
    throw error;
  }
}

function ownRun(store: JournalStore, journal: Journal): OwnRun {
  /** Resolves when the facts that wait for their blobs have their place: facts have the order of the calls. */
  let placed: Promise<unknown> = Promise.resolve();
  async function place(before: Promise<unknown>, type: OwnType, data: Json, { durability = 'synced', isSecret = false }: AppendOptions) {
    const payload = isSecret ? store.secretPayload(data, type) : store.payload(data); // OWN-RUN-3
    const stored = await Promise.allSettled([payload, before]);
    if (stored[0].status === 'rejected') throw stored[0].reason;
    // In an object, because the next fact has to wait for the place of this one and not for its durability.
    return { recorded: journal.appendOwn({ type, data: stored[0].value }, durability) };
  }
  return {
    ref: journal.ref,
    async append(type, data, options = {}) {
      if (!isOwnType(type)) {
        const hint = 'app.<namespace>.<name> of lower-case words, for example app.saver.checkpoint';
        throw badOption('append()', `${JSON.stringify(type)} is not a type for own facts`, hint);
      }
      const placing = place(placed, type, data, options);
      placed = placing.catch(() => undefined); // the caller hears of it
      return (await (await placing).recorded).seq;
    },
    async finish(status = 'completed', error) {
      await placed;
      const totals = { executed: 0, reused: 0, failed: 0, withoutResult: 0 };
      await journal.append({ type: 'run.finished', status, totals, ...(error && { error }) });
      await journal.close();
    },
    async close() {
      await placed;
      await journal.close();
    },
  };
}
