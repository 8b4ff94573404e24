/** Checks the text of a workflow script without running it. workflows-js.md 8 and 13. */
import { locate } from '../../grammar/locate.js';
import { MlldError } from '../errors.js';
import type { FileReport, Finding } from '../validate/report.js';
import { compileCode } from '../world/code/closed-realm.js';
import { compiledScript } from './run/script-error.js';
import { hazardsIn } from './text/hazards.js';
import { readWorkflow } from './text/read-script.js';

export interface ValidatedWorkflow extends Pick<FileReport, 'filepath' | 'valid' | 'errors' | 'warnings'> {
  /** `meta.name`; absent when the script is not valid, like the following. */
  readonly name?: string;
  readonly description?: string;
  readonly phases?: readonly string[];
  /** The error as it is thrown, with its place in the text. Not in `--json`. */
  readonly error?: MlldError;
}

/** `display` is the path in messages, `written` that of the report. */
export async function checkWorkflow(
  written: string,
  { text: source, display }: { readonly text: string; readonly display: string },
): Promise<ValidatedWorkflow> {
  try {
    const read = await readWorkflow(source, display);
    compiledScript({ file: display, display, text: read }, compileCode);
    const { text, meta } = read;
    const warnings = hazardsIn(read).map(({ what, at }): Finding => {
      const { line, column } = locate(text, at);
      return {
        code: 'WORKFLOW_CLOCK',
        message: `${what} is recorded here, and refused by other runtimes of the dialect`,
        line,
        column,
        hint: 'pass the value by args where the script has to run elsewhere too',
      };
    });
    return {
      filepath: written,
      valid: true,
      name: meta.name,
      description: meta.description,
      ...(meta.phases.length > 0 && { phases: meta.phases }),
      ...(warnings.length > 0 && { warnings }),
    };
  } catch (error) {
    if (!(error instanceof MlldError)) throw error;
    const { code, message, hint, location } = error;
    const finding = {
      code,
      message,
      ...(location && { line: location.line, column: location.column }),
      ...(hint !== undefined && { hint }),
    };
    return { filepath: written, valid: false, errors: [finding], error };
  }
}
