/** Folds of the embedding program: a state from the events of a run, or of all runs of a workflow. */
import type { Workflow } from '../../journal/ids.js';
import type { JournalStore } from '../../journal/store.js';
import { foldRun as foldOne } from '../../replay/fold/fold-run.js';
import type { Projection } from '../../replay/fold/projection.js';
import { refOf, skipDefects, type ReadOptions, type RunTarget } from './run-target.js';

export { fold } from '../../replay/fold/projection.js';
export type { Entry, Place, Projection } from '../../replay/fold/projection.js';

/**
 * Folds the events of one run, in order. `apply` may change the state in place and returns it; an event of a type that it does not know it
 * leaves alone. Throws `JournalError` when the disk fails.
 *
 * ```js
 * const count = { initial: () => 0, apply: (state, event) => (event.type === 'call.completed' ? state + 1 : state) };
 * console.log(await foldRun(store, run, count));
 * ```
 */
export async function foldRun<State>(
  store: JournalStore,
  run: RunTarget,
  projection: Projection<State>,
  { onDefect = skipDefects }: ReadOptions = {},
): Promise<State> {
  const { guarded, throwError } = ofCaller(projection);
  const state = await foldOne(store, refOf(run), guarded, { onDefect });
  throwError();
  return state;
}

/**
 * Folds the events of all runs of a workflow, the oldest run first. Throws `JournalError` when the disk fails.
 *
 * ```js
 * const total = await foldWorkflow(store, workflowOf('llm/run/nightly.mld'), count);
 * ```
 */
export async function foldWorkflow<State>(
  store: JournalStore,
  workflow: Workflow,
  projection: Projection<State>,
  { onDefect = skipDefects }: ReadOptions = {},
): Promise<State> {
  const { guarded, throwError } = ofCaller(projection);
  let state = guarded.initial();
  for (const { ref } of await store.runs(workflow)) {
    await store.scan(ref, (event, position) => void (state = guarded.apply(state, event, { ref, position })), { onDefect });
    throwError();
  }
  return state;
}

/** An error of the caller's own `apply` is thrown when the run has been read: the reader would take a TypeError for damage of the line. */
function ofCaller<State>(projection: Projection<State>): { readonly guarded: Projection<State>; throwError(): void } {
  let failed: { readonly error: unknown } | undefined;
  return {
    guarded: {
      initial: () => projection.initial(),
      apply(state, event, place) {
        if (failed !== undefined) return state;
        try {
          return projection.apply(state, event, place);
        } catch (error) {
          failed = { error };
          return state;
        }
      },
    },
    throwError() {
      if (failed !== undefined) throw failed.error;
    },
  };
}
