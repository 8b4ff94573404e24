/** The events of one run: all there are, or as they come. `mlld journal show`, with and without `--follow`. */
import { setTimeout as sleep } from 'node:timers/promises';
import type { JournalEvent } from '../../../journal/event.js';
import type { JournalStore, ScanReport } from '../../../journal/store.js';
import { describeEvent, matchesFilter, type EventFilter } from '../../../replay/reports/summary/describe.js';
import { refOf, runFile, skipDefects, type ReadOptions, type RunTarget } from '../run-target.js';

export { describeEvent, matchesFilter };
export type { EventFilter };

/** Bounds what is in memory of a long run. */
const PART_EVENTS = 256;
const LOOK_EVERY_MS = 200;

export interface EventOptions extends ReadOptions, EventFilter {}

export interface FollowOptions extends EventOptions {
  /** Ends the iteration; no error is thrown. */
  readonly signal?: AbortSignal;
  /** Waits so long at the end of the journal before it looks again: milliseconds, 200 by default. */
  readonly everyMs?: number;
}

/**
 * Reads the events of a run in order, verified. Holds a few hundred of them in memory at a time. A run that does not exist has none. Throws
 * `JournalError` when the disk fails.
 *
 * ```js
 * for await (const event of readEvents(store, run, { types: ['call'] })) console.log(describeEvent(event));
 * ```
 */
export async function* readEvents(
  store: JournalStore,
  run: RunTarget,
  options: EventOptions = {},
): AsyncGenerator<JournalEvent, void, void> {
  yield* unread(openReader(store, run, options));
}

/**
 * Reads the events of a run and waits for more until its writer ends it or dies. Every event that the run has recorded by then is
 * returned, once and in order. Throws RUN_UNKNOWN when the run does not exist, and `JournalError` when the disk fails.
 *
 * ```js
 * for await (const event of followRun(store, run)) if (event.type === 'call.completed') count += 1;
 * ```
 */
export async function* followRun(
  store: JournalStore,
  run: RunTarget,
  options: FollowOptions = {},
): AsyncGenerator<JournalEvent, void, void> {
  const { signal, everyMs = LOOK_EVERY_MS } = options;
  const ref = refOf(run);
  const reader = openReader(store, ref, options);
  const isStopped = (): boolean => signal?.aborted === true;
  while (!isStopped()) {
    // Looked at before reading: what the run writes before it ends is read then.
    const { liveness } = await runFile(store, ref);
    for await (const event of unread(reader)) {
      if (isStopped()) return;
      yield event;
    }
    if (liveness !== 'running') return;
    await sleep(everyMs, undefined, signal && { signal }).catch(() => undefined);
  }
}

type Reader = () => Promise<{ readonly found: readonly JournalEvent[]; readonly isEnd: boolean }>;

function openReader(store: JournalStore, run: RunTarget, options: EventOptions): Reader {
  const ref = refOf(run);
  const { onDefect = skipDefects } = options;
  let from: ScanReport['end'] | undefined;
  return async () => {
    const found: JournalEvent[] = [];
    const visit = (event: JournalEvent): void => void (matchesFilter(event, options) && found.push(event));
    const { events, end } = await store.scan(ref, visit, { eventsMax: PART_EVENTS, onDefect, ...(from && { from }) });
    from = end;
    return { found, isEnd: events < PART_EVENTS };
  };
}

async function* unread(reader: Reader): AsyncGenerator<JournalEvent, void, void> {
  for (;;) {
    const { found, isEnd } = await reader();
    yield* found;
    if (isEnd) return;
  }
}
