/**
 * Runs pipelines: stages, groups, `retry`, `while`, inline effects. control.md 15 and 19 to 22, values.md 11.
 *
 * A pipeline is a list of steps: step 0 is the source, every stage is one more. `retry` in step n runs step n - 1 again, with the input
 * that it had, and then step n.
 */
import type { CallStage, EffectStage, Expression, LeadingGroup, Pipeline, Stage } from '../../../grammar/ast.js';
import { MlldError } from '../../errors.js';
import { tryOf } from '../../operation/guards/repeats.js';
import { GuardRetry } from '../../runtime/guard-retry.js';
import { GuardTrail, type GuardTry } from '../../runtime/guard-trail.js';
import { Callable } from '../../values/kinds/callable.js';
import { pipelineContext } from '../../values/kinds/pipeline-context.js';
import { Annotated, annotate, asElement, dataOf, HostObject, type Value } from '../../values/value.js';
import { runCallStage, runUnpiped, withInput } from './call-stage.js';
import { evaluateInlineCode } from '../code/inline-code.js';
import { Signal, type Outcome } from '../../runtime/completion.js';
import { lenient } from '../../runtime/evaluator-ports.js';
import { locationOf } from '../../runtime/errors.js';
import type { Frame } from '../../runtime/frame.js';
import { PIPELINE_NAMES, type StageContext } from '../../runtime/context.js';
import { runWhile } from './while-stage.js';
import { evaluateInlineEffect } from './inline-effect.js';
import { guardHistory, type GuardedStage } from './guard-history.js';
import { runGroup } from './parallel-group.js';
import { Scope } from '../../runtime/scope.js';

function asResult(value: Value): Value {
  const data = dataOf(value);
  if (typeof data !== 'object' || data === null || data instanceof Callable || data instanceof HostObject) return value;
  if (!(value instanceof Annotated)) return annotate(data, { isResult: true });
  return value.metadata.file ? value : value.withMetadata({ ...value.metadata, isResult: true });
}

const FROM_THE_SOURCE: unique symbol = Symbol('from the source');
const RETRIES_PER_STAGE = 10;
const REPEATS_PER_STAGE = 20;
/** Is more than one pipeline can reach. */
const ATTEMPTS_PER_PIPELINE = 100;

export async function evaluatePipeline(node: Pipeline, frame: Frame): Promise<Value> {
  const { source, stages } = node;
  const isCall = source.kind === 'reference' && source.steps.some((step) => step.kind === 'apply' || step.kind === 'method');
  const isResult = isCall || source.kind === 'code' || source.kind === 'stream' || source.kind === 'with';
  return new PipelineRun(stages, frame, isCall ? source : undefined, isResult).from((inner) => sourceValue(source, inner));
}

async function sourceValue(node: Expression, frame: Frame): Promise<Value> {
  const value = await lenient(node, frame);
  if (value === undefined) return frame.evaluate(node, frame); // throws the error of an undefined name
  return value;
}

/** Sends a value through stages. */
export async function sendThrough(value: Value, stages: readonly Stage[], frame: Frame): Promise<Value> {
  return new PipelineRun(stages, frame, undefined).from(async () => value);
}

/** Evaluates `|| @f() || @g(1) | @h`; nothing is piped into the members of the group. */
export async function evaluateLeadingGroup(node: LeadingGroup, frame: Frame): Promise<Value> {
  const results = await runGroup(node.group, undefined, frame, (member, inner) => runUnpiped(member as CallStage, inner));
  return node.stages.length > 0 ? sendThrough(results, node.stages, frame) : results;
}

interface PipelineStep {
  /** Is absent in step 0, the source. */
  readonly stage?: Exclude<Stage, EffectStage>;
  /** Follow the step each time it has run. */
  readonly effects: EffectStage[];
}

/** One run through a pipeline. */
class PipelineRun {
  private readonly steps: PipelineStep[] = [{ effects: [] }];
  /** Holds the results by step. */
  private readonly outputs: Value[] = [];
  private readonly repeats: number[] = [];
  /** Is the stage that last ended with `retry`, its retries so far, and the results of the repeats. */
  private retrier: { step: number; try: number; tries: Value[]; hint: Value; repeated: Value[] } | undefined;
  /** Holds the results of repeats for each stage that retried and has ended. */
  private readonly ended: (readonly Value[])[] = [];
  /** Are the attempts that ended because a guard made the pipeline start again. */
  private guardTries: readonly GuardTry[] = [];
  /** Holds the trails of the guards of each stage and attempt. */
  private readonly guarded: GuardedStage[] = [];

  constructor(
    stages: readonly Stage[],
    private readonly frame: Frame,
    /** The source, if it is a call, which can be made again. */
    private readonly repeatable: Expression | undefined,
    /** The source is what a call or a command gives: an empty text ends the pipeline there, too. */
    private readonly startsWithResult = false,
  ) {
    for (const stage of stages) {
      if (stage.kind === 'effect-stage') this.steps.at(-1)?.effects.push(stage);
      else this.steps.push({ stage, effects: [] });
    }
  }

  async from(source: (frame: Frame) => Promise<Value>): Promise<Value> {
    let at = 0;
    while (at < this.steps.length) {
      const outcome: Outcome | typeof FROM_THE_SOURCE = await this.runStep(at, source).catch((error: unknown) => this.retryFor(error));
      if (outcome === FROM_THE_SOURCE) {
        at = 0;
        continue;
      }
      if (outcome instanceof Signal && outcome.word === 'retry') {
        this.countRetry(at, outcome.value);
        at--;
        continue;
      }
      const value = outcome instanceof Signal ? outcome.value : (outcome ?? null);
      this.outputs.length = at;
      this.outputs.push(value);
      if (this.retrier?.step === at + 1) this.retrier.repeated.push(value);
      else if (this.retrier?.step === at) this.endRetries();
      for (const effect of this.steps[at]?.effects ?? []) await evaluateInlineEffect(effect, value, this.frame);
      if ((at > 0 || this.startsWithResult) && dataOf(value) === '') return value; // an empty text ends the pipeline
      at++;
    }
    return asResult(this.outputs.at(-1) ?? null);
  }

  private async runStep(at: number, source: (frame: Frame) => Promise<Value>): Promise<Outcome> {
    const repeated = this.retrier && this.retrier.step - 1 === at;
    const attempt = repeated ? (this.retrier?.try ?? 1) : 1;
    if (at === 0) {
      if (attempt > 1 && !this.repeatable) return this.outputs[0];
      return source(this.inStage(0, attempt, null, undefined));
    }
    const input = this.outputs[at - 1];
    const { stage } = this.steps[at] as Required<PipelineStep>;
    const frame = this.inStage(at, attempt, input, stage);
    return runStage(stage, input, frame, ambientOf(frame), this.repeatable !== undefined);
  }

  /** Sets `@mx.try`: the number of the attempt in the repeated stage and in the one that retries, 1 elsewhere. */
  private inStage(at: number, attempt: number, input: Value, stage: Stage | undefined): Frame {
    const { retrier } = this;
    const retries = retrier !== undefined && retrier.step === at;
    const number = retries ? retrier.try : attempt;
    const repeated = retries ? retrier.repeated : undefined;
    const results = this.outputs.slice(0, at);
    const guards = (): Value => guardHistory(this.guarded);
    const view: StageContext = {
      stage: at,
      isPipeline: stage !== undefined || this.steps.length > 1,
      pipeline: stage && pipelineContext({ results, stage: at, try: number, repeated, ended: this.ended, guards }),
      trailFor: (operation) => new GuardTrail((trail) => void this.guarded.push({ stage: at, operation, trail })),
      try: number,
      tries: retries ? retrier.tries : [],
      hint: attempt > 1 ? (retrier?.hint ?? null) : null,
      input: input ?? null,
      lastOutput: at > 1 ? (input ?? null) : null,
    };
    const tried = this.guardTries.length > 0 ? { guardTries: this.guardTries } : {};
    return { ...this.frame, ...tried, context: { ...this.frame.context, stage: view, attempt: this.keyedAttempt(at, attempt > 1) } };
  }

  /**
   * Numbers the executions of a step; the number is part of each call's identity. Neither a retry from another stage nor a pipeline
   * inside a repeated stage starts again at 1, so a repeated call is never the same call.
   */
  private keyedAttempt(at: number, repeated: boolean): number {
    const own = (repeated ? (this.repeats[at] ?? 0) : 0) + this.guardTries.length + 1;
    return (this.frame.context.attempt - 1) * ATTEMPTS_PER_PIPELINE + own;
  }

  private countRetry(at: number, hint: Value): void {
    const location = locationOf(this.frame.module, this.steps[at]?.stage?.at ?? 0);
    if (at === 0) throw new MlldError('RETRY', '`retry` has no stage before it to run again', { location });
    if (this.retrier?.step !== at) this.endRetries();
    const retrier = (this.retrier ??= { step: at, try: 1, tries: [], hint: null, repeated: [] });
    const output = asElement(this.outputs[at - 1]) ?? null;
    retrier.tries = [...retrier.tries, { attempt: retrier.try, result: 'retry', hint: asElement(hint) ?? null, output }];
    retrier.hint = hint;
    retrier.try++;
    const repeats = (this.repeats[at - 1] ?? 0) + 1;
    this.repeats[at - 1] = repeats;
    if (retrier.try > RETRIES_PER_STAGE + 1) {
      throw new MlldError('RETRY_LIMIT', `Stage ${at} reached the retry limit of ${RETRIES_PER_STAGE}`, { location });
    }
    if (repeats > REPEATS_PER_STAGE) {
      throw new MlldError('RETRY_LIMIT', `Stage ${at} reached the retry limit: stage ${at - 1} was repeated ${REPEATS_PER_STAGE} times`, {
        location,
      });
    }
  }

  private endRetries(): void {
    if (this.retrier) this.ended.push(this.retrier.repeated);
    this.retrier = undefined;
  }

  /** Repeats source and stages for a guard's `retry`, and throws any other error. instrumentation.md 4.5. */
  private retryFor(error: unknown): typeof FROM_THE_SOURCE {
    if (!(error instanceof GuardRetry) || error.timing !== 'before' || !this.repeatable) throw error;
    this.guardTries = [...this.guardTries, tryOf(error, this.guardTries)];
    return FROM_THE_SOURCE;
  }
}

/** Returns the names that a stage has without declaring them. */
function ambientOf({ context: { stage } }: Frame): ReadonlyMap<string, Value> {
  return new Map<string, Value>([['input', stage?.input], ...PIPELINE_NAMES.map((name) => [name, stage?.pipeline] as const)]);
}

async function runStage(
  stage: Exclude<Stage, EffectStage>,
  input: Value,
  frame: Frame,
  ambient: ReadonlyMap<string, Value>,
  repeatable: boolean,
): Promise<Outcome> {
  switch (stage.kind) {
    case 'call-stage':
      return runCallStage(stage, input, frame, ambient, repeatable);
    case 'group-stage':
      return runGroup(stage, input, frame, (member, inner) => runStage(member, input, inner, ambient, false));
    case 'command-stage': {
      const scope = new Scope('block', frame.scope);
      for (const [name, value] of ambient) scope.define({ name, value, kind: 'ambient' });
      const stdin: Expression = { kind: 'reference', name: 'input', steps: [], at: stage.at };
      return evaluateInlineCode({ ...stage.code, stdin }, { ...frame, scope });
    }
    case 'while-stage':
      return runWhile(stage, input, frame, ambient);
    case 'data-stage':
      return frame.evaluate(stage.value, withInput(frame, input));
  }
}
