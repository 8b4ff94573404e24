/** Renders what `mlld validate` and `mlld run --plan` say about a workflow script. */
import type { PlanReport } from '../../../src/api/commands/workflows/plan.js';
import type { ValidatedWorkflow } from '../../../src/api/commands/workflows/validate.js';
import { clip, oneLine } from '../one-line.js';
import type { Style } from '../style.js';
import { ahead, budgetLine, estimateLines, receivedWords } from './plan.js';

const SHOWN_MAX = 20;
const PROMPT_UNITS = 100;

export function renderWorkflowPlan(report: PlanReport, style: Style): string {
  const { name, reused, unjudged, toExecute, lastRun, isWhole, notices, budget } = report;
  const plan = { ...report, estimate: report.estimate ?? undefined };
  const lines = [...notices];
  const calls = reused + unjudged + toExecute.length;
  const counts = `${oneLine(name)}: ${reused} reused, ${toExecute.length} to execute${unjudged === 0 ? '' : `, ${receivedWords(unjudged)}`}`;
  if (lastRun === null && calls === 0) lines.push(`${oneLine(name)}: no run is recorded, so every agent is asked`);
  else if (lastRun === null)
    lines.push(`${counts}, if it makes the calls of its fork sources; it has no recorded run, so others are not known`);
  else lines.push(`${counts}${ahead(plan)}, if it makes the calls of run ${lastRun}`);
  for (const { label, phase, prompt } of toExecute.slice(0, SHOWN_MAX)) {
    const about = [
      phase === null ? '' : `[${oneLine(phase)}]`,
      label === null ? '' : oneLine(label),
      clip(oneLine(prompt ?? '…'), PROMPT_UNITS),
    ];
    lines.push(`  ${about.filter((part) => part !== '').join(' ')}`);
  }
  if (toExecute.length > SHOWN_MAX) lines.push(`  and ${toExecute.length - SHOWN_MAX} more`);
  if (unjudged + toExecute.length > 0) lines.push('What is made of new results is asked again as well: its prompts will have changed.');
  if (calls > 0) lines.push(...estimateLines(plan, [])); // lines of its own say what is not counted
  if (budget !== null) lines.push(budgetLine(plan, budget, style));
  if (lastRun !== null && !isWhole) lines.push('No recorded run reached its end: agents that none has asked yet are not counted.');
  return lines.map((line) => `${line}\n`).join('');
}

export function renderValidWorkflow({ filepath, name, description, phases = [] }: ValidatedWorkflow, style: Style): string {
  const lines = [filepath, style.green('Valid workflow script'), `  ${oneLine(name ?? '')}: ${oneLine(description ?? '')}`];
  if (phases.length > 0) lines.push(`  phases: ${phases.map(oneLine).join(', ')}`);
  return lines.map((line) => `${line}\n`).join('');
}
