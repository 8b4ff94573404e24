/** Checks scripts, templates and pipelines without running them: `mlld validate`. */
import path from 'node:path';
import { withPlainLineEnds } from '../../grammar/line-ends.js';
import { MlldError } from '../errors.js';
import { displayPath } from '../language/paths.js';
import type { CustomRule } from '../pipeline/lint/rule.js';
import { diagnosePipeline, type PipelineDiagnostics } from '../pipeline/lint/diagnostics.js';
import type { Transform } from '../pipeline/model/prepare.js';
import type { Project } from '../session/project.js';
import type { FileReport } from '../validate/report.js';
import { canValidate, createValidator } from '../validate/validator.js';
import { searchPathOf } from '../world/files/search-path.js';
import { hostDefaults } from '../world/host-defaults.js';
import { sourceFilesOnDisk } from '../world/files/source-files.js';
import { badOption, checkMembers, type Members } from './check.js';
import { projectFor } from './run.js';

export type { FileReport, Finding as ScriptFinding } from '../validate/report.js';
export type { Diagnostic, PipelineDiagnostics } from '../pipeline/lint/diagnostics.js';

export interface ValidateScriptRequest {
  /** Path of the script (`.mld`, `.mld.md`) or template (`.att`, `.mtt`), relative to `workingDirectory`. */
  readonly file: string;
  /** Is checked instead of what the file holds, which then need not exist. */
  readonly text?: string;
  readonly workingDirectory?: string;
  /** By default the project that the file is in. */
  readonly project?: Project;
  /** `deep` follows imports and templates, and reports findings there too. By default `file`. */
  readonly depth?: 'file' | 'deep';
}

export interface ValidatePipelineRequest {
  /** Path of the `.dot` file, relative to `workingDirectory`. */
  readonly file: string;
  /** Is checked instead of what the file holds, which then need not exist. */
  readonly text?: string;
  readonly workingDirectory?: string;
  /** As for `runPipeline`. */
  readonly transforms?: readonly Transform[];
  readonly rules?: readonly CustomRule[];
}

const SCRIPT: Members<ValidateScriptRequest> = {
  file: 'text',
  text: 'text',
  workingDirectory: 'text',
  project: 'object',
  depth: ['file', 'deep'],
};
const PIPELINE: Members<ValidatePipelineRequest> = {
  file: 'text',
  text: 'text',
  workingDirectory: 'text',
  transforms: 'list',
  rules: 'list',
};

/**
 * Returns what `mlld validate --json` prints of a script or template: findings, and what it declares, imports and exports. Findings are in
 * the report and never thrown. Lines and columns count from 1. Throws BAD_OPTION, FILE_NOT_FOUND, CONFIG_INVALID.
 *
 * ```js
 * const { valid, errors = [] } = await validateScript({ file: 'llm/run/nightly.mld', depth: 'deep' });
 * ```
 */
export async function validateScript(request: ValidateScriptRequest): Promise<FileReport> {
  const where = 'validateScript()';
  checkMembers(where, request, SCRIPT, ['file']);
  if (!canValidate(request.file))
    throw badOption(where, `${request.file} is not a script or template`, 'names end in .mld, .mld.md, .att, .mtt');
  const workingDirectory = directoryOf(request);
  const absolute = path.resolve(workingDirectory, request.file);
  const project = await projectFor(where, request.project, path.dirname(absolute));
  const validator = createValidator({
    files: filesWith(absolute, request.text),
    display: (file) => displayPath(file, { workingDirectory }),
    projectRoot: project.root,
    prefixes: project.config.prefixes,
    ...(project.config.modules?.folder !== undefined && { modulesFolder: project.config.modules.folder }),
    suppressed: project.config.suppressWarnings,
    searchPath: searchPathOf(hostDefaults().environment),
    depth: request.depth ?? 'file',
  });
  const report = await validator.validate(absolute, request.file);
  if (report === undefined) throw notFound(request.file);
  return report;
}

/**
 * Returns what `mlld validate FILE.dot --json` prints: all findings of lint and syntax. They are in the report and never thrown. Lines and
 * columns count from 1. Throws BAD_OPTION, FILE_NOT_FOUND.
 *
 * ```js
 * const { ok, diagnostics } = await validatePipeline({ file: 'release.dot' });
 * ```
 */
export async function validatePipeline(request: ValidatePipelineRequest): Promise<PipelineDiagnostics> {
  checkMembers('validatePipeline()', request, PIPELINE, ['file']);
  const { file, transforms = [], rules = [] } = request;
  const absolute = path.resolve(directoryOf(request), file);
  const text = await filesWith(absolute, request.text).readText(absolute);
  if (text === undefined) throw notFound(file);
  return diagnosePipeline({ file, text: withPlainLineEnds(text) }, { transforms, rules }).report;
}

function directoryOf({ workingDirectory }: { readonly workingDirectory?: string }): string {
  return path.resolve(workingDirectory ?? hostDefaults().workingDirectory);
}

function filesWith(absolute: string, text: string | undefined): ReturnType<typeof sourceFilesOnDisk> {
  const files = sourceFilesOnDisk();
  if (text === undefined) return files;
  return {
    ...files,
    kindOf: async (file) => (file === absolute ? 'file' : files.kindOf(file)),
    readText: async (file) => (file === absolute ? text : files.readText(file)),
  };
}

function notFound(file: string): MlldError {
  return new MlldError('FILE_NOT_FOUND', `File not found: ${file}`, { hint: 'paths are relative to workingDirectory' });
}
