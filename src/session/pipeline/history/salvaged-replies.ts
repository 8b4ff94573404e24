/**
 * Brings the replies of a sealed run that are in a salvage run to the attempts for which they were paid: a resume reuses them as if the
 * run had recorded them itself. team-store.md 4.5.
 */
import type { EventOf } from '../../../../journal/event.js';
import type { RunId } from '../../../../journal/ids.js';
import type { JournalStore, Position } from '../../../../journal/store.js';
import { receiveSalvaged } from '../../../../replay/pipeline/received-replies.js';
import type { Chain } from './chain.js';

export async function addSalvagedReplies(store: JournalStore, { latest, segments, state }: Chain): Promise<void> {
  const sealed = new Set(segments.map(({ ref }) => ref.run));
  for (const { ref, isSalvage, finished } of await store.runs(latest.ref.workflow)) {
    if (isSalvage !== true && finished?.salvages === undefined) continue;
    let of: RunId | undefined;
    const replies: { readonly event: EventOf<'call.completed'>; readonly position: Position }[] = [];
    const collect: Parameters<JournalStore['scan']>[1] = (event, position) => {
      if (event.type === 'run.started') of = event.salvages;
      else if (event.type === 'call.completed') replies.push({ event, position });
    };
    await store.scan(ref, collect, { onDefect: () => undefined }); // what can't be read is executed again
    if (of === undefined || !sealed.has(of)) continue;
    for (const { event, position } of replies) receiveSalvaged(state, event, { ref, position });
  }
}
