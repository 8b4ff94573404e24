/**
 * Parses pipelines, and the conditions and stylesheets in their strings: checks limits, calls the generated parser and turns its errors
 * into `SyntaxFailure`s. Only code that works on pipelines imports this file, so that a script starts without it.
 */
import * as mistake from './mistakes/dot/recognisers.js';
import { describe, fail } from './mistakes/dot/error-context.js';
import { SyntaxFailure } from './errors.js';
import * as generated from './generated/dot.js';
import type { AttributeValue, Condition, GraphStatement, Pipeline, Stylesheet } from './dot-ast.js';

const FILE_BYTES_MAX = 1024 * 1024;
const STRING_BYTES_MAX = 256 * 1024;
const NODES_MAX = 10_000;
const EDGES_MAX = 50_000;

/**
 * @param text a whole file, with or without byte order mark; LF or CRLF
 * @throws SyntaxFailure for the first mistake; its code names the rule (`dot_html`, `dot_limit`, ...)
 */
export function parsePipeline(text: string): Pipeline {
  if (Buffer.byteLength(text) > FILE_BYTES_MAX) fail('dot_limit', 0, `The file is larger than ${FILE_BYTES_MAX} bytes`);
  const pipeline = parse(text, 'Pipeline', 'dot_syntax') as Pipeline;
  refuseExcess(pipeline.statements, { nodes: new Set(), edges: 0 });
  return pipeline;
}

/** @throws SyntaxFailure with the code `condition_syntax`; its `at` counts in `text`. A blank text is not a condition. */
export function parseCondition(text: string): Condition {
  return parse(text, 'Condition', 'condition_syntax') as Condition;
}

/** @throws SyntaxFailure with the code `stylesheet_syntax`; its `at` counts in `text` */
export function parseStylesheet(text: string): Stylesheet {
  return parse(text, 'Stylesheet', 'stylesheet_syntax') as Stylesheet;
}

/** Returns the offset in the file of the `offset`-th character of a value: escapes take two characters there. */
export function offsetInSource(source: string, { at, kind }: AttributeValue, offset: number): number {
  if (kind !== 'string') return at + offset;
  let place = at + 1;
  for (let passed = 0; passed < offset; passed += 1) place += source[place] === '\\' ? 2 : 1;
  return place;
}

function parse(text: string, startRule: generated.StartRule, code: string): unknown {
  try {
    return generated.parse(text, { startRule, mistake });
  } catch (error) {
    if (error instanceof generated.SyntaxError) {
      const { offset } = error.location.start;
      throw new SyntaxFailure(`Unexpected ${describe({ text, at: offset })}`, { code, at: offset });
    }
    // The codes of the file have no meaning inside a string.
    if (error instanceof SyntaxFailure && startRule !== 'Pipeline')
      throw new SyntaxFailure(error.message, { code, at: error.at, hint: error.hint });
    throw error;
  }
}

function refuseExcess(statements: readonly GraphStatement[], seen: { nodes: Set<string>; edges: number }): void {
  for (const statement of statements) {
    if (statement.kind === 'subgraph') {
      refuseExcess(statement.statements, seen);
      continue;
    }
    if (statement.kind === 'node') seen.nodes.add(statement.id);
    if (statement.kind === 'edge') seen.edges += statement.ends.length - 1;
    if (seen.nodes.size > NODES_MAX) fail('dot_limit', statement.at, `The graph has more than ${NODES_MAX} nodes`);
    if (seen.edges > EDGES_MAX) fail('dot_limit', statement.at, `The graph has more than ${EDGES_MAX} edges`);
    const attributes = statement.kind === 'assignment' ? [statement.attribute] : statement.attributes;
    const long = attributes.find(({ value }) => Buffer.byteLength(value.text) > STRING_BYTES_MAX);
    if (long) fail('dot_limit', long.value.at, `The string is longer than ${STRING_BYTES_MAX} bytes`);
  }
}
