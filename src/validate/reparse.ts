/**
 * Parses a script again after a change by parsing the statements around the change alone. An editor that checks a long script at each key
 * can't wait for the rest.
 *
 * REPARSE-1  A result is equal to that of a whole parse. In doubt there is none, and the caller parses all of the text: where a statement
 *            is broken, where the statement behind the change does not begin where it did (which a bracket without its partner shows, too),
 *            and where the change has quotes or the signs of comments, loads and templates: what they open may end anywhere below. One
 *            mistake is found later, by the next whole parse: a misspelt word behind an arrow, which may be a label that only another part
 *            of the script mentions.
 */
import type { Script, Statement } from '../../grammar/ast.js';
import { SyntaxFailure } from '../../grammar/errors.js';
import { parseScript } from '../../grammar/parse.js';

const PLAIN = /^[^`'"<>:#/\\]*$/;

interface Parsed {
  readonly text: string;
  readonly script: Script;
}

/** Returns undefined where the whole text has to be parsed, as for documents, whose statements depend on the prose around them. */
export function reparsed({ text: before, script }: Parsed, text: string): Script | undefined {
  const change = changeBetween(before, text);
  if (!PLAIN.test(before.slice(change.from, change.to) + text.slice(change.from, change.to + text.length - before.length)))
    return undefined;
  const around = reparsedAround({ text: before, script }, text);
  return around?.hasSameStatementBehind ? around.script : undefined;
}

/**
 * Parses the statements around a change by `parse`, also where REPARSE-1 leaves a doubt about the rest, which is taken as it was. Returns
 * undefined where `parse` does, and for documents.
 */
export function reparsedAround(
  { text: before, script }: Parsed,
  text: string,
  parse: (part: string) => Script | undefined = attempt,
): { readonly script: Script; readonly hasSameStatementBehind: boolean } | undefined {
  const { statements } = script;
  if (script.mode !== 'strict') return undefined;
  if (text === before) return { script, hasSameStatementBehind: true };
  const change = changeBetween(before, text);
  const delta = text.length - before.length;
  // A statement may end where the next line does not continue it: the one before the change, and the one behind it, are parsed again.
  const first = Math.max(statements.findLastIndex(({ at }) => at < change.from) - 1, 0);
  const behind = statements.findIndex(({ at }) => at > change.to);
  const last = behind < 0 ? statements.length : behind + 1;
  const from = first === 0 ? 0 : (statements[first]?.at ?? 0);
  const to = (statements[last]?.at ?? before.length) + delta;
  const part = parse(text.slice(from, to));
  if (!part || (from > 0 && (part.resume ?? part.budget ?? part.frontmatter) !== undefined)) return undefined;
  const expected = behind < 0 ? undefined : (statements[behind]?.at ?? 0) + delta - from;
  return {
    hasSameStatementBehind: expected === undefined || part.statements.at(-1)?.at === expected,
    script: {
      ...(from === 0 ? part : script),
      statements: [...statements.slice(0, first), ...part.statements.map(movedBy(from)), ...statements.slice(last).map(movedBy(delta))],
    },
  };
}

/** Returns the range of the old text that another text is in place of now. */
function changeBetween(before: string, after: string): { readonly from: number; readonly to: number } {
  const shorter = Math.min(before.length, after.length);
  let from = 0;
  while (from < shorter && before.charCodeAt(from) === after.charCodeAt(from)) from++;
  let same = 0;
  while (same < shorter - from && before.charCodeAt(before.length - 1 - same) === after.charCodeAt(after.length - 1 - same)) same++;
  return { from, to: before.length - same };
}

function attempt(text: string): Script | undefined {
  try {
    return parseScript(text, { mode: 'strict' });
  } catch (error) {
    if (error instanceof SyntaxFailure) return undefined;
    throw error;
  }
}

/** Copies a statement to another place: earlier trees are still in use. Offsets are the members whose names end in `at`. */
function movedBy(delta: number): (statement: Statement) => Statement {
  const moved = (node: unknown): unknown => {
    if (typeof node !== 'object' || node === null) return node;
    if (Array.isArray(node)) return node.map(moved);
    const copy: { [member: string]: unknown } = {};
    for (const [member, value] of Object.entries(node))
      copy[member] = typeof value === 'number' && OFFSETS.has(member) ? value + delta : moved(value);
    return copy;
  };
  // Sound because a copy has the members of its node.
  return (statement) => (delta === 0 ? statement : (moved(statement) as Statement));
}

const OFFSETS: ReadonlySet<string> = new Set(['at', 'nameAt', 'aliasAt']);
