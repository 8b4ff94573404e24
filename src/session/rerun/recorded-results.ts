/** Reads results of other runs that a recorded run used. */
import type { RunId, Seq } from '../../../journal/ids.js';
import type { JournalStore, Position } from '../../../journal/store.js';
import { holdsResult, type ResultEvent } from '../../../replay/memo/stored-result.js';

/** Finds results of calls in other runs by their sequence numbers; reads each run once. */
export function resultsOf(store: JournalStore): (run: RunId, seq: Seq) => Promise<ResultEvent | undefined> {
  const read = new Map<RunId, Promise<ReadonlyMap<Seq, Position>>>();
  const positionsIn = async (run: RunId): Promise<ReadonlyMap<Seq, Position>> => {
    const positions = new Map<Seq, Position>();
    const ref = await store.find(run);
    if (ref) await store.scan(ref, (event, position) => void (holdsResult(event) && positions.set(event.seq, position)));
    return positions;
  };
  return async (run, seq) => {
    const known = read.get(run) ?? positionsIn(run);
    read.set(run, known);
    const position = (await known).get(seq);
    const ref = position && (await store.find(run));
    const event = ref && (await store.readAt(ref, position));
    return holdsResult(event) ? event : undefined;
  };
}
