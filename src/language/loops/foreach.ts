/** Evaluates `foreach @f(XS, YS)`: a call for every combination of elements. control.md 13. */
import type { ApplyStep, Expression, Foreach, MethodStep, Options } from '../../../grammar/ast.js';
import { MlldError } from '../../errors.js';
import { Denial } from '../../runtime/denial.js';
import { Callable } from '../../values/kinds/callable.js';
import { textOf } from '../../values/text.js';
import { showText } from '../../values/show.js';
import { annotate, asElement, dataOf, flow, type Value } from '../../values/value.js';
import { callValue, lenient, runStages } from '../../runtime/evaluator-ports.js';
import { entriesOf } from '../../values/entries.js';
import { stepsToCallee } from '../calls/callee.js';
import { endsTheRun, locationOf, rise } from '../../runtime/errors.js';
import type { Frame } from '../../runtime/frame.js';
import { shownItem } from './item-place.js';

const COMBINATIONS_MAX = 10_000;

export async function evaluateForeach(node: Foreach, frame: Frame): Promise<Value> {
  const result = await combine(node, frame);
  return node.batch ? runStages(result, node.batch, frame) : result;
}

async function combine({ call, at }: Foreach, frame: Frame): Promise<Value> {
  const location = locationOf(frame.module, at);
  const last = call.steps.at(-1) as ApplyStep | MethodStep;
  const callee = dataOf(await lenient({ ...call, steps: stepsToCallee(call.steps) }, frame));
  const name = last.kind === 'method' ? last.name : call.name;
  if (!(callee instanceof Callable)) throw new MlldError('UNKNOWN_FUNCTION', `Function @${name} is not defined`, { location });
  if (callee.params.length !== last.args.length) {
    throw new MlldError(
      'FOREACH_ARITY',
      `foreach @${name} needs ${callee.params.length} arrays, one for each parameter, but has ${last.args.length}`,
      { location },
    );
  }
  const lists: Value[][] = [];
  const sources: Value[] = [];
  for (const arg of last.args) {
    const source = await frame.evaluate(arg, frame);
    if (!Array.isArray(dataOf(source)))
      throw new MlldError('NOT_AN_ARRAY', `foreach @${name}: each argument must be an array`, {
        location,
        hint: 'put a single value into brackets: [@x]',
      });
    sources.push(source);
    lists.push((entriesOf(source) ?? []).map(({ value }) => value));
  }
  const total = lists.reduce((product, list) => product * list.length, lists.length === 0 ? 0 : 1);
  if (total > COMBINATIONS_MAX)
    throw new MlldError('FOREACH_SIZE', `foreach @${name}: ${total} combinations are more than the limit of ${COMBINATIONS_MAX}`, {
      location,
      hint: 'split one of the arrays, or nest two `for` loops',
    });
  const results: Value[] = [];
  for (let i = 0; i < total; i++) {
    const items = combination(lists, i);
    try {
      results.push(await callValue(callee, items, frame, { at, called: [name] }));
    } catch (error) {
      // A denial is passed on unchanged, because its handler is further out.
      if (!(error instanceof MlldError) || error instanceof Denial || endsTheRun(error)) throw error;
      throw rise(ofIteration(error, name, i), frame.module, at, `foreach @${name}, item ${i + 1} of ${total}${shownItem(items[0])}`);
    }
  }
  return flow(annotate(results.map(asElement), {}), [...sources, ...results]);
}

/** The message names the iteration; the place stays where the call failed. */
function ofIteration(error: MlldError, name: string, i: number): MlldError {
  const { code, message, location, hint } = error;
  const named = new MlldError(code, `foreach @${name}, iteration ${i + 1}: ${message}`, { location, cause: error, hint });
  named.trail.push(...error.trail);
  return named;
}

/** Returns the i-th combination; the last list varies fastest. */
function combination(lists: readonly Value[][], i: number): Value[] {
  const chosen: Value[] = [];
  let rest = i;
  for (const list of lists.toReversed()) {
    chosen.unshift(list[rest % list.length]);
    rest = Math.floor(rest / list.length);
  }
  return chosen;
}

/** Returns a line for each result of `show foreach …`, by the options `separator` and `template`; undefined for other expressions. */
export async function foreachLines(node: Expression, frame: Frame): Promise<Value> {
  const options = node.kind === 'with' ? node.options : [];
  const loop = node.kind === 'with' ? node.value : node;
  if (loop.kind !== 'foreach') return undefined;
  const result = await evaluateForeach(loop, frame);
  const entries = entriesOf(result);
  if (!entries) return result;
  const template = await optionText(options, 'template', frame);
  const lines = entries.map(({ value }, index) =>
    template === undefined ? showText(value) : template.replaceAll('{{index}}', String(index)).replaceAll('{{result}}', textOf(value)),
  );
  return flow(annotate(lines.join((await optionText(options, 'separator', frame)) ?? '\n'), {}), [result]);
}

async function optionText(options: Options, name: string, frame: Frame): Promise<string | undefined> {
  const option = options.find((candidate) => candidate.name === name);
  return option && textOf(await frame.evaluate(option.value, frame));
}
