/** Declares the options and the report of a pipeline's run. `run-pipeline.ts` puts the run together. */
import type { EventOf, JournalEvent } from '../../../journal/event.js';
import type { RunStatus } from '../../../journal/facts/run-event.js';
import type { RunId, RunRef } from '../../../journal/ids.js';
import type { PipelineState } from '../../../replay/pipeline/pipeline-state.js';
import type { VisitInRuns } from '../../../replay/pipeline/walk.js';
import type { Dispatcher } from '../../calls/dispatch/dispatcher.js';
import type { Backends } from '../../pipeline/stage/backend.js';
import type { Handlers } from '../../pipeline/handlers/handler.js';
import type { CustomRule } from '../../pipeline/lint/rule.js';
import type { Interviewer } from '../../pipeline/human/interviewer.js';
import type { Transform } from '../../pipeline/model/prepare.js';
import type { PipelineDiagnostics } from '../../pipeline/lint/diagnostics.js';
import type { WatchOutput } from '../../runtime/ports.js';
import type { Project } from '../project.js';
import type { CallsLeft, RunOutcome } from '../run-calls.js';
import type { RunError } from '../user-error.js';
import type { RunIo, RunOptions } from '../script/run-options.js';

export const WHO_ANSWERS = ['auto', 'console', 'stdin', 'remote'] as const;
export type WhoAnswers = (typeof WHO_ANSWERS)[number];

/** Abort reason of a run that is not wanted any more, while the program itself continues. */
export const CANCELLED = 'cancelled';

export interface PipelineIo extends Omit<RunIo, 'message'> {
  /** Reads one line of a terminal; undefined at its end. Needed if questions are put to the `console`. */
  readonly readLine?: (signal: AbortSignal) => Promise<string | undefined>;
}

/** The attempt of a manager node that starts a child, or continues one. */
export interface ManagerAttempt extends NonNullable<EventOf<'run.started'>['parent']> {
  /** The visit that it belongs to; absent where all children of an attempt at this path are its own. */
  readonly visit?: VisitInRuns;
}

export interface PipelineRunOptions {
  /** Absolute path of the `.dot` file. */
  readonly file: string;
  /** The name in messages. */
  readonly name: string;
  readonly project: Project;
  /** Commands run in this folder. */
  readonly workingDirectory: string;
  readonly argv: readonly string[];
  /** Added to the context before the first node. */
  readonly set: { readonly [key: string]: string };
  /** Overrides the attributes of graph and nodes. */
  readonly backend?: string;
  /** Replaces `.mlld/graph/<file>/<run>`; relative to the working directory. */
  readonly runDirectory?: string;
  /** Reuse the replies that earlier runs recorded for the same calls on the same walk. */
  readonly checkpoint: boolean;
  /** Resume the newest chain: `''` at its end, else at this node. */
  readonly resume?: string;
  /** A resume continues one of these runs: somebody has named them. Absent: one of those of the file. */
  readonly resumable?: ReadonlySet<RunId>;
  /** Other pipelines, `other@run` and `other@run:seq`, or run ids: their results have precedence. */
  readonly forks?: readonly string[];
  /** Wait for commands that a killed run left running, instead of ending them. */
  readonly keepOrphans?: boolean;
  readonly people: WhoAnswers | Interviewer;
  readonly environment: { readonly [name: string]: string | undefined };
  readonly timeoutMs?: number;
  /** As for scripts. */
  readonly journalWaitMs?: number;
  readonly unrecorded?: boolean;
  readonly verbose?: boolean;
  readonly calls?: NonNullable<RunOptions['calls']>;
  readonly io: PipelineIo;
  /** Aborted by Ctrl-C: the run ends in order, with status `interrupted`; with the reason `CANCELLED`, as cancelled. */
  readonly signal: AbortSignal;
  readonly openStore?: NonNullable<RunOptions['openStore']>;
  readonly handlers?: Handlers;
  /** Backends of model stages beside the built-in ones: `backend="kind:rest"` names them. */
  readonly backends?: Backends;
  readonly transforms?: readonly Transform[];
  readonly rules?: readonly CustomRule[];
  /** Called with the findings of lint before anything else happens; errors among them end the run. */
  readonly onFindings?: (report: PipelineDiagnostics) => void;
  readonly onEvent?: (event: JournalEvent) => void;
  /** As for scripts, of this run without its child runs. */
  readonly onProgress?: NonNullable<RunOptions['onProgress']>;
  /** Watches the commands of this run without its child runs. */
  readonly watchOutput?: WatchOutput;
  /** Called before the first event of a run is recorded, and again for each run that follows a restart. */
  readonly onOpened?: (run: RunRef) => void;
  /** Called when a run has started, with its state, which is live. */
  readonly onState?: (state: PipelineState) => void;
  /** Called when `checkpoint.json` was replaced. */
  readonly onCheckpoint?: () => void;
  /** The manager node that starts this run. */
  readonly parent?: ManagerAttempt & {
    readonly depth: number;
    readonly within: string | undefined;
    /** Dispatches the calls of the run that the manager is in: its budget is that of this run, too. */
    readonly dispatcher?: Dispatcher;
  };
}

export interface PipelineReport extends Omit<RunOutcome, 'resume'> {
  readonly status: RunStatus;
  /** The identifier after `digraph`; undefined if the text is not a pipeline. */
  readonly pipeline?: string;
  /** Undefined if no run was started. */
  readonly journal?: RunRef;
  /** Absolute. */
  readonly runDirectory?: string;
  /** Counts the calls of the runs that managers started or continued, and of those inside them; `calls` has none of these. */
  readonly childCalls?: RunOutcome['calls'];
  /**
   * Counts the failed calls of the runs that this one continues, where their stages were left all the same: nothing makes them again here,
   * and `calls` has none of them. Absent: there are none.
   */
  readonly unresolvedBefore?: number;
  /** The recorded words of the command line, with marks in the place of secrets. */
  readonly argv?: readonly string[];
  /** The error that ended the run; a user can cause it. Without `onFindings` it is the first finding of lint. */
  readonly error?: RunError;
  /** Says why there was nothing to do. */
  readonly notice?: string;
  /**
   * With `notice`: counts the calls of the completed run that have no result. `argv` are the recorded words of its command line. Absent:
   * there are none.
   */
  readonly left?: CallsLeft & { readonly argv: readonly string[] };
}
