/** Finds out, for a plan, which calls would run again because of files that they wrote; restores no file. calls.md 22, decision 10. */
import path from 'node:path';
import type { Workflow } from '../../../../journal/ids.js';
import type { JournalStore } from '../../../../journal/store.js';
import { readFiles, readOutputs } from '../../../../replay/memo/read-result.js';
import { usable, type Memo } from '../../../../replay/memo/memo.js';
import { unjudgedCalls } from '../../../../replay/memo/overlay.js';
import type { StoredResult } from '../../../../replay/memo/stored-result.js';
import type { PlanFacts } from '../../../../replay/resume/plan.js';
import { decisionFor } from '../../../operation/outputs.js';
import type { OutputFiles } from '../../../runtime/calls/result-cache.js';
import { stateOf } from '../../../world/files/call-files.js';
import type { World } from '../../../world/world.js';
import { createOutputFiles } from '../../ports/files/output-files.js';
import type { ScriptDefinition } from '../current-definitions.js';

interface OutdatedRequest {
  readonly store: JournalStore;
  readonly world: World;
  /** Absolute: recorded paths are relative to it. */
  readonly root: string;
  readonly keepsNewer: boolean;
  /** The setting `calls.files`, for functions without the option. */
  readonly keepsFiles: boolean;
  readonly current: ReadonlyMap<string, readonly ScriptDefinition[]>;
  /** The memo of the workflow itself, and those of its fork sources. */
  readonly memos: readonly { readonly workflow: Workflow; readonly memo: Memo }[];
}

/** Returns the results whose calls would run again. Reads only results of functions that declare output files or have written some. */
export async function outdatedResults(request: OutdatedRequest): Promise<PlanFacts['outdated']> {
  const { store, keepsNewer, keepsFiles, current, memos } = request;
  const workflows = memos.map(({ workflow }) => workflow);
  const files = createOutputFiles({ store, workflows, keepsNewer, onTrouble: () => undefined });
  const outdated = new Map<StoredResult, 'outputs' | 'file gone'>();
  for (const { memo } of memos) {
    for (const [, { fn, result }] of [...usable(memo), ...unjudgedCalls(memo)]) {
      const definitions = current.get(fn) ?? [];
      const isKept =
        result.hasFiles && definitions.every((definition) => (definition.options?.files ?? (keepsFiles ? 'keep' : 'ignore')) === 'keep');
      if (isKept && (await hasGoneFile(result, request))) outdated.set(result, 'file gone');
      else if (definitions.some(({ writes }) => writes) && (await areOutputsOutdated(result, files, request)))
        outdated.set(result, 'outputs');
    }
  }
  return outdated;
}

async function hasGoneFile(result: StoredResult, { store, root }: OutdatedRequest): Promise<boolean> {
  for (const { path: name, blob, inner } of (await readFiles(store, result)) ?? []) {
    if ((await stateOf(path.resolve(root, name))) !== 'absent') continue;
    if (blob === undefined || inner || (await store.getBlob(blob)) === undefined) return true;
  }
  return false;
}

async function areOutputsOutdated(result: StoredResult, files: OutputFiles, { store, world, root }: OutdatedRequest): Promise<boolean> {
  const outputs = await readOutputs(store, result);
  if (outputs === undefined) return true; // recorded before the function declared any
  let isOutdated = false;
  for (const recorded of outputs) {
    const { path: name } = recorded;
    const decision = await decisionFor({ absolute: path.resolve(root, name), name, recorded }, { world, files });
    if (decision === 'again') isOutdated = true;
  }
  return isOutdated;
}
