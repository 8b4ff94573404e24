/** The table of the programs that execute model calls, for every front-end that names one as its backend. */
import { claude } from './claude.js';
import { codex } from './codex.js';
import { gemini } from './gemini.js';
import { opencode } from './opencode.js';
import type { ModelProgram } from './program.js';

export const MODEL_PROGRAMS: readonly ModelProgram[] = [claude, codex, gemini, opencode];

/** Returns the words as one line for people, which a shell would read as the same words. */
export function commandText(words: readonly string[]): string {
  return words.map((word) => (/^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", `'\\''`)}'`)).join(' ');
}
