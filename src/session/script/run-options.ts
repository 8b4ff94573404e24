/** What a caller of the library says about a run, and what it gets back. `run.ts` puts the run together. */
import type { FactOf, JournalEvent } from '../../../journal/event.js';
import type { CacheFlags, RunStatus } from '../../../journal/run-event.js';
import type { RunRef } from '../../../journal/ids.js';
import type { SealingKey } from '../../../journal/secrets/keyring.js';
import type { JournalStore, Position } from '../../../journal/store.js';
import type { RunSummary } from '../../../replay/reports/summary/summary.js';
import type { Project } from '../project.js';

export type ScriptSource =
  | { readonly kind: 'file'; readonly path: string }
  /** `-e CODE`, `/dev/stdin`, a text of a program: paths in it are relative to `directory`. */
  | {
      readonly kind: 'text';
      readonly text: string;
      readonly directory: string;
      readonly label: string;
      /** Absolute: the text stands for the file at this path, and its record goes by it. Without it there is none. */
      readonly recordAs?: string;
    };

export interface CacheRequest extends CacheFlags {
  readonly noCheckpoint?: boolean;
  /** Names or paths of other scripts, or `other@run` and `other@run:seq`. */
  readonly forks?: readonly string[];
  /** What a killed run left running is waited for, not ended. */
  readonly keepOrphans?: boolean;
}

export interface RunIo {
  /** The whole of standard input, read at most once; undefined when it is empty or a terminal. */
  readonly stdin: () => Promise<string | undefined>;
  readonly stdout: (text: string) => void;
  readonly stderr: (text: string) => void;
  /** Takes the run's own messages, whole lines; `stderr` unless it is given. */
  readonly message?: (text: string) => void;
  /** Wall clock, milliseconds since 1970. */
  readonly nowMs: () => number;
  /** A clock that never goes back, for durations. */
  readonly monotonicMs: () => number;
}

/** The journal of a pipeline's run says more at its start, and is followed by the run itself. */
export interface PipelineRecord {
  readonly facts: (ref: RunRef) => Partial<FactOf<'run.started'>>;
  readonly afterStart: readonly FactOf<'memo.invalidated'>[];
  readonly followers: readonly ((event: JournalEvent, position: Position) => void)[];
}

export interface RunOptions {
  readonly script: ScriptSource;
  readonly mode?: 'strict' | 'markdown';
  /** The script's name in messages and in `mlld checkpoint`. */
  readonly name: string;
  readonly project: Project;
  /** For paths in messages and for the default directory of `-e`. */
  readonly workingDirectory: string;
  readonly argv: readonly string[];
  /** `@payload`: unknown flags, as given. */
  readonly payload: { readonly [name: string]: string | true };
  /** `--inject NAME=VALUE`, unparsed. */
  readonly inject: readonly string[];
  /** `--state VALUE`, unparsed; empty: no `@state`. */
  readonly state: readonly string[];
  readonly cache: CacheRequest;
  readonly environment: { readonly [name: string]: string | undefined };
  readonly timeoutMs?: number;
  /** How long a journal that can't be written is waited for; 60 s by default. */
  readonly journalWaitMs?: number;
  /** Go on making calls when the journal is lost. By default the run is paused before the next one. */
  readonly unrecorded?: boolean;
  readonly errorBehavior: 'continue' | 'halt';
  /** False: the document is kept and printed at the end, normalised. */
  readonly streaming: boolean;
  /** Collect effects and exports for `--structured` instead of writing the document. */
  readonly structured: boolean;
  readonly io: RunIo;
  /** Aborted by Ctrl-C: the run ends in order, with status `interrupted`. */
  readonly signal: AbortSignal;
  /** The journal's home; by default the file store of the project. Opened only when the run records. */
  readonly openStore?: (sealingKey: SealingKey) => Promise<JournalStore>;
  /** What a run of a pipeline adds to its journal; `run-graph.ts` fills it. */
  readonly pipeline?: PipelineRecord;
  /** Called after events that change the picture, at most as often as they come; the summary is live, don't keep it. */
  readonly onProgress?: (summary: RunSummary) => void;
}

export interface StructuredResult {
  readonly output: string;
  readonly effects: readonly unknown[];
  readonly exports: readonly string[];
  readonly stateWrites: readonly unknown[];
  readonly denials: readonly unknown[];
}

export interface RunReport {
  /** How many calls gave a result that no later run can reuse, because nothing asked for a record. */
  readonly unrecordedResults?: number;
  readonly status: RunStatus;
  /** Undefined when nothing was recorded. */
  readonly journal?: RunRef;
  /** A user's error that ended the run; already has place and trail. Never a broken invariant: those are thrown. */
  readonly error?: unknown;
  /** Notices that the caller may render (served although edited, store trouble); already written to stderr. */
  readonly structured?: StructuredResult;
}
