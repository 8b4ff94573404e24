/** Reads a line as bash does, up to the word under the cursor, and writes candidates so that bash reads them as the text they are. */
import { singleQuoted } from '../../journal/shell-words.js';

type Quote = "'" | '"' | undefined;

export interface TypedLine {
  /** Words before the cursor without their quotes, the command itself left out. The last one is being typed, and may be empty. */
  readonly words: readonly string[];
  /** Text of the last word, without quotes, that stays when bash replaces the rest by a candidate. */
  readonly kept: string;
  /** The quote that is open at the place of a candidate. */
  readonly quote: Quote;
}

/** `replaced` is the end of the line that bash is going to replace. */
export function readLine(line: string, replaced: string): TypedLine {
  const keptEnd = line.endsWith(replaced) ? line.length - replaced.length : line.length;
  const words: string[] = [];
  let word: string | undefined;
  let quote: Quote;
  let place = { kept: '', quote: undefined as Quote };
  for (let at = 0; at <= line.length; at++) {
    if (at === keptEnd) place = { kept: word ?? '', quote };
    const character = line[at];
    if (character === undefined) break;
    if (quote === undefined && /[ \t\n]/.test(character)) {
      if (word !== undefined) words.push(word);
      word = undefined;
    } else if (character === quote) quote = undefined;
    else if (quote === undefined && (character === "'" || character === '"')) {
      quote = character;
      word ??= '';
    } else if (character === '\\' && quote !== "'" && isEscape(line[at + 1], quote)) word = (word ?? '') + (line[++at] ?? '');
    else word = (word ?? '') + character;
  }
  return { words: [...words, word ?? ''].slice(1), ...place };
}

/** In double quotes a backslash is a character of its own before most others. */
function isEscape(next: string | undefined, quote: Quote): boolean {
  return next !== undefined && (quote === undefined || '"\\$`\n'.includes(next));
}

/** Returns the rest of each candidate behind what is kept, quoted for its place. Candidates that do not begin with it are left out. */
export function forBash(candidates: readonly string[], { kept, quote }: TypedLine): readonly string[] {
  const rests = candidates.filter((candidate) => candidate.startsWith(kept)).map((candidate) => candidate.slice(kept.length));
  // Bash inserts what all have in common, so that either all of them begin with a quote or none.
  const isPlain = rests.every((rest) => /^[\w@%+=:,./-]*$/.test(rest));
  return quote === undefined && isPlain ? rests : rests.map((rest) => quoted(rest, quote));
}

function quoted(text: string, quote: Quote): string {
  switch (quote) {
    case undefined:
      return singleQuoted(text);
    case "'":
      return singleQuoted(text).slice(1, -1);
    case '"':
      // No backslash keeps an interactive bash from reading ! as a command of its history.
      return text.replaceAll(/["\\$`]/g, String.raw`\$&`).replaceAll('!', `"'!'"`);
  }
}
