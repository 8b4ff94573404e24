/**
 * Dresses a drawing: a typeface whose widths Graphviz knows, and for each kind of node a form, a line and a word. Viewers match the classes
 * `kind-…` and `state-…` and draw with colours of their own; the attributes are for a picture that is opened alone.
 */
import type { GraphNode } from '../model/graph.js';
import { handlerTypeOf, shapeOf, SHAPES } from '../model/shapes.js';
import { plainTextOr } from './safe-attributes.js';

export interface NodeTheme {
  /** Without its prefix: `command`. */
  readonly kind: string;
  /** Empty where the form says enough. */
  readonly word: string;
  readonly shape: string;
  readonly style: string;
  readonly line: string;
  readonly lineWidth: number;
  /** Inches around the label: slanted sides need less. */
  readonly margin?: string;
}

/** The colour of captions, and of the labels of edges. */
export const MUTED = '#57606a';

/** Graphviz measures texts in this typeface; a list of names would be measured as Times, and run out of its boxes. */
const FONT = 'fontname="Helvetica"';

export const DEFAULTS: readonly string[] = [
  `graph [${FONT}, fontsize="12", fontcolor="${MUTED}", color="#d0d7de", style="rounded", nodesep="0.35", ranksep="0.4", pad="0.15"];`,
  `node [${FONT}, fontsize="12", fontcolor="#1b1f24", fillcolor="#ffffff", margin="0.2,0.1", height="0.45"];`,
  `edge [${FONT}, fontsize="10", fontcolor="${MUTED}", color="#8c959f", arrowsize="0.7", penwidth="1.2"];`,
];

const OTHER: NodeTheme = { kind: 'other', word: '', shape: 'box', style: 'filled', line: '#8c959f', lineWidth: 1.3 };

const THEMES: { readonly [handler: string]: NodeTheme } = {
  start: { ...OTHER, kind: 'start', shape: 'oval', line: '#1a7f37', lineWidth: 1.6 },
  exit: { ...OTHER, kind: 'exit', shape: 'oval', line: '#1a7f37', lineWidth: 2.4 },
  codergen: { ...OTHER, kind: 'model', word: 'model', style: 'rounded,filled', line: '#8250df' },
  tool: { ...OTHER, kind: 'command', word: 'command', line: '#0969da' },
  'wait.human': { ...OTHER, kind: 'person', word: 'person', shape: 'hexagon', line: '#9a6700', lineWidth: 2 },
  conditional: { ...OTHER, kind: 'condition', word: 'condition', shape: 'diamond', line: MUTED, margin: '0.05,0.02' },
  parallel: { ...OTHER, kind: 'parallel', word: 'parallel', shape: 'trapezium', line: MUTED, margin: '0.02,0.01' },
  'parallel.fan_in': { ...OTHER, kind: 'join', word: 'join', shape: 'invtrapezium', line: MUTED, margin: '0.02,0.01' },
  'stack.manager_loop': { ...OTHER, kind: 'pipeline', word: 'pipeline', shape: 'box3d', line: '#8250df' },
};

/** A form that says nothing to mlld is there for the picture, and is kept. */
export function themeOf(node: GraphNode): NodeTheme {
  const theme = THEMES[handlerTypeOf(node)] ?? OTHER;
  const shape = shapeOf(node);
  return SHAPES.includes(shape) ? theme : { ...theme, shape: plainTextOr(shape, theme.shape), style: 'filled' };
}
