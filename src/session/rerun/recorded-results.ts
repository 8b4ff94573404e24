/** Reads results of other runs that a recorded run used. */
import type { EventOf } from '../../../journal/event.js';
import type { RunId, Seq } from '../../../journal/ids.js';
import type { JournalStore, Position } from '../../../journal/store.js';

export type Completed = EventOf<'call.completed'>;

/** Finds completed calls of other runs by their sequence numbers; reads each run once. */
export function resultsOf(store: JournalStore): (run: RunId, seq: Seq) => Promise<Completed | undefined> {
  const read = new Map<RunId, Promise<ReadonlyMap<Seq, Position>>>();
  const positionsIn = async (run: RunId): Promise<ReadonlyMap<Seq, Position>> => {
    const positions = new Map<Seq, Position>();
    const ref = await store.find(run);
    if (ref) await store.scan(ref, ({ type, seq }, position) => void (type === 'call.completed' && positions.set(seq, position)));
    return positions;
  };
  return async (run, seq) => {
    const known = read.get(run) ?? positionsIn(run);
    read.set(run, known);
    const position = (await known).get(seq);
    const ref = position && (await store.find(run));
    const event = ref && (await store.readAt(ref, position));
    return event?.type === 'call.completed' ? event : undefined;
  };
}
