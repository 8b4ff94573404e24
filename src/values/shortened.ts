import { wholeCharacters } from '../../grammar/columns.js';

/** Returns the text without line breaks: of what others wrote, none begins a line as if mlld had written it. */
export function onOneLine(text: string): string {
  return text.replaceAll(/\s+/g, ' ').trim();
}

/** Cuts a text to so many UTF-16 units; a cut text ends in `…`, behind a whole character. */
export function shortened(text: string, units: number): string {
  return text.length > units ? `${wholeCharacters(text, units - 1)}…` : text;
}
