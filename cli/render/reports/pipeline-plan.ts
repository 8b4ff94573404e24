/** Renders `mlld run FILE.dot --plan`: where it starts, then node by node, then what only the run can decide. */
import type { BudgetVerdict } from '../../../src/api/commands/plan.js';
import type { PipelinePlan, PlannedChild, PlannedStep } from '../../../src/api/commands/plan-pipeline.js';
import { oneLine } from '../one-line.js';
import type { Style } from '../style.js';
import { costOrDash } from '../units.js';
import { renderBudgetVerdict } from './budget-verdict.js';
import { counted } from './garbage-collection.js';

export function renderPipelinePlan(plan: PipelinePlan, style: Style): string {
  const { pipeline, name, begins, resume, nodes, afterwards, notices } = plan;
  const head = `Plan for ${pipeline} (${name}); nothing was run or recorded.`;
  const lines = [head, ...notices, ...(begins === 'nothing' ? [] : [style.bold(beginning(nodes[0], resume))])];
  const steps = [...lines.map(oneLine), ...linesOf({ nodes, afterwards }, ''), ...estimateLines({ nodes, afterwards })];
  if (plan.budget !== null) steps.push(budgetLine(plan, plan.budget, style));
  return `${steps.join('\n')}\n`;
}

function budgetLine({ nodes, afterwards }: Pick<PipelinePlan, 'nodes' | 'afterwards'>, verdict: BudgetVerdict, style: Style): string {
  const { suffices, isWhole } = verdict;
  const calls = stepsIn(nodes).filter(({ reply }) => reply === 'executed' || reply === 'if-same');
  const unpriced = [...new Set(calls.filter(({ costUsd }) => costUsd === null).map(({ node }) => node))];
  const isOpen = isWhole && calls.some(({ reply }) => reply === 'if-same');
  const rest = `; more calls may follow ${[...new Set(openEnds({ nodes, afterwards }))].join(', ') || 'these'}`;
  const known = {
    calls: suffices === false ? calls.filter(({ reply }) => reply === 'executed').length : calls.length,
    unpriced,
    untimed: calls.length > 0 ? 'the time of calls' : undefined,
    more: isWhole ? '' : rest,
    ...(isOpen && { ifAllIsKnown: ': that depends on how many prompts have changed' }),
  };
  return renderBudgetVerdict(verdict, known, style);
}

/** The steps of a child pipeline stand below its manager, and those of branches below their parallel node. */
function linesOf({ nodes, afterwards }: Pick<PipelinePlan, 'nodes' | 'afterwards'>, indent: string): readonly string[] {
  const width = Math.max(0, ...nodes.map(({ node }) => node.length));
  const steps = nodes.flatMap((step) => [
    `${indent}  ${oneLine(`${step.node.padEnd(width)}  ${wordsFor(step)}`)}`,
    ...(step.inBranches ?? []).flatMap((branch) => branchLines(branch, indent)),
    ...(step.child === undefined || step.child.problem !== undefined ? [] : linesOf(step.child, `${indent}    `)),
  ]);
  if (afterwards.length === 0) return steps;
  return [...steps, `${indent}${oneLine(`then ${afterwards.join(' or ')}, depending on ${nodes.at(-1)?.node ?? 'it'}`)}`];
}

/** A dash marks the first step of a branch. */
function branchLines(branch: NonNullable<PlannedStep['inBranches']>[number], indent: string): readonly string[] {
  const inner = `${indent}    `;
  return linesOf(branch, inner).map((line, place) => (place === 0 ? `${inner}- ${line.slice(inner.length + 2)}` : line));
}

/** Counts the stages that are listed, those of branches and of child pipelines too. */
function estimateLines({ nodes, afterwards }: Pick<PipelinePlan, 'nodes' | 'afterwards'>): readonly string[] {
  const steps = stepsIn(nodes);
  const executed = steps.filter(({ reply }) => reply === 'executed');
  const others = steps.filter(({ reply }) => reply === 'if-same');
  if (executed.length + others.length === 0) return [];
  const more = others.length === 0 ? '' : `; ${callsAndCost(others)} more where prompts have changed`;
  const ends = openEnds({ nodes, afterwards });
  const rest = ends.length === 0 ? '' : `; not counted: what follows ${[...new Set(ends)].join(', ')}`;
  const calledOff = steps.some(({ callsOff, branches = [] }) => callsOff && branches.length > 1) ? '; some branches may be called off' : '';
  return [oneLine(`Estimate: ${callsAndCost(executed)}${more}${calledOff}${rest}`)];
}

/** Returns the last step of each list behind which only the run decides what follows. */
function openEnds({ nodes, afterwards }: Pick<PipelinePlan, 'nodes' | 'afterwards'>): readonly string[] {
  const inner = nodes.flatMap((step) => listsIn(step).flatMap(openEnds));
  return afterwards.length === 0 ? inner : [...inner, nodes.at(-1)?.node ?? 'it'];
}

function stepsIn(nodes: readonly PlannedStep[]): readonly PlannedStep[] {
  return nodes.flatMap((step) => [step, ...listsIn(step).flatMap((list) => stepsIn(list.nodes))]);
}

/** Returns the lists of steps inside one: of its branches, and of its child pipeline. */
function listsIn({ inBranches = [], child }: PlannedStep): readonly Pick<PipelinePlan, 'nodes' | 'afterwards'>[] {
  return child === undefined || child.problem !== undefined ? inBranches : [...inBranches, child];
}

/** `3 calls, $0.36`: the median of what replies of each stage had cost. */
function callsAndCost(steps: readonly PlannedStep[]): string {
  const calls = counted(steps.length, 'call');
  const known = steps.flatMap(({ costUsd }) => costUsd ?? []);
  if (steps.length === 0) return calls;
  if (known.length === 0) return `${calls}, cost unknown`;
  return `${calls}, ${costOrDash({ costUsd: known.reduce((sum, usd) => sum + usd, 0), unpriced: steps.length - known.length })}`;
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
    received: 'reply was received, its guards judge it',
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
