/** Puts a note behind the first argument that is a text. calls.md 8.4. */
import { textOf } from '../../values/text.js';
import { annotate, dataOf, metadataOf, type Value } from '../../values/value.js';

/** Arguments without a text are returned as they are. The text keeps its labels. */
export function withNote(inputs: readonly Value[], note: string): readonly Value[] {
  const at = inputs.findIndex((input) => typeof dataOf(input) === 'string');
  const input = inputs[at];
  if (input === undefined) return inputs;
  const { labels, sources } = metadataOf(input) ?? {};
  const noted = annotate(`${textOf(input)}${note}`, { ...(labels && { labels }), ...(sources && { sources }) });
  return inputs.with(at, noted);
}
