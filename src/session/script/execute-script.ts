/** Runs a script from its first statement to its last, in the world of its run or of a replay. */
import type { Script } from '../../../grammar/ast.js';
import { Return } from '../../runtime/completion.js';
import { execute } from '../../language/evaluate.js';
import type { Frame } from '../../runtime/frame.js';
import { showValue } from '../../language/statements/show.js';
import { bindFrontmatter } from '../../language/source-module.js';
import { performEffect } from '../../operation/perform-effect.js';
import { recordSource } from '../../operation/sources.js';
import type { KeptDocument } from './document.js';
import { isUserError } from '../user-error.js';

export interface ScriptRun {
  readonly document: KeptDocument;
  /** The document is printed when the script has ended. */
  readonly printsAtEnd: boolean;
  /** The text of the script is stored with its record. */
  readonly keepsSource: boolean;
  /** No statement runs before it resolves: `run.started` is recorded then. */
  readonly started: Promise<void> | undefined;
}

/** Resolves with the error that ended the script, if a user can cause it; undefined if the script ran to its end. Rejects with others. */
export async function executeScript(
  script: Script,
  frame: Frame,
  { document, printsAtEnd, keepsSource, started }: ScriptRun,
): Promise<unknown> {
  const { run, module } = frame;
  try {
    if (keepsSource) await recordSource(frame, module.path, module.text, 'script');
    await started;
    await bindFrontmatter(script, module);
    const completion = await execute(script.statements, frame);
    if (completion instanceof Return && completion.hasValue) await showValue(completion.value, frame);
    await run.closeCheckpoint?.();
    if (printsAtEnd) await performEffect(frame, 'stream.write', { stream: 'stdout', text: `${document.normalised()}\n` });
    return undefined;
  } catch (error) {
    if (!isUserError(error)) throw error;
    return error;
  }
}
