/** The facts about a run as a whole: a part of `Fact`. */
import type { StopClass } from './call-event.js';
import type { EventRef, OpPath, RunId, Seq, Workflow } from '../ids.js';
import type { Json, Payload } from '../payloads.js';
import type { GateStatus } from './pipeline-event.js';

/** The flags that decide what a run records and reuses. */
export interface CacheFlags {
  /** The run is recorded although no flag demands it. Alone this reuses nothing. */
  readonly record?: boolean;
  readonly checkpoint?: boolean;
  readonly fresh?: boolean;
  /** The target of `--resume`; `''` for a bare one. */
  readonly resume?: string;
  readonly changed?: 'serve' | 'ask' | 'ask-guards';
  /** Files that were changed since a call wrote them are kept, and its result is reused. */
  readonly keepFiles?: boolean;
}

export interface ForkRef {
  readonly workflow: Workflow;
  readonly run?: RunId;
  readonly seq?: Seq;
}

/** Records a run's inputs besides payload and flags, so that it can run again anywhere. Usual values are left out. */
export interface RecordedInputs {
  /** Absolute: paths in effects begin with it. */
  readonly root: string;
  /** Absolute: messages show paths relative to it. */
  readonly workingDirectory: string;
  readonly mode?: 'strict' | 'markdown';
  readonly errorBehavior?: 'halt';
  readonly streaming?: false;
  readonly structured?: true;
  readonly parallelLimit?: number;
  readonly recursionDepth?: number;
  readonly prefixes?: readonly { readonly prefix: string; readonly basePath: string }[];
  /** Absolute; absent for `.mlld/modules` of the project. */
  readonly modulesFolder?: string;
  /** Injected modules, as pairs of name and `{ value }` or `{ text }`. */
  readonly injected?: Payload;
  readonly state?: Payload;
  readonly calls?: RecordedCallSettings;
}

export interface RunTotals {
  /** Calls whose bodies gave a result. Journals of before counted `call.completed`, and have no `attempts`. */
  readonly executed: number;
  readonly reused: number;
  /** Calls whose last attempt failed and that have no result, accepted ones included. Journals of before counted `call.failed`. */
  readonly failed: number;
  /** Counts those of `executed` that have no result: 0, but in journals of before. Absent: not counted. */
  readonly withoutResult?: number;
  readonly costUsd?: number;
  /** Executions of bodies, failed ones included. Absent in journals of before, like the members up to `model`. */
  readonly attempts?: number;
  /** Failed calls that were not accepted, and those that were not executed. */
  readonly unresolved?: number;
  /** As in `run.started`. */
  readonly unresolvedBefore?: number;
  /** Failed calls whose function says what to do about it. */
  readonly accepted?: number;
  readonly denied?: number;
  /** Calls with a failure in an argument. */
  readonly notExecuted?: number;
  /** Attempts beyond the first of their call. */
  readonly retries?: number;
  /** Attempts without a known cost. */
  readonly unpriced?: number;
  /** The cost of the calls whose results were reused, when they were executed. */
  readonly savedUsd?: number;
  /** Those of `reused` that workers have executed for this run, and what they cost there. Absent: none. */
  readonly atWorkers?: number;
  readonly atWorkersUsd?: number;
  readonly inputTokens?: number;
  readonly outputTokens?: number;
  /** The model that most attempts used. */
  readonly model?: string;
  // Pipeline runs only.
  readonly nodes?: number;
  /** Attempts of nodes beyond the first of their visit. Absent in runs of before, whose `retries` were these. */
  readonly stageRetries?: number;
  readonly artifacts?: number;
  readonly elapsedMs?: number;
}

/** `restarted` is the status of a pipeline run that continued as another one. */
export type RunStatus = 'completed' | 'failed' | 'interrupted' | 'timed-out' | 'paused' | 'restarted';

/** Says why a run was paused. `journal`: the journal could not be written. */
export interface Pause {
  readonly class: StopClass;
  /** The lane that is stopped; absent for a budget and a lost journal. */
  readonly lane?: string;
  /** When the lane's allowance is there again: ISO 8601, UTC. */
  readonly resetsAt?: string;
  readonly message: string;
  /** A budget that is enough for the call for which that of the run was too small, as `--budget` takes it. */
  readonly leastBudget?: string;
}

/** The settings of calls in force. Usual values are left out. calls.md 11.4. */
export interface RecordedCallSettings {
  readonly budget?: {
    readonly usd?: number;
    readonly tokens?: number;
    readonly calls?: number;
    readonly ms?: number;
    /** The names of budgets that all runs of the project share. */
    readonly shared?: readonly string[];
  };
  readonly budgetStrict?: true;
  /** Attempts in flight, over all lanes. */
  readonly concurrency?: number;
  /** Further attempts. */
  readonly retries?: number;
  /** The limit of an attempt. */
  readonly timeoutMs?: number;
  readonly allowFailures?: true;
  readonly waitQuotaMs?: number;
}

/** Says that a run holds the calls that a worker executed for another run. */
export interface WorkerOfRun {
  readonly for: RunId;
  /** The name of the worker. */
  readonly name: string;
  /** Its slots, by lane. */
  readonly lanes: { readonly [lane: string]: number };
}

export type RunFact =
  /** First event of every run. */
  | {
      readonly type: 'run.started';
      readonly workflow: Workflow;
      /** The script's name on the command line and in messages. */
      readonly name: string;
      readonly argv: readonly string[];
      readonly payload: Json;
      readonly flags: CacheFlags;
      /** Declared in the script's first line: `resume: auto`. */
      readonly header?: 'auto' | 'manual' | 'never';
      readonly forks?: readonly ForkRef[];
      readonly given?: RecordedInputs;
      /** Killed runs whose left-over processes this run has ended. */
      readonly settled?: readonly RunId[];
      readonly versions: { readonly mlld: string; readonly node: string };
      readonly host: string;
      /** The name of the user whose process it is, where the system knows one. Absent in runs of before. */
      readonly user?: string;
      readonly pid: number;
      /** The W3C trace context that the run was started in. */
      readonly traceparent?: string;
      /** Nothing ran: the run holds the ends of calls that this sealed run began. */
      readonly salvages?: RunId;
      readonly worker?: WorkerOfRun;
      // Workflow scripts only.
      /** The time at which the work began that this run is a part of: milliseconds since 1970. */
      readonly clock?: number;
      /** Random numbers of the work are made of it. */
      readonly seed?: string;
      /** The budget of the script in output tokens. */
      readonly budgetTokens?: number;
      // Pipeline runs only.
      /** The identifier behind `digraph`. */
      readonly pipeline?: string;
      /** The folder of the files for people: relative to the project where it can be. */
      readonly runDir?: string;
      /**
       * The backend of a pipeline's model stages, where the command line names it. A workflow script says `simulated` where its agents
       * are: that run is a trial, and none that asks models goes on with it.
       */
      readonly backend?: string;
      /** The pipeline's goal gates. */
      readonly gates?: readonly string[];
      /** The run that this one resumes; events of it behind `seq` don't count any more. */
      readonly resume?: EventRef;
      /** The run whose `loop_restart` edge started this one. */
      readonly restartOf?: RunId;
      /** The number of restarts before this run in its logical run, from 1: its calls are others than those of the runs before. */
      readonly restarts?: number;
      /**
       * Unresolved calls of stages that the runs before this one in its logical run have left: this run does not make them again. Absent:
       * none, or not counted.
       */
      readonly unresolvedBefore?: number;
      /** The node at which the walk begins, if not at the entry or behind what finished last. */
      readonly enterAt?: string;
      /**
       * The manager node that supervises this run, or supervised the run that it resumes, and its attempt. `journalRun` is the run whose
       * journal has the attempt: a later run of the same chain can have another attempt at this path.
       */
      readonly parent?: { readonly run: RunId; readonly node: string; readonly op: OpPath; readonly journalRun?: RunId };
      /** The manager's attempt as a place in its walk; absent where it is the first attempt of the only manager. */
      readonly within?: string;
    }
  /** Last event of a run that ended in order; its absence in a run without a living writer is a crash. */
  | {
      readonly type: 'run.finished';
      readonly status: RunStatus;
      readonly error?: { readonly code: string; readonly message: string; readonly op?: OpPath; readonly location?: string };
      readonly totals: RunTotals;
      /** Present for a paused run. */
      readonly pause?: Pause;
      /** The number of facts that are not in the journal, because it could not be written for too long. */
      readonly lost?: number;
      /** Nothing ran: `checkpoint clean` records a run of its own that invalidates everything before it. */
      readonly cleaned?: true;
      /** Nothing ran: `journal reject` records a run of its own that rejects or restores one result of an earlier run. */
      readonly marked?: 'rejected' | 'restored';
      /** Nothing ran: the run holds the ends of calls that this sealed run began. */
      readonly salvages?: RunId;
      /** The run of a worker that served this run. */
      readonly worker?: { readonly for: RunId; readonly name: string };
      /** With status `restarted`, the node at which the next run begins. */
      readonly next?: string;
      /** The node of a pipeline that ran, else the one that finished last. */
      readonly node?: string;
      /** The status of every goal gate of a pipeline. */
      readonly gates?: { readonly [node: string]: GateStatus };
    };
