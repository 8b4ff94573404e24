/** How the walks of two pipelines differ, as text. */
import type { ContextChange, NodePair, NodesDiff, NodesFork, NodeSide } from '../../../replay/reports/diff/diff-nodes.js';
import { clip, oneLine } from '../one-line.js';
import type { Paint } from '../paint.js';

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

export function nodesForkLines({ common, last, nextLeft, nextRight, changed, given }: NodesFork, paint: Paint): readonly string[] {
  if (given.length > 0) return [paint.bold('They begin with another context.'), ...contextLines(given, '  ', paint)];
  const head = `${common} ${common === 1 ? 'visit' : 'visits'} of nodes the same${last === null ? '' : `; the last: ${described(last)}`}`;
  if (nextLeft === null && nextRight === null) return [head];
  const next = (side: NodeSide | null): string => (side === null ? 'nothing more' : described(side));
  return [
    head,
    paint.bold('Then'),
    ...(changed ? pairLines(changed, paint) : [paint.red(`- ${next(nextLeft)}`), paint.green(`+ ${next(nextRight)}`)]),
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
