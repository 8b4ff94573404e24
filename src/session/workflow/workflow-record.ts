/** Adds to the record of a workflow script clock and seed of its work, and targets by agent and phase. workflows-js.md 7 and 8. */
import { startOfRun } from '../../../replay/fold/fold-run.js';
import type { Json } from '../../../journal/event.js';
import type { JournalStore, RunFile } from '../../../journal/store.js';
import { SIMULATED } from '../../../journal/facts/simulated-backend.js';
import { isSimulated, usable } from '../../../replay/memo/memo.js';
import { AGENT_FUNCTION, resolveWorkflowTarget } from '../../../replay/workflows/resolve-workflow-target.js';
import type { Selector } from '../../../replay/resume/selector.js';
import { randomDigits } from '../../world/host.js';
import type { OpenedPriorRuns } from '../ports/prior-runs.js';
import type { RunOptions, WorkflowRecord } from '../script/run-options.js';
import { callsOf } from './recorded-samples.js';
import { notOffered, type Answering } from './simulated-results.js';

/** Clock and seed of the work that a run is a part of. */
export interface WorkflowStart {
  readonly clock: number;
  readonly seed: string;
}

interface RecordParts {
  /** The titles of `meta.phases`; undefined for a program, whose checkpoints have an order of their own. */
  readonly phases: readonly string[] | undefined;
  readonly input: Json;
  readonly budgetTokens?: number | undefined;
  readonly settings: Answering['settings'];
  readonly store: JournalStore | undefined;
  readonly onStart: (start: WorkflowStart) => void;
}

const SEED_DIGITS = 16;

export function workflowRecord(
  options: RunOptions,
  { phases, input, budgetTokens, settings, store, onStart }: RecordParts,
): WorkflowRecord {
  const { io, cache, project } = options;
  const backend = settings.backend ?? project.config.agent?.backend; // of agents that name none
  const continues = cache.resume !== undefined || cache.checkpoint === true || cache.changed !== undefined;
  return {
    async facts(prior) {
      const isTrial = backend === SIMULATED;
      const before = continues && store && (await startOf(store, prior.usable.runs, isTrial));
      const start = before || { clock: io.nowMs(), seed: randomDigits(SEED_DIGITS) };
      onStart(start);
      return { payload: input, ...start, ...(budgetTokens !== undefined && { budgetTokens }), ...(isTrial && { backend }) };
    },
    async resolveTarget(selector, request) {
      const isOurs = phases ? selector.kind === 'function' || selector.kind === 'checkpoint' : isAgent(selector);
      if (!isOurs) return undefined;
      const { prior, forks } = request;
      return resolveWorkflowTarget(selector, {
        memo: prior.memo,
        forks: forks.map(({ memo }) => memo),
        calls: await callsOf(request),
        phases: phases ?? [],
      });
    },
    notOffered: ({ store: recorded, memos }) => notOffered(recorded, memos, { options, settings }),
    // The report of a program says what it reused, to who knows no flags.
    notice: (prior) => phases && noticeAbout(prior, { continues, isFresh: cache.fresh === true, isTrial: backend === SIMULATED }),
  };
}

function isAgent(selector: Selector): boolean {
  return selector.kind === 'function' && selector.name === AGENT_FUNCTION;
}

/** Returns clock and seed of the latest run. A run that asks models goes on with none that was a trial. */
async function startOf(store: JournalStore, runs: readonly RunFile[], isTrial: boolean): Promise<WorkflowStart | undefined> {
  for (const { ref } of runs.toReversed()) {
    const { clock, seed, backend } = (await startOfRun(store, ref)) ?? {};
    if (backend === SIMULATED && !isTrial) continue;
    return clock === undefined || seed === undefined ? undefined : { clock, seed };
  }
  return undefined;
}

/** Says how many results there are to reuse, to who continues a work and to who may not know that there is one. */
function noticeAbout(
  { loaded, invalidations }: OpenedPriorRuns,
  { continues, isFresh, isTrial }: { readonly continues: boolean; readonly isFresh: boolean; readonly isTrial: boolean },
): string | undefined {
  const last = loaded.runs.at(-1);
  const found = [...usable(loaded.memo)];
  const count = found.length;
  if (!last || count === 0 || isFresh || invalidations.length > 0) return undefined; // an invalidation has a line of its own
  const results = count === 1 ? '1 result' : `${count} results`;
  const simulated = isTrial ? 0 : found.filter(([, entry]) => isSimulated(loaded.memo, entry)).length;
  const except = simulated === 0 ? '' : `; ${count === simulated ? '' : `${simulated} of them `}by simulated agents only`;
  if (continues) return `continuing: ${results} of earlier runs can be reused${except}`;
  const isBroken = last.finished?.status !== 'completed' && last.liveness !== 'running';
  return isBroken ? `the last run did not end: --resume would reuse ${results} of it and of earlier runs${except}` : undefined;
}
