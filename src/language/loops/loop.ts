/** Evaluates and executes `loop`. control.md 14, instrumentation.md 5.9. */
import type { Loop } from '../../../grammar/ast.js';
import { MlldError } from '../../errors.js';
import { performEffect } from '../../operation/perform-effect.js';
import { perform } from '../../operation/perform.js';
import { isTruthy } from '../../values/truth.js';
import { annotate, asElement, dataOf, flow, type Value } from '../../values/value.js';
import { Return, type Completion } from '../../runtime/completion.js';
import { lenient } from '../../runtime/evaluator-ports.js';
import { durationOf } from '../../values/durations.js';
import { locationOf } from '../../runtime/errors.js';
import type { Frame } from '../../runtime/frame.js';
import { Scope } from '../../runtime/scope.js';

export async function evaluateLoop(node: Loop, frame: Frame): Promise<Value> {
  const { value } = await runLoop(node, frame);
  return value;
}

export async function executeLoop(node: Loop, frame: Frame): Promise<Completion> {
  const { left } = await runLoop(node, frame);
  return left;
}

interface Ended {
  readonly value: Value;
  /** A `=>` in an `if` of the block leaves the function or script around. */
  readonly left?: Completion;
}

async function runLoop(node: Loop, frame: Frame): Promise<Ended> {
  const limit = node.limit === undefined ? null : await limitOf(node, frame);
  const pace = node.pace && (await frame.evaluate(node.pace, frame));
  const paceMs = pace === undefined ? 0 : durationOf(pace, locationOf(frame.module, node.at));
  let input: Value = null;
  for (let iteration = 1; limit === null || iteration <= limit; iteration++) {
    if (iteration > 1 && paceMs > 0) await performEffect(frame, 'clock.sleep', { ms: paceMs });
    const pass = await runPass(node, input, { iteration, limit }, frame);
    if (pass.left) return { value: null, left: pass.left };
    if (pass.status !== 'continue') return { value: pass.status === 'done' ? pass.value : null };
    input = pass.value;
    const pause = frame.run.cooperativeYield.step(frame.deadline);
    if (pause) await pause;
  }
  return { value: null };
}

async function limitOf(node: Loop, frame: Frame): Promise<number> {
  const value = dataOf(node.limit && (await frame.evaluate(node.limit, frame)));
  const limit = typeof value === 'string' && value.trim() !== '' ? Number(value) : value;
  if (typeof limit !== 'number' || !Number.isInteger(limit) || limit < 0) {
    throw new MlldError('BAD_LIMIT', 'The limit of a loop must be a whole number, 0 or more', {
      location: locationOf(frame.module, node.at),
    });
  }
  return limit;
}

interface Pass {
  readonly status: 'continue' | 'done' | 'until';
  readonly value: Value;
  readonly left?: Completion;
}

async function runPass(node: Loop, input: Value, loop: { iteration: number; limit: number | null }, frame: Frame): Promise<Pass> {
  const around: Frame = { ...frame, context: { ...frame.context, loop } };
  const operation = { kind: 'loop', segment: 'loop', name: 'loop', labels: [], inputs: [input] };
  let pass: Pass = { status: 'continue', value: null };
  // Hooks and guards may replace the output of a pass, but the replacement does not steer the loop.
  await perform(around, operation, async (inner, [received]) => {
    const scope = new Scope('block', frame.scope);
    scope.define({ name: 'input', value: received, kind: 'ambient' });
    const body: Frame = { ...inner, scope, within: 'loop' };
    if (node.until && isTruthy(await lenient(node.until, body))) {
      pass = { status: 'until', value: null };
      return { status: 'until' };
    }
    pass = passedBy(await frame.execute(node.body.statements, body), received);
    const { status, value } = pass;
    return flow(annotate({ status, value: asElement(value) ?? null }, {}), [value]);
  });
  return pass;
}

function passedBy(completion: Completion, received: Value): Pass {
  if (completion instanceof Return) return { status: 'continue', value: received, left: completion };
  if (!completion) return { status: 'continue', value: received };
  const { word, hasValue, value } = completion;
  return word === 'done' ? { status: 'done', value } : { status: 'continue', value: hasValue ? value : received };
}
