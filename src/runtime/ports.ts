/** The ports of a run that are handed a frame. `frame.ts` and this file import each other; everything else about a run imports neither. */
import type { Action, Guard, Hook, Reference, Stage, TemplatePart } from '../../grammar/ast.js';
import type { DefinitionPart, FactOf, Usage } from '../../journal/event.js';
import type { OpPath } from '../../journal/ids.js';
import type { Callable } from '../values/kinds/callable.js';
import type { Value } from '../values/value.js';
import type { EffectKind, EffectRequest, EffectResult } from '../world/world.js';
import type { Outcome } from './completion.js';
import type { Interceptor } from './definitions/definable.js';
import type { Denial } from './denial.js';
import type { Frame } from './frame.js';
import type { Encoded } from './calls/result-cache.js';
import type { Operation } from './operation.js';
import type { InsideCall, Reach } from './definitions/reachable-operations.js';

/** The body of an operation; `inputs` are those that hooks and guards left. */
export type Body<R = Outcome> = (frame: Frame, inputs: readonly Value[]) => Promise<R>;

/** The constructs that call each other through the run, so that no file of a construct imports another one for it. */
export interface Evaluator {
  /** A reference; undefined for a name that is not defined. */
  readonly lookUp: (node: Reference, frame: Frame) => Promise<Value>;
  readonly call: (callee: Callable, args: readonly Value[], frame: Frame, details: CallDetails) => Promise<Outcome>;
  readonly render: (parts: readonly TemplatePart[], frame: Frame) => Promise<Value>;
  readonly stages: (value: Value, stages: readonly Stage[], frame: Frame) => Promise<Value>;
  readonly outcome: (action: Action, frame: Frame) => Promise<Outcome>;
}

export interface CallDetails {
  readonly at: number;
  /** The names on the way to the function: `['mine', 'dig']`. */
  readonly called: readonly string[];
  /** Labels of the `var` whose whole right side this call is. */
  readonly labels?: readonly string[];
  /** Names that the body sees besides its parameters: `@input`, `@p`. */
  readonly ambient?: ReadonlyMap<string, Value>;
  /** The call is a stage of a pipeline that begins with a call. */
  readonly repeatable?: boolean;
  /** The call is a stage of a pipeline, whose guards look at it before it is a call. */
  readonly isStage?: true;
  /** Guards have looked at the call where it was offered, and don't here. */
  readonly guarded?: GuardedElsewhere;
}

export interface GuardedElsewhere {
  /** The inputs as the guards left them; absent where they replaced none. */
  readonly inputs?: readonly Value[] | undefined;
  /** Their parts of the definition. */
  readonly parts: readonly DefinitionPart[];
}

/** The output of a run. world.md 3: it goes to standard output as it grows, or at the end as a whole. */
export interface Document {
  /** Shows one item: its text and one line end, unless it ends with one. */
  show(text: string, value: Value, frame: Frame): Promise<void>;
  /** Shows text of a markdown script unchanged. */
  prose(text: string, frame: Frame): Promise<void>;
  /** `output … to stdout|stderr`, `log`: past the document. */
  write(stream: 'stdout' | 'stderr', text: string, value: Value, frame: Frame): Promise<void>;
  /** Reports that a file was written; only `--structured` uses it. */
  note(effect: DocumentEffect): void;
  /** Returns what was shown so far. */
  text(): string;
}

export interface DocumentEffect {
  readonly type: 'both' | 'doc' | 'stdout' | 'stderr' | 'file';
  readonly content: string;
  readonly path?: string;
  readonly value: Value;
}

/** The recorded run that a replay repeats. */
export interface ReplayedRun {
  /** Returns the recorded result of this effect of the frame's operation. */
  readonly perform: <Q extends EffectKind>(frame: Frame, kind: Q, request: EffectRequest<Q>) => Promise<EffectResult<Q>>;
  /** Undefined: the hook ended in time. Else resolves with its error at the point where it timed out. */
  readonly timeOut: (firing: Firing, body: Frame) => Promise<string> | undefined;
  /** Returns the call of this operation; undefined where nothing was recorded of it. */
  readonly call: (op: OpPath) => ReplayedCall | undefined;
  /** An effect of this kind is recorded of the operation, and the replay has not come to it. */
  readonly hasAhead: (op: OpPath, kind: EffectKind) => boolean;
}

type FailedAttempt = FactOf<'call.failed'>;

/** A call as it was recorded: a replay repeats no attempt, and each call ends as it ended. calls.md 17. */
export interface ReplayedCall {
  /** The failed attempts that another one followed or was to follow. Each resolves at its place in the record. */
  readonly earlier: readonly (() => Promise<FailedAttempt>)[];
  /** Returns what the calls inside one of the earlier attempts came to, which is not repeated either. */
  readonly inside?: (earlier: number) => Promise<readonly EndInside[]>;
  /** The last attempt is in the record. */
  readonly hasStarted: boolean;
  /** Present where the last attempt failed by what came back or by the clock. Resolves at its place in the record. */
  readonly failed?: () => Promise<FailedAttempt>;
  /** Present where a call inside the last attempt, or a guard, ended the call. Resolves at once, with what the attempt used. */
  readonly endedInside?: () => Promise<FailedAttempt>;
  /** After the failure the call waited until the run ended. */
  readonly waits: boolean;
  /** Present where the call has a result; `result` is undefined where it can't be read any more. */
  readonly completed?: () => Promise<ReplayedResult>;
  /** Waits for good: nothing more is recorded of the call. */
  readonly waitForGood: () => Promise<never>;
}

export interface ReplayedResult {
  readonly fact: FactOf<'call.completed'>;
  readonly result: Encoded | undefined;
  /** It is another run's result, which was used instead of what the body made. */
  readonly isOther?: true;
}

/** The end of a call inside an attempt that is not repeated, or of an attempt of it: what the usage of the run counts of it. */
export interface EndInside {
  readonly attempt?: { readonly usage: Usage | undefined; readonly isFree: boolean };
  readonly call?: 'executed' | 'failed';
  readonly reused?: { readonly savedUsd: number | undefined };
}

/** Shows what a command has written so far to people who watch it. */
export interface OutputReader {
  read(): OutputSoFar;
}

export interface OutputSoFar {
  /** The latest whole lines, without secrets and control characters. */
  readonly text: string;
  /** Earlier lines are not kept. */
  readonly isCut: boolean;
  /** A secret went into the command, so that nothing of it is shown. */
  readonly isWithheld: boolean;
}

/** Is told of each command of an operation when it starts. Returns what is to be called at its end. */
export type WatchOutput = (op: OpPath, output: OutputReader) => () => void;

/** One firing of a hook: unique in a run. */
export interface Firing {
  /** The operation that it watches. */
  readonly op: OpPath;
  readonly timing: Hook['timing'];
  readonly hook: string;
}

/** Hooks and guards of the run. `hooks/` and `guards/` implement them; only `perform` calls them. */
export interface Interceptors {
  /** False: nothing is registered, and operations need not be announced. */
  readonly active: boolean;
  readonly hooks: HookStage;
  readonly guards: GuardStage;
  /** Registers when the statement is executed; a second hook of the same name is an error. */
  registerHook(node: Hook, frame: Frame): void;
  registerGuard(node: Guard, frame: Frame): void;
  /**
   * Returns the guards that are consulted when the call is executed, and guards and transforming hooks of what happens inside it, in the
   * order of their registration, guards first. The inputs of `operation` are those that the before-hooks left.
   */
  holding(operation: Operation, reach: Reach | undefined, suppress: 'nothing' | 'hooks'): readonly Interceptor[];
  /**
   * Says why a call can't be executed where no guards and hooks are, once those before it have passed it; undefined where it can. The
   * inputs of `operation` are those that the before-hooks left.
   */
  neededBehind(operation: Operation, suppress: 'nothing' | 'hooks', inside: InsideCall): string | undefined;
  /** Returns the names of the guards that are looked up by the labels of values. */
  guardsByLabel(): readonly string[];
}

export interface HookStage {
  /** True when a hook on `op:for:batch` exists: then windows of a parallel loop don't overlap. */
  readonly watchesBatches: boolean;
  /** Returns the hooks that are registered when the operation starts and watch it; undefined without any. */
  watch(operation: Operation): HookWatch | undefined;
}

/** The hooks of one operation. Neither phase fails for what a hook does. */
export interface HookWatch {
  /** Returns the inputs as the before-hooks left them. */
  before(frame: Frame): Promise<readonly Value[]>;
  /** Returns the output as the after-hooks left it. `received.inputs` are those that the before-hooks left. */
  after(frame: Frame, received: Operation, ended: Ended): Promise<Value>;
}

/** The end of an operation, for its after-hooks. */
export interface Ended {
  readonly output: Value;
  /** True when the value that a hook returns replaces the output. */
  readonly isReplaceable: boolean;
  /** A guard denied the operation; `handled`: its own `denied` branch made the output. */
  readonly denial?: { readonly denial: Denial; readonly handled: boolean };
}

export interface GuardStage {
  /** Returns the guards that are registered when the operation starts; undefined when none can concern it. */
  watch(operation: Operation): GuardWatch | undefined;
}

/** The guards of one operation. Both phases throw a `Denial`, a `GuardRetry`, or the error of a condition. */
export interface GuardWatch {
  /** The denial of this operation, once there is one. */
  readonly denial: Denial | undefined;
  /** Returns whether guards judge the result of the operation. */
  judges(received: Operation): boolean;
  /** Returns the inputs as the guards left them. */
  before(frame: Frame, received: Operation): Promise<readonly Value[]>;
  /** Returns the output as the guards left it. `allowed.inputs` are those that the before-guards left. */
  after(frame: Frame, allowed: Operation, output: Value): Promise<Value>;
}
