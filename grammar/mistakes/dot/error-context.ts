/** Describes the place of a mistake, and provides the small tools that recognise mistakes. */
import { SyntaxFailure } from '../../errors.js';

export interface ErrorContext {
  readonly text: string;
  readonly at: number;
}

/** Rules of the subset that have a code of their own; all others have `dot_syntax`. */
export type DotCode =
  | 'dot_undirected'
  | 'dot_strict'
  | 'dot_one_graph'
  | 'dot_graph_name'
  | 'dot_node_id'
  | 'dot_port'
  | 'dot_attributes'
  | 'dot_value'
  | 'dot_html'
  | 'dot_string'
  | 'dot_comment'
  | 'dot_edge_group'
  | 'dot_limit'
  | 'dot_syntax';

const RESERVED = new Set(['digraph', 'graph', 'node', 'edge', 'subgraph', 'strict']);

/** True in any letter case: Graphviz would read it as a keyword. */
export function isReserved(word: string): boolean {
  return RESERVED.has(word.toLowerCase());
}

export function fail(code: DotCode, at: number, message: string, hint?: string): never {
  throw new SyntaxFailure(message, { code, at, hint });
}

export function look(pattern: RegExp, { text, at }: ErrorContext): RegExpExecArray | null {
  pattern.lastIndex = at;
  return pattern.exec(text);
}

/** Moves behind white space and comments. */
export function pastBlanks({ text, at }: ErrorContext): ErrorContext {
  return { text, at: at + (look(/(?:\s|\/\/.*|\/\*[^]*?\*\/)*/y, { text, at })?.[0].length ?? 0) };
}

/** Names the token at a place, for messages. */
export function describe({ text, at }: ErrorContext): string {
  const token = look(/[\p{L}_][\p{L}\p{N}_]*|[\d.]+\w*|->|--|&&|\|\||[=!<>]+|./uy, pastBlanks({ text, at }))?.[0];
  if (token === '"') return 'a string';
  return token === undefined ? 'the end' : `\`${token}\``;
}
