/** Finds what the prior runs of a workflow script recorded, for the calls of this one. workflows-js.md 6.2. */
import type { CallKey, OpPath, RunId } from '../../../journal/ids.js';
import type { JournalStore } from '../../../journal/store.js';
import { foldRun } from '../../../replay/fold/fold-run.js';
import type { Projection } from '../../../replay/fold/projection.js';
import { usableEntry } from '../../../replay/memo/memo.js';
import type { StoredResult } from '../../../replay/memo/stored-result.js';
import { loadAgentCalls } from '../../../replay/workflows/load-agent-calls.js';
import { withEarlier, type AgentCalls } from '../../../replay/workflows/agent-calls.js';
import { Samples } from '../../../replay/workflows/samples.js';
import type { ResultCache } from '../../runtime/calls/result-cache.js';
import type { WorkflowPorts } from '../../workflows/run/ports.js';
import type { Fork } from '../ports/fork-source.js';
import type { OpenedPriorRuns, TargetRequest } from '../ports/prior-runs.js';

type OpenedSamples = Pick<WorkflowPorts, 'take' | 'elapsedOf' | 'keptWorktreeOf'>;

/** @param prior undefined when nothing is recorded */
export async function openSamples(
  prior: OpenedPriorRuns | undefined,
  store: JournalStore | undefined,
  cache: Pick<ResultCache, 'secretKeys' | 'policy'>,
): Promise<OpenedSamples> {
  const memos = prior ? [...prior.forks.map(({ memo }) => memo), prior.usable.memo] : [];
  const resultOf = (key: CallKey): StoredResult | undefined =>
    memos.map(({ entries }) => entries.get(key)?.result).findLast((found) => found !== undefined);
  const kept = new Map<RunId, Promise<KeptWorktrees>>();
  const found = {
    elapsedOf: (key: CallKey) => resultOf(key)?.elapsedMs,
    async keptWorktreeOf(key: CallKey) {
      const ref = resultOf(key)?.ref;
      if (!store || !ref) return undefined;
      const reading = kept.get(ref.run) ?? foldRun(store, ref, keptWorktrees);
      kept.set(ref.run, reading);
      return (await reading).byKey.get(key);
    },
  };
  if (!prior || !store || !cache.policy().reuses) return { ...found, take: takingFrom(new Samples(undefined), undefined, cache) };
  const calls = await callsOf({ store, prior: prior.usable, forks: prior.forks, onDefect: () => undefined });
  const samples = new Samples({ calls, own: prior.usable.memo, forks: prior.forks.map(({ memo }) => memo) });
  const known = await store.knownSecrets().catch(() => undefined); // the cache tells of it
  return { ...found, take: takingFrom(samples, known?.callKey, cache) };
}

interface KeptWorktrees {
  readonly unlocked: Map<OpPath, string>;
  readonly byKey: Map<CallKey, string>;
}

const UNLOCKED = /^git worktree unlock '?(.+?)'?$/; // quoted for a shell where it must be

/** Folds which worktrees were kept when the calls of a run ended: those are unlocked. */
const keptWorktrees: Projection<KeptWorktrees> = {
  initial: () => ({ unlocked: new Map(), byKey: new Map() }),
  apply(state, event) {
    const [, directory] = (event.type === 'effect.performed' && UNLOCKED.exec(event.subject)) || [];
    if (event.type === 'effect.performed' && directory !== undefined) state.unlocked.set(event.op, directory);
    const kept = event.type === 'call.completed' ? state.unlocked.get(event.op) : undefined;
    if (event.type === 'call.completed' && kept !== undefined) state.byKey.set(event.key, kept);
    return state;
  },
};

/** @param known what makes keyed keys; undefined where no call was recorded under one */
function takingFrom(
  samples: Samples,
  known: ((plain: CallKey) => CallKey) | undefined,
  cache: Pick<ResultCache, 'secretKeys'>,
): WorkflowPorts['take'] {
  return async ({ op, digits, isSimulated, hasSecret, keyOf }) => {
    const keyed = hasSecret ? await cache.secretKeys() : known;
    const keysOf = (number: number): [CallKey, ...CallKey[]] => {
      const plain = keyOf(number);
      if (!keyed) return [plain];
      return hasSecret ? [keyed(plain), plain] : [plain, keyed(plain)];
    };
    const keys = new Map<number, [CallKey, ...CallKey[]]>();
    return samples.take({
      op,
      digits,
      isSimulated,
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
  const moved = new Set<OpPath>();
  for (const fork of forks) {
    const theirs = await loadAgentCalls(store, { runs: await runsOf(fork, store), memo: fork.memo, onDefect });
    // A result of the source comes before the workflow's own ones, at the path that the source says.
    for (const [op, key] of theirs.byPath) {
      if (key === undefined || moved.has(op) || prior.memo.refused.has(key) || !usableEntry(fork.memo, key)) continue;
      calls.byPath.set(op, key);
      moved.add(op);
    }
    withEarlier(calls, theirs);
  }
  return calls;
}

async function runsOf({ workflow, run }: Fork, store: JournalStore): ReturnType<JournalStore['runs']> {
  const runs = await store.runs(workflow);
  return run === undefined ? runs : runs.filter(({ ref }) => ref.run <= run);
}
