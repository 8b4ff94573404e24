/** The frame of an evaluation: the names in sight, the place in the run, the constructs around, and the run itself. */
import type { Code, Expression, Statement } from '../../grammar/ast.js';
import type { CollectedFailures } from '../values/failures.js';
import type { MeasuredCall, Value } from '../values/value.js';
import type { World } from '../world/world.js';
import type { Completion } from './completion.js';
import type { Context } from './context.js';
import type { CooperativeYield } from './cooperative-yield.js';
import type { Denial } from './denial.js';
import type { Executable } from './definitions/executable.js';
import type { BodyDeadline } from './body-deadline.js';
import type { GuardTry } from './guard-trail.js';
import type { CommandLine, GuardSwitch, WorkingDirectory } from './operation.js';
import type { OpNode } from './op-node.js';
import type { Module, ModuleExports } from './module.js';
import type { Attempt } from '../calls/attempt.js';
import type { CallRuntime } from './calls/call-runtime.js';
import type { Document, Evaluator, Interceptors, ReplayedRun, WatchOutput } from './ports.js';
import type { Recorder, RunTrace } from './recorder.js';
import type { RunUsage } from './calls/run-usage.js';
import type { ResultCache } from './calls/result-cache.js';
import type { Scope } from './scope.js';
import type { SecretRegistry } from './secrets/secret-registry.js';
import type { Settings } from './settings.js';

/** A frame always has all its members, for the reason that `Context` does. */
export interface Frame {
  readonly run: RunState;
  readonly module: Module;
  readonly scope: Scope;
  readonly op: OpNode;
  readonly context: Context;
  readonly stack: CallStack | undefined;
  /**
   * The block around, which decides what a `when` with a value does: in a `script` it shows the value, in a `body` it returns it, in
   * `for` and `loop` nothing.
   */
  readonly within: 'script' | 'body' | 'for' | 'loop';
  /** The code that is the body of the function that runs; its text is read by the rules of bodies. */
  readonly bodyCode: Expression | undefined;
  /** Code that the guards have looked at, by its text, with the command line, the standard input and the folder that they allow. */
  readonly judged: JudgedCode | undefined;
  /** Under `run`: what code prints is only captured. */
  readonly quietCode: true | undefined;
  /** Under `stream`: what commands print is shown as it comes. */
  readonly streaming: true | undefined;
  /** Inside the value of a secret variable, or the body of a secret function: all that happens there is secret. */
  readonly secret: true | undefined;
  /** The attempt of the innermost call around: its body reports to it. */
  readonly attempt: Attempt | undefined;
  /** Inside a hook or a guard: the attempt that its calls belong to, although what its body reports is not of that. */
  readonly aside: Attempt | undefined;
  /** Inside a hook body, or an attempt with a time limit: after it nothing starts in the body, and what runs is ended. */
  readonly deadline: BodyDeadline | undefined;
  /** The attempts of a pipeline that ended because a guard made it start again. */
  readonly guardTries: readonly GuardTry[] | undefined;
  /** The guards that are switched off for the statement and what its operand calls. */
  readonly guards: GuardSwitch | undefined;
  /** In the condition of a `when` with a value: a field or method that the value lacks is null. */
  readonly sorting: true | undefined;
  /** The value that the innermost `when VALUE [ … ]` compares. */
  readonly subject: { readonly value: Value } | undefined;
  /** Evaluates an expression: the way back to the table, so that no construct imports it. */
  readonly evaluate: (node: Expression, frame: Frame) => Promise<Value>;
  readonly execute: (statements: readonly Statement[], frame: Frame) => Promise<Completion>;
}

/** The members of a frame that is inside no call and under no modifier. */
export const PLAIN: Pick<
  Frame,
  | 'stack'
  | 'bodyCode'
  | 'judged'
  | 'quietCode'
  | 'streaming'
  | 'secret'
  | 'attempt'
  | 'aside'
  | 'deadline'
  | 'guardTries'
  | 'guards'
  | 'sorting'
  | 'subject'
> = {
  stack: undefined,
  bodyCode: undefined,
  judged: undefined,
  quietCode: undefined,
  streaming: undefined,
  secret: undefined,
  attempt: undefined,
  aside: undefined,
  deadline: undefined,
  guardTries: undefined,
  guards: undefined,
  sorting: undefined,
  subject: undefined,
};

export interface JudgedCode {
  readonly text: Code['text'];
  readonly line?: CommandLine;
  readonly stdin?: { readonly value: Value };
  readonly folder?: WorkingDirectory;
}

/** The functions that are running, innermost first. */
export interface CallStack {
  readonly executable: Executable;
  readonly parent: CallStack | undefined;
}

export interface FailedCommand {
  /** The line that failed, else the first one. */
  readonly command: string;
  readonly exitCode: number;
  readonly where: string;
  /** The first variable that it saw, with its value: `t = "Ticket 1"`; empty where it saw none. */
  readonly item: string;
  /** The last line of what it wrote to standard error. */
  readonly reason: string;
}

/** One run: its ports, and the state that all its code shares. */
export interface RunState {
  readonly world: World;
  /** Absent where nobody watches commands. */
  readonly watchOutput?: WatchOutput | undefined;
  /** Present in a replay. */
  readonly replayed?: ReplayedRun;
  readonly recorder: Recorder;
  /** Absent where nobody traces the run, and where nothing is recorded. */
  readonly trace?: RunTrace | undefined;
  /** Starts the attempts of calls, and prices them. Absent in a replay, which repeats no attempt. */
  readonly calls?: CallRuntime;
  /** The calls up to now, and what they cost. */
  readonly usage: RunUsage;
  readonly cache: ResultCache;
  readonly secrets: SecretRegistry;
  readonly document: Document;
  readonly evaluator: Evaluator;
  readonly interceptors: Interceptors;
  readonly settings: Settings;
  /** Failures of hooks, oldest first. */
  readonly hookErrors: Value[];
  /** Finds the failed calls that values have in them. */
  readonly failures: CollectedFailures;
  /** Commands that ended with another status than 0, for the list at the end. */
  readonly failedCommands: FailedCommand[];
  /** Number of calls that returned a result while nothing was recorded. */
  unrecordedResults: number;
  readonly stateWrites: { readonly path: string; readonly value: Value; readonly ms: number }[];
  readonly denials: Denial[];
  /** Modules by absolute path; a promise while one is being evaluated. */
  readonly modules: Map<string, Promise<ModuleExports>>;
  /** Names of checkpoints reached in this run. */
  readonly checkpoints: Set<string>;
  /** Ends the scope of the checkpoint before, when another is reached or the script ends. */
  closeCheckpoint?: () => Promise<void>;
  state: Value;
  /** Calls that ended in their own `denied` branch: their value is never reused. */
  readonly deniedInside: WeakSet<OpNode>;
  /** Calls that a guard had executed again; with what these executions used, and the session of the last one. */
  readonly repeatedInside: WeakMap<OpNode, MeasuredCall>;
  /** Aborted when the run must stop, and then no statement starts; the abort reason is the run's final status. */
  readonly signal: AbortSignal;
  readonly cooperativeYield: CooperativeYield;
  /** For durations only. */
  readonly monotonicMs: () => number;
  /** Each warning is a line of its own. */
  readonly isVerbose: boolean;
  /** Warnings of one cause become one line with their number; without a cause those that are equal. */
  warn(message: string, cause?: string): void;
  /** Writes the warnings that wait for others of their cause. */
  writeWarnings(): void;
}
