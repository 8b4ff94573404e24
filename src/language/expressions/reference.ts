/** Evaluates `@name` and the fields, indexes and calls chained to it. values.md 8, 10, 14 and 16.1. */
import type { Chain, Expression, MethodStep, Reference, Step } from '../../../grammar/ast.js';
import { MlldError } from '../../errors.js';
import { each, filterBy, readField, readIndex, slice } from '../../values/access.js';
import { Callable } from '../../values/kinds/callable.js';
import { partOf } from '../../values/failures.js';
import { resultOfPipeline } from '../../values/kinds/pipeline-context.js';
import type { Argument } from '../../values/methods/arguments.js';
import { callMethod, isFormatMethod, isMethod } from '../../values/methods/methods.js';
import { textOf } from '../../values/text.js';
import { typeChecks } from '../../values/methods/type-checks.js';
import { mxField, mxObject, type Binding as MxBinding } from '../../values/metadata.js';
import { InputTest } from '../../values/methods/input-test.js';
import { annotate, asElement, dataOf, flow, type DataObject, type Value } from '../../values/value.js';
import { ambientValue } from './ambient-variables.js';
import { stepsToCallee } from '../calls/callee.js';
import { contextValue } from './context-variables.js';
import { callValue } from '../../runtime/evaluator-ports.js';
import type { CallDetails } from '../../runtime/ports.js';
import { locationOf, undefinedVariable } from '../../runtime/errors.js';
import { Executable } from '../../runtime/definitions/executable.js';
import { evaluateArguments, evaluateMethodArguments } from '../calls/arguments.js';
import type { Frame } from '../../runtime/frame.js';
import { readNamespace } from './namespace-members.js';
import { formatted } from '../files/written-text.js';
import { existenceTest } from './existence-tests.js';
import type { Binding } from '../../runtime/scope.js';
import { positionOf } from '../../runtime/position.js';

/** Returns the value; throws UNKNOWN_VARIABLE for an undefined name. */
export function evaluateReference(node: Reference, frame: Frame): Promise<Value> {
  return lookUp(node, frame).then((value) => {
    if (value === undefined) throw undefinedVariable(node.name, frame.module, node.at, frame.scope);
    return value;
  });
}

/** Evaluates a reference that ends in a call of a script's function with labels; others as usual, without them. */
export async function evaluateCall(node: Reference, frame: Frame, details: Pick<CallDetails, 'labels'>): Promise<Value> {
  const last = node.steps.at(-1);
  if (last?.kind !== 'apply' && last?.kind !== 'method') return evaluateReference(node, frame);
  const steps = stepsToCallee(node.steps);
  const isName = steps.every((step) => step.kind === 'field');
  const callee = isName ? dataOf(await memberOrNothing({ ...node, steps }, frame)) : undefined;
  if (!(callee instanceof Executable)) return evaluateReference(node, frame);
  const path = [node.name, ...steps.map((step) => (step.kind === 'field' ? step.name : ''))];
  return callValue(callee, await evaluateArguments(last.args, frame), frame, { at: last.at, called: path, ...details });
}

/** Follows fields; returns undefined where the chain leaves objects, because the last name may be a method of a text. */
async function memberOrNothing(node: Reference, frame: Frame): Promise<Value> {
  let data = dataOf(frame.scope.find(node.name)?.value);
  for (const step of node.steps) {
    if (step.kind !== 'field' || typeof data !== 'object' || data === null || Array.isArray(data) || data instanceof Callable)
      return undefined;
    data = dataOf(readMember(data, step.name, `@${node.name}`));
  }
  return data;
}

export async function evaluateChain(node: Chain, frame: Frame): Promise<Value> {
  return follow(await frame.evaluate(node.base, frame), node.steps, 0, frame, { written: '', at: node.at, binding: undefined });
}

interface Origin {
  /** Is the reference as it is written, up to the current step, for messages. */
  readonly written: string;
  /** Is the position of the whole reference. */
  readonly at: number;
  readonly binding: Binding | undefined;
  /** Holds the names before a call, for hooks on a namespace: `mine.dig`. It grows while the reference is followed. */
  readonly path?: string[];
}

/** Returns the value; undefined for a name that is not defined. */
export function lookUp(node: Reference, frame: Frame): Promise<Value> {
  const binding = frame.scope.find(node.name);
  if (binding && node.steps.length === 0) return Promise.resolve(binding.value);
  const origin = { written: `@${node.name}`, at: node.at, binding, path: [node.name] };
  return binding ? follow(binding.value, node.steps, 0, frame, origin) : lookUpOutside(node, frame, origin);
}

/** Looks a name up that no scope has. */
async function lookUpOutside(node: Reference, frame: Frame, origin: Origin): Promise<Value> {
  if (node.name === 'mx') return followContext(node, frame, origin);
  const [first] = node.steps;
  const test = first?.kind === 'apply' ? existenceTest(node.name, frame) : undefined;
  if (test && first?.kind === 'apply') return follow(await test(first.args, frame), node.steps, 1, frame, origin);
  const ambient = await ambientValue(node.name, frame);
  return follow(ambient, node.steps, 0, frame, origin);
}

/** Evaluates `@mx.first.rest`; it builds only that part of `@mx`. */
async function followContext(node: Reference, frame: Frame, origin: Origin): Promise<Value> {
  const [first] = node.steps;
  const name =
    first?.kind === 'field'
      ? first.name
      : first?.kind === 'index' && first.index.kind === 'literal'
        ? String(first.index.value)
        : undefined;
  if (name === undefined) return follow(contextValue(undefined, frame), node.steps, 0, frame, origin);
  const value = contextValue(name, frame);
  // The fields of a context variable come and go while the script runs; one that is missing now is null.
  const isScalar = typeof dataOf(value) !== 'object';
  return isScalar && node.steps[1]?.kind === 'field' ? null : follow(value, node.steps, 1, frame, { ...origin, written: `@mx.${name}` });
}

async function follow(start: Value, steps: readonly Step[], from: number, frame: Frame, origin: Origin): Promise<Value> {
  let value = start;
  const { path } = origin;
  let { written, binding } = origin;
  for (let i = from; i < steps.length; i++) {
    const step = steps[i] as Step;
    if (value === undefined && !(step.kind === 'method' && step.name in typeChecks)) {
      if (step.kind === 'field' || step.kind === 'index') continue; // a field of an undefined value is undefined
      if (step.kind === 'apply' || step.kind === 'method') throw unknownFunction(origin, step.kind, frame);
      throw undefinedVariable(origin.written.slice(1), frame.module, origin.at, frame.scope);
    }
    try {
      switch (step.kind) {
        case 'field':
          if (step.name === 'mx' && !(dataOf(value) instanceof InputTest)) {
            const next = steps[i + 1];
            const about = mxBinding(binding, frame);
            if (next?.kind === 'field') {
              value = frame.run.failures.carry(
                mxField(value, next.name, about),
                next.name === 'text' || next.name === 'data' ? [value] : [],
              );
              i++;
              // Steps after `.mx.data` read the data itself, even a member called `mx`. world.md 9.
              const member = steps[i + 1];
              if (next.name === 'data' && member?.kind === 'field' && member.name === 'mx') {
                value = readField(value, 'mx', { written: `${written}.mx.data` });
                i++;
              }
            } else value = frame.run.failures.carry(mxObject(value, about), [value]);
          } else {
            const base = await constructed(value, frame, step.at);
            value = readNamespace(base, step.name, written) ?? orNull(frame, () => readField(base, step.name, { written }));
          }
          written += `.${step.name}`;
          path?.push(step.name);
          break;
        case 'index': {
          const index = await indexOf(step.index, frame);
          const base = value;
          const known = readNamespace(base, textOf(index), written) ?? resultOfPipeline(base, index);
          value = known ?? orNull(frame, () => readIndex(base, index, { written }));
          written += '[…]';
          path?.push(String(dataOf(index)));
          break;
        }
        case 'slice':
          value = slice(value, step.from && (await frame.evaluate(step.from, frame)), step.to && (await frame.evaluate(step.to, frame)));
          break;
        case 'filter':
          value = filterBy(value, step.path, step.operator, step.value && (await frame.evaluate(step.value, frame)));
          break;
        case 'each': {
          const end = endOfPath(steps, i + 1);
          value = await eachElement(value, steps.slice(i + 1, end), frame, { written, at: origin.at });
          i = end - 1;
          break;
        }
        case 'method':
          value = await callMember(value, step, frame, written, [...(path ?? [])]);
          break;
        case 'apply': {
          const callee = functionIn(value, step.at, frame, written);
          const called = [...(path ?? [])];
          const args = evaluateArguments(step.args, frame);
          value = await callValue(callee, args instanceof Promise ? await args : args, frame, { at: step.at, called });
          break;
        }
      }
    } catch (error) {
      if (error instanceof MlldError) error.location ??= locationOf(frame.module, step.at);
      throw error;
    }
    binding = undefined;
  }
  return value;
}

/** Returns the end of the steps that apply to each element of `[*].a[0].b`; a method after them applies to the list of results. */
function endOfPath(steps: readonly Step[], from: number): number {
  let end = from;
  while (end < steps.length && (steps[end]?.kind === 'field' || steps[end]?.kind === 'index' || steps[end]?.kind === 'each')) end++;
  return end;
}

async function eachElement(
  value: Value,
  rest: readonly Step[],
  frame: Frame,
  { written, at }: Pick<Origin, 'written' | 'at'>,
): Promise<Value> {
  const elements = each(value);
  if (elements === null) return null;
  const results: Value[] = [];
  for (const element of elements) {
    const found = await follow(element, rest, 0, frame, { written: `${written}[*]`, at, binding: undefined });
    results.push(asElement(found ?? null));
  }
  return flow(annotate(results, {}), [value]);
}

/** Makes the object of `exe @u = new @URL(…)`, so that its fields can be read from the function. world.md 11.3. */
async function constructed(value: Value, frame: Frame, at: number): Promise<Value> {
  const made = dataOf(value);
  return made instanceof Executable && made.body.kind === 'new' ? callValue(made, [], frame, { at, called: [made.name] }) : value;
}

async function indexOf(node: Expression, frame: Frame): Promise<Value> {
  return node.kind === 'literal' ? node.value : frame.evaluate(node, frame);
}

/** Calls the function in a field, which wins over a method of the same name. */
async function callMember(value: Value, step: MethodStep, frame: Frame, written: string, path: readonly string[]): Promise<Value> {
  const data = dataOf(value);
  const member = typeof data === 'object' && data !== null && !Array.isArray(data) ? readMember(value, step.name, written) : undefined;
  if (member instanceof Callable) {
    return callValue(member, await evaluateArguments(step.args, frame), frame, { at: step.at, called: [...path, step.name] });
  }
  const args = await evaluateMethodArguments(step.args, frame);
  if (isFormatMethod(step.name) && value !== undefined) {
    if (args.length > 0) throw new MlldError('BAD_ARGUMENT', `${written}.${step.name}() takes no arguments`);
    return withFailures(flow(await formatted(value, step.name), [value]), value, [], frame);
  }
  const result = orNull(frame, () => callMethod(value, step.name, args, { written }), isMethod(step.name));
  return withFailures(result, value, args, frame);
}

/** In the conditions that sort values, what a value of another kind would have is null. control.md 9.2. */
function orNull(frame: Frame, read: () => Value, isKnown = true): Value {
  if (!frame.sorting || !isKnown) return read();
  try {
    return read();
  } catch (error) {
    if (error instanceof MlldError && OF_ANOTHER_KIND.has(error.code)) return null;
    throw error;
  }
}

const OF_ANOTHER_KIND: ReadonlySet<string> = new Set(['NO_FIELDS', 'NO_ELEMENTS', 'UNKNOWN_METHOD']);

/** Adds to a text the failures of all that a method made it of. The elements of an array have theirs in them. */
function withFailures(result: Value, value: Value, args: readonly Argument[], { run: { failures } }: Frame): Value {
  if (failures.isEmpty) return result;
  if (Array.isArray(dataOf(value)) && typeof dataOf(result) !== 'string') return partOf(result, value);
  return failures.carry(result, [value, ...args.filter((argument): argument is Value => !(argument instanceof RegExp))]);
}

function readMember(value: Value, name: string, written: string): Value {
  const found = readNamespace(value, name, written);
  if (found !== undefined) return dataOf(found);
  const data = dataOf(value) as DataObject;
  if (Object.hasOwn(data, name)) return dataOf(data[name]);
  const field = data.constructor === Object ? undefined : readField(value, name, { written });
  return dataOf(field);
}

function functionIn(callee: Value, at: number, frame: Frame, written: string): Callable {
  const data = dataOf(callee);
  if (data instanceof Callable) return data;
  throw new MlldError('NOT_A_FUNCTION', `${written} is not a function`, { location: locationOf(frame.module, at) });
}

function unknownFunction({ written, at }: Origin, called: 'apply' | 'method', frame: Frame): MlldError {
  const name = written.slice(1);
  const error = undefinedVariable(name, frame.module, at, frame.scope);
  if (called === 'method') return error;
  return new MlldError('UNKNOWN_FUNCTION', `Function @${name} is not defined`, { location: error.location, hint: error.hint });
}

function mxBinding(binding: Binding | undefined, frame: Frame): MxBinding | undefined {
  if (!binding) return undefined;
  const { name, at, index, key } = binding;
  return {
    name,
    ...(at === undefined ? {} : { definedAt: { ...positionOf(frame.module, at), filePath: frame.module.path } }),
    ...(index === undefined ? {} : { index }),
    ...(key === undefined ? {} : { key }),
  };
}
