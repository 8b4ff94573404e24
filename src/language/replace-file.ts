/** A file that gets a new content as a whole. */
import { askWorld } from '../operation/effect.js';
import type { ResolvedPath } from '../modules/paths.js';
import type { Value } from '../values/value.js';
import type { Frame } from './frame.js';

/** `text` is what is written for `value`. */
export async function replaceFile(place: ResolvedPath, text: string, value: Value, frame: Frame): Promise<void> {
  await askWorld(frame, 'file.write', { path: place.absolute, text }, { values: [value] });
  frame.run.document.note({ type: 'file', content: text, path: place.absolute, value });
}
