/** `mlld run [NAME]`: runs a script of the project, checked first, or lists the scripts. world.md 17.2. */
import path from 'node:path';
import { MlldError } from '../../src/errors.js';
import { findProject, findScript, listScripts } from '../../src/api/commands/project.js';
import { EXIT_FAILED, EXIT_OK } from '../exit-codes.js';
import type { Io } from '../terminal/io.js';
import type { Preflight } from './preflight.js';
import { parseRunRequest, type RunRequest } from '../options/run-request.js';
import { checkFlags, resembledOption } from '../options/misspelt-command.js';

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
    const [flag] = argv;
    if (flag !== undefined) {
      // A flag that is no option takes the word behind it, which may have been the name.
      const [loose] = request.looseFlags;
      const meant = loose === undefined ? undefined : resembledOption(loose, 'run');
      const hint = meant === undefined ? 'mlld run lists the scripts' : `did you mean --${meant}?`;
      throw new MlldError('USAGE', `mlld run ${flag}: no script is named`, { hint });
    }
    io.stdout(renderScripts(await listScripts(project, home)));
    return EXIT_OK;
  }
  const script = await findScript(project, request.script, home);
  const source = { kind: 'file' as const, path: script.path };
  const { preflightOf } = await import('./preflight.js');
  const preflight = preflightOf(io, source, project, request.mode);
  if (!(await preflight.passes(request.warnings ? 'print' : 'hide'))) return EXIT_FAILED;
  const payload = await payloadFor(request, preflight);
  const execution = { request: { ...request, payload }, form: 'run' as const, argv, script: source, project, name: script.name };
  await checkFlags(io, execution, preflight.payloadNames);
  if (request.plan) return (await import('./plan.js')).planCommand(io, execution);
  io.stderr(`Running ${path.relative(io.workingDirectory, script.path)}...\n`);
  const { runAndReport } = await import('./run-script.js');
  return runAndReport(io, execution);
}

/** A script that reads the name of an option from `@payload` gets it as well: the name may have been its own before it became an option. */
async function payloadFor({ payload, optionFlags }: RunRequest, { payloadNames }: Preflight): Promise<RunRequest['payload']> {
  const flags = Object.entries(optionFlags);
  if (flags.length === 0) return payload;
  const read = await payloadNames();
  return Object.fromEntries([...flags.filter(([name]) => read.has(name)), ...Object.entries(payload)]);
}

function renderScripts(names: readonly string[]): string {
  if (names.length === 0) return 'No scripts found.\n';
  return `Available scripts:\n\n${names.map((name) => `  ${name}\n`).join('')}\nRun a script with: mlld run <script-name>\n`;
}
