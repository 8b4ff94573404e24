/** Reads standard input as a value. world.md 16.1. */
import { performEffect } from '../../operation/perform-effect.js';
import { annotate, type Data, type Value } from '../../values/value.js';
import type { Frame } from '../../runtime/frame.js';

/** Returns undefined without input. JSON becomes data, other text loses one final line end; a byte order mark is removed. */
export async function readInput(frame: Frame): Promise<Value> {
  const { text: received } = await performEffect(frame, 'stdin.read', {});
  const text = received?.replace(/^\uFEFF/, '');
  if (text === undefined || text === '') return undefined;
  try {
    return annotate(JSON.parse(text) as Data, { text: text.trim() });
  } catch {
    return text.replace(/\r?\n$/, '');
  }
}
