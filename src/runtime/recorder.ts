/** The port to the run's journal. */
import type { Fact, FactOf } from '../../journal/event.js';
import type { OpPath, Seq } from '../../journal/ids.js';
import type { Recorded } from '../../journal/store.js';
import type { OpNode } from './op-node.js';

/** Nothing here throws because of a disk: a run outlives its journal. */
export interface Recorder {
  /** False: nothing is recorded, and building a fact is wasted work. */
  readonly on: boolean;
  post(fact: Fact): void;
  /** Resolves when the fact is as durable as its type promises; undefined when it could not be recorded (the user was warned once). */
  append(fact: Fact): Promise<Recorded | undefined>;
  /** Counts an attempt of which nothing is recorded, so that the run reports it all the same. Absent where a run has no report. */
  count?(fact: UnrecordedFact): void;
  /** Present where a caller watches a run that records nothing. */
  readonly loops?: LoopWatch;
}

/** Sees how far the loops of a run are. A loop is named by its place, an iteration by that of its loop. */
export interface LoopWatch {
  began(loop: OpNode, total: number): void;
  iterated(loop: OpNode): void;
  ended(loop: OpNode): void;
}

/** Names the spans of a run, as W3C trace contexts for the programs that work inside them. calls.md 17.1. */
export interface RunTrace {
  /** `seq`: of the event that started the attempt. */
  attempt(op: OpPath, seq: Seq): string;
  operation(op: OpPath): string;
}

/** A fact about a call that is not recorded: what its run counts, and nothing of arguments and result. */
export type UnrecordedFact =
  | (Pick<FactOf<'call.started'>, 'type' | 'key' | 'op' | 'fn' | 'lane' | 'try'> & {
      /** An after-guard requested this execution of the call around. */
      readonly isRequested?: boolean;
    })
  | Omit<FactOf<'call.completed'>, 'result'>
  | FactOf<'call.failed'>;
