/** Renders `mlld run FILE.dot --plan`: where it starts, then node by node, then what only the run can decide. */
import type { PipelinePlan, PlannedChild, PlannedStep } from '../../../src/api/commands/plan-pipeline.js';
import { oneLine } from '../one-line.js';
import type { Style } from '../style.js';

export function renderPipelinePlan({ pipeline, name, begins, resume, nodes, afterwards, notices }: PipelinePlan, style: Style): string {
  const head = `Plan for ${pipeline} (${name}); nothing was run or recorded.`;
  const lines = [head, ...notices, ...(begins === 'nothing' ? [] : [style.bold(beginning(nodes[0], resume))])];
  const steps = [...lines.map(oneLine), ...linesOf({ nodes, afterwards }, '')];
  return `${steps.join('\n')}\n`;
}

/** The steps of a child pipeline stand below its manager. */
function linesOf({ nodes, afterwards }: Pick<PipelinePlan, 'nodes' | 'afterwards'>, indent: string): readonly string[] {
  const width = Math.max(0, ...nodes.map(({ node }) => node.length));
  const steps = nodes.flatMap((step) => [
    `${indent}  ${oneLine(`${step.node.padEnd(width)}  ${wordsFor(step)}`)}`,
    ...(step.child === undefined || step.child.problem !== undefined ? [] : linesOf(step.child, `${indent}    `)),
  ]);
  if (afterwards.length === 0) return steps;
  return [...steps, `${indent}${oneLine(`then ${afterwards.join(' or ')}, depending on ${nodes.at(-1)?.node ?? 'it'}`)}`];
}

function wordsForChild(child: PlannedChild): string {
  if (child.problem !== undefined) return `child pipeline ${child.name}: ${child.problem}`;
  const begins = { anew: 'starts', resumed: 'is continued', nothing: 'has ended' };
  return `child pipeline ${child.name} ${begins[child.begins]}`;
}

function beginning(first: PlannedStep | undefined, resume: PipelinePlan['resume']): string {
  if (resume === null) return `Starts${first ? ` at ${first.node}` : ''}:`;
  if (!first) return `Continues run ${resume.run}, which has no node left to execute.`;
  return `Continues run ${resume.run} ${resume.place === 'at' ? `at ${first.node}` : 'after the nodes that finished'}:`;
}

function wordsFor({ handler, visit, reply, branches, child }: PlannedStep): string {
  const said = {
    reused: 'recorded reply is reused',
    'if-same': 'recorded reply is reused if the prompt is the same',
    executed: 'model is called',
  };
  const words = [
    handler,
    ...(visit === 0 ? [] : [`visit ${visit + 1}`]),
    ...(reply === null ? [] : [said[reply]]),
    ...(branches === undefined ? [] : [branches.length === 0 ? 'all branches have ended' : `branches ${branches.join(', ')}`]),
    ...(child === undefined ? [] : [wordsForChild(child)]),
  ];
  return words.join(', ');
}
