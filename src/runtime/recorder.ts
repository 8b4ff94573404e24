/** The port to the run's journal. */
import type { Fact } from '../../journal/event.js';
import type { Recorded } from '../../journal/store.js';

/** Nothing here throws because of a disk: a run outlives its journal. */
export interface Recorder {
  /** False: nothing is recorded, and building a fact is wasted work. */
  readonly on: boolean;
  post(fact: Fact): void;
  /** Resolves when the fact is as durable as its type promises; undefined when it could not be recorded (the user was warned once). */
  append(fact: Fact): Promise<Recorded | undefined>;
}
