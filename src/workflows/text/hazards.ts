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

const DATE = 'Date';

/** Methods that give another value at each call. */
const METHODS: readonly (readonly [object: string, method: string])[] = [
  [DATE, 'now'],
  ['Math', 'random'],
];

function hazardOf(node: AnyNode): string | undefined {
  if (node.type === 'NewExpression' && isNamed(node.callee, DATE) && node.arguments.length === 0) return `new ${DATE}()`;
  if (node.type !== 'CallExpression') return undefined;
  const { callee } = node;
  if (isNamed(callee, DATE)) return `${DATE}()`;
  if (callee.type !== 'MemberExpression' || callee.property.type !== 'Identifier') return undefined;
  const { object, property } = callee;
  const found = METHODS.find(([name, method]) => isNamed(object, name) && property.name === method);
  return found && `${found.join('.')}()`;
}

function isNamed(node: { readonly type: string }, name: string): boolean {
  return node.type === 'Identifier' && (node as { readonly name?: string }).name === name;
}
