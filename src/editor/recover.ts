/**
 * Parses a script that is being written: broken statements are left out, so that the names of the others are known while one is typed.
 * Unlike `mlld validate`, which must not report what is no error, this takes each line that begins like a statement for its beginning.
 */
import type { Script } from '../../grammar/ast.js';
import { SyntaxFailure } from '../../grammar/errors.js';
import { statementWords } from '../../grammar/keywords.js';
import { parseScript } from '../../grammar/parse.js';

const ATTEMPTS_MAX = 50;
const START = {
  strict: new RegExp(`^(?:${statementWords.join('|')})\\b`, 'gm'),
  markdown: new RegExp(`^(?:[ \\t]*/(?:${statementWords.join('|')})\\b|(?:${statementWords.join('|')})\\b|\`\`\`)`, 'gm'),
} as const;

/** Returns the script without its broken statements, with all places as in the text. */
export function recoverScript(text: string, mode: Script['mode']): Script {
  const starts = [...text.matchAll(START[mode])].map(({ index }) => index);
  let rest = text;
  for (let attempt = 0; attempt < ATTEMPTS_MAX; attempt++) {
    try {
      return parseScript(rest, { mode });
    } catch (error) {
      if (!(error instanceof SyntaxFailure)) throw error;
      const from = starts.findLast((start) => start <= error.at && /\S/.test(rest.slice(start, start + 1))) ?? 0;
      const to = starts.find((start) => start > Math.max(from, error.at)) ?? rest.length;
      const next = blanked(rest, from, to);
      rest = next === rest ? blanked(rest, 0, to) : next;
    }
  }
  return parseScript(blanked(text, 0, text.length), { mode });
}

function blanked(text: string, from: number, to: number): string {
  return text.slice(0, from) + text.slice(from, to).replace(/[^\n]/g, ' ') + text.slice(to);
}
