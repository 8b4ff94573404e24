/**
 * Runs a recorded script or pipeline again in the world of its record. Design section 5, docs/decisions/0022-replay.md.
 *
 * P1  Nothing outside is touched but the journal, which is read, and the two sinks.
 * P2  Hooks, guards, blocks and bodies of calls run again; what they ask the world is answered from the record.
 * P3  The replay is the same when every question had its answer, every answer was asked for, and the run ended the same way.
 */
import path from 'node:path';
import type { EventOf, JournalEvent, Json, RunStatus } from '../../journal/event.js';
import type { OpPath, RunRef } from '../../journal/ids.js';
import type { JournalStore } from '../../journal/store.js';
import type { HistoryEntry } from '../../replay/graph-walk.js';
import { foldRun } from '../../replay/load.js';
import { recording as projection, type Recording } from '../../replay/recorded-world.js';
import type { Settings } from '../language/frame.js';
import type { Value } from '../values/value.js';
import type { Divergence } from './divergence.js';
import { settingsOf } from './given.js';
import { impossible } from './replay-refused.js';
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
  readonly onStep?: (place: Stopped) => Promise<'go on' | 'stop'>;
  /** Of a pipeline: its facts as they come. */
  readonly onEvent?: (event: JournalEvent) => void;
  /** Goes on behind a divergence with the next best answer. */
  readonly divergences: 'first' | 'all';
  readonly sinks: Sinks;
}

export interface Stopped {
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
  readonly answers: number;
  readonly divergences: readonly Divergence[];
  readonly walk?: ReplayedWalk;
  readonly stopped?: Stopped;
  /** The user's error that ended the replayed script. */
  readonly error?: unknown;
}

/** A run that can be played: its record, and what it was given. */
export interface Replayed {
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

/**
 * Throws REPLAY_IMPOSSIBLE for a run whose script is not in the journal, REPLAY_STOP for a place that it never reached; and, for
 * `scriptText` that is none, the errors of the parser.
 */
export async function replayRun(options: ReplayOptions): Promise<ReplayReport> {
  const { store, ref } = options;
  const recording = await foldRun(store, ref, projection);
  const { started } = recording;
  if (!started) throw impossible(ref, 'its first event is damaged');
  const root = started.given?.root ?? options.root;
  const file = path.resolve(root, ref.workflow);
  const given = await settingsOf(started, { root, scriptDirectory: path.dirname(file), store });
  if (!given) throw impossible(ref, "what it was given can't be read any more");
  const text = options.scriptText ?? (await recordedScript(store, recording, ref));
  const replayed: Replayed = { options, recording, started, root, file, text, ...given };
  if (started.pipeline !== undefined) return (await import('./replay-graph.js')).replayPipeline(replayed);
  return (await import('./replay-script.js')).replayScript(replayed);
}

async function recordedScript(store: JournalStore, recording: Recording, ref: RunRef): Promise<string> {
  for (const [name, { role, blob, whole }] of recording.sources) {
    if (role !== 'script') continue;
    if (whole !== undefined) {
      const text = await store.resolve(whole, name);
      if (typeof text === 'string') return text;
      throw impossible(ref, 'its script holds secrets, and they were not kept or are sealed with another key');
    }
    const content = await store.getBlob(blob);
    if (content) return Buffer.from(content).toString('utf8');
  }
  throw impossible(ref, 'the text of its script is not in the journal');
}
