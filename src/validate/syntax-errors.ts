/**
 * Finds all syntax errors of a file at once, although the parser stops at the first.
 *
 * It blanks out the broken statement and parses the text again, so that all positions are unchanged. In strict mode, and in a fence of a
 * document, a statement begins with a keyword at the start of a line, or with another word that is followed like a keyword, which may
 * be the mistake. The broken statement ends before the first such line up to which quotes and brackets are in pairs: behind an open one
 * the words may be text, and a false error is worse than one that is reported later. Among the prose of a document, a statement ends with
 * the line at which quotes and brackets are in pairs, or before the next word with a slash, which never is in brackets.
 */
import type { Script } from '../../grammar/ast.js';
import { SyntaxFailure } from '../../grammar/errors.js';
import { statementWords } from '../../grammar/keywords.js';
import { parseScript } from '../../grammar/parse.js';

const FAILURES_MAX = 20;
/** Words that continue the statement above them. */
const CONTINUATIONS = ['else', 'with', 'from', 'to', 'as', 'in'];
const MISSPELT = `(?!(?:${CONTINUATIONS.join('|')})\\b)[a-z]+(?= +[@"\`{\\[])`;
const STATEMENT_START = new RegExp(`^(?:(?:${statementWords.join('|')})\\b|${MISSPELT})`, 'gm');
const SLASH_START = new RegExp(`^[ \\t]*/(?:(?:${statementWords.join('|')})(?= +[@"\`'{\\[(\\w<])|@[A-Za-z_][\\w-]*[.(\\[])`, 'gm');
const RUN_FENCE = /^```mlld-run[ \t]*\n((?:(?!```).*\n)*)/gm;

export type Parsed = { readonly script: Script } | { readonly failures: readonly SyntaxFailure[] };

interface Range {
  readonly from: number;
  readonly to: number;
}

export function parseReportingAll(source: string, mode: Script['mode']): Parsed {
  const failures: SyntaxFailure[] = [];
  for (let text = source, from = 0; failures.length < FAILURES_MAX;) {
    const outcome = attempt(text, mode);
    if (!(outcome instanceof SyntaxFailure)) return failures.length === 0 ? { script: outcome } : { failures };
    if (outcome.at < from) break; // the statements around the blanks can't be parsed without the blanked text
    failures.push(outcome);
    const broken = outcome.code === 'SYNTAX' ? brokenStatement(text, from, outcome.at, mode) : undefined;
    if (!broken) break;
    text = text.slice(0, broken.from) + text.slice(broken.from, broken.to).replace(/[^\n]/g, ' ') + text.slice(broken.to);
    from = broken.to;
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

/** Returns the range of the statement that holds the error; undefined when its end is not certain. */
function brokenStatement(text: string, from: number, at: number, mode: Script['mode']): Range | undefined {
  if (mode === 'strict') return untilStatement(text, { from, to: text.length }, at);
  const fence = fenceAround(text, at);
  if (fence) return untilStatement(text, fence, at) ?? fence;
  const starts = startsIn(text, { from, to: text.length }, SLASH_START);
  const start = starts.findLast((each) => each <= at) ?? from;
  const known = new Set(starts);
  const pairs = pairsFrom(text, start);
  for (let end = text.indexOf('\n', at); end >= 0; end = text.indexOf('\n', end + 1)) {
    const { areQuotesEven, areBracketsEven } = pairs(end);
    if (areQuotesEven && (areBracketsEven || known.has(end + 1))) return { from: start, to: end };
  }
  return undefined;
}

function untilStatement(text: string, range: Range, at: number): Range | undefined {
  const starts = startsIn(text, range, STATEMENT_START);
  const from = starts.findLast((start) => start <= at) ?? range.from;
  const pairs = pairsFrom(text, from);
  const to = starts.find((start) => {
    const { areQuotesEven, areBracketsEven } = pairs(start);
    return start > at && areQuotesEven && areBracketsEven;
  });
  return to === undefined ? undefined : { from, to };
}

function startsIn(text: string, { from, to }: Range, start: RegExp): readonly number[] {
  return [...text.slice(from, to).matchAll(start)].map(({ index }) => from + index);
}

/** Returns the lines of the fence around a position. */
function fenceAround(text: string, at: number): Range | undefined {
  for (const { 0: whole, 1: lines = '', index } of text.matchAll(RUN_FENCE)) {
    const to = index + whole.length;
    if (at >= index && at < to) return { from: to - lines.length, to };
  }
  return undefined;
}

interface Pairs {
  readonly areQuotesEven: boolean;
  readonly areBracketsEven: boolean;
}

/**
 * Counts quotes and brackets from `from` up to growing positions. Double quotes are not counted: a text in them ends on its line, so a
 * missing one does not affect the next line.
 */
function pairsFrom(text: string, from: number): (to: number) => Pairs {
  const counts = new Map(['`', '::', '[', ']', '{', '}', '(', ')'].map((part) => [part, 0]));
  const count = (part: string): number => counts.get(part) ?? 0;
  let counted = from;
  return (to) => {
    for (const [part] of text.slice(counted, to).matchAll(/`|::|[[\]{}()]/g)) counts.set(part, count(part) + 1);
    counted = Math.max(counted, to);
    return {
      areQuotesEven: count('`') % 2 === 0 && count('::') % 2 === 0,
      areBracketsEven: count('[') === count(']') && count('{') === count('}') && count('(') === count(')'),
    };
  };
}
