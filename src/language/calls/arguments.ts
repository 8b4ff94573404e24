/** Evaluates the arguments of a call, left to right, in the caller's scope, before the body starts. control.md 4. */
import type { Expression } from '../../../grammar/ast.js';
import type { Argument } from '../../values/methods/arguments.js';
import { userRegExp } from '../../values/methods/regex.js';
import type { Value } from '../../values/value.js';
import { boundValue, lenient } from '../../runtime/evaluator-ports.js';
import { undefinedVariable } from '../../runtime/errors.js';
import type { Awaitable } from '../../runtime/awaitable.js';
import type { Frame } from '../../runtime/frame.js';

/** Returns no promise where all are bare names: most are. */
export function evaluateArguments(nodes: readonly Expression[], frame: Frame): Awaitable<Value[]> {
  const values: Value[] = [];
  for (let i = 0; i < nodes.length; i++) {
    const value = boundValue(nodes[i] as Expression, frame);
    if (value === undefined || value === null) return evaluateFrom(values, nodes, frame);
    values.push(value);
  }
  return values;
}

async function evaluateFrom(values: Value[], nodes: readonly Expression[], frame: Frame): Promise<Value[]> {
  for (const node of nodes.slice(values.length)) values.push(boundValue(node, frame) ?? (await evaluateArgument(node, frame)));
  return values;
}

/** Does the same for methods of texts, which also take `/regex/`. */
export async function evaluateMethodArguments(nodes: readonly Expression[], frame: Frame): Promise<Argument[]> {
  const values: Argument[] = [];
  for (const node of nodes) values.push(node.kind === 'regex' ? userRegExp(node.source, node.flags) : await evaluateArgument(node, frame));
  return values;
}

/** Passes on an unbound parameter as it is; throws UNKNOWN_VARIABLE for a name that is not declared. */
async function evaluateArgument(node: Expression, frame: Frame): Promise<Value> {
  const value = await lenient(node, frame);
  if (value === undefined && node.kind === 'reference' && !frame.scope.find(node.name)) {
    throw undefinedVariable(node.name, frame.module, node.at, frame.scope);
  }
  return value;
}
