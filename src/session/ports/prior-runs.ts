/**
 * Opens what earlier runs left, and says what this run makes of it: forks, `--fresh`, `--resume`. Decided before the run begins, so
 * that a target that can't be resolved leaves no trace.
 */
import type { FactOf } from '../../../journal/event.js';
import type { RunId, Seq, Workflow } from '../../../journal/ids.js';
import type { Defect, JournalStore } from '../../../journal/store.js';
import { invalidationImpact, type Dropped } from '../../../replay/resume/predict-calls.js';
import type { Declarations } from '../../../replay/resume/invalidation.js';
import { loadWorkflow, withoutPriorRuns, type PriorRuns } from '../../../replay/memo/load.js';
import { resolveTarget } from '../../../replay/resume/resolve-target.js';
import type { ForkSource } from '../../../replay/memo/overlay.js';
import { parseSelector } from '../../../replay/resume/selector.js';
import { MlldError } from '../../errors.js';
import { isPath, resolveWorkflow, type WorkingProject } from '../project.js';
import { pickRun } from '../recorded-run.js';
import type { CacheRequest } from '../script/run-options.js';

/** A source of borrowed results: all of its runs, or up to one of them, or up to one event of that. */
export interface Fork extends ForkSource {
  readonly run?: RunId;
  readonly seq?: Seq;
}

/** What takes answers away. */
export type InvalidationFact = FactOf<'memo.reset' | 'memo.invalidated'>;

export interface OpenedPriorRuns {
  /** As it was found. */
  readonly loaded: PriorRuns;
  /** As this run takes it: `--fresh` leaves nothing of it. */
  readonly usable: PriorRuns;
  readonly forks: readonly Fork[];
  /** What the new run says first: the memo as it will be used follows from these. */
  readonly invalidations: readonly InvalidationFact[];
  /** For stderr. */
  readonly notices: readonly string[];
}

export interface PriorRunsRequest {
  readonly store: JournalStore;
  readonly project: WorkingProject;
  readonly workflow: Workflow;
  readonly cache: CacheRequest;
  readonly declarations: Declarations;
  readonly onDefect: (defect: Defect) => void;
}

export async function openPriorRuns({
  store,
  project,
  workflow,
  cache,
  declarations,
  onDefect,
}: PriorRunsRequest): Promise<OpenedPriorRuns> {
  const forks = [];
  for (const text of cache.forks ?? []) forks.push(await openFork(text, { store, project, workflow, onDefect }));
  const loaded = await loadWorkflow(store, workflow, { onDefect });
  const isFresh = cache.fresh === true;
  const past = isFresh ? withoutPriorRuns(loaded) : loaded;
  const drops: InvalidationFact[] = isFresh ? [{ type: 'memo.reset', reason: 'fresh' }] : [];
  const notices: string[] = [];
  if (cache.resume !== undefined && cache.resume !== '') {
    const selector = parseSelector(cache.resume);
    const invalidation = await resolveTarget(store, selector, { past, forks: forks.map(({ memo }) => memo), declarations, onDefect });
    if (invalidation.notice !== undefined) notices.push(invalidation.notice);
    const { keys, borrowedKeys } = invalidation;
    if (keys.length > 0) drops.push({ type: 'memo.invalidated', selector: cache.resume, keys });
    if (borrowedKeys.length > 0) drops.push({ type: 'memo.invalidated', selector: cache.resume, keys: borrowedKeys, borrowed: true });
    if (keys.length + borrowedKeys.length > 0) {
      const sources = forks.map(({ memo }) => memo);
      notices.push(
        `--resume ${cache.resume}: ${describeImpact(invalidationImpact(invalidation, { asker: loaded.memo, own: past.memo, sources }))}`,
      );
    }
  }
  return { loaded, usable: past, forks, invalidations: drops, notices };
}

function describeImpact({ again, coming, beyond, unanswered }: Dropped): string {
  const open = unanswered === 0 ? '' : `; ${unanswered} more ${unanswered === 1 ? 'has' : 'have'} no answer yet`;
  const others =
    beyond === 0
      ? ''
      : `; ${beyond} more ${beyond === 1 ? 'answer is' : 'answers are'} dropped and not needed: inside calls that are served, or not asked for lately`;
  return `${again} of ${coming} ${coming === 1 ? 'call' : 'calls'} will run again${open}${others}`;
}

/** `other`, `other@run`, `other@run:seq`; the run by its id, a unique beginning of it, `latest` or how many back. */
const FORK = /^(?<name>.+?)(?:@(?<run>[0-9a-z-]+)(?::(?<seq>\d{1,15}))?)?$/;

async function openFork(
  text: string,
  { store, project, workflow, onDefect }: Omit<PriorRunsRequest, 'cache' | 'declarations'>,
): Promise<Fork> {
  const { name = text, run, seq } = FORK.exec(text)?.groups ?? {};
  const source = await resolveWorkflow(store, project, name);
  if (source === workflow) throw new MlldError('FORK_SELF', `--fork ${text}: a script can't fork from itself`);
  const past = source && (await loadWorkflow(store, source, { onDefect }));
  if (!source || !past || past.runs.length === 0) {
    if (name.indexOf('@') > 0) throw malformedFork(text, name);
    throw new MlldError('FORK_UNKNOWN', `--fork ${text}: no recorded run of ${name}`, {
      hint: `record one first: mlld ${isPath(name) ? name : `run ${name}`} --checkpoint`,
    });
  }
  if (run === undefined) return { workflow: source, memo: past.memo, definitions: past.definitions };
  const until = { run: forkedRun(text, run, past), ...(seq === undefined ? {} : { seq: Number(seq) as Seq }) };
  refuseSeqPastEnd(text, until, past);
  const { memo, definitions } = await loadWorkflow(store, source, { onDefect, until });
  return { workflow: source, memo, definitions, ...until };
}

/** What `FORK` doesn't read, and no script is called like. */
function malformedFork(text: string, name: string): MlldError {
  const script = name.slice(0, name.indexOf('@'));
  return new MlldError('FORK_RUN', `--fork ${text}: what stands behind @ names no run`, {
    hint: `${script}@latest, ${script}@2, ${script}@20261121-1049; up to an event of it: ${script}@RUN:17`,
  });
}

/** One of the runs that count: what `clean` has forgotten lends nothing. */
function forkedRun(text: string, run: string, { runs, workflow }: PriorRuns): RunId {
  const found = pickRun(runs, run);
  if (found.kind === 'one') return found.run.ref.run;
  const ids = (found.kind === 'several' ? found.runs : runs).map(({ ref }) => ref.run);
  const problem = found.kind === 'several' ? `${ids.length} recorded runs begin with ${run}` : `${workflow} has no recorded run ${run}`;
  throw new MlldError('FORK_RUN', `--fork ${text}: ${problem}`, {
    hint: `the latest: ${ids.slice(-3).toReversed().join(', ')}; mlld journal list shows all`,
  });
}

/** Only a run that has ended tells how long it is; one that still goes on may get there. */
function refuseSeqPastEnd(text: string, { run, seq }: { readonly run: RunId; readonly seq?: Seq }, { runs }: PriorRuns): void {
  const last = runs.find(({ ref }) => ref.run === run)?.finished?.seq;
  if (seq === undefined || last === undefined || seq <= last) return;
  throw new MlldError('FORK_RUN', `--fork ${text}: run ${run} ends with event ${last}`, {
    hint: `mlld journal show ${run} numbers the events`,
  });
}
