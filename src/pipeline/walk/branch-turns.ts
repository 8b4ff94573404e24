/**
 * Lets branches that share a thread speak in the order of the graph, which is the same in every run: so the later ones are sent the same
 * turns, and their recorded replies are reused. graph-pipelines.md 9.3.
 *
 * TURNS-1  A stage waits while a branch before its own can still come to a stage of the thread. A branch never waits for a later one, and
 *          branches start in order, so that the first of those that wait for one another is never kept from its end.
 */
import type { OpPath } from '../../../journal/ids.js';
import type { CompiledPipeline } from '../model/compiled-pipeline.js';
import { nodesBeforeThread } from '../model/thread-stages.js';
import type { BranchTurns } from '../stage/threads.js';

export function createBranchTurns(pipeline: CompiledPipeline): BranchTurns {
  const places = new Map<OpPath, { readonly of: string; readonly node: string }>();
  const waiting = new Set<() => void>();
  const known = new Map<string, ReadonlySet<string>>();

  function mayComeTo(thread: string, { of, node }: { readonly of: string; readonly node: string }): boolean {
    const key = JSON.stringify([of, thread]);
    const nodes = known.get(key) ?? nodesBeforeThread(pipeline, of, thread);
    known.set(key, nodes);
    return nodes.has(node);
  }

  function isBehind(thread: string, branch: OpPath): boolean {
    for (const [other, place] of places) if (isBefore(other, branch) && mayComeTo(thread, place)) return true;
    return false;
  }

  const wake = (): void => {
    for (const look of waiting) look();
  };

  return {
    arrive(branch, place) {
      places.set(branch, place);
      wake();
    },
    leave(branch) {
      places.delete(branch);
      wake();
    },
    next(thread, attempt, signal) {
      const branch = branchOf(attempt);
      return new Promise((resolve, reject) => {
        const end = (settle: () => void): void => {
          waiting.delete(look);
          signal.removeEventListener('abort', look);
          settle();
        };
        const look = (): void => {
          if (signal.aborted) end(() => reject(signal.reason as Error));
          else if (!isBehind(thread, branch)) end(resolve);
        };
        waiting.add(look);
        signal.addEventListener('abort', look);
        look();
      });
    },
  };
}

/** Returns `main/fan#0[1]` for `main/fan#0[1]/ask#0/try#1`. */
function branchOf(attempt: OpPath): OpPath {
  return attempt.split('/').slice(0, -2).join('/') as OpPath;
}

/** Compares the first branches that differ: `main/fan#0[0]/in#0[3]` is before `main/fan#0[1]`, which is not before what it holds. */
function isBefore(one: OpPath, other: OpPath): boolean {
  const [steps, others] = [one.split('/'), other.split('/')];
  const at = steps.findIndex((step, index) => step !== others[index]);
  return indexIn(steps[at]) < indexIn(others[at]);
}

/** Not a number where there is no branch, so that nothing is before it. */
function indexIn(step: string | undefined): number {
  return Number(/\[(\d+)\]$/.exec(step ?? '')?.[1]);
}
