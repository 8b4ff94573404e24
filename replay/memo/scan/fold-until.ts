/**
 * Folds the runs of a workflow as they were at the end of a run, or at an event of it.
 *
 * UNTIL-1 The results of calls of these runs count also where a later run holds them: one of their workers, a salvage run, or a run that
 *    was made beside them and whose result they used. (A fork of such a run paid for all of these calls again.)
 * UNTIL-2 At an event, the journal of a worker of that run ends with the last result that the run had used by then.
 */
import type { EventOf, JournalEvent } from '../../../journal/event.js';
import { seqOf, type OpPath, type RunId, type RunRef, type Seq } from '../../../journal/ids.js';
import type { Defect, JournalStore, Position, RunFile } from '../../../journal/store.js';
import { headOf, servedRuns } from '../../upkeep/runs-as-one.js';
import { scanInOrder } from './scan-in-order.js';
import { index, type Index } from '../snapshot.js';

export interface Cut {
  readonly run: RunId;
  /** The last event that counts. */
  readonly seq?: Seq | undefined;
}

interface FoldOptions {
  readonly all: readonly RunFile[];
  readonly until: Cut;
  readonly onDefect: (defect: Defect) => void;
}

/** The results of a later run that were used. */
interface Used {
  readonly all: Set<Seq>;
  last: Seq;
}

const NO_EVENT = seqOf(-1);

/** Returns the runs that are part of that past, too. */
export async function foldUntil(
  store: JournalStore,
  { all, until: { run, seq }, onDefect }: FoldOptions,
): Promise<{ readonly state: Index; readonly files: readonly RunFile[] }> {
  const state = index.initial();
  const serves = await servedRuns(
    store,
    all.filter(({ ref }) => ref.run > run),
  );
  const isPart = ({ ref }: RunFile): boolean => headOf(serves, ref.run) <= run;
  const used = new Map<RunId, Used>();
  const isBehind = (event: JournalEvent, ref: RunRef): boolean => {
    if (seq === undefined || headOf(serves, ref.run) !== run) return false;
    return event.seq > (ref.run === run ? seq : (used.get(ref.run)?.last ?? NO_EVENT)); // UNTIL-2
  };
  const visit = (event: JournalEvent, position: Position, ref: RunRef): void => {
    if (isBehind(event, ref)) return;
    if (event.type === 'call.reused' && event.from.run > run) note(used, event);
    index.apply(state, event, { ref, position });
  };
  const read = async (files: readonly RunFile[], visitor: typeof visit): Promise<void> => {
    const runs = files.map((file) => ({ file }));
    for await (const _scanned of scanInOrder({ store, visit: visitor, onDefect }, runs));
  };
  const files = all.filter(isPart);
  await read(files, visit);
  const beside = all.filter((file) => !isPart(file) && used.has(file.ref.run));
  await read(beside, usedOnly(state, used));
  return { state, files };
}

function note(used: Map<RunId, Used>, { from }: EventOf<'call.reused'>): void {
  if (from.workflow !== undefined) return; // a fork source's, which is none of this workflow's results
  const known = used.get(from.run);
  if (known === undefined) used.set(from.run, { all: new Set([from.seq]), last: from.seq });
  else {
    known.all.add(from.seq);
    if (from.seq > known.last) known.last = from.seq;
  }
}

/** Visits runs of which only the results that were used count. */
function usedOnly(state: Index, used: ReadonlyMap<RunId, Used>): (event: JournalEvent, position: Position, ref: RunRef) => void {
  const begun = new Map<OpPath, () => void>();
  let current: RunId | undefined;
  return (event, position, ref) => {
    if (ref.run !== current) begun.clear();
    current = ref.run;
    const apply = (): void => void index.apply(state, event, { ref, position });
    if (event.type === 'definition.recorded') apply();
    else if (event.type === 'call.started') begun.set(event.op, apply);
    else if (event.type === 'call.failed') begun.delete(event.op);
    else if (event.type === 'call.completed') {
      const start = begun.get(event.op);
      begun.delete(event.op); // only the starts of calls in flight are held
      if (used.get(ref.run)?.all.has(event.seq) !== true) return;
      start?.();
      apply();
    }
  };
}
