/** `mlld run [NAME]`: runs a script of the project, checked first, or lists the scripts. world.md 17.2. */
import fs from 'node:fs';
import path from 'node:path';
import { MlldError } from '../../src/errors.js';
import { findProject, findScript, listScripts, WORKFLOW_DIR, type Project } from '../../src/api/commands/project.js';
import { EXIT_FAILED, EXIT_OK } from '../exit-codes.js';
import { clip, oneLine } from '../render/one-line.js';
import type { Io } from '../terminal/io.js';
import { parseRunRequest } from '../options/run-request.js';
import { payloadFor } from '../options/own-flags.js';
import { checkFlags, resembledOption } from '../options/misspelt-command.js';

export async function runCommand(io: Io, argv: readonly string[]): Promise<number> {
  if (argv[0]?.endsWith('.dot')) return (await import('./run-pipeline.js')).runPipelineCommand(io, argv);
  const workflow = await workflowIn(io, argv);
  if (workflow && workflow.isProgram) return (await import('./workflows/program.js')).runProgramCommand(io, argv, workflow.file);
  if (workflow) return (await import('./workflows/run.js')).runWorkflowCommand(io, argv, workflow);
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
    const { listWorkflows } = await import('../../src/api/commands/workflows/files.js');
    io.stdout(renderScripts(await listScripts(project, home), await listWorkflows({ project, home }, 'home too')));
    return EXIT_OK;
  }
  const script = await findScript({ ...project, workingDirectory: io.workingDirectory }, request.script, home);
  const source = { kind: 'file' as const, path: script.path };
  const { preflightOf } = await import('./preflight.js');
  const preflight = preflightOf(io, source, project, request);
  if (!(await preflight.passes(request.warnings ? 'print' : 'hide'))) return EXIT_FAILED;
  const payload = await payloadFor(request, preflight);
  const execution = { request: { ...request, payload }, form: 'run' as const, argv, script: source, project, name: script.name };
  await checkFlags(io, execution, preflight.payloadNames);
  if (request.plan) return (await import('./plan.js')).planCommand(io, execution);
  io.stderr(`Running ${path.relative(io.workingDirectory, script.path)}...\n`);
  const { runAndReport } = await import('./run-script.js');
  return runAndReport(io, execution);
}

interface NamedFile {
  readonly file: string;
  readonly name: string;
  /** It is named by its path. */
  readonly isPath: boolean;
  /** A program of the library, which runs without a realm. */
  readonly isProgram: boolean;
}

/** The workflow script that the first word names. A script of the language with the same name is an error, unless the path is written. */
async function workflowIn(io: Io, argv: readonly string[]): Promise<NamedFile | undefined> {
  const name = argv.find((word) => !word.startsWith('-'));
  if (name === undefined || name !== argv[0]) return undefined;
  const isPath = /\.m?[jt]s$/.test(name);
  const project = await findProject(io.workingDirectory);
  const home = io.environment['HOME'];
  const isScript = !isPath && (await isScriptName(project, name, home));
  if (isScript && !hasWorkflowFile(project, name)) return undefined;
  const { findWorkflow, isProgram, listWorkflows, unknownWorkflow } = await import('../../src/api/commands/workflows/files.js');
  const place = { project, home, workingDirectory: io.workingDirectory };
  const file = await findWorkflow(name, place);
  if (file !== undefined && isScript)
    throw new MlldError(
      'WORKFLOW_NAME',
      `"${name}" is the name of a script and of a workflow script: ${path.relative(io.workingDirectory, file)}`,
      {
        hint: 'write the path of the one that is meant',
      },
    );
  if (file !== undefined) return { file, name, isPath, isProgram: isPath && isProgram(file) };
  if (isPath) throw new MlldError('FILE_NOT_FOUND', `There is no workflow script ${name}`);
  const hasWorkflows = (await listWorkflows(place, 'home too')).length > 0;
  if (hasWorkflows && (await listScripts(project, home)).length === 0) throw await unknownWorkflow(name, place);
  return undefined;
}

async function isScriptName(project: Project, name: string, home: string | undefined): Promise<boolean> {
  try {
    await findScript(project, name, home);
    return true;
  } catch (error) {
    if (error instanceof MlldError && error.code === 'SCRIPT_UNKNOWN') return false;
    throw error;
  }
}

/** Looked at first, so that a script of the language loads nothing of workflow scripts. */
function hasWorkflowFile({ root, config }: Project, name: string): boolean {
  const folders = [path.resolve(root, config.scriptDir), path.join(root, WORKFLOW_DIR)];
  return folders.some((folder) => ['.js', '.mjs'].some((extension) => fs.existsSync(path.join(folder, name + extension))));
}

function renderScripts(names: readonly string[], workflows: readonly { readonly name: string; readonly description: string }[]): string {
  if (names.length + workflows.length === 0) return 'No scripts found.\n';
  const scripts = names.map((name) => `  ${name}\n`);
  const described = workflows.map(({ name, description }) => `  ${oneLine(name)}: ${oneLine(clip(description, DESCRIPTION_UNITS))}\n`);
  return `Available scripts:\n\n${[...scripts, ...described].join('')}\nRun a script with: mlld run <script-name>\n`;
}

const DESCRIPTION_UNITS = 100;
