/**
 * `mlld validate FILE.dot`: checks syntax and lint rules of a pipeline. A file of its own, so that checking a script loads nothing of
 * pipelines.
 */
import fs from 'node:fs';
import path from 'node:path';
import { withPlainLineEnds } from '../../grammar/line-ends.js';
import { MlldError } from '../../src/errors.js';
import { diagnosePipeline } from '../../src/api/commands/lint.js';
import type { Io } from '../terminal/io.js';
import { styleFor } from '../render/style.js';
import { renderPipelineReport } from '../render/reports/pipeline.js';

interface ValidatePipelineOptions {
  readonly errorOnWarnings?: boolean;
  readonly format: 'text' | 'json';
  readonly json?: boolean;
}

/** Resolves to true when the pipeline has no errors, or no warnings where these count. */
export async function validatePipeline(io: Io, target: string, options: ValidatePipelineOptions): Promise<boolean> {
  const { report } = diagnosePipeline({ file: target, text: readPipeline(io, target) });
  const isJson = options.json === true || options.format === 'json';
  io.stdout(isJson ? `${JSON.stringify(report, undefined, 2)}\n` : renderPipelineReport(report, styleFor(io.colours.stdout)));
  return report.ok && !(options.errorOnWarnings === true && report.diagnostics.some(({ severity }) => severity === 'warning'));
}

/** Throws FILE_NOT_FOUND. */
export function readPipeline(io: Io, target: string): string {
  const absolute = path.resolve(io.workingDirectory, target);
  const stat = fs.statSync(absolute, { throwIfNoEntry: false });
  if (!stat?.isFile()) throw new MlldError('FILE_NOT_FOUND', `File not found: ${target}`, { hint: 'name a .dot file' });
  return withPlainLineEnds(fs.readFileSync(absolute, 'utf8'));
}
