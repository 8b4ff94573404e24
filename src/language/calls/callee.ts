/** What a reference calls. */
import type { ApplyStep, MethodStep, Step } from '../../../grammar/ast.js';

/** The way to what a reference calls in the end: its steps without the call, the name of a method among them as a field. */
export function stepsToCallee(steps: readonly Step[]): readonly Step[] {
  const last = steps.at(-1) as ApplyStep | MethodStep | undefined;
  const before = steps.slice(0, -1);
  return last?.kind === 'method' ? [...before, { kind: 'field', name: last.name, at: last.at }] : before;
}
