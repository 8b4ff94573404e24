/** Writes the commands that messages name: on one line, and so that a shell reads the words that were meant. */
import { shellWord } from '../../journal/shell-words.js';
import { CONTROLS, EVERY_MARK, writtenOut } from './terminal-text.js';

/** Characters that a line can't show as they are, or that would be written out on their way to the terminal. */
const HIDDEN = new RegExp(`${CONTROLS.source}|[\\t\\n\\r\\u2028\\u2029]|${EVERY_MARK.source}`);
const TO_ESCAPE = new RegExp(`[\\\\']|${HIDDEN.source}`, 'g');

/** As `shellWords`, but for words with control characters: these are in `$'…'`, which bash, zsh and ksh read, and dash does not. */
export function shownWords(words: readonly string[]): string {
  return words.map((word) => (HIDDEN.test(word) ? `$'${word.replaceAll(TO_ESCAPE, escaped)}'` : shellWord(word))).join(' ');
}

function escaped(character: string): string {
  if (character === '\\' || character === "'") return `\\${character}`;
  return SHORT[character] ?? writtenOut(character);
}

const SHORT: { readonly [character: string]: string } = { '\n': String.raw`\n`, '\t': String.raw`\t`, '\r': String.raw`\r` };
