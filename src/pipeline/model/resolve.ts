/**
 * Resolves a parsed pipeline to its graph: applies the defaults in force where a node or edge is created, derives classes from subgraphs,
 * splits chains into edges, and recognises the entry and the exit by name.
 */
import type { Attribute, EdgeStatement, GraphStatement, NodeStatement, Pipeline, SubgraphStatement } from '../../../grammar/dot-ast.js';
import { Graph, type GraphAttribute, type GraphEdge, type GraphNode } from './graph.js';

type Attributes = Map<string, GraphAttribute>;

interface Scope {
  readonly node: Attributes;
  readonly edge: Attributes;
  /** Classes of the subgraphs around, the outermost first. */
  readonly classes: readonly string[];
}

interface Draft {
  readonly id: string;
  readonly at: number;
  readonly attributes: Attributes;
  /** Keys that the node's own statements write, as opposed to defaults. */
  readonly own: Set<string>;
  readonly classes: Set<string>;
  innermostClass?: string;
}

interface Drawing {
  readonly attributes: Attributes;
  readonly nodes: Map<string, Draft>;
  readonly edges: GraphEdge[];
}

/** @param text the parsed text, to which offsets in messages refer */
export function resolvePipeline(pipeline: Pipeline, text: string): Graph {
  const drawing: Drawing = { attributes: new Map(), nodes: new Map(), edges: [] };
  drawScope(drawing, pipeline.statements, { node: new Map(), edge: new Map(), classes: [] }, 'top');
  nameTerminal(drawing, 'Mdiamond', ['start', 'Start']);
  nameTerminal(drawing, 'Msquare', ['exit', 'Exit', 'end', 'End']);
  const nodes = new Map([...drawing.nodes].map(([id, draft]) => [id, finished(draft)]));
  return new Graph({ name: pipeline.name, text, attributes: drawing.attributes, nodes, edges: drawing.edges });
}

/** Ignores graph attributes of subgraphs, except the label, which `innerScope` has read. */
function drawScope(drawing: Drawing, statements: readonly GraphStatement[], scope: Scope, level: 'top' | 'inner'): void {
  for (const statement of statements) {
    switch (statement.kind) {
      case 'defaults':
        if (statement.of !== 'graph') assign(scope[statement.of], statement.attributes);
        else if (level === 'top') assign(drawing.attributes, statement.attributes);
        break;
      case 'assignment':
        if (level === 'top') assign(drawing.attributes, [statement.attribute]);
        break;
      case 'subgraph':
        drawScope(drawing, statement.statements, innerScope(scope, statement), 'inner');
        break;
      case 'node':
        drawNode(drawing, statement, scope);
        break;
      case 'edge':
        drawing.edges.push(...pairs(statement, scope));
        break;
    }
  }
}

function innerScope({ node, edge, classes }: Scope, subgraph: SubgraphStatement): Scope {
  const own = classFromLabel(subgraph);
  return { node: new Map(node), edge: new Map(edge), classes: own === '' ? classes : [...classes, own] };
}

/** Returns `bee-yard-2` for `Bee Yard #2`; empty when there is no label, or none of its characters is allowed. */
function classFromLabel({ statements }: SubgraphStatement): string {
  const written = statements.flatMap((statement) => {
    if (statement.kind === 'assignment') return [statement.attribute];
    return statement.kind === 'defaults' && statement.of === 'graph' ? statement.attributes : [];
  });
  const label = written.findLast(({ key }) => key === 'label')?.value.text ?? '';
  return label
    .toLowerCase()
    .replace(/\s/g, '-')
    .replace(/[^a-z0-9-]/g, '');
}

function drawNode({ nodes }: Drawing, { id, at, attributes }: NodeStatement, scope: Scope): void {
  const known = nodes.get(id);
  const draft: Draft = known ?? { id, at, attributes: new Map(scope.node), own: new Set(), classes: new Set() };
  if (!known) nodes.set(id, draft);
  assign(draft.attributes, attributes);
  for (const { key } of attributes) draft.own.add(key);
  for (const name of scope.classes) draft.classes.add(name);
  const innermost = scope.classes.at(-1);
  if (innermost !== undefined) draft.innermostClass ??= innermost;
}

function pairs({ ends, attributes }: EdgeStatement, scope: Scope): readonly GraphEdge[] {
  const all = new Map(scope.edge);
  assign(all, attributes);
  return ends.slice(1).map(({ id: to, at: toAt }, index) => {
    const { id: from, at: fromAt } = ends[index] as EdgeStatement['ends'][number];
    return { from, to, fromAt, toAt, attributes: all };
  });
}

/**
 * Gives the shape to a node with one of the names when no node has the shape, unless the node's own statements set a shape or a type:
 * `end [shape=box, prompt="..."]` remains a stage, and a bare `exit` works under `node [shape=box]`.
 */
function nameTerminal({ nodes }: Drawing, shape: string, names: readonly string[]): void {
  if ([...nodes.values()].some(({ attributes }) => attributes.get('shape')?.value.text === shape)) return;
  for (const { id, at, own, attributes } of nodes.values()) {
    if (!names.includes(id) || own.has('shape') || own.has('type')) continue;
    attributes.set('shape', { at, value: { at, kind: 'word', text: shape } });
    attributes.delete('type');
  }
}

function finished({ id, at, attributes, classes, innermostClass }: Draft): GraphNode {
  const own = (attributes.get('class')?.value.text ?? '').split(',').map((name) => name.trim());
  const all = [...new Set([...own.filter((name) => name !== ''), ...classes])];
  return { id, at, attributes, classes: all, ...(innermostClass !== undefined && { innermostClass }) };
}

function assign(target: Attributes, attributes: readonly Attribute[]): void {
  for (const { key, at, value } of attributes) target.set(key, { at, value });
}
