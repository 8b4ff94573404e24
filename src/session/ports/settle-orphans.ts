/** Before the work begins again: what killed runs of the workflow left going on is ended, or waited for, so that nothing runs twice at a time. */
import type { RunId } from '../../../journal/ids.js';
import type { PriorRuns } from '../../../replay/memo/load.js';
import { processesOf } from '../../../replay/fold/processes.js';
import { MlldError } from '../../errors.js';
import { awaitOrphans, endOrphans, livingOrphans, type Orphan } from '../../world/process/orphans.js';

export interface Settling {
  readonly keepOrphans: boolean;
  readonly stderr: (text: string) => void;
  /** The run has to end. */
  readonly signal: AbortSignal;
}

/** The killed runs of which nothing goes on any more. Throws ORPHANS_LEFT, INTERRUPTED. */
export async function settleOrphans({ processes, ongoing }: PriorRuns, settling: Settling): Promise<readonly RunId[]> {
  const living = new Set(ongoing.map(({ run }) => run));
  const killed = [...processes.keys()].filter((run) => !living.has(run));
  for (const run of killed) {
    const orphans = await livingOrphans(processesOf(processes, run));
    if (orphans.length > 0) await settle(run, orphans, settling);
  }
  return killed;
}

async function settle(run: RunId, orphans: readonly Orphan[], { keepOrphans, stderr, signal: ending }: Settling): Promise<void> {
  const left = orphans.length === 1 ? 'a command that is still running' : `${orphans.length} commands that are still running`;
  const found = `run ${run} was killed and left ${left} (${groupsOf(orphans)})`;
  if (keepOrphans) {
    stderr(`${found}: waiting until ${orphans.length === 1 ? 'it ends' : 'they end'}, as --keep-orphans says\n`);
    await awaitOrphans(orphans, ending);
    if (ending.aborted) throw new MlldError('INTERRUPTED', `interrupted while waiting for what run ${run} had left`);
    return;
  }
  stderr(`${found}: ended before the work begins again; --keep-orphans waits instead\n`);
  const stubborn = await endOrphans(orphans);
  if (stubborn.length === 0) return;
  throw new MlldError('ORPHANS_LEFT', `What run ${run} left running can't be ended (${groupsOf(stubborn)})`, {
    hint: `end it as the user that it belongs to: kill -KILL -- ${stubborn.map(({ group }) => `-${group}`).join(' ')}; or wait for it: --keep-orphans`,
  });
}

function groupsOf(orphans: readonly Orphan[]): string {
  return `${orphans.length === 1 ? 'process group' : 'process groups'} ${orphans.map(({ group }) => group).join(', ')}`;
}
