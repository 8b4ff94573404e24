/** Renders the differences between the walks of two runs of a pipeline. */
import type { ContextChange, NodePair, NodesDiff, NodesFork, NodeSide } from '../../../replay/reports/diff/diff-nodes.js';
import { clip, oneLine } from '../one-line.js';
import type { Style } from '../style.js';

const NODES_SHOWN = 50;
const VALUE_UNITS_MAX = 60;

export function nodesDiffLines({ same, changed, onlyLeft, onlyRight, inputs, unmet }: NodesDiff, style: Style): readonly string[] {
  const head = `${same} ${same === 1 ? 'visit' : 'visits'} of nodes the same, ${changed.length} changed, ${onlyLeft.length} only left, ${onlyRight.length} only right`;
  const gates = (nodes: readonly string[]): string => (nodes.length === 0 ? 'none' : nodes.join(', '));
  const areGatesSame = unmet.left.join() === unmet.right.join();
  return [
    style.bold(head),
    ...contextLines(inputs, '  ', style),
    ...changed.slice(0, NODES_SHOWN).flatMap((pair) => pairLines(pair, style)),
    ...more(changed),
    ...onlyLeft.slice(0, NODES_SHOWN).map((node) => style.red(`- ${described(node)}`)),
    ...more(onlyLeft),
    ...onlyRight.slice(0, NODES_SHOWN).map((node) => style.green(`+ ${described(node)}`)),
    ...more(onlyRight),
    ...(areGatesSame ? [] : [`goal gates not met: ${gates(unmet.left)} -> ${gates(unmet.right)}`]),
  ];
}

export function nodesForkLines({ common, last, nextLeft, nextRight, changed, inputs }: NodesFork, style: Style): readonly string[] {
  if (inputs.length > 0) return [style.bold('They begin with another context.'), ...contextLines(inputs, '  ', style)];
  const head = `${common} ${common === 1 ? 'visit' : 'visits'} of nodes the same${last === null ? '' : `; the last: ${described(last)}`}`;
  if (nextLeft === null && nextRight === null) return [head];
  const next = (side: NodeSide | null): string => (side === null ? 'nothing more' : described(side));
  return [
    head,
    style.bold('Then'),
    ...(changed ? pairLines(changed, style) : [style.red(`- ${next(nextLeft)}`), style.green(`+ ${next(nextRight)}`)]),
  ];
}

function pairLines({ left, right, changes, context }: NodePair, style: Style): readonly string[] {
  const shown = changes.map((change) => {
    switch (change) {
      case 'status':
        return `${statusOf(left)} -> ${statusOf(right)}`;
      case 'attempts':
        return `${left.attempts} -> ${right.attempts} attempts`;
      case 'way':
        return `goes to ${left.to ?? 'nothing'} -> ${right.to ?? 'nothing'}`;
      case 'context':
        return 'context';
    }
  });
  return [`${style.yellow('~')} ${left.node} ${left.op}: ${shown.join(', ')}`, ...contextLines(context, '    ', style)];
}

function contextLines(changes: readonly ContextChange[], indent: string, style: Style): readonly string[] {
  return changes.map(({ key, left, right }) => `${indent}${oneLine(key)}: ${style.red(valueOf(left))} -> ${style.green(valueOf(right))}`);
}

function valueOf(value: ContextChange['left']): string {
  return value === undefined ? 'not set' : clip(oneLine(JSON.stringify(value)), VALUE_UNITS_MAX);
}

function statusOf({ status, reason }: NodeSide): string {
  return reason === '' ? status : `${status} (${clip(oneLine(reason), VALUE_UNITS_MAX)})`;
}

function described({ node, op, status }: NodeSide): string {
  return `${node} ${op}: ${status}`;
}

function more(nodes: readonly unknown[]): readonly string[] {
  return nodes.length > NODES_SHOWN ? [`  and ${nodes.length - NODES_SHOWN} more`] : [];
}
