/** `mlld run FILE.js --plan`: prints what a workflow script or a program would reuse and execute. */
import type { PlanReport, RunOptions } from '../../../src/api/commands/workflows/plan.js';
import { EXIT_OK } from '../../exit-codes.js';
import { reportStyle } from '../../render/style.js';
import { renderWorkflowPlan } from '../../render/reports/workflow.js';
import type { Io } from '../../terminal/io.js';
import { optionsFor, type Execution } from '../run-script.js';

export async function showPlan(io: Io, execution: Execution, plan: (options: RunOptions) => Promise<PlanReport>): Promise<number> {
  const report = await plan({
    ...(await optionsFor(io, execution)),
    io: { stdin: io.stdin, stdout: io.stdout, stderr: io.stderr, nowMs: io.todayMs, monotonicMs: io.nowMs },
    signal: new AbortController().signal,
  });
  if (execution.request.json) io.stdout(`${JSON.stringify(report, undefined, 2)}\n`);
  else io.stdout(renderWorkflowPlan(report, reportStyle(io)));
  return EXIT_OK;
}
