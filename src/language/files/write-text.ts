/** A file gets a new content as a whole, or one more part at its end. */
import { MlldError } from '../../errors.js';
import { performEffect } from '../../operation/perform-effect.js';
import type { ResolvedPath } from '../paths.js';
import type { Value } from '../../values/value.js';
import { WorldError } from '../../world/world.js';
import { locationOf } from '../../runtime/errors.js';
import type { Frame } from '../../runtime/frame.js';

type WritePlace = Pick<ResolvedPath, 'absolute' | 'written'> & { readonly at: number };

/** `text` is what is written for `value`; `at` is where the script names the file. */
export async function writeText(
  question: 'file.write' | 'file.append',
  { absolute, written, at }: WritePlace,
  text: string,
  value: Value,
  frame: Frame,
): Promise<void> {
  try {
    await performEffect(frame, question, { path: absolute, text }, { values: [value] });
  } catch (error) {
    if (!(error instanceof WorldError) || error.code !== 'FILE_NOT_WRITTEN') throw error;
    // The world knows whole paths only; the message has the path as the script has it.
    const message = error.message.replaceAll(absolute, written);
    throw new MlldError(error.code, message, { location: locationOf(frame.module, at), hint: error.hint, cause: error });
  }
  frame.run.document.note({ type: 'file', content: text, path: absolute, value });
}
