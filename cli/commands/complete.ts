/**
 * `mlld complete -- WORDS…` and `mlld complete --bash LINE REPLACED`: the scripts of `mlld completion` call it at each
 * Tab. Prints a candidate on each line, outside bash with a tab and a description behind it. Reads the project and runs nothing.
 *
 * COMPLETION-3 it prints candidates or nothing: an error message would appear in the middle of the line that is being typed.
 * COMPLETION-4 a candidate with a control character is left out: it can't be typed, and it could draw on the terminal.
 */
import { forBash, readLine } from '../completion/bash-words.js';
import { candidates, type Candidate } from '../completion/candidates.js';
import { namesOf } from '../completion/names.js';
import { EXIT_OK } from '../exit-codes.js';
import { visible } from '../render/terminal-text.js';
import type { Io } from '../terminal/io.js';

/** Longer lists are not readable in a terminal. */
const CANDIDATES_MAX = 200;
const ABOUT_UNITS_MAX = 80;

export async function completeCommand(io: Io, argv: readonly string[]): Promise<number> {
  try {
    for (const line of await linesFor(io, argv)) io.stdout(`${line}\n`);
  } catch {
    // COMPLETION-3
  }
  return EXIT_OK;
}

async function linesFor(io: Io, [form, ...words]: readonly string[]): Promise<readonly string[]> {
  if (form === '--bash') {
    const [line = '', replaced = ''] = words;
    const typed = readLine(line, replaced);
    return forBash(
      (await found(io, typed.words)).map(({ text }) => text),
      typed,
    );
  }
  return (await found(io, words.map(withoutOpenQuote))).map(({ text, about }) =>
    about === undefined ? text : `${text}\t${oneLine(about)}`,
  );
}

async function found(io: Io, words: readonly string[]): Promise<readonly Candidate[]> {
  const all = await candidates(words, namesOf(io));
  return all.filter(({ text }) => visible(text) === text && !/[\r\n\t]/.test(text)).slice(0, CANDIDATES_MAX);
}

/** Zsh and fish leave the quote that a word begins with and that is not closed yet. */
function withoutOpenQuote(word: string): string {
  return word.replace(/^(["'])(?!.*\1$)/s, '');
}

function oneLine(text: string): string {
  const line = visible(text.replaceAll(/[\r\n\t]+/g, ' '));
  return line.length > ABOUT_UNITS_MAX ? `${line.slice(0, ABOUT_UNITS_MAX - 1)}…` : line;
}
