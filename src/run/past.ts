/**
 * Opens what earlier runs left, and says what this run makes of it: forks, `--fresh`, `--resume`. Decided before the run begins, so
 * that a target that can't be resolved leaves no trace.
 */
import type { Fact } from '../../journal/event.js';
import type { RunId, Seq, Workflow } from '../../journal/ids.js';
import { isRunId } from '../../journal/ids.js';
import type { Defect, JournalStore } from '../../journal/store.js';
import { askedAgain, type Declarations } from '../../replay/invalidation.js';
import { loadWorkflow, resolveTarget, withoutPast, type WorkflowPast } from '../../replay/load.js';
import type { Lender } from '../../replay/overlay.js';
import { parseSelector } from '../../replay/selector.js';
import { MlldError } from '../errors.js';
import { resolveWorkflow, type Project } from '../project.js';
import type { CacheRequest } from '../run-options.js';

export interface OpenedPast {
  readonly past: WorkflowPast;
  readonly forks: readonly (Lender & { readonly run?: RunId; readonly seq?: Seq })[];
  /** What the new run says first: the memo as it will be used follows from these. */
  readonly facts: readonly Fact[];
  /** For stderr. */
  readonly notices: readonly string[];
}

export interface PastRequest {
  readonly store: JournalStore;
  readonly project: Project;
  readonly workflow: Workflow;
  readonly cache: CacheRequest;
  readonly declarations: Declarations;
  readonly onDefect: (defect: Defect) => void;
}

export async function openPast({ store, project, workflow, cache, declarations, onDefect }: PastRequest): Promise<OpenedPast> {
  const forks = [];
  for (const text of cache.forks ?? []) forks.push(await openFork(text, { store, project, workflow, onDefect }));
  const loaded = await loadWorkflow(store, workflow, { onDefect });
  const isFresh = cache.fresh === true;
  const past = isFresh ? { ...withoutPast(loaded), covered: loaded.covered } : loaded;
  const facts: Fact[] = isFresh ? [{ type: 'memo.reset', reason: 'fresh' }] : [];
  const notices: string[] = [];
  if (cache.resume !== undefined && cache.resume !== '') {
    const selector = parseSelector(cache.resume);
    const invalidation = await resolveTarget(store, selector, { past, forks: forks.map(({ memo }) => memo), declarations, onDefect });
    if (invalidation.notice !== undefined) notices.push(invalidation.notice);
    const { keys, borrowedKeys } = invalidation;
    if (keys.length > 0) facts.push({ type: 'memo.invalidated', selector: cache.resume, keys });
    if (borrowedKeys.length > 0) facts.push({ type: 'memo.invalidated', selector: cache.resume, keys: borrowedKeys, borrowed: true });
    const again = askedAgain(invalidation);
    const usable = [...past.memo.questions.values()].filter(({ answer }) => answer !== undefined).length;
    if (again > 0) notices.push(`--resume ${cache.resume}: ${again} of ${Math.max(usable, again)} calls will run again`);
  }
  return { past, forks, facts, notices };
}

/** `other`, `other@run`, `other@run:seq` */
const FORK = /^(?<name>.+?)(?:@(?<run>[0-9a-z-]+)(?::(?<seq>\d+))?)?$/;

async function openFork(
  text: string,
  { store, project, workflow, onDefect }: Omit<PastRequest, 'cache' | 'declarations'>,
): Promise<Lender & { run?: RunId; seq?: Seq }> {
  const { name = text, run, seq } = FORK.exec(text)?.groups ?? {};
  const source = await resolveWorkflow(store, project, name);
  if (source === workflow) throw new MlldError('FORK_SELF', `--fork ${text}: a script can't fork from itself`);
  if (run !== undefined && !isRunId(run)) throw new MlldError('FORK_RUN', `--fork ${text}: ${run} is not the id of a run`);
  const until = run === undefined ? undefined : { run: run as RunId, ...(seq === undefined ? {} : { seq: Number(seq) as Seq }) };
  const past = source && (await loadWorkflow(store, source, { onDefect, ...(until && { until }) }));
  if (!source || !past || past.runs.length === 0) {
    throw new MlldError('FORK_UNKNOWN', `--fork ${text}: no recorded run of ${name}`, {
      hint: `record one first: mlld run ${name} --checkpoint`,
    });
  }
  return { workflow: source, memo: past.memo, ...until };
}
