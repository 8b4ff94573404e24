/** Names a place in the walk of a pipeline, for call keys. graph-pipelines.md 7.3. */
import type { OpPath } from '../../../journal/ids.js';
import type { StateView } from './state-view.js';

/**
 * Returns a path without the parts that first visits, first attempts and all paths have: `fork[0]` for `main/fork#0[0]`, and `fork#1[0]` in
 * the second visit of the parallel node. Keys of older programs had the node and the number of the branch alone.
 */
function placeInWalk(op: OpPath): string {
  return op
    .replace(/^main\//, '')
    .replaceAll(/#0(?=[[/]|$)/g, '')
    .replace(/\/try#1$/, '');
}

/** Returns the branch that a node of this path is in. */
export function branchAround(nodeOp: OpPath): string {
  return placeInWalk(nodeOp.slice(0, nodeOp.lastIndexOf('/')) as OpPath);
}

/**
 * Tells the walk of a child pipeline from others of the same file: each attempt of a manager node makes calls of its own. Undefined for the
 * first attempt of the only manager in the first walk, where keys are those of a walk without a manager.
 */
export function walkWithin(
  { within, restarts }: Pick<StateView, 'within' | 'restarts'>,
  { op, node, isOnlyManager }: { readonly op: OpPath; readonly node: string; readonly isOnlyManager: boolean },
): string | undefined {
  const place = placeInWalk(op);
  const around = [...(within === undefined ? [] : [within]), ...(restarts === 0 ? [] : [`restart#${restarts}`])];
  if (around.length === 0 && isOnlyManager && place === node) return undefined;
  return [...around, place].join('/');
}
