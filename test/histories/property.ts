/** The property that all histories have, and the generator of many histories. */
import fc from 'fast-check';
import { anyHistory } from './any-history.js';
import { checkHistory, type Played } from './check.js';
import { openCommandRuntime } from './command-runtime.js';
import { openRuntime } from './runtime.js';

export interface Histories {
  /** Runs happen in this process, with a store in memory or on disk, or as processes of their own. */
  readonly kind: 'memory' | 'file' | 'command';
  readonly count: number;
  readonly seed: number;
}

/** Rejects with the smallest counterexample that could be found. */
export async function playHistories({ kind, count, seed }: Histories): Promise<Played> {
  const total = { runs: 0, kills: 0, refused: 0, executed: 0, served: 0 };
  const property = fc.asyncProperty(anyHistory, async (history) => {
    const open = () => (kind === 'command' ? openCommandRuntime(history.library) : openRuntime(history.library, kind));
    const played = await checkHistory(history, open);
    for (const what of Object.keys(total) as (keyof Played)[]) total[what] += played[what];
  });
  await fc.assert(property, { seed, numRuns: count, includeErrorInReport: true });
  return total;
}
