/** The definition of a hook or a guard, which is part of how a call is executed. design.md 3. */
import type { Guard, Hook } from '../../grammar/ast.js';
import type { Interceptor } from '../runtime/definitions/definable.js';
import type { Module } from '../runtime/module.js';
import { filterText } from './filter.js';

/** Names it `@quality`; an unnamed one by its filter, `before op:exe`, and not by its number, which changes with the others. */
export function interceptor(node: Guard | Hook, module: Module): Interceptor {
  const name = node.name === undefined ? `${node.timing} ${filterText(node.filter)}` : `@${node.name}`;
  return { name, node, module, params: ['input', 'output'], labels: [], derived: { shape: undefined, definition: undefined } };
}
