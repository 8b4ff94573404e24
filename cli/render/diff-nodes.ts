/** How the walks of two pipelines differ, as text. */
import type { ContextChange, NodePair, NodesDiff, NodeSide } from '../../replay/diff-nodes.js';
import { clip, oneLine } from './one-line.js';
import type { Paint } from './paint.js';

const NODES_SHOWN = 50;
const VALUE_UNITS_MAX = 60;

export function nodesDiffLines({ same, changed, onlyLeft, onlyRight, given, unmet }: NodesDiff, paint: Paint): readonly string[] {
  const head = `${same} ${same === 1 ? 'visit' : 'visits'} of nodes the same, ${changed.length} changed, ${onlyLeft.length} only left, ${onlyRight.length} only right`;
  const gates = (nodes: readonly string[]): string => (nodes.length === 0 ? 'none' : nodes.join(', '));
  const areGatesSame = unmet.left.join() === unmet.right.join();
  return [
    paint.bold(head),
    ...contextLines(given, '  ', paint),
    ...changed.slice(0, NODES_SHOWN).flatMap((pair) => pairLines(pair, paint)),
    ...more(changed),
    ...onlyLeft.slice(0, NODES_SHOWN).map((node) => paint.red(`- ${described(node)}`)),
    ...more(onlyLeft),
    ...onlyRight.slice(0, NODES_SHOWN).map((node) => paint.green(`+ ${described(node)}`)),
    ...more(onlyRight),
    ...(areGatesSame ? [] : [`goal gates not met: ${gates(unmet.left)} -> ${gates(unmet.right)}`]),
  ];
}

function pairLines({ left, right, changes, context }: NodePair, paint: Paint): readonly string[] {
  const told = changes.map((change) => {
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
  return [`${paint.yellow('~')} ${left.node} ${left.op}: ${told.join(', ')}`, ...contextLines(context, '    ', paint)];
}

function contextLines(changes: readonly ContextChange[], indent: string, paint: Paint): readonly string[] {
  return changes.map(({ key, left, right }) => `${indent}${oneLine(key)}: ${paint.red(valueOf(left))} -> ${paint.green(valueOf(right))}`);
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
