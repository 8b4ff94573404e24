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

/** Inside single quotes only the quote itself has a meaning to the shell. */
export function singleQuoted(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`;
}
