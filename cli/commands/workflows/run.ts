/** `mlld run NAME|FILE.js`: runs a workflow script. A file of its own, so that a script of the language loads nothing of it. */
import path from 'node:path';
import { findProject, type Project } from '../../../src/api/commands/project.js';
import { runWorkflow, type WorkflowReport } from '../../../src/api/commands/workflows/run.js';
import { EXIT_FAILED, EXIT_OK } from '../../exit-codes.js';
import { parseWorkflowRequest } from '../../options/workflow-request.js';
import { oneLine } from '../../render/one-line.js';
import { nextCommand } from '../../render/resume-command.js';
import type { Io } from '../../terminal/io.js';
import { optionsFor, runAndReport, type Execution } from '../run-script.js';

const FAILURES_SHOWN = 5;

export async function runWorkflowCommand(
  io: Io,
  argv: readonly string[],
  { file, name }: { readonly file: string; readonly name: string },
): Promise<number> {
  const { request, settings, isStrict } = await parseWorkflowRequest(io, argv);
  if (request.help) {
    const { printHelp } = await import('../../program.js');
    printHelp(io, 'run');
    return EXIT_OK;
  }
  const project: Project = await findProject(path.dirname(file));
  if (request.plan) return showPlan(io, { request, argv, script: { kind: 'file', path: file }, project, name, form: 'run' });
  let report: WorkflowReport | undefined;
  const status = await runAndReport(io, {
    request: { ...request, calls: { ...request.calls, allowFailures: true } },
    form: 'run',
    argv,
    script: { kind: 'file', path: file },
    project,
    name,
    run: async (options) => (report = await runWorkflow({ ...options, payload: {} }, { ...settings, home: io.environment['HOME'] })),
  });
  const failed = report?.agents?.failed ?? [];
  if (failed.length === 0) return status;
  io.stderr(`${failed.length} of ${report?.agents?.calls} agents failed:\n`);
  for (const each of failed.slice(0, FAILURES_SHOWN)) io.stderr(`  ${oneLine(each.name)}: ${oneLine(each.reason)}\n`);
  if (failed.length > FAILURES_SHOWN) io.stderr(`  and ${failed.length - FAILURES_SHOWN} more\n`);
  if (report?.journal) io.stderr(`ask just these again: ${oneLine(nextCommand({ name, argv }, 'failed'))}\n`);
  return isStrict && status === EXIT_OK ? EXIT_FAILED : status;
}

async function showPlan(io: Io, execution: Execution): Promise<number> {
  const { planWorkflow } = await import('../../../src/api/commands/workflows/plan.js');
  const options = await optionsFor(io, execution);
  const plan = await planWorkflow({
    ...options,
    io: { stdin: io.stdin, stdout: io.stdout, stderr: io.stderr, nowMs: io.todayMs, monotonicMs: io.nowMs },
    signal: new AbortController().signal,
  });
  if (execution.request.json) io.stdout(`${JSON.stringify(plan, undefined, 2)}\n`);
  else io.stdout((await import('../../render/reports/workflow.js')).renderWorkflowPlan(plan));
  return EXIT_OK;
}
