/** `mlld run NAME|FILE.js`: runs a workflow script. A file of its own, so that a script of the language loads nothing of it. */
import path from 'node:path';
import { findProject, type Project } from '../../../src/api/commands/project.js';
import { runWorkflow, type WorkflowReport } from '../../../src/api/commands/workflows/run.js';
import { EXIT_FAILED, EXIT_OK } from '../../exit-codes.js';
import type { RunRequest } from '../../options/run-request.js';
import { parseWorkflowRequest } from '../../options/workflow-request.js';
import { oneLine } from '../../render/one-line.js';
import { nextCommand } from '../../render/resume-command.js';
import type { Io } from '../../terminal/io.js';
import { runAndReport, type Execution } from '../run-script.js';
import { showPlan } from './show-plan.js';

const FAILURES_SHOWN = 5;

export async function runWorkflowCommand(
  io: Io,
  argv: readonly string[],
  { file, name, isPath }: { readonly file: string; readonly name: string; readonly isPath: boolean },
): Promise<number> {
  const { request, settings, isStrict } = await parseWorkflowRequest(io, argv);
  if (request.help) {
    const { printHelp } = await import('../../program.js');
    printHelp(io, 'run');
    return EXIT_OK;
  }
  // A name is looked up from the working directory, a path says where its project is: docs/resume.md.
  const project: Project = await findProject(isPath ? path.dirname(file) : io.workingDirectory);
  const agents = { ...settings, home: io.environment['HOME'] };
  if (request.plan) {
    const { planWorkflow } = await import('../../../src/api/commands/workflows/plan.js');
    const execution: Execution = { request, argv, script: { kind: 'file', path: file }, project, name, form: 'run' };
    return showPlan(io, execution, (options) => planWorkflow(options, agents));
  }
  let report: WorkflowReport | undefined;
  const status = await runAndReport(io, {
    request: { ...request, calls: { ...request.calls, allowFailures: true } },
    form: 'run',
    argv,
    script: { kind: 'file', path: file },
    project,
    name,
    run: async (options) => (report = await runWorkflow({ ...options, payload: {} }, agents)),
    aboutPaused: () => failedAgents(report, request),
  });
  if (report === undefined || (report.agents?.failed ?? []).length === 0) return status;
  if (report.pause === undefined) {
    io.stderr(failedAgents(report, request));
    const next = report.journal && nextCommand({ name, argv, pause: undefined }, report.resume ?? 'failed');
    if (next !== undefined) io.stderr(`ask just these again: ${oneLine(next)}\n`);
  }
  return isStrict && status === EXIT_OK ? EXIT_FAILED : status;
}

/** Agents that a pause kept from beginning count as asked, and the resume of the run asks these as well: no number says of how many. */
function failedAgents(report: WorkflowReport | undefined, { verbose }: Pick<RunRequest, 'verbose'>): string {
  const { failed = [], calls } = report?.agents ?? {};
  if (failed.length === 0) return '';
  const isPaused = report?.pause !== undefined;
  const lines = verbose ? failed.map(({ name, reason }) => `${name}: ${reason}`) : byReason(failed);
  const shown = verbose ? lines.length : FAILURES_SHOWN;
  return [
    `${failed.length}${isPaused ? '' : ` of ${calls}`} ${isPaused && failed.length === 1 ? 'agent' : 'agents'} failed:`,
    ...lines.slice(0, shown).map((line) => `  ${oneLine(line)}`),
    ...(lines.length > shown ? [`  and ${lines.length - shown} more reasons`] : []),
    '',
  ].join('\n');
}

/** `do 1 and 5 more: crash: exit status 3`: agents that failed for one reason are a line. */
function byReason(failed: readonly { readonly name: string; readonly reason: string }[]): readonly string[] {
  const groups = new Map<string, string[]>();
  for (const { name, reason } of failed) {
    const names = groups.get(reason);
    if (names) names.push(name);
    else groups.set(reason, [name]);
  }
  return [...groups].map(([reason, [first, ...others]]) => `${first}${others.length === 0 ? '' : ` and ${others.length} more`}: ${reason}`);
}
