/** Replaces the text of a file, or adds to its end. */
import { MlldError } from '../../errors.js';
import { performEffect } from '../../operation/perform-effect.js';
import type { ResolvedPath } from '../paths.js';
import type { Value } from '../../values/value.js';
import { WorldError } from '../../world/world.js';
import { locationOf } from '../../runtime/errors.js';
import type { Frame } from '../../runtime/frame.js';

type WritePlace = Pick<ResolvedPath, 'absolute' | 'written' | 'labelled'> & { readonly at: number };

/** Writes `text`, which represents `value`; `at` is the position in the script that names the file. Throws FILE_NOT_WRITTEN. */
export async function writeText(
  effect: 'file.write' | 'file.append',
  { absolute, written, labelled, at }: WritePlace,
  text: string,
  value: Value,
  frame: Frame,
): Promise<void> {
  try {
    await performEffect(frame, effect, { path: absolute, text }, { values: [value, ...labelled] });
  } catch (error) {
    if (!(error instanceof WorldError) || error.code !== 'FILE_NOT_WRITTEN') throw error;
    // The world knows absolute paths only; the message shows the path as it is written in the script.
    const message = error.message.replaceAll(absolute, written);
    throw new MlldError(error.code, message, { location: locationOf(frame.module, at), hint: error.hint, cause: error });
  }
  frame.run.document.note({ type: 'file', content: text, path: absolute, value });
}
