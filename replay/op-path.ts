/** Reads operation paths: `main/survey#0/for#0[3]/ask#0`. They are made elsewhere; here they are only taken apart. */
import type { OpPath } from '../journal/ids.js';

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

/** A loop and the index of one of its iterations; undefined for anything else. */
export function iterationOf(op: OpPath): { readonly loop: OpPath; readonly index: number } | undefined {
  if (!op.endsWith(']')) return undefined;
  const bracket = op.lastIndexOf('[');
  return { loop: op.slice(0, bracket) as OpPath, index: Number(op.slice(bracket + 1, -1)) };
}

/** The innermost iteration of exactly this loop that an operation lies in (or is): its index. */
export function indexWithin(op: OpPath, loop: OpPath): number | undefined {
  if (!op.startsWith(loop) || op[loop.length] !== '[') return undefined;
  return Number(op.slice(loop.length + 1, op.indexOf(']', loop.length)));
}
