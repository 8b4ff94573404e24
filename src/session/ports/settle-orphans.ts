/** Ends, or waits for, the commands that killed runs of the workflow left running, so that no command runs twice at the same time. */
import type { RunId } from '../../../journal/ids.js';
import type { PriorRuns } from '../../../replay/memo/load.js';
import { processesOf } from '../../../replay/fold/processes.js';
import { MlldError } from '../../errors.js';
import { awaitOrphans, endOrphans, livingOrphans, type Orphan } from '../../world/process/orphans.js';

export interface Settling {
  readonly keepOrphans: boolean;
  readonly stderr: (text: string) => void;
  /** Aborted when the run must stop. */
  readonly signal: AbortSignal;
}

/** Returns the killed runs of which no process is left. Throws ORPHANS_LEFT and INTERRUPTED. */
export async function settleOrphans({ processes, ongoing, asleep }: PriorRuns, settling: Settling): Promise<readonly RunId[]> {
  const living = new Set([...ongoing.map(({ run }) => run), ...asleep]);
  const killed = [...processes.keys()].filter((run) => !living.has(run));
  for (const run of killed) {
    const orphans = await livingOrphans(processesOf(processes, run));
    if (orphans.length > 0) await settle(run, orphans, settling);
  }
  return killed;
}

async function settle(run: RunId, orphans: readonly Orphan[], { keepOrphans, stderr, signal }: Settling): Promise<void> {
  const left = orphans.length === 1 ? 'a command that is still running' : `${orphans.length} commands that are still running`;
  const found = `run ${run} was killed and left ${left} (${groupsOf(orphans)})`;
  if (keepOrphans) {
    stderr(`${found}: waiting until ${orphans.length === 1 ? 'it ends' : 'they end'}, as --keep-orphans says\n`);
    await awaitOrphans(orphans, signal);
    if (signal.aborted) throw new MlldError('INTERRUPTED', `interrupted while waiting for commands that run ${run} had left running`);
    return;
  }
  stderr(`${found}: ended now, before this run starts; --keep-orphans waits instead\n`);
  const stubborn = await endOrphans(orphans);
  if (stubborn.length === 0) return;
  const groups = stubborn.map(({ group }) => `-${group}`).join(' ');
  throw new MlldError('ORPHANS_LEFT', `Commands that run ${run} left running can't be ended (${groupsOf(stubborn)})`, {
    hint: `end them as the user who owns them: kill -KILL -- ${groups}; or wait for them: --keep-orphans`,
  });
}

function groupsOf(orphans: readonly Orphan[]): string {
  return `${orphans.length === 1 ? 'process group' : 'process groups'} ${orphans.map(({ group }) => group).join(', ')}`;
}
