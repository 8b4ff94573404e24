/** Evaluates the arguments of a call, left to right, in the caller's scope, before the body starts. control.md 4. */
import type { Expression } from '../../../grammar/ast.js';
import type { Argument } from '../../values/methods/arguments.js';
import { userRegExp } from '../../values/methods/regex.js';
import type { Value } from '../../values/value.js';
import { boundValue, lenient } from '../../runtime/evaluator-ports.js';
import { undefinedVariable } from '../../runtime/errors.js';
import type { Frame } from '../../runtime/frame.js';

export async function evaluateArguments(nodes: readonly Expression[], frame: Frame): Promise<Value[]> {
  const values: Value[] = [];
  for (const node of nodes) values.push(boundValue(node, frame) ?? (await evaluateArgument(node, frame)));
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
