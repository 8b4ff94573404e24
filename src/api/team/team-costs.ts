/**
 * Adds up what the runs of a project did and cost: by day, by person, by workflow, and by function.
 *
 * COSTS-1 Days, people and workflows are known from the last events of runs. For functions every event of a run is read, once, the latest
 *         runs first: `pending` says how many are still to be read, which continues between requests.
 * COSTS-2 After each run that was read the reader rests for as long: runs have priority.
 * COSTS-3 A call that a worker executed counts once. Where it has a result, the run of the worker counts, which has its price, and not the
 *         reuse in the run that offered it; where it failed, the run that offered it, which knows whether the failure was accepted.
 */
import { sumUsd } from '../../../journal/facts/add-usd.js';
import type { RunId, Workflow } from '../../../journal/ids.js';
import type { JournalStore, RunFile } from '../../../journal/store.js';
import {
  followFigures,
  keepFigures,
  readKeptFigures,
  type AddedCounts,
  type KeptFigures,
} from '../../../replay/reports/team/run-figures.js';
import { readSalvaged } from '../../../replay/fold/calls/salvaged-attempts.js';
import { lengthOf, type TeamList, type TeamRun } from './team-runs.js';

type Counts = Omit<AddedCounts, 'atWorkers'>;
type Sums = Counts & { readonly runs: number };

/** Costs in US dollars, null where nothing was priced. */
export interface TeamCosts {
  readonly total: Sums;
  /** By the day on which runs began, UTC; oldest first. */
  readonly days: readonly (Sums & { readonly day: string })[];
  /** The most expensive first, as in the two lists below. */
  readonly people: readonly (Sums & { readonly person: string })[];
  readonly workflows: readonly (Sums & { readonly workflow: Workflow; readonly script: string })[];
  readonly functions: readonly (Sums & { readonly fn: string })[];
  /** The runs whose calls are not in `functions` yet. COSTS-1 */
  readonly pending: number;
}

export interface TeamCostsReader {
  /** `listed` are the runs of the list that a filter leaves. */
  costs(list: TeamList, listed: readonly TeamRun[]): Promise<TeamCosts>;
  /** Resolves when nothing is read any more. */
  idle(): Promise<void>;
}

interface CostsOptions {
  readonly store: JournalStore;
  readonly monotonicMs: () => number;
  /** Called when a run can't be read. */
  readonly onError: (error: unknown) => void;
  /** Aborted when the reader has to end. */
  readonly stopping: AbortSignal;
}

/** The file of a workflow is not written for fewer runs, and at the latest after the second number of them. */
const KEPT_AFTER = 20;
const KEPT_EACH = 200;
const REST_MS_MAX = 2000;
/** The statuses of records in which a command put its event: no workflow ran, so that each of them would be a run too many. */
const RECORDS: ReadonlySet<TeamRun['status']> = new Set(['cleaned', 'rejected', 'restored']);

export function createTeamCosts({ store, monotonicMs, onError, stopping }: CostsOptions): TeamCostsReader {
  const kept = new Map<Workflow, KeptFigures>();
  const unsaved = new Map<Workflow, number>();
  /** Damaged or gone, by their lengths. */
  const unreadable = new Map<RunId, number>();
  let present: TeamList['files'] = new Map();
  let salvageRuns: TeamList['salvageRuns'] = new Map();
  /** The latest one last. */
  let waiting: RunFile[] = [];
  let working: Promise<void> | undefined;

  async function keptOf(workflow: Workflow): Promise<KeptFigures> {
    const known = kept.get(workflow) ?? (await readKeptFigures(store, workflow));
    kept.set(workflow, known);
    return known;
  }

  const salvageRunsOf = (run: RunId): readonly RunFile[] => salvageRuns.get(run) ?? [];

  /** FIGURES-2 */
  const wholeLength = (file: RunFile): number => lengthOf([file, ...salvageRunsOf(file.ref.run)]);

  function isMissing(file: RunFile): boolean {
    const { run, workflow } = file.ref;
    const bytes = wholeLength(file);
    return kept.get(workflow)?.get(run)?.bytes !== bytes && unreadable.get(run) !== bytes;
  }

  async function work(): Promise<void> {
    for (let file = waiting.pop(); file !== undefined && !stopping.aborted; file = waiting.pop()) {
      if (!isMissing(file)) continue;
      const sinceMs = monotonicMs();
      await measure(file).catch(onError);
      const restMs = Math.min(REST_MS_MAX, monotonicMs() - sinceMs);
      await new Promise((resolve) => setTimeout(resolve, restMs).unref()); // COSTS-2
    }
    for (const [workflow, count] of unsaved) if (count >= KEPT_AFTER) await save(workflow);
  }

  async function measure(file: RunFile): Promise<void> {
    const { run, workflow } = file.ref;
    const bytes = wholeLength(file);
    unreadable.set(run, bytes);
    const salvaged = await readSalvaged(store, salvageRunsOf(run));
    const figures = await followFigures(store, { run, workflow }).figures(file.liveness, salvaged);
    unreadable.delete(run);
    (await keptOf(workflow)).set(run, { bytes, figures });
    const count = (unsaved.get(workflow) ?? 0) + 1;
    unsaved.set(workflow, count);
    if (count >= KEPT_EACH) await save(workflow);
  }

  async function save(workflow: Workflow): Promise<void> {
    unsaved.delete(workflow);
    const figures = await keptOf(workflow);
    for (const run of figures.keys()) if (!present.has(run)) figures.delete(run);
    await keepFigures(store, workflow, figures);
  }

  return {
    async costs({ files, salvageRuns: salvaging, inFlight }, listed) {
      present = files;
      salvageRuns = salvaging;
      const runs = listed.filter(({ status }) => !RECORDS.has(status));
      for (const workflow of new Set(runs.map((run) => run.workflow))) await keptOf(workflow);
      const over = runs.flatMap(({ run, status }) => (status === 'unreadable' || inFlight.has(run) ? [] : (files.get(run) ?? [])));
      const missing = over.filter(isMissing);
      waiting = missing.toReversed();
      if (missing.length > 0) working ??= work().finally(() => (working = undefined));
      const ofFunctions = runs.flatMap(({ run, workflow, status, isServing }) => {
        const figures = inFlight.get(run) ?? kept.get(workflow)?.get(run)?.figures;
        return Object.entries(figures?.functions ?? {}).map(([fn, counts]) => ({ ...counts, fn, status, isServing }));
      });
      return {
        total: sumOf(runs),
        days: sumsBy(runs, ({ started }) => started.slice(0, 10))
          .map(([day, sums]) => ({ day, ...sums }))
          .sort((one, other) => (one.day < other.day ? -1 : 1)),
        people: sumsBy(runs, ({ person }) => person)
          .map(([person, sums]) => ({ person, ...sums }))
          .sort(byCost),
        workflows: sumsBy(runs, ({ workflow }) => workflow)
          .map(([workflow, sums, [first]]) => ({ workflow, script: first.script, ...sums }))
          .sort(byCost),
        functions: sumsBy(ofFunctions, ({ fn }) => fn)
          .map(([fn, sums]) => ({ fn, ...sums }))
          .sort(byCost),
        pending: missing.length,
      };
    },
    idle: async () => working,
  };
}

function byCost(one: Sums, other: Sums): number {
  return (other.costUsd ?? 0) - (one.costUsd ?? 0) || other.executed + other.reused - one.executed - one.reused;
}

/** In one pass; with the items of each group, of which there is one at least. */
function sumsBy<Item extends Added, Key>(
  items: readonly Item[],
  keyOf: (item: Item) => Key,
): readonly (readonly [Key, Sums, readonly [Item, ...Item[]]])[] {
  const groups = new Map<Key, [Item, ...Item[]]>();
  for (const item of items) {
    const group = groups.get(keyOf(item));
    if (group === undefined) groups.set(keyOf(item), [item]);
    else group.push(item);
  }
  return [...groups].map(([key, group]) => [key, sumOf(group), group] as const);
}

type Added = AddedCounts & Pick<TeamRun, 'status' | 'isServing'>;

function sumOf(items: readonly Added[]): Sums {
  const sums = { runs: 0, executed: 0, reused: 0, failed: 0, unresolved: 0, costUsd: null, unpriced: 0, savedUsd: null } as {
    -readonly [Member in keyof Sums]: Sums[Member];
  };
  for (const { executed, reused, atWorkers, failed, unresolved, costUsd, unpriced, savedUsd, status, isServing } of items) {
    if (!isServing) sums.runs += 1;
    sums.executed += executed;
    sums.reused += reused - atWorkers; // COSTS-3
    if (status !== 'worker') {
      sums.failed += failed;
      sums.unresolved += unresolved;
    }
    sums.unpriced += unpriced;
    sums.costUsd = sumUsd(sums.costUsd, costUsd);
    sums.savedUsd = sumUsd(sums.savedUsd, savedUsd);
  }
  return sums;
}
