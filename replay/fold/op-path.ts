/** Reads operation paths: `main/survey#0/for#0[3]/ask#0`. They are made elsewhere; here they are only taken apart. */
import type { OpPath } from '../../journal/ids.js';

export { isInside } from '../../journal/facts/op-relations.js';

/** The paths around an operation, innermost first. An iteration `for#0[3]` lies in its loop `for#0`. */
export function* ancestorsOf(op: OpPath): Generator<OpPath> {
  for (let path = parentOf(op); path !== undefined; path = parentOf(path)) yield path;
}

/** One step outwards; undefined at the root. */
export function parentOf(op: OpPath): OpPath | undefined {
  if (op.endsWith(']')) return op.slice(0, op.lastIndexOf('[')) as OpPath;
  const slash = op.lastIndexOf('/');
  return slash < 0 ? undefined : (op.slice(0, slash) as OpPath);
}

/** The name in the last step: of a call, that of the function where it is declared, whatever name it was called by. */
export function nameIn(op: OpPath): string {
  const ordinal = op.lastIndexOf('#');
  return op.slice(op.lastIndexOf('/') + 1, ordinal < 0 ? undefined : ordinal);
}

/** No guard and no hook holds for what a guard does. */
export function isInGuard(op: OpPath): boolean {
  return op.includes('/guard:');
}

/** A loop and the number of one of its iterations, `for#0[3]`, or `for#0[w1][3]` with a window between; undefined for anything else. */
export function iterationOf(op: OpPath): { readonly loop: OpPath; readonly index: number } | undefined {
  if (!op.endsWith(']')) return undefined;
  const bracket = op.indexOf('[', op.lastIndexOf('/') + 1);
  const index = bracket < 0 ? undefined : lastIndex(op.slice(bracket));
  return index === undefined ? undefined : { loop: op.slice(0, bracket) as OpPath, index };
}

/** The iteration of exactly this loop that an operation lies in (or is): its number. */
export function indexWithin(op: OpPath, loop: OpPath): number | undefined {
  if (!op.startsWith(loop) || op[loop.length] !== '[') return undefined;
  const slash = op.indexOf('/', loop.length);
  return lastIndex(slash < 0 ? op.slice(loop.length) : op.slice(loop.length, slash));
}

/** Returns 3 for `[w1][3]`. A window by itself, `[w1]`, is not an iteration. */
function lastIndex(brackets: string): number | undefined {
  if (!brackets.endsWith(']')) return undefined;
  const digits = brackets.slice(brackets.lastIndexOf('[') + 1, -1);
  return DIGITS.test(digits) ? Number(digits) : undefined;
}

const DIGITS = /^\d+$/;
