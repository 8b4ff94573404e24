/**
 * Quotes texts so that a shell reads each as it is: in commands that are executed, and in those that messages name. A command with its
 * values is part of the key of its call, so another way of quoting would execute recorded calls again.
 */

/** Returns the words as one line, which a shell would read as the same words. */
export function shellWords(words: readonly string[]): string {
  return words.map(shellWord).join(' ');
}

/** Returns the word itself where none of its characters means anything to a shell. */
export function shellWord(word: string): string {
  return /^[\w@%+=:,./-]+$/.test(word) ? word : singleQuoted(word);
}

const CONTROLS = /[\u0000-\u001f\u007f-\u009f\u2028\u2029]/;

/** As `shellWords`, on one line whatever the words hold: for commands in messages, which shells with `$'…'` read as the same words. */
export function shownWords(words: readonly string[]): string {
  return words.map((word) => (CONTROLS.test(word) ? escapedWord(word) : shellWord(word))).join(' ');
}

function escapedWord(word: string): string {
  const escaped = word.replaceAll(/[\\'\u0000-\u001f\u007f-\u009f\u2028\u2029]/g, (character) => {
    if (character === '\\' || character === "'") return `\\${character}`;
    if (character === '\n') return String.raw`\n`;
    return character === '\t' ? String.raw`\t` : `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`;
  });
  return `$'${escaped}'`;
}

/** Inside single quotes only the quote itself has a meaning to the shell. */
export function singleQuoted(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`;
}
