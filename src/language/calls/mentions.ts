/** Finds out which members of `@mx` the body of a function reads. */
import type { Executable } from '../../runtime/definitions/executable.js';
import { functionsReached, usesIn } from '../../runtime/definitions/uses.js';

const PROBLEM = 'mx.call.problem';

/**
 * True for a function that reads why the last result was refused (calls.md 8.4): for a reference in the body or its template file, and for
 * code that has the name in its text.
 */
export function mentionsProblem({ body, template }: Executable): boolean {
  return mentions([body, template?.template], (path, isText) => (isText ? path.includes(PROBLEM) : path.startsWith(PROBLEM)));
}

const DIRECTLY = new WeakMap<Executable, boolean>();

/** True for a function that reads the hint of a `retry`, itself or in a function that it uses. checkpoint-resume.md 5.7. */
export function mentionsHint(executable: Executable, seen = new Set<Executable>()): boolean {
  if (seen.has(executable)) return false;
  seen.add(executable);
  const { body, template, module, params } = executable;
  const tree = [body, template?.template];
  const isDirect = DIRECTLY.get(executable) ?? mentions(tree, (path, isText) => (isText ? HINT_IN_CODE : HINT).test(path));
  DIRECTLY.set(executable, isDirect); // the tree of a function doesn't change
  if (isDirect) return true;
  const uses = usesIn(tree).filter(({ name }) => !params.includes(name));
  return uses.some((use) => functionsReached(module.scope.own(use.name)?.value, use).some((each) => mentionsHint(each, seen)));
}

const HINT = /^mx(?:$|\.hint(?:$|\.))/;
/** `mx` alone may be taken apart: `const { hint } = mx`. */
const HINT_IN_CODE = /(?<![\w$.])mx(?![\w$])(?!\s*\??\.\s*(?!hint\b)[A-Za-z_$])/;

function mentions(tree: unknown, isWanted: (path: string, isText: boolean) => boolean): boolean {
  const visit = (node: unknown): boolean => {
    if (typeof node === 'string') return isWanted(node, true);
    if (typeof node !== 'object' || node === null) return false;
    const { kind, name, steps } = node as { readonly kind?: unknown; readonly name?: unknown; readonly steps?: readonly unknown[] };
    if (kind === 'reference' && name === 'mx') {
      const fields = steps?.map((step) => (step as { readonly name?: unknown }).name) ?? [];
      if (isWanted(['mx', ...fields].join('.'), false)) return true;
    }
    return Object.values(node).some(visit);
  };
  return visit(tree);
}
