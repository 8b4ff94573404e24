/** What a replay takes and returns, and what its parts hand each other. */
import type { EventOf, JournalEvent, Json } from '../../../journal/event.js';
import type { RunStatus } from '../../../journal/run-event.js';
import type { OpPath, RunRef } from '../../../journal/ids.js';
import type { JournalStore } from '../../../journal/store.js';
import type { HistoryEntry } from '../../../replay/pipeline/walk.js';
import type { Recording } from '../../../replay/recording/recorded-world.js';
import type { Settings } from '../../runtime/settings.js';
import type { Value } from '../../values/value.js';
import type { Divergence } from './divergence.js';
import type { Sinks } from './replayed-world.js';

export interface ReplayOptions {
  readonly store: JournalStore;
  readonly ref: RunRef;
  /** The project's folder now: used where the run does not say what it was. */
  readonly root: string;
  /** The text of the script, or of the pipeline, in place of the recorded one. */
  readonly scriptText?: string;
  /** The present text of a recorded module or template, by its recorded path (relative to the project where it lies in it). */
  readonly sourceText?: (name: string) => Promise<string | undefined>;
  /** Stops behind this event; or at this checkpoint, or when this node first starts. */
  readonly until?: { readonly seq: number } | { readonly at: string };
  /** Asked before each answer that the record has. */
  readonly onStep?: (place: StopPoint) => Promise<'go on' | 'stop'>;
  /** Of a pipeline: its facts as they come. */
  readonly onEvent?: (event: JournalEvent) => void;
  /** Goes on behind a divergence with the next best answer. */
  readonly divergences: 'first' | 'all';
  readonly sinks: Sinks;
}

export interface StopPoint {
  /** The event that comes next in the record. */
  readonly seq: number;
  readonly op: OpPath;
  /** Of a pipeline: its context, behind what is in scope of a function that answers a stage. The nearest one of a name comes first. */
  readonly variables: readonly { readonly name: string; readonly value: Value }[];
}

/** Where a pipeline came to. */
export interface ReplayedWalk {
  readonly pipeline: string;
  readonly history: readonly HistoryEntry[];
  readonly context: { readonly [key: string]: Json };
}

export interface ReplayReport {
  readonly ref: RunRef;
  /** `cut`: the record ends before the run did, and the replay agrees with all of it. */
  readonly verdict: 'same' | 'diverged' | 'stopped' | 'cut';
  /** How the recorded run ended; undefined when it did not end in order. */
  readonly status: RunStatus | undefined;
  readonly effects: number;
  readonly divergences: readonly Divergence[];
  readonly walk?: ReplayedWalk;
  readonly stopped?: StopPoint;
  /** The user's error that ended the replayed script. */
  readonly error?: unknown;
}

/** A run that can be played: its record, and what it was given. */
export interface ReplayableRun {
  readonly options: ReplayOptions;
  readonly recording: Recording;
  readonly started: EventOf<'run.started'>;
  readonly root: string;
  /** Absolute. */
  readonly file: string;
  readonly text: string;
  readonly settings: Settings;
  readonly state: Value;
}
