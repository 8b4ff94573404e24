/** `--plan`: predicts which calls a run with these flags would execute, and which results it would reuse. Writes and executes nothing. */
import type { Workflow } from '../../../journal/ids.js';
import type { JournalStore } from '../../../journal/store.js';
import { sha256 } from '../../../journal/canonical.js';
import { sealingSecrets } from '../../../journal/secrets/sealing.js';
import { foldRun } from '../../../replay/fold/fold-run.js';
import { latestRun } from '../../../replay/resume/latest-run.js';
import { planRun, type Plan, type PlanFacts } from '../../../replay/resume/plan.js';
import { cachePolicy, type ResumeMode } from '../../../replay/memo/policy.js';
import type { Cost } from '../../calls/budget/budget.js';
import { DEFAULT_CALL_SETTINGS } from '../../calls/options.js';
import { workflowFor } from '../project.js';
import type { CacheRequest, RunOptions } from './run-options.js';
import { withoutOwnSecrets } from '../../world/own-secrets.js';
import { sealingKeyFor } from '../ports/sealing-key.js';
import { createLiveWorld } from '../../world/live.js';
import { callSettings, headerBudget } from './call-settings.js';
import { changedInputs } from './plan/changed-inputs.js';
import { aheadIn, comparedRuns, isCompleted, withEarlierCosts } from './plan/estimate-facts.js';
import { currentDefinitions, type ScriptDefinition } from './current-definitions.js';
import { declarationsOf } from './declarations.js';
import { openScript } from './open-script.js';
import { learnedPace } from './learned-pace.js';
import { budgetVerdict, type BudgetVerdict } from './plan/plan-budget.js';
import { outdatedResults } from './plan/planned-outputs.js';
import { unfitResults } from './unfit-results.js';
import { openPriorRuns } from '../ports/prior-runs.js';
import { readOnlyStore } from '../ports/read-only-store.js';
import { writtenScopes } from './written-scopes.js';

export interface RunPlan extends Plan {
  readonly workflow: Workflow;
  readonly name: string;
  /** The flags that the plan assumes: `--checkpoint` if neither the command line nor the script has any. */
  readonly flags: CacheRequest;
  /** True if a run with these flags records its results. */
  readonly records: boolean;
  /** True if it reuses results of earlier runs. */
  readonly reuses: boolean;
  /** The target of `--resume`, if it has one. */
  readonly resume: string | null;
  /** The id of the last recorded run. */
  readonly lastRun: string | null;
  /** Counts the runs that say which calls are predicted: the last one, and those before it back to one that completed. */
  readonly comparedRuns: number;
  /** A recorded run reached its end: else calls are left out that none has made yet. */
  readonly isWhole: boolean;
  /** Lists files, relative to the project, that were changed since the last run read them: no plan can count the calls they change. */
  readonly changedFiles: readonly string[];
  /** Says if the budget will do; null without one. */
  readonly budget: BudgetVerdict | null;
  /** Lines that the run would write to stderr before it starts. */
  readonly notices: readonly string[];
}

/** `options.script` must be a file. Throws the errors with which a run with these options would not start. */
export async function planScript(options: RunOptions, store: JournalStore): Promise<RunPlan> {
  const { script: source, project, io } = options;
  if (source.kind !== 'file') throw new Error('only a file has a record');
  const world = createLiveWorld({ ...io, environment: withoutOwnSecrets(options.environment), signal: options.signal });
  try {
    const { script, module } = await openScript(options, world);
    const workflow = workflowFor(project, source.path);
    const sealingKey = await sealingKeyFor(options, world);
    const secrets = sealingKey instanceof Uint8Array ? sealingSecrets(sealingKey) : await store.knownSecrets();
    const cache = assumedFlags(options.cache, script.resume);
    const readOnly = readOnlyStore(store);
    const opened = await openPriorRuns({
      store: readOnly,
      project: { ...project, workingDirectory: options.workingDirectory },
      workflow,
      cache,
      declarations: declarationsOf(script),
      onDefect: () => undefined,
    });
    const { loaded, forks, notices, advice, selected, invalidations } = opened;
    const lastFile = loaded.runs.at(-1);
    const last = lastFile?.ref;
    const policy = cachePolicy({ flags: cache, header: script.resume, scope: undefined });
    const current = await currentDefinitions({
      script,
      module,
      options,
      world,
      keyed: async (text) => secrets?.digest(text) ?? sha256(text),
    });
    const keepsFiles = (project.config.calls?.files ?? DEFAULT_CALL_SETTINGS.files).keep;
    const memos = [{ workflow, memo: loaded.memo }, ...forks];
    const facts: PlanFacts = {
      before: loaded,
      forks,
      invalidatedKeys: selected.keys,
      invalidatedForkedKeys: selected.forkedKeys,
      flags: cache,
      header: script.resume,
      scopes: writtenScopes(script),
      nowMs: io.nowMs(),
      latest: last && (await foldRun(store, last, latestRun)),
      ahead: await aheadIn(store, loaded),
      current,
      outdated: await outdatedResults({
        store: readOnly,
        world,
        root: project.root,
        keepsNewer: cache.keepFiles === true,
        keepsFiles,
        current,
        memos,
      }),
      unfit: await unfitResults({ store: readOnly, root: project.root, nowMs: io.nowMs(), current, memos }),
    };
    const changedFiles = last && policy.reuses !== 'no' ? await changedInputs(readOnly, last, { world, root: project.root }) : [];
    const planned = await withEarlierCosts(store, loaded.runs, (earlierCosts) => planRun({ ...facts, earlierCosts }));
    const { executes, estimate: ofCalls, ...report } = planned;
    const estimate = ofCalls && { ...ofCalls, isPart: ofCalls.isPart || changedFiles.length > 0 };
    const isWhole = loaded.runs.some(isCompleted);
    const limits = callSettings(options, headerBudget(script, module)).budget;
    const expected = estimate && executes && { estimate, executes };
    const budget =
      limits &&
      budgetVerdict(
        limits,
        expected && {
          ...expected,
          history: (await learnedPace(store, workflow, { current: undefined, nowMs: io.nowMs(), listed: loaded.runs, reserves: true }))
            .costs,
          maxCosts: maxCostsIn(current),
          isWhole,
        },
      );
    return {
      workflow,
      name: options.name,
      flags: { ...cache },
      records: policy.records,
      reuses: policy.reuses !== 'no',
      resume: cache.resume === undefined || cache.resume === '' ? null : cache.resume,
      lastRun: last?.run ?? null,
      comparedRuns: comparedRuns(loaded.runs),
      isWhole,
      changedFiles,
      budget: budget ?? null,
      // The report itself counts what is invalidated.
      notices: [...(invalidations.some(({ type }) => type === 'memo.invalidated') ? [] : notices), ...advice],
      ...report,
      estimate,
    };
  } finally {
    await world.close('the plan is made');
  }
}

function maxCostsIn(current: ReadonlyMap<string, readonly ScriptDefinition[]>): ReadonlyMap<string, Cost> {
  const declared = [...current].map(
    ([fn, definitions]) => [fn, definitions.find(({ options }) => options?.maxCost)?.options?.maxCost] as const,
  );
  return new Map(declared.flatMap(([fn, cost]) => (cost ? [[fn, cost]] : [])));
}

/** A run without any flag reuses nothing, which needs no plan: `--checkpoint` is assumed. */
function assumedFlags(cache: CacheRequest, header: ResumeMode | undefined): CacheRequest {
  const isBare = cachePolicy({ flags: cache, header, scope: undefined }).reuses === 'no';
  return isBare && header === undefined ? { ...cache, checkpoint: true } : cache;
}
