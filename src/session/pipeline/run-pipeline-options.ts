/** What a caller of the library says about a run of a pipeline, and what it gets back. `run-graph.ts` puts the run together. */
import type { EventOf, JournalEvent } from '../../../journal/event.js';
import type { RunStatus } from '../../../journal/run-event.js';
import type { RunRef } from '../../../journal/ids.js';
import type { GraphState } from '../../../replay/pipeline/graph-state.js';
import type { Backends } from '../../pipeline/stage/backend.js';
import type { Handlers } from '../../pipeline/handlers/handler.js';
import type { CustomRule } from '../../pipeline/lint/rule.js';
import type { Interviewer } from '../../pipeline/human/interviewer.js';
import type { Transform } from '../../pipeline/model/prepare.js';
import type { PipelineDiagnostics } from '../../pipeline/lint/diagnostics.js';
import type { Project } from '../project.js';
import type { RunIo, RunOptions } from '../script/run-options.js';

export const WHO_ANSWERS = ['auto', 'console', 'stdin', 'remote'] as const;
export type WhoAnswers = (typeof WHO_ANSWERS)[number];

/** A reason to abort a run: not the program ends, but this run is not wanted any more. */
export const CANCELLED = 'cancelled';

export interface PipelineIo extends Omit<RunIo, 'message'> {
  /** One line of a terminal; undefined at its end. Needed where `console` answers. */
  readonly readLine?: (signal: AbortSignal) => Promise<string | undefined>;
}

export interface PipelineRunOptions {
  /** Absolute path of the `.dot` file. */
  readonly file: string;
  /** As messages call it. */
  readonly name: string;
  readonly project: Project;
  /** Where commands run. */
  readonly workingDirectory: string;
  readonly argv: readonly string[];
  /** Added to the context before the first node. */
  readonly set: { readonly [key: string]: string };
  /** Beats the attributes. */
  readonly backend?: string;
  /** Instead of `.mlld/graph/<file>/<run>`; relative to the working directory. */
  readonly runDirectory?: string;
  /** Answer model stages from what earlier runs recorded for the same walk. */
  readonly checkpoint: boolean;
  /** Go on with the newest chain: `''` where it ended, or a node. */
  readonly resume?: string;
  /** Other pipelines, `other@run` and `other@run:seq`, or runs: their answers are served first. */
  readonly forks?: readonly string[];
  /** What a killed run left running is waited for, not ended. */
  readonly keepOrphans?: boolean;
  readonly people: WhoAnswers | Interviewer;
  readonly environment: { readonly [name: string]: string | undefined };
  readonly timeoutMs?: number;
  /** As for scripts. */
  readonly journalWaitMs?: number;
  readonly unrecorded?: boolean;
  readonly io: PipelineIo;
  /** Aborted by Ctrl-C: the run ends in order, with status `interrupted`. With the reason `CANCELLED` it says that somebody wished so. */
  readonly signal: AbortSignal;
  readonly openStore?: NonNullable<RunOptions['openStore']>;
  readonly handlers?: Handlers;
  /** Who answers model stages, beside the built-in ones: `backend="kind:rest"` names them. */
  readonly backends?: Backends;
  readonly transforms?: readonly Transform[];
  readonly rules?: readonly CustomRule[];
  /** What lint found, before anything happens; errors end the run. */
  readonly onFindings?: (report: PipelineDiagnostics) => void;
  readonly onEvent?: (event: JournalEvent) => void;
  /** Once a run has begun: its state, which is live. */
  readonly onState?: (state: GraphState) => void;
  /** `checkpoint.json` was replaced. */
  readonly onCheckpoint?: () => void;
  /** The manager node that starts this run. */
  readonly parent?: NonNullable<EventOf<'run.started'>['parent']> & { readonly depth: number };
}

export interface PipelineReport {
  readonly status: RunStatus;
  /** The identifier behind `digraph`; undefined when the text is no pipeline. */
  readonly pipeline?: string;
  /** Undefined when there was nothing to do, or nothing was begun. */
  readonly journal?: RunRef;
  /** Absolute. */
  readonly runDirectory?: string;
  /** The words of the command line as they were recorded, with marks in the place of secrets. */
  readonly argv?: readonly string[];
  /** Why it failed: a user's error. Findings of lint are reported through `onFindings`; without it this is the first of them. */
  readonly error?: unknown;
  /** What to say where nothing had to be done. */
  readonly notice?: string;
}
