/** Evaluates what a function says about its calls in `with { … }`. calls.md 11.1 and 12.1. */
import type { Expression } from '../../../grammar/ast.js';
import type { Cost } from '../../calls/budget/budget.js';
import { programLane, UNKNOWN } from '../../calls/lanes/program-lane.js';
import { COST_WANTED, costIn } from '../../calls/option-values.js';
import type { CallOptions, Retries } from '../../calls/options.js';
import { isRetries, RETRIES_WANTED } from '../../calls/retries.js';
import { MlldError } from '../../errors.js';
import { Executable } from '../../runtime/definitions/executable.js';
import { locationOf } from '../../runtime/errors.js';
import type { Frame } from '../../runtime/frame.js';
import { durationOf } from '../../values/durations.js';
import { toJson } from '../../values/native.js';
import { textOf } from '../../values/text.js';
import { isTruthy } from '../../values/truth.js';
import { dataOf, type Value } from '../../values/value.js';
import { withoutUndefined } from '../../values/without-undefined.js';
import { schemaOfCall } from './call-schema.js';
import { replyFunction } from './reply-function.js';

const NAMES = ['reply', 'schema', 'repair', 'retries', 'timeout', 'lane', 'model', 'maxCost', 'onFailure', 'partial', 'files'] as const;

export type OptionName = (typeof NAMES)[number];

/**
 * Evaluates those of `only`. `frame` is that of the function, so its parameters are in scope. Throws CALL_OPTION for a value of the wrong
 * kind.
 */
export async function callOptions(executable: Executable, frame: Frame, only: readonly OptionName[] = NAMES): Promise<CallOptions> {
  const values: { [N in OptionName]?: { readonly value: Value; readonly refuse: (wanted: string) => MlldError } } = {};
  for (const { name, value } of executable.node.options) {
    const known = only.find((each) => each === name);
    if (known === undefined || known === 'schema') continue;
    const evaluated = await frame.evaluate(value, frame);
    if (evaluated !== undefined && dataOf(evaluated) !== null)
      values[known] = { value: evaluated, refuse: refusal(known, value, evaluated, frame) };
  }
  const schemaOption = only.includes('schema') ? executable.schemaOption : undefined;
  const { reply, repair, retries, timeout, lane, model, maxCost, onFailure, partial, files } = values;
  return withoutUndefined<CallOptions>({
    reply: reply && adapterIn(reply, frame, executable.node.at),
    schema: schemaOption && (executable.schema ?? (await schemaOfCall(executable, schemaOption, frame))),
    repair: repair && booleanIn(repair),
    retries: retries && retriesIn(retries),
    timeoutMs: timeout && durationOf(timeout.value, locationOf(frame.module, executable.node.at)),
    lane: lane ? textOf(lane.value) : defaultLane(executable, model && textOf(model.value)),
    model: model && textOf(model.value),
    maxCost: maxCost && maxCostIn(maxCost),
    onFailure: onFailure && oneOf(onFailure, ['error', 'marker', 'value']),
    partial: partial && isTruthy(partial.value),
    files: files && oneOf(files, ['keep', 'ignore']),
  });
}

/** True when the options of the function have to be evaluated for each call. */
export function hasCallOptions({ node }: Executable): boolean {
  return node.options.some(({ name }) => (NAMES as readonly string[]).includes(name));
}

const ADAPTERS = ['claude', 'codex', 'gemini', 'opencode', 'openai', 'anthropic', 'text'] as const;
/** The program and the model of a call, as far as they are known before it; else the function. calls.md 12.1. */
export function defaultLane({ name, code }: Executable, model?: string): string {
  const line = code?.language === 'cmd' ? code.text.map((part) => (part.kind === 'text' ? part.text : UNKNOWN)).join('') : '';
  return programLane(line, model) ?? `@${name}`;
}

function adapterIn(reply: Given, frame: Frame, at: number): CallOptions['reply'] {
  const data = dataOf(reply.value);
  return data instanceof Executable ? replyFunction(data, frame, at) : oneOf(reply, ADAPTERS, ', or a function of the script');
}

interface Given {
  readonly value: Value;
  readonly refuse: (wanted: string) => MlldError;
}

function refusal(name: string, node: Expression, value: Value, frame: Frame): Given['refuse'] {
  return (wanted) =>
    new MlldError('CALL_OPTION', `The option ${name} is ${JSON.stringify(toJson(value))}, which it does not take`, {
      location: locationOf(frame.module, node.at),
      hint: `${name} takes ${wanted}`,
    });
}

function oneOf<const T extends string>({ value, refuse }: Given, words: readonly T[], others = ''): T {
  const data = dataOf(value);
  const word = words.find((each) => each === data);
  if (word === undefined) throw refuse(`${words.map((each) => `"${each}"`).join(', ')}${others}`);
  return word;
}

function booleanIn({ value, refuse }: Given): boolean {
  const data = dataOf(value);
  if (typeof data !== 'boolean') throw refuse('true or false');
  return data;
}

function retriesIn({ value, refuse }: Given): Retries {
  const json = toJson(value);
  if (isRetries(json)) return json;
  throw refuse(RETRIES_WANTED);
}

function maxCostIn({ value, refuse }: Given): Cost {
  const cost = costIn(dataOf(value));
  if (cost === undefined) throw refuse(COST_WANTED);
  return cost;
}
