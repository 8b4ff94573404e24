/**
 * Finds the operations in the body of a function, for guards and hooks that would act there. More exact than the reach of its definition:
 * code that is the whole body of a function is part of its call, and a reference to a variable is no call.
 */
import { addReach, createReach, languageNames, type Reach } from '../../runtime/definitions/reachable-operations.js';
import type { Executable } from '../../runtime/definitions/executable.js';

/** Nodes that are operations by another name, beside those that `addReach` knows. */
const NAMES: { readonly [kind: string]: string } = { pipeline: 'pipeline-stage', file: 'output', files: 'output' };
const KINDS: readonly string[] = ['exe', 'var', 'run', 'for', 'loop', 'import', 'show', 'log', 'output', 'append', 'stream'];

export interface OperationsInside {
  readonly reach: Reach;
  /** False: values only flow through the body, and nothing is done with them that guards look at. */
  readonly hasOperations: boolean;
}

const FOUND = new WeakMap<Executable, { readonly count: number; readonly operations: OperationsInside }>();

/** `reached` are all functions that the body may call, and the function itself. */
export function operationsInside(executable: Executable, reached: ReadonlySet<Executable>): OperationsInside {
  const known = FOUND.get(executable);
  if (known?.count === reached.size) return known.operations; // a function that is declared later adds itself
  const reach = createReach();
  for (const each of reached) {
    const { body, options } = each.node;
    addReach(reach, [body.kind === 'code' ? Object.values(body) : body, options, each.template?.template]);
  }
  for (const [kind, operation] of Object.entries(NAMES)) if (reach.operations.has(kind)) reach.operations.add(operation);
  const called = [...reached].filter((each) => each !== executable);
  if (called.length === 0 && !reach.functions.has(executable.name)) reach.operations.delete('exe');
  for (const { name, labels, code } of called) {
    reach.functions.add(name);
    for (const label of labels) {
      reach.operations.add(label);
      reach.labels.add(label);
    }
    for (const language of code ? languageNames(code.language) : []) reach.operations.add(language);
  }
  const operations = { reach, hasOperations: KINDS.some((kind) => reach.operations.has(kind)) };
  FOUND.set(executable, { count: reached.size, operations });
  return operations;
}
