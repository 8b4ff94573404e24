/** Declares the options and the report of a script's run. `run-script.ts` puts the run together. */
import type { CallsAtWorkers } from '../../../journal/storage/offers.js';
import type { FactOf, JournalEvent } from '../../../journal/event.js';
import type { CacheFlags, RunStatus } from '../../../journal/facts/run-event.js';
import type { OpPath, RunRef } from '../../../journal/ids.js';
import type { SealingKey } from '../../../journal/secrets/keyring.js';
import type { ContinuedRun, JournalStore, Position } from '../../../journal/store.js';
import type { Invalidation } from '../../../replay/resume/invalidation.js';
import type { Selector } from '../../../replay/resume/selector.js';
import type { RunSummary } from '../../../replay/reports/summary/summary.js';
import type { CallSettings } from '../../calls/options.js';
import type { Project } from '../project.js';
import type { WorkersRequest } from '../ports/offers/offered-calls.js';
import type { ForkingPipeline, OpenedPriorRuns, PriorRunsRequest, TargetRequest } from '../ports/prior-runs.js';
import type { ResultInside } from '../ports/results/result-cache.js';
import type { RunOutcome } from '../run-calls.js';
import type { RunError } from '../user-error.js';

export type ScriptSource =
  | { readonly kind: 'file'; readonly path: string }
  /** `-e CODE`, `/dev/stdin`, a text of a program: paths in it are relative to `directory`. */
  | {
      readonly kind: 'text';
      readonly text: string;
      readonly directory: string;
      readonly label: string;
      /** Absolute. The text is recorded as if it were the file at this path; without it nothing can be recorded. */
      readonly recordAs?: string;
    };

export interface CacheRequest extends CacheFlags {
  readonly noCheckpoint?: boolean;
  /** Names or paths of other scripts, or `other@run` and `other@run:seq`. */
  readonly forks?: readonly string[];
  /** Wait for commands that a killed run left running, instead of ending them. */
  readonly keepOrphans?: boolean;
}

export interface RunIo {
  /** Returns the whole of standard input; called at most once. Undefined when it is empty or a terminal. */
  readonly stdin: () => Promise<string | undefined>;
  readonly stdout: (text: string) => void;
  readonly stderr: (text: string) => void;
  /** Takes the messages of the run itself, in whole lines; by default `stderr`. */
  readonly message?: (text: string) => void;
  /** Wall clock, milliseconds since 1970. */
  readonly nowMs: () => number;
  /** A clock that never goes back, for durations. */
  readonly monotonicMs: () => number;
}

/** A workflow script adds facts to the start of its run, and has targets of its own. */
export interface WorkflowRecord {
  readonly facts: (
    prior: OpenedPriorRuns,
  ) => Promise<Pick<FactOf<'run.started'>, 'payload' | 'clock' | 'seed' | 'budgetTokens' | 'backend'>>;
  /** Undefined for a target that means the same in every language. */
  readonly resolveTarget: (selector: Selector, request: TargetRequest) => Promise<Invalidation | undefined>;
  readonly notOffered: NonNullable<PriorRunsRequest['notOffered']>;
  /** Returns a line for standard error about the prior runs. */
  readonly notice: (prior: OpenedPriorRuns) => string | undefined;
}

/** A pipeline adds facts to the journal of its run, and follows it. */
export interface PipelineRecord extends ForkingPipeline {
  /** The run that this one goes on with, and takes from its writer. */
  readonly continues?: ContinuedRun | undefined;
  readonly facts: (ref: RunRef) => Partial<FactOf<'run.started'>>;
  readonly afterStart: readonly FactOf<'memo.invalidated'>[];
  readonly followers: readonly ((event: JournalEvent, position: Position) => void)[];
  /** Finds the result of a call inside a stage that had not ended when the process died. */
  readonly inside: (op: OpPath) => ResultInside | undefined;
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
  /** `@payload`: the unknown flags. */
  readonly payload: { readonly [name: string]: string | true };
  /** `--inject NAME=VALUE`, unparsed. */
  readonly inject: readonly string[];
  /** `--state VALUE`, unparsed; empty: no `@state`. */
  readonly state: readonly string[];
  readonly cache: CacheRequest;
  readonly environment: { readonly [name: string]: string | undefined };
  readonly timeoutMs?: number;
  /** Settings of calls; what is absent here is taken from script, configuration and defaults. */
  readonly calls?: Partial<CallSettings>;
  /** Print each warning; by default those of one cause are a line with their number. */
  readonly verbose?: boolean | undefined;
  /** Wait so long for a journal that can't be written; 60 s by default. */
  readonly journalWaitMs?: number | undefined;
  /** Have calls executed by workers of the store of a team. */
  readonly workers?: WorkersRequest | undefined;
  /** Continue to make calls when the journal is lost. By default the run is paused before the next one. */
  readonly unrecorded?: boolean | undefined;
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
  /** Filled by `run-pipeline.ts`. */
  readonly pipeline?: PipelineRecord | undefined;
  /** Filled by `run-workflow.ts`. */
  readonly workflow?: WorkflowRecord | undefined;
  /** Called after each event; in a run that records nothing after those of its calls. The summary is live: it changes with the next one. */
  readonly onProgress?: (summary: RunSummary) => void;
  /** Called with what workers execute of the run now, whenever it has looked for results of theirs. */
  readonly onAtWorkers?: (now: CallsAtWorkers) => void;
  /** Called with each event that is recorded, in the order of the journal; a later one may be on disk earlier than this call. */
  readonly onEvent?: (event: JournalEvent) => void;
}

export interface StructuredResult {
  readonly output: string;
  readonly effects: readonly unknown[];
  readonly exports: readonly string[];
  readonly stateWrites: readonly unknown[];
  readonly denials: readonly unknown[];
}

export interface RunReport extends RunOutcome {
  /** Counts the results that no later run can reuse, because the run recorded nothing. */
  readonly unrecordedResults?: number;
  readonly status: RunStatus;
  /** Undefined when nothing was recorded. */
  readonly journal?: RunRef;
  /** The error that ended the run, with its location. A user can cause it: broken invariants are thrown instead. */
  readonly error?: RunError;
  /** With the option `structured`, unless the run failed. */
  readonly structured?: StructuredResult;
}
