/**
 * Finds the words in the arguments of a call that may be paths of files. calls.md 22.4.
 *
 * WORD-1 A text is read once, in time that grows with its length alone; one without a slash, or a dot before a character, costs the
 *    search for them.
 * WORD-2 At most `WORDS_MAX` different words of a call are taken, the first and the last ones: a prompt names its files at its beginning or
 *    at its end, and what lies between may be a book.
 * WORD-3 Nothing is looked up on the disk: a word that only looks like a path costs its caller one look.
 */
import type { Json } from '../../../journal/event.js';

/** Half of them are the first words, half the last. */
export const WORDS_MAX = 200;
/** UTF-16 units. Longer words are no paths that a model was given. */
const WORD_UNITS_MAX = 1024;

/** Characters that end a word wherever they are: blanks, quotes, and marks between a name and its value. */
const SEPARATOR = /[\s\0"'`<>|;,=:\u2018-\u201f\u00ab\u00bb]/;
const SEPARATORS = new RegExp(SEPARATOR, 'g');
/** By the number of the character; a table is many times as fast as the pattern. */
const ENDS_WORD: readonly boolean[] = Array.from({ length: 128 }, (_, code) => SEPARATOR.test(String.fromCharCode(code)));
/** Brackets, emphasis and the at sign of a mention around a word; its sentence may end behind it. */
const AROUND = /^[([{*@]+|[)\]}*.!?\u2026]+$/g;
/** `[the list](out/list.md)` */
const BRACKETS = /[()[\]{}]+/;
/** In every path that is looked for, and in few texts: a stop is followed by a blank, mostly. */
const MARK_OF_PATH = /\/|\.\S/;
/** A name with an extension that has a letter: `a.md`, `.env`, `x.7z`; not `3.5`. */
const EXTENSION = /\.(?=[\w-]*[a-z])[\w-]{1,16}$/i;

/** Returns different words in the order of the arguments. */
export function pathWords(args: readonly Json[]): readonly string[] {
  let words: FirstAndLast | undefined; // most calls name no file
  let read: Set<string> | undefined;
  visitTexts(args, (text) => {
    if (!MARK_OF_PATH.test(text) || read?.has(text)) return;
    (read ??= new Set()).add(text);
    addWords(text, (words ??= new FirstAndLast(WORDS_MAX / 2)));
  });
  return words?.all() ?? NO_WORDS;
}

const NO_WORDS: readonly string[] = [];

/** Visits all texts in the arguments, the names of members too. */
function visitTexts(value: Json, visit: (text: string) => void): void {
  if (typeof value === 'string') visit(value);
  else if (Array.isArray(value)) for (let i = 0; i < value.length; i++) visitTexts(value[i] as Json, visit);
  else if (typeof value === 'object' && value !== null)
    for (const [name, member] of Object.entries(value)) {
      visit(name);
      visitTexts(member as Json, visit);
    }
}

function addWords(text: string, words: FirstAndLast): void {
  const trimmed = text.length <= WORD_UNITS_MAX ? text.trim() : '';
  // Only here may a path hold blanks and other separators.
  if (!trimmed.includes('\n') && mayBePath(trimmed)) words.add(trimmed);
  const marks = /[/.]/g;
  let end = 0;
  for (let mark = marks.exec(text); mark; mark = marks.exec(text)) {
    const { index: at } = mark;
    if (text.charAt(at) === '.' && endsWord(text, at + 1)) continue; // the end of a sentence
    const start = startOfWord(text, at, end);
    end = endOfWord(text, at);
    marks.lastIndex = end;
    if (end - start <= WORD_UNITS_MAX) addWord(text.slice(start, end), words);
  }
}

/** The marks around a word may be a part of its name: `[id].tsx`, `@types/a.ts`. */
function addWord(word: string, words: FirstAndLast): void {
  if (mayBePath(word)) words.add(word);
  const bare = word.replace(AROUND, '');
  if (bare !== word && mayBePath(bare)) words.add(bare);
  if (BRACKETS.test(bare)) for (const part of bare.split(BRACKETS)) if (mayBePath(part)) words.add(part);
}

/** Words before `from` are done. */
function startOfWord(text: string, at: number, from: number): number {
  let start = at;
  while (start > from && at - start <= WORD_UNITS_MAX && !endsWord(text, start - 1)) start--;
  return start;
}

function endOfWord(text: string, at: number): number {
  SEPARATORS.lastIndex = at;
  return SEPARATORS.exec(text)?.index ?? text.length;
}

/** True behind the text, too. */
function endsWord(text: string, at: number): boolean {
  const code = text.charCodeAt(at); // NaN behind the text
  return code < ENDS_WORD.length ? ENDS_WORD[code] === true : Number.isNaN(code) || SEPARATOR.test(text.charAt(at));
}

/** Folders, patterns, addresses and the home folder are no files of the project. */
function mayBePath(word: string): boolean {
  const hasSlash = word.includes('/');
  if (hasSlash ? /\/$|^\/\/|^[./]+$/.test(word) : !EXTENSION.test(word)) return false;
  return !/^~|[*?\0]/.test(word);
}

/** Keeps the first `half` words, and of the others the last `half`. */
class FirstAndLast {
  private readonly first = new Set<string>();
  /** Made when it is needed: most calls name no file. */
  private last: Set<string> | undefined;

  constructor(private readonly half: number) {}

  add(word: string): void {
    if (this.first.has(word)) return;
    if (this.first.size < this.half) {
      this.first.add(word);
      return;
    }
    const last = (this.last ??= new Set<string>());
    last.delete(word);
    last.add(word);
    if (last.size <= this.half) return;
    for (const oldest of last) {
      last.delete(oldest);
      return;
    }
  }

  all(): readonly string[] {
    return this.last ? [...this.first, ...this.last] : [...this.first];
  }
}
