/** Declares the options and the report of a replay, and what its parts share. */
import type { EventOf, JournalEvent, Json } from '../../../journal/event.js';
import type { RunStatus } from '../../../journal/facts/run-event.js';
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
  /** The folder of the project; the folder that the run recorded, if it did, has precedence. */
  readonly root: string;
  /** Replaces the recorded text of the script or pipeline. */
  readonly scriptText?: string;
  /** Returns the present text of a recorded module or template by its recorded path, which is relative to the project if inside it. */
  readonly sourceText?: (name: string) => Promise<string | undefined>;
  /** Stops after this event; or at this checkpoint, or when this node first starts. */
  readonly until?: { readonly seq: number } | { readonly at: string };
  /** Called before each recorded result is returned. */
  readonly onStep?: (place: StopPoint) => Promise<'continue' | 'stop'>;
  /** Called with the facts of a pipeline as they are replayed. */
  readonly onEvent?: (event: JournalEvent) => void;
  /** `all` continues after a divergence with the next best result. */
  readonly divergences: 'first' | 'all';
  readonly sinks: Sinks;
}

export interface StopPoint {
  /** The next event of the record. */
  readonly seq: number;
  readonly op: OpPath;
  /** Variables in scope, inner ones first; for a pipeline, followed by its context. */
  readonly variables: readonly { readonly name: string; readonly value: Value }[];
}

/** The history and context of a pipeline at the end of its replay. */
export interface ReplayedWalk {
  readonly pipeline: string;
  readonly history: readonly HistoryEntry[];
  readonly context: { readonly [key: string]: Json };
}

export interface ReplayReport {
  readonly ref: RunRef;
  /** `cut`: the record ends before the run did, and the replay agrees with all of it. */
  readonly verdict: 'same' | 'diverged' | 'stopped' | 'cut';
  /** The recorded status; undefined when the run did not end in order. */
  readonly status: RunStatus | undefined;
  readonly effects: number;
  readonly divergences: readonly Divergence[];
  readonly walk?: ReplayedWalk;
  readonly stopped?: StopPoint;
  /** The user's error that ended the replayed script. */
  readonly error?: unknown;
}

/** Replays a run of a workflow script, whose recorded text it may ask for, or of a program. */
export type ReplayWorkflow = (run: Omit<ReplayableRun, 'text'>, text: () => Promise<string>) => Promise<ReplayReport>;

/** A run that can be replayed: its record and its inputs. */
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
