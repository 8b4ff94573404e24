/** Finds what a definition uses: the names in its tree, and the functions that are reached through them or come as arguments. */
import type { Step } from '../../../grammar/ast.js';
import { dataOf, type Value } from '../../values/value.js';
import { isDataObject } from '../../values/plain-object.js';
import type { Use } from './definition.js';
import { Executable } from './executable.js';

/** Returns the uses of references and pipeline stages anywhere in a tree. */
export function usesIn(tree: unknown): readonly Use[] {
  const uses: Use[] = [];
  const visit = (node: unknown): void => {
    if (typeof node !== 'object' || node === null) return;
    if (Array.isArray(node)) return node.forEach(visit);
    const { kind, name, steps, path } = node as { kind?: unknown; name?: unknown; steps?: readonly Step[]; path?: readonly string[] };
    if (kind === 'reference' && typeof name === 'string') uses.push({ name, members: membersIn(steps ?? []) });
    if (kind === 'call-stage' && typeof name === 'string') uses.push({ name, members: path ?? [] });
    Object.values(node).forEach(visit);
  };
  visit(tree);
  return uses;
}

function membersIn(steps: readonly Step[]): readonly string[] {
  const members: string[] = [];
  for (const step of steps) {
    if (step.kind === 'field' || step.kind === 'method') members.push(step.name);
    if (step.kind !== 'field') break;
  }
  return members;
}

/** Data of somebody else's may be nested deeper than a call stack bears. */
const DEPTH_MAX = 20;
const NONE: readonly Executable[] = [];

/** Returns the functions of the script that a value holds. */
export function functionsIn(value: Value): readonly Executable[] {
  const data = dataOf(value);
  if (typeof data !== 'object' || data === null) return NONE; // mostly, and this is done for each argument of a call
  const found = new Set<Executable>();
  addFunctions(value, found, 0);
  return [...found];
}

/** Returns the function that a use of the value names, or all those in the last part that it names. */
export function functionsReached(value: Value, { members }: Use): readonly Executable[] {
  let at = value;
  for (const member of members) {
    const data = dataOf(at);
    if (!isDataObject(data) || !Object.hasOwn(data, member)) break;
    at = data[member];
  }
  return functionsIn(at);
}

function addFunctions(value: Value, found: Set<Executable>, depth: number): void {
  const data = dataOf(value);
  if (data instanceof Executable) found.add(data);
  else if (depth < DEPTH_MAX && (Array.isArray(data) || isDataObject(data))) {
    for (const part of Object.values(data)) addFunctions(part as Value, found, depth + 1);
  }
}
