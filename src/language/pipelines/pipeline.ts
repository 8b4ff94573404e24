/**
 * Pipelines: stages, groups, `retry`, `while`, inline effects. control.md 15 and 19 to 22, values.md 11.
 *
 * A pipeline is a row of places: the source is place 0, every stage one more. `retry` from place n runs place n - 1 again, with the
 * input that it had, and then place n.
 */
import type { CallStage, EffectStage, Expression, LeadingGroup, Pipeline, Stage } from '../../../grammar/ast.js';
import { MlldError } from '../../errors.js';
import { GuardRetry } from '../../runtime/guard-retry.js';
import { Callable } from '../../values/kinds/callable.js';
import { Annotated, annotate, asElement, dataOf, flow, HostObject, type DataObject, type Value } from '../../values/value.js';
import { runCallStage, runUnpiped, withInput } from './call-stage.js';
import { evaluateCode } from '../calls/code.js';
import { Signal, type Outcome } from '../../runtime/completion.js';
import { lenient } from '../../runtime/evaluator-ports.js';
import { locationOf } from '../../runtime/errors.js';
import type { Frame } from '../../runtime/frame.js';
import type { StageContext } from '../../runtime/context.js';
import { runWhile } from './while-stage.js';
import { evaluateInlineEffect } from './inline-effect.js';
import { runGroup } from './parallel-group.js';
import { Scope } from '../../runtime/scope.js';

function asResult(value: Value): Value {
  const data = dataOf(value);
  if (typeof data !== 'object' || data === null || data instanceof Callable || data instanceof HostObject) return value;
  if (!(value instanceof Annotated)) return annotate(data, { isResult: true });
  return value.note.file ? value : value.withNote({ ...value.note, isResult: true });
}

const FROM_THE_SOURCE: unique symbol = Symbol('from the source');
const RETRIES_PER_ASKER = 10;
/** More than one pipeline can reach. */
const ATTEMPTS_PER_PIPELINE = 100;
const REPEATS_PER_STAGE = 20;

export async function evaluatePipeline(node: Pipeline, frame: Frame): Promise<Value> {
  const isCall = node.source.kind === 'reference' && node.source.steps.some((step) => step.kind === 'apply' || step.kind === 'method');
  return new Run(node.stages, frame, isCall ? node.source : undefined).from((inner) => sourceValue(node.source, inner));
}

async function sourceValue(node: Expression, frame: Frame): Promise<Value> {
  const value = await lenient(node, frame);
  if (value === undefined) return frame.evaluate(node, frame); // an undefined name: the error of a reference
  return value;
}

/** Sends a value through stages. */
export async function sendThrough(value: Value, stages: readonly Stage[], frame: Frame): Promise<Value> {
  return new Run(stages, frame, undefined).from(async () => value);
}

/** `|| @f() || @g(1) | @h`: nothing is piped into the members. */
export async function evaluateLeadingGroup(node: LeadingGroup, frame: Frame): Promise<Value> {
  const results = await runGroup(node.group, undefined, frame, (member, inner) => runUnpiped(member as CallStage, inner));
  return node.stages.length > 0 ? sendThrough(results, node.stages, frame) : results;
}

interface Place {
  /** Absent at place 0. */
  readonly stage?: Exclude<Stage, EffectStage>;
  /** Effects behind it; they happen each time it has run. */
  readonly effects: EffectStage[];
}

/** One passage through a pipeline. */
class Run {
  private readonly places: Place[] = [{ effects: [] }];
  /** Results by place; `@p`. */
  private readonly outputs: Value[] = [];
  private readonly repeats: number[] = [];
  private readonly allRetries: Value[] = [];
  /** The stage that asks for repeats now, and what it asked so far. */
  private asker: { place: number; try: number; tries: Value[]; hint: Value } | undefined;
  private guardTry = 1;

  constructor(
    stages: readonly Stage[],
    private readonly frame: Frame,
    /** The source, when it is a call and can be made again. */
    private readonly repeatable: Expression | undefined,
  ) {
    for (const stage of stages) {
      if (stage.kind === 'effect-stage') this.places.at(-1)?.effects.push(stage);
      else this.places.push({ stage, effects: [] });
    }
  }

  async from(source: (frame: Frame) => Promise<Value>): Promise<Value> {
    let at = 0;
    while (at < this.places.length) {
      const outcome: Outcome | typeof FROM_THE_SOURCE = await this.runPlace(at, source).catch((error: unknown) => this.guardAsks(error));
      if (outcome === FROM_THE_SOURCE) {
        at = 0;
        continue;
      }
      if (outcome instanceof Signal && outcome.word === 'retry') {
        this.noteRetry(at, outcome.value);
        at--;
        continue;
      }
      const value = outcome instanceof Signal ? outcome.value : (outcome ?? null);
      this.outputs.length = at;
      this.outputs.push(value);
      for (const effect of this.places[at]?.effects ?? []) await evaluateInlineEffect(effect, value, this.frame);
      if (at > 0 && dataOf(value) === '') return value; // an empty text ends the pipeline
      at++;
    }
    return asResult(this.outputs.at(-1) ?? null);
  }

  private async runPlace(at: number, source: (frame: Frame) => Promise<Value>): Promise<Outcome> {
    const repeated = this.asker && this.asker.place - 1 === at;
    const attempt = repeated ? (this.asker?.try ?? 1) : 1;
    if (at === 0) {
      if (attempt > 1 && !this.repeatable) return this.outputs[0];
      return source(this.inStage(0, attempt, null, undefined));
    }
    const input = this.outputs[at - 1];
    const { stage } = this.places[at] as Required<Place>;
    return runStage(stage, input, this.inStage(at, attempt, input, stage), this.ambient(input), this.repeatable !== undefined);
  }

  /** `@mx.try`: of the repeated and of the asking stage the number of the attempt, elsewhere 1. */
  private inStage(at: number, attempt: number, input: Value, stage: Stage | undefined): Frame {
    const { asker } = this;
    const asks = asker !== undefined && asker.place === at;
    const view: StageContext = {
      stage: at,
      isPipeline: stage !== undefined || this.places.length > 1,
      try: asks ? asker.try : attempt,
      tries: asks ? asker.tries : [],
      hint: attempt > 1 ? (asker?.hint ?? null) : null,
      input: input ?? null,
      lastOutput: at > 1 ? (input ?? null) : null,
    };
    const guard = this.guardTry > 1 ? { guardTry: this.guardTry } : {};
    return { ...this.frame, ...guard, context: { ...this.frame.context, stage: view, attempt: this.keyedAttempt(at, attempt > 1) } };
  }

  /**
   * Which time this place is run, as a part of the question: another asker doesn't begin to count anew, and a pipeline inside a stage
   * that runs again doesn't either.
   */
  private keyedAttempt(at: number, repeated: boolean): number {
    const own = (repeated ? (this.repeats[at] ?? 0) : 0) + this.guardTry;
    return (this.frame.context.attempt - 1) * ATTEMPTS_PER_PIPELINE + own;
  }

  private ambient(input: Value): ReadonlyMap<string, Value> {
    const history = pipelineHistory(this.outputs, this.allRetries);
    return new Map<string, Value>([
      ['input', input],
      ['p', history],
      ['pipeline', history],
    ]);
  }

  private noteRetry(at: number, hint: Value): void {
    const place = locationOf(this.frame.module, this.places[at]?.stage?.at ?? 0);
    if (at === 0) throw new MlldError('RETRY', '`retry` has no stage before it to run again', { location: place });
    if (this.asker?.place !== at) this.asker = { place: at, try: 1, tries: [], hint: null };
    const { asker } = this;
    const output = asElement(this.outputs[at - 1]) ?? null;
    asker.tries = [...asker.tries, { attempt: asker.try, result: 'retry', hint: asElement(hint) ?? null, output }];
    asker.hint = hint;
    asker.try++;
    this.allRetries.push(output);
    this.repeats[at - 1] = (this.repeats[at - 1] ?? 0) + 1;
    if (asker.try > RETRIES_PER_ASKER + 1 || (this.repeats[at - 1] ?? 0) > REPEATS_PER_STAGE) {
      throw new MlldError('RETRY_LIMIT', `The retry limit is reached: stage ${at} asked ${RETRIES_PER_ASKER} times for another result`, {
        location: place,
      });
    }
  }

  /** A guard's `retry`: source and stages run again. instrumentation.md 4.5. */
  private guardAsks(error: unknown): typeof FROM_THE_SOURCE {
    if (!(error instanceof GuardRetry) || !this.repeatable) throw error;
    if (this.guardTry >= RETRIES_PER_ASKER) {
      throw new MlldError(
        'RETRY_LIMIT',
        `The retry limit is reached: a guard asked ${RETRIES_PER_ASKER} times for another result (${error.reason})`,
        {
          location: locationOf(this.frame.module, this.repeatable.at),
        },
      );
    }
    this.guardTry++;
    return FROM_THE_SOURCE;
  }
}

/** `@p[0]` the source, `@p[1]`… the results, `@p[-1]` the latest, `@p.length` the number of finished stages. */
function pipelineHistory(outputs: readonly Value[], retries: readonly Value[]): Value {
  const history: Record<string, Value> = {};
  outputs.forEach((output, i) => (history[i] = asElement(output) ?? null));
  history['-1'] = asElement(outputs.at(-1)) ?? null;
  history['length'] = Math.max(0, outputs.length - 1);
  history['retries'] = { all: [...retries] };
  return flow(annotate(history as DataObject, {}), outputs);
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
      return evaluateCode({ ...stage.code, stdin }, { ...frame, scope });
    }
    case 'while-stage':
      return runWhile(stage, input, frame, ambient);
    case 'data-stage':
      return frame.evaluate(stage.value, withInput(frame, input));
  }
}
