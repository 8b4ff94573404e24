/** Finds out which members of `@mx` the body of a function reads. */
import type { Executable } from '../../runtime/definitions/executable.js';
import { calledFrom, codeIn } from '../../runtime/definitions/used-by-code.js';
import { functionsReached, usesIn } from '../../runtime/definitions/uses.js';

const PROBLEM = 'mx.call.problem';

/**
 * True for a function that reads why the last result was refused (calls.md 8.4): for a reference in the body or its template file, and for
 * code that has the name in its text.
 */
export function mentionsProblem(executable: Executable): boolean {
  return mentions(executable, { path: (path) => path.startsWith(PROBLEM), code: (text) => text.includes(PROBLEM) });
}

const DIRECTLY = new WeakMap<Executable, boolean>();

/** True for a function that reads the hint of a `retry`, itself or in a function that it uses. checkpoint-resume.md 5.7. */
export function mentionsHint(executable: Executable, seen = new Set<Executable>()): boolean {
  if (seen.has(executable)) return false;
  seen.add(executable);
  const isDirect =
    DIRECTLY.get(executable) ?? mentions(executable, { path: (path) => HINT.test(path), code: (text) => HINT_IN_CODE.test(text) });
  DIRECTLY.set(executable, isDirect); // the tree of a function doesn't change
  if (isDirect) return true;
  const { module, params } = executable;
  const tree = treeOf(executable);
  const uses = usesIn(tree).filter(({ name }) => !params.includes(name));
  const used = uses.flatMap((use) => functionsReached(module.scope.own(use.name)?.value, use));
  return [...used, ...calledFrom(codeIn(tree), module, params)].some((each) => mentionsHint(each, seen));
}

/** `mx` alone may be taken apart: `@mx[@name]`, `const { hint } = mx`. */
const HINT = /^mx(?:$|\.hint(?:$|\.))/;
const HINT_IN_CODE = /(?<![\w$.])mx(?![\w$])(?!\s*\??\.\s*(?!hint\b)[A-Za-z_$])/;

interface Wanted {
  path(path: string): boolean;
  code(text: string): boolean;
}

function mentions(executable: Executable, wanted: Wanted): boolean {
  const tree = treeOf(executable);
  const texts = codeIn(tree).flatMap(({ text }) => text.flatMap((part) => (part.kind === 'text' ? [part.text] : [])));
  return usesIn(tree).some(({ name, members }) => wanted.path([name, ...members].join('.'))) || texts.some((text) => wanted.code(text));
}

function treeOf({ body, template }: Executable): readonly unknown[] {
  return [body, template?.template];
}
