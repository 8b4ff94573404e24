/**
 * Finds the replies of sealed runs that are in salvage runs. A resume reuses them for the attempts for which they were paid, as if the
 * sealed run had recorded them itself. team-store.md 4.5.
 */
import type { EventOf } from '../../../../journal/event.js';
import type { EventRef, OpPath, RunRef } from '../../../../journal/ids.js';
import type { JournalStore, Position } from '../../../../journal/store.js';
import { receiveSalvaged } from '../../../../replay/pipeline/received-replies.js';
import { isSalvageRun } from '../../../../replay/fold/record-of-upkeep.js';
import type { PipelineState } from '../../../../replay/pipeline/pipeline-state.js';
import type { Segment } from './logical-run.js';

interface ReadChain {
  readonly segments: readonly Segment[];
  readonly state: PipelineState;
}

export interface SalvagedReply {
  /** The beginning of the attempt, in the sealed run. */
  readonly begun: EventRef;
  readonly event: EventOf<'call.completed'>;
  readonly ref: RunRef;
  readonly position: Position;
}

/** Returns those of the runs of a chain. Empty for most: only a store of a team has salvage runs. */
export async function salvagedReplies(store: JournalStore, { segments }: Pick<ReadChain, 'segments'>): Promise<readonly SalvagedReply[]> {
  const sealed = new Set(segments.map(({ ref }) => ref.run));
  const workflow = segments[0]?.ref.workflow;
  const replies: SalvagedReply[] = [];
  for (const file of workflow === undefined ? [] : await store.runs(workflow)) {
    if (!isSalvageRun(file)) continue;
    const { ref } = file;
    const begun = new Map<OpPath, EventRef>();
    const collect: Parameters<JournalStore['scan']>[1] = (event, position) => {
      if (event.type === 'call.started' && event.begun && sealed.has(event.begun.run)) begun.set(event.op, event.begun);
      const its = event.type === 'call.completed' ? begun.get(event.op) : undefined;
      if (its !== undefined) replies.push({ begun: its, event: event as EventOf<'call.completed'>, ref, position });
    };
    await store.scan(ref, collect, { onDefect: () => undefined }); // what can't be read is executed again
  }
  return replies;
}

export async function addSalvagedReplies(store: JournalStore, chain: ReadChain): Promise<void> {
  for (const { event, ref, position } of await salvagedReplies(store, chain)) receiveSalvaged(chain.state, event, { ref, position });
}
