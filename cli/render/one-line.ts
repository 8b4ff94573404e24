import { wholeCharacters } from '../../grammar/columns.js';

const CONTROLS = /[\u0000-\u001F\u007F-\u009F]/;

/** Text of a script or a model on one line of a terminal: no line break and no control sequence gets through. */
export function oneLine(text: string): string {
  if (!CONTROLS.test(text)) return text; // nearly always, and a list may have a million lines
  return text.replaceAll(/\r\n|\n|\r/g, String.raw`\n`).replaceAll(/[\u0000-\u001F\u007F-\u009F]/g, ' ');
}

/** At most `max` UTF-16 units; what is cut ends in three dots. */
export function clip(text: string, max: number): string {
  if (text.length <= max) return text;
  return `${wholeCharacters(text, max - 3)}...`;
}
