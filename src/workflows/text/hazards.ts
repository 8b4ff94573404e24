/** Finds what other runtimes of the dialect refuse: the clock and random numbers. Here they are recorded. workflows-js.md 8. */
import { walk, type AnyNode } from './parse-javascript.js';
import type { WorkflowText } from './read-script.js';

export interface Hazard {
  /** As it is written: `Date.now()`. */
  readonly what: string;
  readonly at: number;
}

export function hazardsIn({ tree, offsetOf }: WorkflowText): readonly Hazard[] {
  const found: Hazard[] = [];
  walk(tree, (node) => {
    const what = hazardOf(node);
    if (what !== undefined) found.push({ what, at: offsetOf(node.start) });
  });
  return found;
}

/** Functions that give another value at each call. */
const CALLED = new Set(['Date', 'Date.now', 'Math.random']);
const MADE = 'Date';

function hazardOf(node: AnyNode): string | undefined {
  if (node.type === 'NewExpression') return node.arguments.length === 0 && nameOf(node.callee) === MADE ? `new ${MADE}()` : undefined;
  const name = node.type === 'CallExpression' ? nameOf(node.callee) : undefined;
  return name !== undefined && CALLED.has(name) ? `${name}()` : undefined;
}

/** `Math.random` for a member of a name. */
function nameOf(node: AnyNode): string | undefined {
  if (node.type === 'Identifier') return node.name;
  if (node.type !== 'MemberExpression' || node.computed) return undefined;
  return `${nameOf(node.object)}.${nameOf(node.property)}`;
}
