/** Finds out whether the body of a function reads why the last result was refused. calls.md 8.4. */
import type { Executable } from '../../runtime/definitions/executable.js';

const PROBLEM = 'mx.call.problem';

/** True for a reference in the body or its template file, and for code that has the name in its text. */
export function mentionsProblem({ body, template }: Executable): boolean {
  const mentions = (node: unknown): boolean => {
    if (typeof node === 'string') return node.includes(PROBLEM);
    if (typeof node !== 'object' || node === null) return false;
    const { kind, name, steps } = node as { readonly kind?: unknown; readonly name?: unknown; readonly steps?: readonly unknown[] };
    if (kind === 'reference' && name === 'mx') {
      const fields = steps?.map((step) => (step as { readonly name?: unknown }).name) ?? [];
      if (['mx', ...fields].join('.').startsWith(PROBLEM)) return true;
    }
    return Object.values(node).some(mentions);
  };
  return mentions([body, template?.template]);
}
