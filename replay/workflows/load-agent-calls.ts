/** Reads which agent calls the prior runs of a workflow script made: the latest run, and earlier ones as far as results are theirs. */
import { textOfRef, type RunId, type RunRef } from '../../journal/ids.js';
import type { RunFile } from '../../journal/store.js';
import type { Defect, JournalStore } from '../../journal/store.js';
import { foldRun } from '../fold/fold-run.js';
import { usable, type Memo } from '../memo/memo.js';
import { agentCalls, withEarlier, type AgentCalls } from './agent-calls.js';

/** A run that reuses all results names all of them, so that usually one run is read. Salvage runs are no prior runs, and hold results. */
export async function loadAgentCalls(
  store: JournalStore,
  { runs, memo, onDefect }: { readonly runs: readonly RunFile[]; readonly memo: Memo; readonly onDefect: (defect: Defect) => void },
): Promise<AgentCalls> {
  const listed = new Set(runs.map(({ ref }) => ref.run));
  const missing = new Set<string>();
  const salvages = new Map<RunId, RunRef>();
  for (const [, { result }] of usable(memo)) {
    if (listed.has(result.ref.run)) missing.add(textOfRef({ run: result.ref.run, seq: result.seq }));
    else salvages.set(result.ref.run, result.ref);
  }
  let calls: AgentCalls | undefined;
  for (const { ref } of runs.toReversed()) {
    if (calls && missing.size === 0) break;
    const earlier = await foldRun(store, ref, agentCalls, { onDefect });
    for (const result of earlier.kinds.keys()) missing.delete(result);
    calls = calls ? withEarlier(calls, earlier) : earlier;
  }
  calls ??= agentCalls.initial();
  for (const ref of salvages.values()) withEarlier(calls, await foldRun(store, ref, agentCalls, { onDefect }));
  return calls;
}
