/**
 * Reads the text of a script: its `meta`, and its body as the code of a function. workflows-js.md 2 and 13.
 *
 * WORKFLOW-TEXT-1  The text that is parsed is the one that is compiled, by the same rules: what the parser does not see is not compiled
 *    either. So every `import()` is found, and replaced by a function of the realm (REALM-2).
 * WORKFLOW-TEXT-2  Replacements have the length of what they replace, so that places in errors are those of the file.
 */
import { MlldError, type SourceLocation } from '../../errors.js';
import { firstWords, JavaScriptError, parseExpression, parseProgram, walk, type AnyNode } from './parse-javascript.js';
import { META_WANTED, readMeta, type WorkflowMeta } from './meta.js';

export interface WorkflowText {
  readonly meta: WorkflowMeta;
  /** The text of the file, without a byte order mark. */
  readonly text: string;
  /** Evaluates to the function that is the body. */
  readonly code: string;
  /** The column of the first character of `code` in the first line of the file; negative, because something was put before it. */
  readonly columnOffset: number;
  /** The name that stands for `import` in the code. */
  readonly importName: string;
  readonly tree: AnyNode;
  /** Turns an offset of the tree into one of the text. */
  readonly offsetOf: (at: number) => number;
}

const OPENING = "(async function () { 'use strict'; ";
const CLOSING = '\n})';
const EXPORT = 'export';
const IMPORT = 'import';

/** Throws WORKFLOW_META_MISSING, WORKFLOW_META_LITERAL, WORKFLOW_META_MEMBER, WORKFLOW_IMPORT and WORKFLOW_SYNTAX. */
export async function readWorkflow(written: string, file: string): Promise<WorkflowText> {
  const text = written.replace(/^\uFEFF/, '');
  const place = (at: number): SourceLocation => ({ file, at, text });
  const body = text.replace(/^#!.*/, (line) => ' '.repeat(line.length));
  const [first, constant, name, equals] = await firstWords(body, 4);
  if (first?.text === IMPORT) throw noModules(place(first.start), 'a static import');
  if (!first || first.text !== EXPORT || constant?.text !== 'const' || name?.text !== 'meta' || equals?.text !== '=')
    throw new MlldError('WORKFLOW_META_MISSING', 'a workflow script begins with `export const meta = { … }`', {
      location: place(first?.start ?? 0),
      hint: META_WANTED,
    });
  const meta = await attempt(
    place,
    body,
    (at) => at,
    async () => readMeta(await parseExpression(body, equals.end), place),
  );
  const withoutExport = body.slice(0, first.start) + ' '.repeat(EXPORT.length) + body.slice(first.end);
  const source = OPENING + withoutExport + CLOSING;
  const offsetOf = (at: number): number => Math.min(Math.max(at - OPENING.length, 0), text.length);
  const tree = await attempt(place, body, offsetOf, () => parseProgram(source));
  refuseSecondStatement(tree, place, offsetOf);
  const importName = unusedName(source);
  return { meta, text, code: withoutImports(source, tree, importName), columnOffset: -OPENING.length, importName, tree, offsetOf };
}

/** A brace too many would end the function, and what follows would run outside of it. */
function refuseSecondStatement(tree: AnyNode, place: (at: number) => SourceLocation, offsetOf: (at: number) => number): void {
  if (tree.type !== 'Program') return;
  const [only, ...more] = tree.body;
  const isBody = only?.type === 'ExpressionStatement' && only.expression.type === 'FunctionExpression';
  if (isBody && more.length === 0) return;
  const at = more[0]?.start ?? (only?.type === 'ExpressionStatement' ? only.expression.end : (only?.end ?? 0));
  throw new MlldError('WORKFLOW_SYNTAX', 'a closing brace has no opening one', { location: place(offsetOf(at)) });
}

async function attempt<T>(
  place: (at: number) => SourceLocation,
  body: string,
  offsetOf: (at: number) => number,
  read: () => Promise<T>,
): Promise<T> {
  try {
    return await read();
  } catch (error) {
    if (!(error instanceof JavaScriptError)) throw error;
    const location = place(offsetOf(error.at));
    const word = body.slice(location.at);
    if (/^(?:import|export)\b/.test(word) || error.message.includes('import.meta'))
      throw noModules(location, word.startsWith(EXPORT) ? 'another export' : 'a static import');
    throw new MlldError('WORKFLOW_SYNTAX', `Parse error: ${error.message}`, {
      location,
      cause: error,
      hint: looksTyped(body, location.at)
        ? 'this is JavaScript, not TypeScript: leave out type annotations'
        : 'the script is plain JavaScript, with await and return at top level',
    });
  }
}

function noModules(location: SourceLocation, what: string): MlldError {
  return new MlldError('WORKFLOW_IMPORT', `${what} is not possible: a workflow script is one file`, {
    location,
    hint: 'an agent does what needs files, programs or the network; text that scripts share can come by `args`',
  });
}

/** The usual places of types: `name: string`, `interface X`, `type X =`, `x as Y`, `List<string>`. */
function looksTyped(body: string, at: number): boolean {
  const start = body.lastIndexOf('\n', at - 1) + 1;
  const line = body.slice(start, body.indexOf('\n', at) < 0 ? undefined : body.indexOf('\n', at));
  return /^\s*(?:export\s+)?(?:interface|type|enum|declare)\s+\w/.test(line) || /[\w)\]]\??\s*:\s*[A-Za-z{[]|\bas\s+\w|\w<\w/.test(line);
}

/** As long as `import`, and nowhere in the text. */
function unusedName(source: string): string {
  for (let number = 0; ; number++) {
    const name = `$${number.toString(36).padStart(IMPORT.length - 1, '_')}`;
    if (!source.includes(name)) return name;
  }
}

/** WORKFLOW-TEXT-1 */
function withoutImports(source: string, tree: AnyNode, name: string): string {
  let code = source;
  walk(tree, (node) => {
    if (node.type === 'ImportExpression') code = code.slice(0, node.start) + name + code.slice(node.start + IMPORT.length);
  });
  return code;
}
