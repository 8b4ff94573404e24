/**
 * Keeps the summary of a run of which nothing is recorded current, for a caller that watches the run. It is the same fold as that of a
 * recorded run, over the facts that are counted. calls.md 2.5 and 14.6.
 *
 * Iterations are only counted until a call begins or ends: a loop without calls must not pay for a progress that nobody shows.
 */
import type { Fact, JournalEvent } from '../../journal/event.js';
import { seqOf, type OpPath, type RunRef } from '../../journal/ids.js';
import type { Position } from '../../journal/store.js';
import { eventOf } from '../../replay/fold/projection.js';
import { summary, type RunSummary } from '../../replay/reports/summary/summary.js';
import type { OpNode } from '../runtime/op-node.js';
import type { LoopWatch, UnrecordedFact } from '../runtime/recorder.js';

interface Loop {
  readonly op: OpPath;
  /** Iterations that have ended and that the summary does not have yet. */
  ended: number;
}

interface ProgressPorts {
  readonly ref: RunRef;
  readonly nowMs: () => number;
  readonly onProgress: (summary: RunSummary) => void;
}

export class UnrecordedProgress implements LoopWatch {
  private state: RunSummary = summary.initial();
  private readonly loops = new Map<OpNode, Loop>();
  private seq = 0;

  constructor(private readonly ports: ProgressPorts) {}

  /** Passes a fact about a call on to the summary, and leaves others alone. */
  count(fact: Fact | UnrecordedFact): void {
    if (!CALLS.has(fact.type)) return;
    for (const loop of this.loops.values()) this.catchUp(loop);
    // The summary reads no result, and of arguments what there is.
    this.apply(fact.type === 'call.started' ? ({ args: { inline: [] }, ...fact } as unknown as Fact) : (fact as Fact));
    this.ports.onProgress(this.state);
  }

  began(op: OpNode, total: number): void {
    this.loops.set(op, { op: op.path, ended: 0 });
    this.apply({ type: 'op.started', op: op.path, kind: 'for', total });
  }

  iterated(op: OpNode): void {
    const loop = this.loops.get(op);
    if (loop) loop.ended++;
  }

  ended(op: OpNode): void {
    this.loops.delete(op);
    this.apply({ type: 'op.finished', op: op.path, outcome: 'ok' });
  }

  private catchUp(loop: Loop): void {
    for (; loop.ended > 0; loop.ended--) this.apply({ type: 'op.finished', op: `${loop.op}[0]` as OpPath, outcome: 'ok' });
  }

  private apply(fact: Fact): void {
    const { ref, nowMs } = this.ports;
    const event: JournalEvent = eventOf(fact, seqOf(this.seq++), new Date(nowMs()).toISOString());
    this.state = summary.apply(this.state, event, { ref, position: NOWHERE });
  }
}

/** No journal holds the event. */
const NOWHERE: Position = { offset: 0, bytes: 0 };

const CALLS: ReadonlySet<Fact['type']> = new Set([
  'call.started',
  'call.completed',
  'call.failed',
  'call.reused',
  'lane.changed',
  'dispatch.stopped',
  'dispatch.resumed',
]);
