/** `mlld init --from FOLDER`: the workflow scripts that somebody has already, what is wrong with each, and how to run it. */
import fs from 'node:fs';
import path from 'node:path';
import { findProject } from '../../../src/api/commands/project.js';
import { findWorkflow } from '../../../src/api/commands/workflows/files.js';
import { validateWorkflow, type ValidatedWorkflow } from '../../../src/api/commands/workflows/validate.js';
import { MlldError } from '../../../src/errors.js';
import { oneLine } from '../../render/one-line.js';
import { shellWords } from '../../../journal/shell-words.js';
import { reportStyle, type Style } from '../../render/style.js';
import type { Io } from '../../terminal/io.js';
import { installedProgram } from './write-starter.js';

/** The members are those that `--json` prints. */
type FoundScript = Omit<ValidatedWorkflow, 'error'> & {
  /** The command that runs it; null for a script that is not valid. */
  readonly run: string | null;
};

export async function initFrom(io: Io, written: string, json: boolean): Promise<void> {
  const folder = path.resolve(io.workingDirectory, written);
  const names = filesIn(folder).filter((name) => /\.m?js$/.test(name));
  if (names.length === 0)
    throw new MlldError('WORKFLOW_NAME', `there are no workflow scripts in ${written}`, { hint: 'they are .js and .mjs files' });
  const project = await findProject(io.workingDirectory);
  const backend = installedProgram(io.environment) ?? 'simulated';
  const place = { project, home: io.environment['HOME'], workingDirectory: io.workingDirectory };
  const scripts: FoundScript[] = [];
  for (const name of names.sort()) {
    const file = path.join(folder, name);
    const shown = path.relative(io.workingDirectory, file);
    const { error: _error, ...report } = await validateWorkflow(file, shown, io);
    const base = name.replace(/\.m?js$/, '');
    const word = report.valid && (await isFoundBy(base, file, place)) ? base : shown.includes('/') ? shown : `./${shown}`;
    scripts.push({ ...report, run: report.valid ? shellWords(['mlld', 'run', word, '--backend', backend]) : null });
  }
  if (json) io.stdout(`${JSON.stringify({ folder, scripts }, undefined, 2)}\n`);
  else io.stdout(rendered(scripts, reportStyle(io)));
}

function filesIn(folder: string): string[] {
  try {
    return fs.readdirSync(folder);
  } catch {
    return []; // reported as a folder without scripts
  }
}

/** A name that several scripts have finds none. */
async function isFoundBy(name: string, file: string, place: Parameters<typeof findWorkflow>[1]): Promise<boolean> {
  try {
    return (await findWorkflow(name, place)) === file;
  } catch {
    return false; // said by `mlld run`, where the name is written
  }
}

function rendered(scripts: readonly FoundScript[], { bold, dim }: Style): string {
  const valid = scripts.filter((script) => script.valid).length;
  const lines = scripts.flatMap(({ filepath, name, description, errors = [], warnings = [], run }) => [
    `${oneLine(filepath)}${name === undefined ? '' : `  ${dim(oneLine(`${name}: ${description}`))}`}`,
    ...errors.map(
      ({ line, column, message, hint }) =>
        `  error ${line}:${column} ${oneLine(message)}${hint === undefined ? '' : ` (${oneLine(hint)})`}`,
    ),
    ...warnings.map(({ line, column, message }) => `  note ${line}:${column} ${oneLine(message)}`),
    ...(run === null ? [] : [`  ${bold(oneLine(run))}`]),
  ]);
  return `${[...lines, '', `${valid} of ${scripts.length} scripts can run; a killed run continues with --resume`].join('\n')}\n`;
}
