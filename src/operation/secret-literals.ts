/** Secrets that are written in a source: the literals of variables and functions that are labelled `secret`. */
import { parseScript } from '../../grammar/parse.js';
import { HIDDEN, SECRET } from '../runtime/secrets/secret-registry.js';

export interface HiddenSource {
  /** The source with marks in the place of the literals. */
  readonly text: string;
  readonly literals: readonly string[];
}

/** Undefined when the source holds no such literal. */
export function hideLiterals(source: string): HiddenSource | undefined {
  if (!/\b(var|exe)\s[^@\n]*\bsecret\b/.test(source)) return undefined;
  const script = parsed(source);
  // A source that can't be parsed can't run either, and its secrets can't be found.
  if (!script) return { text: HIDDEN, literals: [] };
  const found = declarationsIn(script, source.length).flatMap(({ node, end }) => {
    const literals = literalsIn(node);
    return literals.length === 0 ? [] : [{ begin: node.at, end, literals }];
  });
  if (found.length === 0) return undefined;
  let text = source;
  // From the end, so that the offsets before remain valid.
  for (const { begin, end, literals } of found.toReversed())
    text = text.slice(0, begin) + hidden(text.slice(begin, end), literals) + text.slice(end);
  return { text, literals: found.flatMap(({ literals }) => literals) };
}

function parsed(source: string): unknown {
  for (const mode of ['strict', 'markdown'] as const) {
    try {
      return parseScript(source, { mode });
    } catch {
      // The other mode is tried.
    }
  }
  return undefined;
}

interface Declaration {
  readonly at: number;
  readonly kind: 'var' | 'exe';
  readonly labels: readonly string[];
}

/** Returns the declarations anywhere in a tree, in order, each with the offset of the node after it. */
function declarationsIn(tree: unknown, end: number): { readonly node: Declaration; readonly end: number }[] {
  if (typeof tree !== 'object' || tree === null) return [];
  if (Array.isArray(tree)) {
    return tree.flatMap((element: unknown, i) => declarationsIn(element, offsetOf(tree[i + 1]) ?? end));
  }
  if (isSecretDeclaration(tree)) return [{ node: tree, end }];
  return Object.values(tree).flatMap((member: unknown) => declarationsIn(member, end));
}

function isSecretDeclaration(node: object): node is Declaration {
  const { kind, labels } = node as { kind?: unknown; labels?: unknown };
  return (kind === 'var' || kind === 'exe') && Array.isArray(labels) && labels.includes(SECRET);
}

function offsetOf(node: unknown): number | undefined {
  const at = typeof node === 'object' && node !== null ? (node as { at?: unknown }).at : undefined;
  return typeof at === 'number' ? at : undefined;
}

function literalsIn(tree: unknown): string[] {
  if (typeof tree !== 'object' || tree === null) return [];
  if (Array.isArray(tree)) return tree.flatMap(literalsIn);
  const { kind, value, text } = tree as { kind?: unknown; value?: unknown; text?: unknown };
  if (kind === 'literal') return typeof value === 'string' || typeof value === 'number' ? written(String(value)) : [];
  if (kind === 'text' && typeof text === 'string') return written(text);
  return Object.values(tree).flatMap(literalsIn);
}

function written(text: string): string[] {
  const word = text.trim();
  return word === '' ? [] : [word];
}

/** Replaces the literals after the equals sign; all the text there where a literal is spelled in another way than it reads. */
function hidden(declaration: string, literals: readonly string[]): string {
  const value = declaration.indexOf('=') + 1;
  const head = declaration.slice(0, value);
  let rest = declaration.slice(value);
  if (!literals.every((literal) => rest.includes(literal))) return `${head} "${HIDDEN}"\n`;
  for (const literal of [...literals].sort((a, b) => b.length - a.length)) rest = rest.replaceAll(literal, HIDDEN);
  return head + rest;
}
