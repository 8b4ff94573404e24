import { wholeCharacters } from '../../grammar/columns.js';

/** At most so many UTF-16 units; what is cut ends in `…`, behind a whole character. */
export function shortened(text: string, units: number): string {
  return text.length > units ? `${wholeCharacters(text, units - 1)}…` : text;
}
