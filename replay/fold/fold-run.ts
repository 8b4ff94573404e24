/** Reads one run from a store and folds it. */
import type { RunRef } from '../../journal/ids.js';
import type { JournalStore, ScanOptions } from '../../journal/store.js';
import type { Projection } from './projection.js';

/** Any projection over one run. */
export async function foldRun<State>(
  store: JournalStore,
  ref: RunRef,
  projection: Projection<State>,
  options: ScanOptions = {},
): Promise<State> {
  let state = projection.initial();
  await store.scan(ref, (event, position) => void (state = projection.apply(state, event, { ref, position })), options);
  return state;
}
