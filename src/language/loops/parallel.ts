/**
 * Runs iterations in parallel. control.md 12.
 *
 * PARALLEL-1  The first element that passes the filter runs alone. The others start when it has ended, or when an attempt of a call in
 *    it has failed otherwise than by a crash (calls.md 3.2).
 * PARALLEL-2  A failure becomes a marker in its place and in `@mx.errors`, that of the first element only where a call failed otherwise
 *    than by a crash; else the loop fails with its error. `bail` and the end of the run are never collected.
 * PARALLEL-3  Results keep the order of the source, whichever finishes first.
 */
import type { ParallelLimits } from '../../../grammar/ast.js';
import { perform } from '../../operation/perform.js';
import { annotate, asElement, flow, type Value } from '../../values/value.js';
import { Signal, type Outcome } from '../../runtime/completion.js';
import type { Entry } from '../../values/entries.js';
import { callFailureOf, markerOf } from '../../runtime/calls/call-failure.js';
import { endsTheRun, placesOf, siteOfError } from '../../runtime/errors.js';
import type { Frame } from '../../runtime/frame.js';
import { FailureWarnings } from './failure-warnings.js';
import { createPace, limitsOf, runPool, type ParallelSettings } from './worker-pool.js';

export interface Settled {
  readonly outcome: Outcome;
}

interface Loop extends ParallelSettings {
  /** Is the name of the loop variable; the operations of windows have it. */
  readonly name: string;
  /** Makes each failure a warning too, because a script need not look at the resulting array. */
  readonly isValue: boolean;
  /** Returns the error that ends the loop, with the item in which it was thrown. */
  readonly endedBy?: (error: unknown, entry: Entry, position: number) => unknown;
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
  try {
    if (frame.run.interceptors.hooks.watchesBatches) await run.inWindows();
    else await run.inPool(0, entries.length);
  } finally {
    run.warnings.report('for parallel', entries.length, frame.run.warn);
  }
  return run.settled();
}

class ParallelRun {
  readonly warnings: FailureWarnings;
  private readonly results: (Settled | undefined)[];
  private probed = false;
  private done = false;
  private startOthers: (() => void) | undefined;
  private readonly pace: (() => Promise<void>) | undefined;

  constructor(
    private readonly entries: readonly Entry[],
    private readonly loop: Loop,
    private readonly frame: Frame,
    private readonly one: One,
  ) {
    this.results = new Array<Settled | undefined>(entries.length);
    this.pace = createPace(loop.paceMs, frame);
    this.warnings = new FailureWarnings(frame.run.isVerbose);
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
    let probing: Promise<void> | undefined;
    while (!this.probed && next < end && !this.done) {
      await this.pace?.();
      const released = new Promise<void>((resolve) => (this.startOthers = resolve));
      probing = this.probe(next++);
      await Promise.race([probing, released]);
    }
    await runPool({
      from: next,
      to: end,
      cap: this.loop.cap,
      pace: this.pace,
      isDone: () => this.done,
      start: (position) => this.collectFailure(position, endsTheRun),
      ...(probing && { running: probing }),
    });
  }

  /** PARALLEL-1: elements that the filter leaves out don't count as the first. */
  private async probe(position: number): Promise<void> {
    const outcome = await this.collectFailure(position, endsTheLoop);
    this.probed ||= !(outcome instanceof Signal && outcome.word === 'skip');
  }

  /** PARALLEL-2 */
  private async collectFailure(position: number, isThrown: (error: unknown) => boolean): Promise<Outcome> {
    let outcome: Outcome;
    try {
      outcome = await this.start(position);
    } catch (error) {
      const entry = this.entries[position] as Entry;
      if (isThrown(error)) throw this.loop.endedBy?.(error, entry, position) ?? error;
      const { run, context } = this.frame;
      const marker = flow(markerOf(error, { index: position, key: entry.key, value: entry.value }, run.failures), [entry.value]);
      context.errors.list = [...context.errors.list, marker];
      const isReported = this.warnings.add(error, position, entry.value);
      if (this.loop.isValue && !isReported)
        run.warn(
          `for parallel: item ${entry.key} failed: ${(error as Error).message}${placesOf(error)}`,
          `for parallel${siteOfError(error)}`,
        );
      outcome = marker;
    }
    this.keep(position, outcome);
    return outcome;
  }

  /** Also lets the others of a loop around start, whose first element this loop is in. */
  private release(): void {
    this.probed = true;
    this.startOthers?.();
    this.frame.context.release?.();
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
    const release = this.probed ? this.frame.context.release : () => this.release();
    const context = { ...this.frame.context, for: view, errors: { list: [] }, parallel: { cap, paceMs }, release };
    return this.one(entry, position, { ...this.frame, context });
  }
}

/** A crash, or an error that is no call's, would most likely meet all elements. calls.md 3.2. */
function endsTheLoop(error: unknown): boolean {
  const failure = callFailureOf(error);
  return endsTheRun(error) || failure === undefined || failure.class === 'crash';
}

function listOf(values: readonly Value[]): Value {
  return flow(annotate(values.map(asElement), {}), values);
}

function outcomeValue(outcome: Outcome): Value {
  return outcome instanceof Signal ? null : (outcome ?? null);
}
