/** Reads the one run that a `--resume` target is resolved in, and resolves it. */
import type { Defect, JournalStore } from '../../journal/store.js';
import { foldRun } from '../fold/fold-run.js';
import { checkpoints } from '../memo/checkpoints.js';
import { functionHistory } from '../memo/history.js';
import type { PriorRuns } from '../memo/load.js';
import type { Memo } from '../memo/memo.js';
import { findCallsAtPath } from './calls-at-path.js';
import { confirmLongArgument } from './exact-argument.js';
import { callsAroundFailures } from './failed-inside.js';
import { resolveSelector, type Declarations, type Invalidation } from './invalidation.js';
import { notExecutedCalls } from './not-executed.js';
import { reusedInside } from './reused-inside.js';
import type { RecordedRuns } from './selector-errors.js';
import type { Selector } from './selector.js';

/**
 * Returns what a `--resume` target invalidates. Reads one run: the latest that called the function, or the prior one. For a path it
 * reads from the latest run back to one that has it; for `failed` the runs in which calls went on without one inside; for a text
 * longer than a preview also the arguments that begin like it. Throws what `resolveSelector` throws.
 */
export async function resolveTarget(
  store: JournalStore,
  selector: Selector,
  { prior, forks, declarations, onDefect }: ResolveOptions,
): Promise<Invalidation> {
  const anyRun = prior.runs.length > 0;
  const runs: RecordedRuns = anyRun ? 'some' : prior.areIgnored === true ? 'ignored' : 'none';
  const common = { memo: prior.memo, forks, runs };
  switch (selector.kind) {
    case 'none':
      return resolveSelector(selector, common, declarations);
    case 'function': {
      const ref = anyRun ? prior.memo.called.get(selector.name) : undefined;
      const history = ref && (await foldRun(store, ref, functionHistory(selector.name), { onDefect }));
      const { exact } = selector;
      const confirmed =
        exact === undefined
          ? undefined
          : await confirmLongArgument(store, { ...selector, exact }, { memos: [prior.memo, ...forks], onDefect });
      return resolveSelector(selector, { ...common, history, confirmed }, declarations);
    }
    case 'path': {
      const atPath = await findCallsAtPath(store, selector.text, { runs: prior.runs, onDefect });
      const invalidation = resolveSelector(selector, { ...common, atPath }, declarations);
      const inside = await reusedInside(store, prior.memo, atPath.keys);
      return inside === undefined ? invalidation : { ...invalidation, inside };
    }
    case 'failed':
    case 'checkpoint':
    case 'malformed': {
      const ref = prior.runs.at(-1)?.ref;
      const reached = ref && (await foldRun(store, ref, checkpoints, { onDefect }));
      if (selector.kind !== 'failed') return resolveSelector(selector, { ...common, prior: reached }, declarations);
      const aroundFailures = await callsAroundFailures(store, prior.memo, { onDefect });
      const invalidation = resolveSelector(selector, { ...common, prior: reached, aroundFailures }, declarations);
      const behind = ref && (await foldRun(store, ref, notExecutedCalls, { onDefect }));
      return behind === undefined || behind.size === 0 ? invalidation : { ...invalidation, notExecuted: [...behind.values()] };
    }
  }
}

export interface ResolveOptions {
  readonly prior: PriorRuns;
  /** The memos of this run's fork sources. */
  readonly forks: readonly Memo[];
  readonly declarations: Declarations;
  readonly onDefect: (defect: Defect) => void;
}
