/** Finds out, for a plan, which calls would run again because of their declared output files; restores no file. Decision 10. */
import path from 'node:path';
import type { Workflow } from '../../../journal/ids.js';
import type { JournalStore } from '../../../journal/store.js';
import { readOutputs } from '../../../replay/memo/read-result.js';
import { usable, type StoredResult, type Memo } from '../../../replay/memo/memo.js';
import type { PlanFacts } from '../../../replay/resume/plan.js';
import { decisionFor } from '../../operation/outputs.js';
import type { World } from '../../world/world.js';
import { createOutputFiles } from '../ports/output-files.js';

interface OutdatedRequest {
  readonly store: JournalStore;
  readonly world: World;
  /** Absolute: recorded paths are relative to it. */
  readonly root: string;
  readonly keepsNewer: boolean;
  readonly current: PlanFacts['current'];
  /** The memo of the workflow itself, and those of its fork sources. */
  readonly memos: readonly { readonly workflow: Workflow; readonly memo: Memo }[];
}

/** Returns the results whose calls would run again. Reads only results of functions that declare output files. */
export async function outdatedResults({
  store,
  world,
  root,
  keepsNewer,
  current,
  memos,
}: OutdatedRequest): Promise<ReadonlySet<StoredResult>> {
  const workflows = memos.map(({ workflow }) => workflow);
  const files = createOutputFiles({ store, workflows, keepsNewer, onTrouble: () => undefined });
  const outdated = new Set<StoredResult>();
  for (const { memo } of memos) {
    for (const [, { fn, result }] of usable(memo)) {
      if (current.get(fn)?.some(({ writes }) => writes) !== true) continue;
      const outputs = await readOutputs(store, result);
      if (outputs === undefined) outdated.add(result); // recorded before the function declared any
      for (const recorded of outputs ?? []) {
        const { path: name } = recorded;
        const decision = await decisionFor({ absolute: path.resolve(root, name), name, recorded }, { world, files });
        if (decision === 'again') outdated.add(result);
      }
    }
  }
  return outdated;
}
