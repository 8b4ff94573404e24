import { wholeCharacters } from '../../grammar/columns.js';
import { visible } from './terminal-text.js';

const LINE_ENDS = /[\r\n]/;

/** Writes text of a script or a model on one line: line breaks and control characters are written out. */
export function oneLine(text: string): string {
  // Tested first: most texts have no line end, and a list may have a million lines.
  return visible(LINE_ENDS.test(text) ? text.replaceAll(/\r\n|\n|\r/g, String.raw`\n`) : text);
}

/** Cuts a text to `max` UTF-16 units, with three dots at the end. */
export function clip(text: string, max: number): string {
  if (text.length <= max) return text;
  return `${wholeCharacters(text, max - 3)}...`;
}
