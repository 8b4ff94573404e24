/** `mlld FILE`, `mlld -e CODE`, `mlld /dev/stdin`: runs a script. */
import fs from 'node:fs';
import path from 'node:path';
import { MlldError } from '../../src/errors.js';
import { LOCK_FILE, findProject, scriptName, type Project } from '../../src/api/commands/project.js';
import type { ScriptSource } from '../../src/api/commands/script.js';
import { EXIT_FAILED, EXIT_OK } from '../exit-codes.js';
import type { Io } from '../terminal/io.js';
import type { Preflight } from './preflight.js';
import { parseRunRequest, recordFlag, type RunRequest } from '../options/run-request.js';
import { payloadFor } from '../options/own-flags.js';
import { checkFlags } from '../options/misspelt-command.js';

const STDIN = '/dev/stdin';

export async function fileCommand(io: Io): Promise<number> {
  if (io.argv[0]?.endsWith('.dot')) return (await import('./run-pipeline.js')).runPipelineCommand(io, io.argv);
  const request = parseRunRequest(io.argv, 'file');
  if (request.help) {
    const { printHelp } = await import('../program.js');
    printHelp(io);
    return EXIT_OK;
  }
  refuseUnrecordable(request);
  const script = await scriptOf(io, request);
  const project = await findProject(script.kind === 'file' ? path.dirname(script.path) : script.directory);
  const name = script.kind === 'file' ? scriptName(project, script.path) : script.label;
  let loaded: Preflight | undefined;
  const preflight = async (): Promise<Preflight> => (loaded ??= (await import('./preflight.js')).preflightOf(io, script, project, request));
  if (request.strict) {
    if (isReadOnce(script))
      throw new MlldError('USAGE', `--strict: ${request.script} is no regular file, so it can't be checked before it runs`);
    if (!(await (await preflight()).passes('print'))) return EXIT_FAILED;
  } else if (request.warnings && hasNeeds(script, project)) await (await preflight()).warnsOfNeeds();
  const payload = request.strict ? await payloadFor(request, await preflight()) : request.payload;
  const execution = { request: { ...request, payload }, form: 'file' as const, argv: io.argv, script, project, name };
  await checkFlags(io, execution, async () => (await preflight()).payloadNames());
  if (request.plan) return (await import('./plan.js')).planCommand(io, execution);
  const { runAndReport } = await import('./run-script.js');
  return runAndReport(io, execution);
}

/** Results are recorded under the path of a file. Throws before anything runs: a user who wants a record relies on it. */
function refuseUnrecordable(request: RunRequest): void {
  const source = request.code === undefined ? (request.script === STDIN ? STDIN : undefined) : '-e';
  const flag = recordFlag(request);
  if (source === undefined || flag === undefined) return;
  throw new MlldError('USAGE', `${flag} does nothing for ${source}: results are recorded for a file, and this code is not in one`, {
    hint: `save the code in a file: mlld FILE.mld ${flag}`,
  });
}

/** Leaves a script unchecked that needs nothing, nor a published module that it imports: `mlld FILE` starts at once. */
function hasNeeds(script: ScriptSource, { root }: Pick<Project, 'root'>): boolean {
  if (isReadOnce(script)) return false;
  const text = script.kind === 'text' ? script.text : readText(script.path);
  if (/^[ \t]*\/?needs\b/m.test(text)) return true;
  return /\bfrom\s+["<]?@[\w-]+\//.test(text) && fs.existsSync(path.join(root, LOCK_FILE));
}

/** True for a pipe: what the check before the run read of it, the run would miss. */
function isReadOnce(script: ScriptSource): boolean {
  return script.kind === 'file' && !statOf(script.path)?.isFile();
}

function readText(file: string): string {
  try {
    return fs.readFileSync(file, 'utf8');
  } catch {
    return ''; // running it reports why it can't be read
  }
}

async function scriptOf(io: Io, { code, script }: RunRequest): Promise<ScriptSource> {
  const directory = io.workingDirectory;
  if (code !== undefined) return { kind: 'text', text: code, directory, label: '-e' };
  if (script === undefined) {
    throw new MlldError('USAGE', 'No script was given', {
      hint: `mlld FILE, mlld run NAME or mlld -e CODE; for a script on standard input: mlld ${STDIN}; mlld help lists the commands`,
    });
  }
  if (script === STDIN) return { kind: 'text', text: (await io.stdin()) ?? '', directory, label: STDIN };
  const file = path.resolve(directory, script);
  const stat = statOf(file);
  if (stat === undefined)
    throw new MlldError('FILE_NOT_FOUND', `File not found: ${script}`, {
      hint: script === '-' ? `for a script on standard input: mlld ${STDIN}` : await similarFiles(io, file),
    });
  if (stat.isDirectory()) {
    throw new MlldError('FILE_IS_DIRECTORY', `${script} is a directory`, {
      hint: 'name the file in it, or validate all of it: mlld validate',
    });
  }
  return { kind: 'file', path: file };
}

async function similarFiles(io: Io, file: string): Promise<string> {
  const { closest } = await import('../../grammar/closest.js');
  const folder = path.dirname(file);
  const names = statOf(folder)?.isDirectory() ? fs.readdirSync(folder) : [];
  const near = closest(path.basename(file), names);
  if (near !== undefined) return `did you mean ${near}?`;
  const paths = `paths are relative to ${io.workingDirectory}; scripts of a project are run by name: mlld run`;
  return path.extname(file) === '' ? `${paths}; commands are listed by mlld help` : paths;
}

function statOf(file: string): fs.Stats | undefined {
  try {
    return fs.statSync(file);
  } catch {
    return undefined; // Also when a part of its path is no folder, or not ours to enter.
  }
}
