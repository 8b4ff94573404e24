/** `mlld validate FILE.js`: checks a workflow script without running it. */
import path from 'node:path';
import { validateWorkflow } from '../../../src/api/commands/workflows/validate.js';
import { renderError } from '../../render/error.js';
import { oneLine } from '../../render/one-line.js';
import { renderValidWorkflow } from '../../render/reports/workflow.js';
import { styleFor } from '../../render/style.js';
import type { Io } from '../../terminal/io.js';

interface ValidateOptions {
  readonly errorOnWarnings?: true;
  readonly format: 'text' | 'json';
  readonly json?: true;
}

/** Returns whether the script has passed. */
export async function validateWorkflowCommand(
  io: Io,
  target: string,
  { errorOnWarnings, format, json }: ValidateOptions,
): Promise<boolean> {
  const { error, ...report } = await validateWorkflow(path.resolve(io.workingDirectory, target), target, io);
  const { valid, warnings = [] } = report;
  if (json || format === 'json') io.stdout(`${JSON.stringify(report, undefined, 2)}\n`);
  else {
    if (error) io.stderr(renderError(error, {}));
    else io.stdout(renderValidWorkflow(report, styleFor(io.colours.stdout)));
    for (const { message, line, column, hint } of warnings)
      io.stderr(`warning: ${oneLine(target)}:${line}:${column} - ${message}${hint === undefined ? '' : ` (${hint})`}\n`);
  }
  return valid && !(errorOnWarnings === true && warnings.length > 0);
}
