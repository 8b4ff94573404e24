/** `mlld run [NAME]`: a script of the project, validated first, or the list of them. World section 17.2. */
import path from 'node:path';
import { findProject, findScript, listScripts } from '../../src/project.js';
import { EXIT_FAILED, EXIT_OK } from '../exit-codes.js';
import type { Io } from '../io.js';
import { parseRunRequest } from '../run-request.js';
import { warnOfSlips } from '../slips.js';

export async function runCommand(io: Io, argv: readonly string[]): Promise<number> {
  if (argv[0]?.endsWith('.dot')) return (await import('./run-pipeline.js')).runPipelineCommand(io, argv);
  const request = parseRunRequest(argv, 'run');
  if (request.help) {
    const { printHelp } = await import('../program.js');
    printHelp(io, 'run');
    return EXIT_OK;
  }
  const project = await findProject(io.workingDirectory);
  const home = io.environment['HOME'];
  if (request.script === undefined) {
    io.stdout(renderScripts(await listScripts(project, home)));
    return EXIT_OK;
  }
  const script = await findScript(project, request.script, home);
  const { passesPreflight } = await import('../preflight.js');
  if (!(await passesPreflight(io, script.path, project, request.warnings ? 'print' : 'hide'))) return EXIT_FAILED;
  const execution = {
    request,
    form: 'run' as const,
    argv,
    script: { kind: 'file' as const, path: script.path },
    project,
    name: script.name,
  };
  await warnOfSlips(io, execution);
  if (request.plan) return (await import('./plan.js')).planCommand(io, execution);
  io.stderr(`Running ${path.relative(io.workingDirectory, script.path)}...\n`);
  const { execute } = await import('./execute.js');
  return execute(io, execution);
}

function renderScripts(names: readonly string[]): string {
  if (names.length === 0) return 'No scripts found.\n';
  return `Available scripts:\n\n${names.map((name) => `  ${name}\n`).join('')}\nRun a script with: mlld run <script-name>\n`;
}
