/**
 * All mistakes that a file's syntax shows at once, where the parser itself stops at the first.
 *
 * In strict mode a statement begins with a word at the start of a line: one of a few, or, where that is the mistake, one that is followed by
 * what these few are followed by. What comes behind the broken statement is parsed once more from the first such line up to which
 * quotes and brackets are in pairs: behind an open one the words may be text, and a mistake that is none is worse than one that is reported
 * later.
 */
import type { Script } from '../../grammar/ast.js';
import { SyntaxFailure } from '../../grammar/errors.js';
import { statementWords } from '../../grammar/keywords.js';
import { parseScript } from '../../grammar/parse.js';

const FAILURES_MAX = 20;
/** Words that go on with a statement above them. */
const CONTINUATIONS = ['else', 'with', 'from', 'to', 'as', 'in'];
const MISSPELT = `(?!(?:${CONTINUATIONS.join('|')})\\b)[a-z]+(?= +[@"\`{\\[])`;
const STATEMENT_START = new RegExp(`^(?:(?:${statementWords.join('|')})\\b|${MISSPELT})`, 'gm');

export type Parsed = { readonly script: Script } | { readonly failures: readonly SyntaxFailure[] };

export function parseForAnalysis(text: string, mode: Script['mode']): Parsed {
  const failures: SyntaxFailure[] = [];
  for (let from = 0; failures.length < FAILURES_MAX;) {
    const outcome = attempt(text.slice(from), mode);
    if (!(outcome instanceof SyntaxFailure)) return failures.length === 0 ? { script: outcome } : { failures };
    const { code, message, hint } = outcome;
    const at = from + outcome.at;
    failures.push(new SyntaxFailure(message, { code, at, hint }));
    const next = mode === 'strict' && code === 'SYNTAX' ? nextStatement(text, from, at) : undefined;
    if (next === undefined) break;
    from = next;
  }
  return { failures };
}

function attempt(text: string, mode: Script['mode']): Script | SyntaxFailure {
  try {
    return parseScript(text, { mode });
  } catch (error) {
    if (error instanceof SyntaxFailure) return error;
    throw error;
  }
}

/** Behind the statement that holds the mistake; undefined when it can't be told where that ends. */
function nextStatement(text: string, from: number, at: number): number | undefined {
  const starts = [...text.slice(from).matchAll(STATEMENT_START)].map(({ index }) => from + index);
  const broken = starts.findLast((start) => start <= at) ?? from;
  return starts.find((start) => start > at && isClosed(text.slice(broken, start)));
}

function isClosed(text: string): boolean {
  const count = (character: string): number => text.split(character).length - 1;
  const isEven = (quote: string): boolean => count(quote) % 2 === 0;
  return isEven('`') && isEven('"') && isEven('::') && count('[') === count(']') && count('{') === count('}') && count('(') === count(')');
}
