/** What an evaluation knows: the names in sight, where it is, what goes on around it, and the run it belongs to. */
import type { Expression, Guard, Hook, Statement } from '../../grammar/ast.js';
import type { OpPath } from '../../journal/ids.js';
import type { EffectResult, EffectRequest, EffectKind, World } from '../world/world.js';
import type { ResolverPrefix } from '../world/files/resolver-prefix.js';
import type { Value } from '../values/value.js';
import type { Interceptor } from '../operation/interceptors.js';
import type { ResultCache, Operation, Recorder, Reach } from './operation.js';
import type { PaidCalls } from './paid-calls.js';
import type { Denial } from './denial.js';
import type { HookDeadline } from './hook-deadline.js';
import type { OpNode } from './identity.js';
import type { SecretRegistry } from './secret-registry.js';
import type { Executable } from './executable.js';
import type { Completion } from './completion.js';
import type { CooperativeYield } from './cooperative-yield.js';
import type { Evaluator } from './evaluator-ports.js';
import type { Document } from './document.js';
import type { Scope } from './scope.js';

/** A file whose code runs. */
export interface Module {
  /** Absolute path, or the label of code that is no file. */
  readonly path: string;
  /** As messages show it. */
  readonly display: string;
  readonly directory: string;
  readonly text: string;
  readonly scope: Scope;
  readonly isMain: boolean;
  /** Statements with effects at the top level are skipped: the module is being imported. */
  readonly silent: boolean;
  /** The module that imports this one first, and waits for it. */
  readonly importedBy?: Module;
  readonly exports: Set<string>;
  /** `exe js = { … }` by language. */
  readonly shadows: Map<string, readonly Executable[]>;
  /** Places that were worked out, by offset: `file:line:column`. */
  readonly sites: Map<number, string>;
}

/**
 * What `@mx` tells. Every part describes the innermost construct of its kind. Always has all its members: a copy with one replaced takes
 * V8 50 ns, a copy with one more takes it several microseconds.
 */
export interface Context {
  readonly op: Operation | undefined;
  readonly for:
    | {
        readonly index: number | null;
        readonly total: number;
        readonly key: string | null;
        readonly parallel: boolean;
        readonly batchIndex: number | null;
        readonly batchSize: number | null;
      }
    | undefined;
  readonly loop: { readonly iteration: number; readonly limit: number | null } | undefined;
  readonly while: { readonly iteration: number; readonly limit: number } | undefined;
  readonly stage: StageContext | undefined;
  readonly guard: GuardContext | undefined;
  /** A denial is being handled, or an after-hook looks at one. */
  readonly denied: boolean;
  readonly args: readonly { readonly name: string; readonly value: Value }[] | undefined;
  readonly checkpoint: { readonly hit: boolean; readonly key: string | null } | undefined;
  /** Inside a hook body: the errors of the hooked operation's hooks so far. */
  readonly hookErrors: readonly Value[] | undefined;
  /** Markers of the latest parallel loop or group. Shared along one line of execution, separate for each concurrent one. */
  readonly errors: { list: readonly Value[] };
  /** `hooks`: inside a hook body. `all`: inside a guard. */
  readonly suppress: 'nothing' | 'hooks' | 'all';
  /** From 2 on inside a stage that runs again. */
  readonly attempt: number;
  /** The default of loops without a setting of their own, inside a parallel loop. */
  readonly parallel: { readonly cap: number; readonly paceMs: number } | undefined;
}

/** Around the first statement of a script, and around the body of a hook. */
export const OUTERMOST: Omit<Context, 'errors'> = {
  op: undefined,
  for: undefined,
  loop: undefined,
  while: undefined,
  stage: undefined,
  guard: undefined,
  denied: false,
  args: undefined,
  checkpoint: undefined,
  hookErrors: undefined,
  suppress: 'nothing',
  attempt: 1,
  parallel: undefined,
};

export interface StageContext {
  readonly stage: number;
  readonly isPipeline: boolean;
  readonly try: number;
  readonly tries: readonly Value[];
  readonly hint: Value;
  readonly input: Value;
  readonly lastOutput: Value;
}

export interface GuardContext {
  readonly denied: boolean;
  readonly name: string | null;
  readonly reason: string | null;
  readonly reasons: readonly string[];
  readonly hints: readonly string[];
  readonly filter: string | null;
  readonly timing: 'before' | 'after' | null;
  readonly try: number;
  /** The inputs of the guarded operation. */
  readonly inputs?: readonly Value[];
}

/** The functions that are running, innermost first. */
export interface CallStack {
  readonly executable: Executable;
  readonly parent: CallStack | undefined;
}

/** One run: its ports, and the few things that are shared by all its code. */
export interface RunState {
  readonly world: World;
  /** In a replay. */
  readonly replayed?: ReplayedRun;
  readonly recorder: Recorder;
  /** Where calls may be refused: not in a replay. */
  readonly paidCalls?: PaidCalls;
  readonly cache: ResultCache;
  readonly secrets: SecretRegistry;
  readonly document: Document;
  readonly evaluator: Evaluator;
  readonly interceptors: Interceptors;
  readonly settings: Settings;
  /** Failures of hooks, oldest first. */
  readonly hookErrors: Value[];
  /** Commands that ended with another status than 0, for the list at the end. */
  readonly failedCommands: { readonly command: string; readonly exitCode: number; readonly where: string }[];
  /** Calls that gave a result while nothing was recorded. */
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
  /** Calls that ended in their own `denied` branch: their value is no answer. */
  readonly deniedInside: WeakSet<OpNode>;
  /** Aborted with the status that the run will have: from then on no statement starts. */
  readonly signal: AbortSignal;
  readonly cooperativeYield: CooperativeYield;
  /** For durations only. */
  readonly monotonicMs: () => number;
  warn(message: string): void;
}

/** What happened then. */
export interface ReplayedRun {
  /** What was answered to this operation. */
  readonly perform: <Q extends EffectKind>(frame: Frame, question: Q, request: EffectRequest<Q>) => Promise<EffectResult<Q>>;
  /** Undefined: the hook ended in time. Else resolves with its error when its time is over. */
  readonly timeOut: (firing: Firing, body: Frame) => Promise<string> | undefined;
}

/** Of a hook: unique in a run. */
export interface Firing {
  /** The operation that it watches. */
  readonly op: OpPath;
  readonly timing: Hook['timing'];
  readonly hook: string;
}

export interface ModuleExports {
  readonly module: Module;
  readonly values: ReadonlyMap<string, Value>;
  /** Names of guards and hooks: who imports them by name gets no value, they are in force already. */
  readonly interceptors: ReadonlySet<string>;
  /** False: it has no export list, so that reading a missing name gives null. */
  readonly listed: boolean;
  readonly frontmatter: Value;
}

export interface Settings {
  readonly projectRoot: string;
  /** Of the running script: where relative writes of imported functions go. */
  readonly scriptDirectory: string;
  readonly workingDirectory: string;
  readonly prefixes: readonly ResolverPrefix[];
  readonly payload: Value;
  /** Injected modules by name with its at sign: data or source. */
  readonly injected: ReadonlyMap<
    string,
    { readonly kind: 'data'; readonly value: Value } | { readonly kind: 'source'; readonly text: string }
  >;
  readonly hasState: boolean;
  readonly errorBehavior: 'continue' | 'halt';
  readonly streaming: boolean;
  readonly recursionDepth: number;
  readonly parallelLimit: number;
  /** How long one firing of a hook may take. */
  readonly hookLimitMs: number;
}

/** Hooks and guards of the run. `src/hooks` and `src/guards` implement them; `perform` asks. */
export interface Interceptors {
  /** False: nothing is registered, and operations need not be announced. */
  readonly active: boolean;
  readonly hooks: HookStage;
  readonly guards: GuardStage;
  /** Registration is the execution of the statement; a second one of a name is an error. */
  registerHook(node: Hook, frame: Frame): void;
  registerGuard(node: Guard, frame: Frame): void;
  /**
   * Guards that are consulted when the call is executed, and guards and transforming hooks of what happens inside it, in the order of their
   * registration, guards first. The inputs of `operation` are those that the before-hooks left.
   */
  holding(operation: Operation, reach: Reach | undefined, suppress: 'nothing' | 'hooks'): readonly Interceptor[];
  /** Names of the guards that are looked up by the labels of values. */
  guardsByLabel(): readonly string[];
}

export interface HookStage {
  /** True when a hook on `op:for:batch` exists: then windows of a parallel loop don't overlap. */
  readonly watchesBatches: boolean;
  /** The hooks that are registered when the operation starts and watch it; undefined without any. */
  watch(operation: Operation): HookWatch | undefined;
}

/** The hooks of one operation. Neither phase fails for what a hook does. */
export interface HookWatch {
  /** The inputs as the before-hooks left them. */
  before(frame: Frame): Promise<readonly Value[]>;
  /** The output as the after-hooks left it. `received.inputs` are those that the before-hooks left. */
  after(frame: Frame, received: Operation, ended: Ended): Promise<Value>;
}

/** How an operation ended, for its after-hooks. */
export interface Ended {
  readonly output: Value;
  /** Does what a hook returns replace the output? */
  readonly counts: boolean;
  /** A guard denied the operation; `handled`: its own `denied` branch gave the output. */
  readonly denial?: { readonly denial: Denial; readonly handled: boolean };
}

export interface GuardStage {
  /** The guards that are registered when the operation starts; undefined when none can concern it. */
  watch(operation: Operation): GuardWatch | undefined;
}

/** The guards of one operation. Both phases throw a `Denial`, a `GuardRetry`, or the error of a condition. */
export interface GuardWatch {
  /** What this operation was denied with. */
  readonly denial: Denial | undefined;
  /** The inputs as the guards left them. */
  before(frame: Frame, received: Operation): Promise<readonly Value[]>;
  /** `allowed.inputs` are those that the before-guards left. */
  after(frame: Frame, allowed: Operation, output: Value): Promise<Value>;
}

/** Always has all its members, for the reason that `Context` does. */
export interface Frame {
  readonly run: RunState;
  readonly module: Module;
  readonly scope: Scope;
  readonly op: OpNode;
  readonly context: Context;
  readonly stack: CallStack | undefined;
  /**
   * What a `when` with a value does to the block it stands in. `script`: shows it. `body`: returns it. `for`: nothing.
   * `loop`: nothing.
   */
  readonly within: 'script' | 'body' | 'for' | 'loop';
  /** The code that is the body of the function that runs; its text is read by the rules of bodies. */
  readonly bodyCode: Expression | undefined;
  /** Under `run`: what code prints is only captured. */
  readonly quietCode: true | undefined;
  /** Under `stream`: what commands print is shown as it comes. */
  readonly streaming: true | undefined;
  /** The value of a secret variable is worked out, or the body of a secret function runs: all that happens there is secret. */
  readonly secret: true | undefined;
  /** Inside a hook body: once its time is over nothing starts in it, and what runs is ended. */
  readonly deadline: HookDeadline | undefined;
  /** From 2 on when a guard made a pipeline start again. */
  readonly guardTry: number | undefined;
  /** The value that the innermost `when VALUE [ … ]` compares. */
  readonly subject: { readonly value: Value } | undefined;
  /** Evaluates an expression: the way back to the table, so that no construct imports it. */
  readonly evaluate: (node: Expression, frame: Frame) => Promise<Value>;
  readonly execute: (statements: readonly Statement[], frame: Frame) => Promise<Completion>;
}

/** What holds where nothing else was said. */
export const PLAIN: Pick<Frame, 'stack' | 'bodyCode' | 'quietCode' | 'streaming' | 'secret' | 'deadline' | 'guardTry' | 'subject'> = {
  stack: undefined,
  bodyCode: undefined,
  quietCode: undefined,
  streaming: undefined,
  secret: undefined,
  deadline: undefined,
  guardTry: undefined,
  subject: undefined,
};
