/** Finds what the prior runs of a workflow script recorded, for the calls of this one. workflows-js.md 6.2. */
import type { CallKey } from '../../../journal/ids.js';
import type { JournalStore } from '../../../journal/store.js';
import { loadAgentCalls } from '../../../replay/workflows/load-agent-calls.js';
import { withEarlier, type AgentCalls } from '../../../replay/workflows/agent-calls.js';
import { Samples } from '../../../replay/workflows/samples.js';
import type { ResultCache } from '../../runtime/calls/result-cache.js';
import type { WorkflowPorts } from '../../workflows/run/ports.js';
import type { Fork } from '../ports/fork-source.js';
import type { OpenedPriorRuns, TargetRequest } from '../ports/prior-runs.js';

type OpenedSamples = Pick<WorkflowPorts, 'take' | 'elapsedOf'>;

/** @param prior undefined when nothing is recorded */
export async function openSamples(
  prior: OpenedPriorRuns | undefined,
  store: JournalStore | undefined,
  { reuses, cache }: { readonly reuses: boolean; readonly cache: Pick<ResultCache, 'secretKeys'> },
): Promise<OpenedSamples> {
  const elapsedOf = (key: CallKey): number | undefined =>
    [...(prior?.forks.map(({ memo }) => memo) ?? []), ...(prior ? [prior.usable.memo] : [])]
      .map(({ entries }) => entries.get(key)?.result?.elapsedMs)
      .findLast((found) => found !== undefined);
  if (!prior || !store || !reuses) return { take: takingFrom(new Samples(undefined), undefined, cache), elapsedOf };
  const calls = await callsOf({ store, prior: prior.usable, forks: prior.forks, onDefect: () => undefined });
  const samples = new Samples({ calls, own: prior.usable.memo, forks: prior.forks.map(({ memo }) => memo) });
  const known = await store.knownSecrets().catch(() => undefined); // the cache tells of it
  return { take: takingFrom(samples, known?.callKey, cache), elapsedOf };
}

/** @param known what makes keyed keys; undefined where no call was recorded under one */
function takingFrom(
  samples: Samples,
  known: ((plain: CallKey) => CallKey) | undefined,
  cache: Pick<ResultCache, 'secretKeys'>,
): WorkflowPorts['take'] {
  return async ({ op, question, hasSecret, keyOf }) => {
    const keyed = hasSecret ? await cache.secretKeys() : known;
    const keysOf = (number: number): [CallKey, ...CallKey[]] => {
      const plain = keyOf(number);
      if (!keyed) return [plain];
      return hasSecret ? [keyed(plain), plain] : [plain, keyed(plain)];
    };
    const keys = new Map<number, [CallKey, ...CallKey[]]>();
    return samples.take({
      op,
      question,
      keysOf(number) {
        const found = keys.get(number) ?? keysOf(number);
        keys.set(number, found);
        return found;
      },
    });
  };
}

/** The calls of the script itself, and of fork sources what it did not make. Damage was reported when the runs were loaded. */
export async function callsOf({ store, prior, forks, onDefect }: TargetRequest): Promise<AgentCalls> {
  const calls = await loadAgentCalls(store, { runs: prior.runs, memo: prior.memo, onDefect });
  for (const fork of forks) withEarlier(calls, await loadAgentCalls(store, { runs: await runsOf(fork, store), memo: fork.memo, onDefect }));
  return calls;
}

async function runsOf({ workflow, run }: Fork, store: JournalStore): ReturnType<JournalStore['runs']> {
  const runs = await store.runs(workflow);
  return run === undefined ? runs : runs.filter(({ ref }) => ref.run <= run);
}
