/** Finds the function that a reference calls. */
import type { ApplyStep, MethodStep, Step } from '../../../grammar/ast.js';

/** Returns the steps that lead to the function: those before the call, and the name of a method as a field. */
export function stepsToCallee(steps: readonly Step[]): readonly Step[] {
  const last = steps.at(-1) as ApplyStep | MethodStep | undefined;
  const before = steps.slice(0, -1);
  return last?.kind === 'method' ? [...before, { kind: 'field', name: last.name, at: last.at }] : before;
}
