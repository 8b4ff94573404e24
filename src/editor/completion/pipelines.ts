/** Offers what may be written in a pipeline: attributes, their values, and nodes. It reads the text, which may be broken. */
import { ATTRIBUTES } from '../../pipeline/model/attributes.js';
import { SHAPES } from '../../pipeline/model/shapes.js';
import type { Suggestion } from './suggestion.js';

type Owner = keyof typeof ATTRIBUTES;

const NAME = '[A-Za-z_][\\w]*';
const STATEMENTS = ['graph', 'node', 'edge', 'subgraph'];
const CONDITIONS = ['outcome=success', 'outcome=fail', 'preferred_label=', 'context.'];
const NODE_VALUED = ['retry_target', 'fallback_retry_target'];
/** No type but that of a text reads this. */
const NO_WORD = '\u0000';

/** `at` is the place of the cursor. */
export function pipelineCompletionAt(text: string, at: number): readonly Suggestion[] {
  const before = withoutRemarks(text.slice(0, at));
  const list = openList(before);
  if (list === undefined) return statementCompletion(text, before);
  const { owner, written } = list;
  const [, key, value] = new RegExp(`([\\w.]+)\\s*=\\s*"?([^",\\]]*)$`).exec(written) ?? [];
  if (key === 'condition' && value !== undefined) return CONDITIONS.map((label) => ({ label, kind: 'keyword' }));
  if (key !== undefined) return valuesOf(owner, key, text);
  if (!/(?:^|[,;\s])[\w.]*$/.test(written)) return [];
  return Object.entries(ATTRIBUTES[owner]).map(([label, { name }]) => ({ label, kind: 'option', detail: name }));
}

function statementCompletion(text: string, before: string): readonly Suggestion[] {
  if (/"[^"\n]*$/.test(before.slice(before.lastIndexOf('\n') + 1).replace(/"[^"]*"/g, ''))) return [];
  const nodes = nodesIn(text);
  if (/->\s*\w*$/.test(before)) return nodes;
  if (!/(?:^|[\n;{])\s*\w*$/.test(before) || !before.includes('{')) return [];
  return [...nodes, ...STATEMENTS.map((label): Suggestion => ({ label, kind: 'keyword' }))];
}

/** Returns what is written of the attribute list that is open at the end, and whose it is. */
function openList(before: string): { readonly owner: Owner; readonly written: string } | undefined {
  const from = before.lastIndexOf('[');
  if (from < 0) return undefined;
  const written = before.slice(from + 1);
  if (written.replace(/"(?:[^"\\]|\\.)*"?/g, '').includes(']')) return undefined;
  const head = before.slice(Math.max(...['\n', ';', '{'].map((sign) => before.lastIndexOf(sign, from))) + 1, from);
  const owner = /->|^\s*edge\b/.test(head) ? 'edge' : /^\s*graph\b/.test(head) ? 'graph' : 'node';
  return { owner, written };
}

function valuesOf(owner: Owner, key: string, text: string): readonly Suggestion[] {
  if (key === 'shape') return SHAPES.map((label) => ({ label, kind: 'keyword' }));
  if (NODE_VALUED.includes(key)) return nodesIn(text);
  const type = Object.hasOwn(ATTRIBUTES[owner], key) ? ATTRIBUTES[owner][key] : undefined;
  if (type === undefined || type.read(NO_WORD) !== undefined) return [];
  // The name of a type that is one of several words lists them.
  return type.name
    .split(/, | or /)
    .filter((word) => type.read(word) !== undefined)
    .map((label) => ({ label, kind: 'keyword' }));
}

function nodesIn(text: string): readonly Suggestion[] {
  const plain = withoutRemarks(text).replace(/"(?:[^"\\]|\\.)*"/g, '""');
  const found = [...plain.matchAll(new RegExp(`(?:(?<=[\\n;{]\\s*|->\\s*)(${NAME})(?=\\s*(?:->|\\[|;|\\n|$)))`, 'g'))].map(
    ([name]) => name,
  );
  return [...new Set(found)].filter((name) => !STATEMENTS.includes(name)).map((label) => ({ label, kind: 'variable', detail: 'node' }));
}

function withoutRemarks(text: string): string {
  return text.replace(/\/\*[^]*?\*\/|^\s*(?:\/\/|#).*$/gm, '');
}
