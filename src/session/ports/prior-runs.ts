/**
 * Loads the prior runs of a workflow, and decides what this run may reuse of them under `--fork`, `--fresh` and `--resume`. Decided before
 * the run is created, so that a target that can't be resolved leaves no trace.
 */
import type { FactOf } from '../../../journal/event.js';
import type { CallKey, Workflow } from '../../../journal/ids.js';
import type { Defect, JournalStore } from '../../../journal/store.js';
import { invalidationImpact, type InvalidationImpact, type Selected } from '../../../replay/resume/predict-calls.js';
import type { Declarations, Invalidation } from '../../../replay/resume/invalidation.js';
import { shellWords } from '../../../journal/shell-words.js';
import { loadWorkflow, withoutPriorRuns, type PriorRuns } from '../../../replay/memo/load.js';
import type { ReusedInside } from '../../../replay/resume/reused-inside.js';
import { isSimulated, type Memo, type UsableEntry } from '../../../replay/memo/memo.js';
import { resolveTarget } from '../../../replay/resume/resolve-target.js';
import { parseSelector, type Selector } from '../../../replay/resume/selector.js';
import type { WorkingProject } from '../project.js';
import type { CacheRequest } from '../script/run-options.js';
import { openFork, type Fork } from './fork-source.js';

/** Makes recorded results unusable. */
export type InvalidationFact = FactOf<'memo.reset' | 'memo.invalidated'>;

export interface OpenedPriorRuns {
  /** The prior runs as they are recorded. */
  readonly loaded: PriorRuns;
  /** The same as this run uses them; with `--fresh` they hold no results. */
  readonly usable: PriorRuns;
  readonly forks: readonly Fork[];
  /** Recorded right after the start of the run, which makes `usable` what the run may reuse. */
  readonly invalidations: readonly InvalidationFact[];
  /** The results that `--resume TARGET` selects. */
  readonly selected: Selected;
  /** Lines for stderr that say what a target selects; a plan counts that itself. */
  readonly notices: readonly string[];
  /** Lines for stderr, and for a plan, about what is reused against what was probably meant. */
  readonly advice: readonly string[];
}

export interface PriorRunsRequest {
  readonly store: JournalStore;
  readonly project: WorkingProject;
  readonly workflow: Workflow;
  readonly cache: CacheRequest;
  readonly declarations: Declarations;
  readonly onDefect: (defect: Defect) => void;
  /** For a pipeline: the name with which its model stages are recorded. */
  readonly pipeline?: ForkingPipeline | undefined;
  /** Resolves the targets that only workflow scripts have. */
  readonly resolveTarget?: ((selector: Selector, request: TargetRequest) => Promise<Invalidation | undefined>) | undefined;
  /** Tells of which results no call of this run is offered one. Absent: of simulated ones, because a script simulates no call. */
  readonly notOffered?: ((recorded: RecordedResults) => Promise<(entry: UsableEntry) => boolean>) | undefined;
}

/** The results of this workflow and of its fork sources. */
interface RecordedResults {
  readonly store: JournalStore;
  readonly memos: readonly Memo[];
}

export interface ForkingPipeline {
  readonly name: string;
  /** Its fork sources are those of the pipeline around it, and need not have calls of its own. */
  readonly isChild: boolean;
}

/** The recorded runs in which a target is resolved. */
export interface TargetRequest {
  readonly store: JournalStore;
  readonly prior: PriorRuns;
  readonly forks: readonly Fork[];
  readonly onDefect: (defect: Defect) => void;
}

/** Throws what `openFork` throws, and what is wrong with the target of `--resume`. */
export async function openPriorRuns({
  store,
  project,
  workflow,
  cache,
  declarations,
  onDefect,
  pipeline,
  resolveTarget: ownTarget,
  notOffered = simulatedResults,
}: PriorRunsRequest): Promise<OpenedPriorRuns> {
  const forks: Fork[] = [];
  for (const text of cache.forks ?? [])
    forks.push(await openFork(text, { store, project, workflow, onDefect, mayForkOwnRuns: pipeline !== undefined }));
  const loaded = await loadWorkflow(store, workflow, { onDefect });
  const isFresh = cache.fresh === true;
  const usable = isFresh ? withoutPriorRuns(loaded) : loaded;
  const invalidations: InvalidationFact[] = isFresh ? [{ type: 'memo.reset', reason: 'fresh' }] : [];
  const selected = { keys: new Set<CallKey>(), forkedKeys: new Set<CallKey>() };
  const notices: string[] = [];
  const advice = pipeline && !pipeline.isChild ? forkWarnings(pipeline, cache.forks ?? [], forks) : [];
  if (cache.resume !== undefined && cache.resume !== '') {
    const selector = parseSelector(cache.resume);
    const sources = forks.map(({ memo }) => memo);
    const own = await ownTarget?.(selector, { store, prior: usable, forks, onDefect });
    const invalidation = own ?? (await resolveTarget(store, selector, { prior: usable, forks: sources, declarations, onDefect }));
    if (invalidation.notice !== undefined) notices.push(invalidation.notice);
    const isNotOffered = await notOffered({ store, memos: [usable.memo, ...sources] });
    const isFit = (entry: UsableEntry): boolean => !isNotOffered(entry);
    const impact = invalidationImpact(invalidation, { priorOwn: loaded.memo, own: usable.memo, sources, isFit });
    if (selector.kind === 'failed' && invalidation.notice === undefined) notices.push(`--resume failed: ${describeFailed(impact)}`);
    const { keys, forkedKeys } = invalidation;
    for (const key of keys) selected.keys.add(key);
    for (const key of forkedKeys) selected.forkedKeys.add(key);
    if (keys.length > 0) invalidations.push({ type: 'memo.invalidated', selector: cache.resume, keys });
    if (forkedKeys.length > 0) invalidations.push({ type: 'memo.invalidated', selector: cache.resume, keys: forkedKeys, borrowed: true });
    if (selector.kind !== 'failed' && keys.length + forkedKeys.length > 0)
      notices.push(`--resume ${cache.resume}: ${describeImpact(impact)}`);
    if (invalidation.inside) advice.push(`--resume ${cache.resume}: ${describeInside(invalidation.inside)}`);
  }
  return { loaded, usable, forks, invalidations, selected, notices, advice };
}

async function simulatedResults({ memos }: RecordedResults): Promise<(entry: UsableEntry) => boolean> {
  return (entry) => memos.some((memo) => isSimulated(memo, entry));
}

/** The call of a model stage is made in the name of its pipeline: a copy of another name reuses none of its replies. */
function forkWarnings({ name }: ForkingPipeline, texts: readonly string[], forks: readonly Fork[]): string[] {
  const isForeign = ({ memo }: Fork): boolean => ![...memo.called.keys()].some((fn) => fn.startsWith(`${name}.`));
  const foreign = texts.filter((_, i) => isForeign(forks[i] as Fork)); // one for each text
  return foreign.map(
    (text) =>
      `warning: --fork ${text}: it has no replies of model stages of a pipeline called ${name}, so none is reused; ` +
      'a copy keeps the name after digraph',
  );
}

function describeImpact({ again, predicted, unaffected, unresolved }: InvalidationImpact): string {
  const [results, them] = unaffected === 1 ? ['result is', 'it'] : ['results are', 'them'];
  const unneeded = unaffected === 0 ? '' : `; ${unaffected} further ${results} invalidated but this run does not need ${them}`;
  return `${withoutResult({ again, predicted, unresolved })}${unneeded}`;
}

function withoutResult({ again, predicted, unresolved }: Pick<InvalidationImpact, 'again' | 'predicted' | 'unresolved'>): string {
  const has = unresolved === 1 ? 'has' : 'have';
  if (predicted === 0)
    return unresolved === 0 ? 'no call will run again' : `${unresolved} ${unresolved === 1 ? 'call' : 'calls'} ${has} no result yet`;
  const open = unresolved === 0 ? '' : `; ${unresolved} more ${has} no result yet`;
  return `${again} of ${predicted} ${predicted === 1 ? 'call' : 'calls'} will run again${open}`;
}

function describeInside({ count, first }: ReusedInside): string {
  const [results, one] = count === 1 ? ['1 result', 'that call'] : [`${count} results`, 'the first of these calls'];
  return `${results} inside it ${count === 1 ? 'is' : 'are'} reused; to execute ${one} as well: --resume ${shellWords([first])}`;
}

/** Every predicted call with a result is reused, but for those around a call that failed. calls.md 15.5. */
function describeFailed({ predicted, again, unresolved, unjudged, notExecuted }: InvalidationImpact): string {
  const reuses = predicted - again;
  const reused = `${reuses} ${reuses === 1 ? 'result is' : 'results are'} reused`;
  if (unresolved + again + notExecuted === 0) return `no call is without a result; ${reused}`;
  const around = again === 0 ? '' : `, and ${again} again that ${again === 1 ? 'has' : 'have'} such a call inside`;
  const behind =
    notExecuted === 0 ? '' : `, and so will ${notExecuted} that ${notExecuted === 1 ? 'was' : 'were'} not executed because of failed ones`;
  const executed = unresolved - unjudged;
  const without = `${executed} ${executed === 1 ? 'call has' : 'calls have'} no result and will be executed`;
  const judged =
    unjudged === 0
      ? ''
      : `; guards judge the ${unjudged === 1 ? 'result' : 'results'} of ${unjudged} more, which ${unjudged === 1 ? 'is' : 'are'} paid for`;
  return `${without}${around}${behind}${judged}; ${reused}`;
}
