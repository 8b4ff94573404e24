/** `mlld validate PATH` and `mlld analyze PATH`: checks a file or a folder without running it. world.md 19. */
import fs from 'node:fs';
import path from 'node:path';
import { findProject } from '../../src/api/commands/project.js';
import {
  canValidate,
  createValidator,
  type FileReport,
  type ValidatorSettings,
  findSources,
  withoutRepeats,
} from '../../src/api/commands/validator.js';
import { MlldError } from '../../src/errors.js';
import { EXIT_FAILED, EXIT_OK } from '../exit-codes.js';
import { validatorSettings } from '../options/validator-settings.js';
import type { Io } from '../terminal/io.js';
import { styleFor } from '../render/style.js';
import { renderDirectory, renderDirectoryInFull, renderReport, warningsOf, type ValidatedFile } from '../render/reports/validation.js';

interface ValidateOptions {
  readonly deep?: true;
  readonly verbose?: true;
  readonly errorOnWarnings?: true;
  readonly format: 'text' | 'json';
  readonly json?: true;
}

interface ValidateFlags extends ValidateOptions {
  /** Another word for `--error-on-warnings`, the one that runs have. */
  readonly strict?: true;
}

export async function validateCommand(io: Io, target: string, { strict, ...rest }: ValidateFlags): Promise<number> {
  const options: ValidateOptions = strict ? { ...rest, errorOnWarnings: true } : rest;
  if (target.endsWith('.dot')) {
    const { validatePipeline } = await import('./validate-pipeline.js');
    return (await validatePipeline(io, target, options)) ? EXIT_OK : EXIT_FAILED;
  }
  if (/\.m?js$/.test(target)) {
    const { validateWorkflowCommand } = await import('./workflows/validate.js');
    return (await validateWorkflowCommand(io, target, options)) ? EXIT_OK : EXIT_FAILED;
  }
  const files = await validate(io, target, options);
  const isSound = ({ report }: ValidatedFile): boolean => report.valid && !(options.errorOnWarnings && warningsOf(report).length > 0);
  return files.every(isSound) ? EXIT_OK : EXIT_FAILED;
}

async function validate(io: Io, target: string, options: ValidateOptions): Promise<readonly ValidatedFile[]> {
  const absolute = path.resolve(io.workingDirectory, target);
  const stat = fs.statSync(absolute, { throwIfNoEntry: false });
  if (stat === undefined)
    throw new MlldError('FILE_NOT_FOUND', `File not found: ${target}`, { hint: 'name a script, a template or a folder' });
  const isFolder = stat.isDirectory();
  const project = await findProject(isFolder ? absolute : path.dirname(absolute));
  const settings = validatorSettings(io, project, options.deep ? 'deep' : 'file');
  const reports = isFolder ? await folderReports(absolute, settings) : [await fileReport(absolute, target, settings)];
  const style = styleFor(io.colours.stdout);
  if (options.json || options.format === 'json') {
    const json = reports.map(({ report }) => report);
    io.stdout(`${JSON.stringify(isFolder ? json : json[0], undefined, 2)}\n`);
  } else if (!isFolder) io.stdout(reports.map(({ path: name, report }) => renderReport(name, report, style)).join(''));
  else io.stdout(options.verbose ? renderDirectoryInFull(reports, style) : renderDirectory(reports, style));
  return reports;
}

async function fileReport(absolute: string, target: string, settings: ValidatorSettings): Promise<ValidatedFile> {
  if (!canValidate(absolute))
    throw new MlldError('USAGE', `${target} is neither a script nor a template`, {
      hint: 'their names end in .mld, .mld.md, .att or .mtt, those of pipelines in .dot, of workflow scripts in .js or .mjs',
    });
  const report = await createValidator(settings).validate(absolute, target);
  if (!report) throw new MlldError('FILE_NOT_FOUND', `${target} can't be read`, { hint: 'make it a file that this user may read' });
  return { path: target, report };
}

async function folderReports(folder: string, settings: ValidatorSettings): Promise<readonly ValidatedFile[]> {
  const analyzer = createValidator(settings);
  const sources = await findSources(folder, settings.files);
  const reports: FileReport[] = [];
  const paths: string[] = [];
  for (const source of sources) {
    const report = await analyzer.validate(source, settings.display(source));
    if (!report) continue; // a file that vanished since it was listed has nothing wrong with it
    reports.push(report);
    paths.push(path.relative(folder, source).replaceAll(path.sep, '/'));
  }
  return withoutRepeats(reports).map((report, index) => ({ path: paths[index] ?? report.filepath, report }));
}
