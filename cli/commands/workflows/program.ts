/** `mlld run FILE.mjs`: runs a program of the library. It is the user's own module, without a realm around it. workflows-js.md 15. */
import path from 'node:path';
import { findProject } from '../../../src/api/commands/project.js';
import { loadProgram, planWork, runProgram } from '../../../src/api/commands/workflows/program.js';
import { MlldError } from '../../../src/errors.js';
import { EXIT_OK } from '../../exit-codes.js';
import { parseWorkflowRequest } from '../../options/workflow-request.js';
import type { Io } from '../../terminal/io.js';
import { runAndReport, type Execution } from '../run-script.js';
import { showPlan } from './show-plan.js';

export async function runProgramCommand(io: Io, argv: readonly string[], file: string): Promise<number> {
  const { request, settings } = await parseWorkflowRequest(io, argv);
  if (request.help) {
    const { printHelp } = await import('../../program.js');
    printHelp(io, 'run');
    return EXIT_OK;
  }
  const project = await findProject(path.dirname(file));
  const display = path.relative(io.workingDirectory, file);
  const { name, body } = await loadProgram(file, display);
  const script = { kind: 'text' as const, text: '', directory: project.root, label: name, recordAs: path.resolve(project.root, name) };
  const execution: Execution = { request, argv, script: { kind: 'file', path: file }, project, name: argv[0] ?? name, form: 'run' };
  const agents = { ...settings, home: io.environment['HOME'] };
  if (request.plan) return showPlan(io, { ...execution, script, name }, (options) => planWork({ options, settings: agents }, undefined));
  const [input = null] = settings.args;
  return runAndReport(io, {
    ...execution,
    run: async (options) => {
      const given = { ...options, script, name, payload: {} };
      const report = await runProgram(given, agents, { input, version: undefined, run: (ctx) => body(ctx, input) });
      if (report.result !== undefined) io.stdout(printed(report.result));
      const { error, ...more } = report;
      return { ...more, ...(error && { error: shown(error, display) }) };
    },
  });
}

function printed(result: unknown): string {
  const text = typeof result === 'string' ? result : JSON.stringify(result, undefined, 2);
  return text.endsWith('\n') ? text : `${text}\n`;
}

/** An error of the program has no place in a source of ours; its own stack says where it rose. */
function shown(error: Error, display: string): MlldError {
  if (error instanceof MlldError) return error;
  const [, place] = /\(?((?:file:|\/)[^()\n]*:\d+:\d+)\)?$/m.exec(error.stack ?? '') ?? [];
  return new MlldError('WORKFLOW_FAILED', `${display}: ${error.message}`, { cause: error, hint: place && `thrown at ${place}` });
}
