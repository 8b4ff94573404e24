import { wholeCharacters } from '../../grammar/columns.js';
import { visible } from './terminal-text.js';

const LINE_ENDS = /[\r\n]/;

/** Text of a script or a model on one line of a terminal: no line break and no control sequence gets through. */
export function oneLine(text: string): string {
  // Nearly always there is no line end, and a list may have a million lines.
  return visible(LINE_ENDS.test(text) ? text.replaceAll(/\r\n|\n|\r/g, String.raw`\n`) : text);
}

/** At most `max` UTF-16 units; what is cut ends in three dots. */
export function clip(text: string, max: number): string {
  if (text.length <= max) return text;
  return `${wholeCharacters(text, max - 3)}...`;
}
