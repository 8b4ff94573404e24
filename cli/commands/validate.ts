/** `mlld validate PATH` and `mlld analyze PATH`: a file or a folder, looked at without running it. world.md 19. */
import fs from 'node:fs';
import path from 'node:path';
import { Option, type Command } from 'commander';
import { canValidate, createValidator, type ValidatorSettings } from '../../src/validate/validator.js';
import { findSources } from '../../src/validate/linking/find-sources.js';
import { withoutRepeats } from '../../src/validate/report.js';
import { MlldError } from '../../src/errors.js';
import { findProject } from '../../src/session/project.js';
import { analyzeSettings } from '../options/analyze-settings.js';
import type { Io } from '../terminal/io.js';
import { examples } from '../render/examples.js';
import { paintFor } from '../render/paint.js';
import { renderDirectory, renderDirectoryInFull, renderReport, warningsOf, type ValidatedFile } from '../render/reports/validation.js';

interface ValidateOptions {
  readonly deep?: true;
  readonly verbose?: true;
  readonly errorOnWarnings?: true;
  readonly format: 'text' | 'json';
  readonly json?: true;
}

/** `onFailure` is called when something is wrong with a file. */
export function addValidateCommand(program: Command, io: Io, onFailure: () => void): void {
  program
    .command('validate')
    .alias('analyze')
    .description('check scripts, templates and pipelines without running them')
    .argument('<path>', 'a .mld, .mld.md, .att, .mtt or .dot file, or a folder of scripts and templates')
    .option('--deep', 'follow imports and templates')
    .option('--verbose', 'say everything about every file of a folder')
    .option('--error-on-warnings', 'fail when there are warnings')
    .addOption(new Option('--format <format>', 'how to print the report').choices(['text', 'json']).default('text'))
    .option('--json', 'short for --format json')
    .addHelpText('after', examples(['mlld validate nightly.mld --deep', 'mlld validate . --error-on-warnings', 'mlld validate llm --json']))
    .action(async (target: string, options: ValidateOptions) => {
      if (target.endsWith('.dot')) {
        const { validatePipeline } = await import('./validate-pipeline.js');
        if (!(await validatePipeline(io, target, options))) onFailure();
        return;
      }
      const files = await validate(io, target, options);
      const isSound = ({ report }: ValidatedFile): boolean => report.valid && !(options.errorOnWarnings && warningsOf(report).length > 0);
      if (!files.every(isSound)) onFailure();
    });
}

async function validate(io: Io, target: string, options: ValidateOptions): Promise<readonly ValidatedFile[]> {
  const absolute = path.resolve(io.workingDirectory, target);
  const stat = fs.statSync(absolute, { throwIfNoEntry: false });
  if (stat === undefined)
    throw new MlldError('FILE_NOT_FOUND', `File not found: ${target}`, { hint: 'name a script, a template or a folder' });
  const isFolder = stat.isDirectory();
  const project = await findProject(isFolder ? absolute : path.dirname(absolute));
  const settings = analyzeSettings(io, project, options.deep ? 'deep' : 'file');
  const reports = isFolder ? await folderReports(absolute, settings) : [await fileReport(absolute, target, settings)];
  const paint = paintFor(io.colours.stdout);
  if (options.json || options.format === 'json') {
    const json = reports.map(({ report }) => report);
    io.stdout(`${JSON.stringify(isFolder ? json : json[0], undefined, 2)}\n`);
  } else if (!isFolder) io.stdout(reports.map(({ path: name, report }) => renderReport(name, report, paint)).join(''));
  else io.stdout(options.verbose ? renderDirectoryInFull(reports, paint) : renderDirectory(reports, paint));
  return reports;
}

async function fileReport(absolute: string, target: string, settings: ValidatorSettings): Promise<ValidatedFile> {
  if (!canValidate(absolute))
    throw new MlldError('USAGE', `${target} is no script and no template`, {
      hint: 'their names end in .mld, .mld.md, .att or .mtt, those of pipelines in .dot',
    });
  const report = await createValidator(settings).validate(absolute, target);
  if (!report) throw new MlldError('FILE_NOT_FOUND', `${target} can't be read`);
  return { path: target, report };
}

async function folderReports(folder: string, settings: ValidatorSettings): Promise<readonly ValidatedFile[]> {
  const analyzer = createValidator(settings);
  const sources = await findSources(folder, settings.files);
  const known = new Set(sources.map(settings.display));
  const files: ValidatedFile[] = [];
  for (const source of sources) {
    const report = await analyzer.validate(source, settings.display(source));
    // A file that vanished since it was listed has nothing wrong with it.
    if (report) files.push({ path: path.relative(folder, source).replaceAll(path.sep, '/'), report: withoutRepeats(report, known) });
  }
  return files;
}
