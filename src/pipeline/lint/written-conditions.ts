/** Collects the conditions of a graph: those of edges, and the stop conditions of managers. Blank conditions count as missing. */
import { SyntaxFailure } from '../../../grammar/errors.js';
import type { Condition } from '../../../grammar/dot-ast.js';
import { offsetInSource, parseCondition } from '../../../grammar/parse-dot.js';
import type { Graph, GraphAttribute } from '../model/graph.js';

export interface WrittenCondition {
  readonly parsed: { readonly ok: true; readonly condition: Condition } | { readonly ok: false; readonly failure: SyntaxFailure };
  /** Names the owner in messages. */
  readonly owner: string;
  /** The node or edge of the finding. */
  readonly about: { readonly node?: string; readonly edge?: readonly [string, string] };
  /** Converts an offset in the condition to one in the file. */
  offsetInFile(offset: number): number;
}

export function* writtenConditions(graph: Graph): Generator<WrittenCondition> {
  for (const { from, to, attributes } of graph.edges) {
    const written = attributes.get('condition');
    const owner = `The condition of \`${from} -> ${to}\``;
    if (written && !isBlank(written)) yield { ...parse(graph, written), owner, about: { edge: [from, to] } };
  }
  for (const { id, attributes } of graph.nodes.values()) {
    const written = attributes.get('manager.stop_condition');
    if (written && !isBlank(written)) yield { ...parse(graph, written), owner: `The stop condition of \`${id}\``, about: { node: id } };
  }
}

function isBlank({ value }: GraphAttribute): boolean {
  return value.text.trim() === '';
}

function parse({ text }: Graph, { value }: GraphAttribute): Pick<WrittenCondition, 'parsed' | 'offsetInFile'> {
  const offsetInFile = (offset: number): number => offsetInSource(text, value, offset);
  try {
    return { parsed: { ok: true, condition: parseCondition(value.text) }, offsetInFile };
  } catch (error) {
    if (error instanceof SyntaxFailure) return { parsed: { ok: false, failure: error }, offsetInFile };
    throw error;
  }
}
