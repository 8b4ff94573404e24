/** `--plan`: predicts which calls a run with these flags would execute, and which results it would reuse. Writes and executes nothing. */
import type { Workflow } from '../../../journal/ids.js';
import type { JournalStore } from '../../../journal/store.js';
import type { FactOf } from '../../../journal/event.js';
import { sha256 } from '../../../journal/canonical.js';
import { sealingSecrets } from '../../../journal/secrets/sealing.js';
import { foldRun } from '../../../replay/fold/fold-run.js';
import { latestRun } from '../../../replay/resume/latest-run.js';
import { planRun, type Plan } from '../../../replay/resume/plan.js';
import { cachePolicy, type ResumeMode } from '../../../replay/memo/policy.js';
import { workflowFor } from '../project.js';
import type { CacheRequest, RunOptions } from './run-options.js';
import { sealingKeyFor, withoutSealingKey } from '../ports/sealing-key.js';
import { createLiveWorld } from '../../world/live.js';
import { currentDefinitions } from './current-definitions.js';
import { declarationsOf } from './declarations.js';
import { openScript } from './open-script.js';
import { outdatedResults } from './planned-outputs.js';
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
  /** Lines that the run would write to stderr before it starts. */
  readonly notices: readonly string[];
}

/** `options.script` must be a file. Throws the errors with which a run with these options would not start. */
export async function planScript(options: RunOptions, store: JournalStore): Promise<RunPlan> {
  const { script: source, project, io } = options;
  if (source.kind !== 'file') throw new Error('only a file has a record');
  const world = createLiveWorld({ ...io, environment: withoutSealingKey(options.environment), signal: options.signal });
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
    const { loaded, forks, notices } = opened;
    const last = loaded.runs.at(-1)?.ref;
    const invalidations = opened.invalidations.filter((fact): fact is FactOf<'memo.invalidated'> => fact.type === 'memo.invalidated');
    const policy = cachePolicy({ flags: cache, header: script.resume, scope: undefined });
    const current = await currentDefinitions({
      script,
      module,
      options,
      world,
      keyed: async (text) => secrets?.digest(text) ?? sha256(text),
    });
    const memos = [{ workflow, memo: loaded.memo }, ...forks];
    const report = planRun({
      before: loaded,
      forks,
      invalidatedKeys: new Set(invalidations.filter(({ borrowed }) => borrowed !== true).flatMap(({ keys }) => keys)),
      invalidatedForkedKeys: new Set(invalidations.filter(({ borrowed }) => borrowed === true).flatMap(({ keys }) => keys)),
      flags: cache,
      header: script.resume,
      scopes: writtenScopes(script),
      nowMs: io.nowMs(),
      latest: last && (await foldRun(store, last, latestRun)),
      current,
      outdated: await outdatedResults({ store: readOnly, world, root: project.root, keepsNewer: cache.keepFiles === true, current, memos }),
    });
    return {
      workflow,
      name: options.name,
      flags: { ...cache },
      records: policy.records,
      reuses: policy.reuses !== 'no',
      resume: cache.resume === undefined || cache.resume === '' ? null : cache.resume,
      lastRun: last?.run ?? null,
      notices: invalidations.length === 0 ? notices : [], // the report itself counts what is invalidated
      ...report,
    };
  } finally {
    await world.close('the plan is made');
  }
}

/** A run without any flag reuses nothing, which needs no plan: `--checkpoint` is assumed. */
function assumedFlags(cache: CacheRequest, header: ResumeMode | undefined): CacheRequest {
  const isBare = cachePolicy({ flags: cache, header, scope: undefined }).reuses === 'no';
  return isBare && header === undefined ? { ...cache, checkpoint: true } : cache;
}
