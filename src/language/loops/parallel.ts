/**
 * Runs iterations in parallel. control.md 12.
 *
 * PARALLEL-1  The first element that passes the filter runs alone; if it fails, the loop fails with its error.
 * PARALLEL-2  A later failure becomes a marker in its place and in `@mx.errors`; `bail` and the end of the run are never collected.
 * PARALLEL-3  Results keep the order of the source, whichever finishes first.
 */
import type { ParallelLimits } from '../../../grammar/ast.js';
import { perform } from '../../operation/perform.js';
import { errorMarker } from '../../values/kinds/marker.js';
import { annotate, asElement, flow, type Value } from '../../values/value.js';
import { Signal, type Outcome } from '../../runtime/completion.js';
import type { Entry } from '../../values/entries.js';
import { endsTheRun, placesOf } from '../../runtime/errors.js';
import type { Frame } from '../../runtime/frame.js';
import { createPace, limitsOf, runPool, type ParallelSettings } from './worker-pool.js';

export interface Settled {
  readonly outcome: Outcome;
}

interface Loop extends ParallelSettings {
  /** Is the name of the loop variable; the operations of windows have it. */
  readonly name: string;
  /** Makes each failure a warning too, because a script need not look at the resulting array. */
  readonly isValue: boolean;
}

type One = (entry: Entry, position: number, frame: Frame) => Promise<Outcome>;

/** Returns the settings of this loop, or those of the parallel loop around it; undefined for a loop that runs one item at a time. */
export async function parallelSettings(
  limits: ParallelLimits | undefined,
  frame: Frame,
  at: number,
): Promise<ParallelSettings | undefined> {
  return limits ? limitsOf(limits, frame, at) : frame.context.parallel;
}

export async function runParallel(entries: readonly Entry[], loop: Loop, frame: Frame, one: One): Promise<Settled[]> {
  frame.context.errors.list = [];
  const run = new ParallelRun(entries, loop, frame, one);
  if (frame.run.interceptors.hooks.watchesBatches) await run.inWindows();
  else await run.inPool(0, entries.length);
  return run.settled();
}

class ParallelRun {
  private readonly results: (Settled | undefined)[];
  private probed = false;
  private done = false;
  private readonly pace: (() => Promise<void>) | undefined;

  constructor(
    private readonly entries: readonly Entry[],
    private readonly loop: Loop,
    private readonly frame: Frame,
    private readonly one: One,
  ) {
    this.results = new Array<Settled | undefined>(entries.length);
    this.pace = createPace(loop.paceMs, frame);
  }

  /** Returns the iterations that ran, in the order of the source (PARALLEL-3). */
  settled(): Settled[] {
    return this.results.filter((result) => result !== undefined);
  }

  /** Runs window by window, for hooks on windows: each starts when the one before has finished. */
  async inWindows(): Promise<void> {
    const { cap, name } = this.loop;
    for (let start = 0, window = 0; start < this.entries.length && !this.done; start += cap, window++) {
      const end = Math.min(start + cap, this.entries.length);
      const items = this.entries.slice(start, end).map(({ value }) => value);
      const view = { index: window, total: this.entries.length, key: null, parallel: true, batchIndex: window, batchSize: end - start };
      const around = { ...this.frame, context: { ...this.frame.context, for: view } };
      const operation = { kind: 'for:batch', segment: `batch:${window}`, name, labels: [], inputs: [listOf(items)] };
      await perform(around, operation, async () => {
        await this.inPool(start, end);
        return listOf(this.results.slice(start, end).map((result) => outcomeValue(result?.outcome)));
      });
    }
  }

  async inPool(start: number, end: number): Promise<void> {
    let next = start;
    while (!this.probed && next < end && !this.done) await this.probe(next++);
    const { pace } = this;
    await runPool({
      from: next,
      to: end,
      cap: this.loop.cap,
      pace,
      isDone: () => this.done,
      start: (position) => this.collectFailure(position),
    });
  }

  /** PARALLEL-1: elements that the filter leaves out don't count as the first. */
  private async probe(position: number): Promise<void> {
    await this.pace?.();
    const outcome = await this.start(position);
    this.probed = !(outcome instanceof Signal && outcome.word === 'skip');
    this.keep(position, outcome);
  }

  /** PARALLEL-2 */
  private async collectFailure(position: number): Promise<void> {
    try {
      this.keep(position, await this.start(position));
    } catch (error) {
      if (endsTheRun(error)) throw error;
      const entry = this.entries[position] as Entry;
      const message = (error as Error).message;
      const marker = flow(errorMarker({ index: position, key: entry.key, message, value: asElement(entry.value) }), [entry.value]);
      this.frame.context.errors.list = [...this.frame.context.errors.list, marker];
      if (this.loop.isValue) this.frame.run.warn(`for parallel: item ${entry.key} failed: ${message}${placesOf(error)}`);
      this.keep(position, marker);
    }
  }

  private keep(position: number, outcome: Outcome): void {
    this.results[position] = { outcome };
    if (outcome instanceof Signal && outcome.word === 'done') this.done = true;
  }

  private start(position: number): Promise<Outcome> {
    const entry = this.entries[position] as Entry;
    const { cap, paceMs } = this.loop;
    const batchIndex = Math.floor(position / cap);
    const batchSize = Math.min(cap, this.entries.length - batchIndex * cap);
    const view = { index: position, total: this.entries.length, key: entry.key, parallel: true, batchIndex, batchSize };
    const context = { ...this.frame.context, for: view, errors: { list: [] }, parallel: { cap, paceMs } };
    return this.one(entry, position, { ...this.frame, context });
  }
}

function listOf(values: readonly Value[]): Value {
  return flow(annotate(values.map(asElement), {}), values);
}

function outcomeValue(outcome: Outcome): Value {
  return outcome instanceof Signal ? null : (outcome ?? null);
}
