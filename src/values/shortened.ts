import { wholeCharacters } from '../../grammar/columns.js';

/** Cuts a text to so many UTF-16 units; a cut text ends in `…`, behind a whole character. */
export function shortened(text: string, units: number): string {
  return text.length > units ? `${wholeCharacters(text, units - 1)}…` : text;
}
