/**
 * Answers requests about all runs of the project: lists, costs, waiting questions, and what the store of a team has beside runs. Reads the
 * queries of requests; `src/api/team` does the rest.
 */
import type { JournalStore, RunFile } from '../../journal/store.js';
import type { Project } from '../api/pipeline-runs.js';
import { filterRuns, pageOfRuns, withTheirWorkers, type RunFilter, type RunPage } from '../api/team/filter-runs.js';
import { readStoreActivity, type StoreActivity } from '../api/team/store-activity.js';
import { createTeamCosts, type TeamCosts } from '../api/team/team-costs.js';
import { createTeamRuns, questionsIn, type TeamQuestion } from '../api/team/team-runs.js';
import { messageOf } from '../errors.js';
import { HttpError } from './http-error.js';

export interface Team {
  runs(query: URLSearchParams): Promise<RunPage>;
  costs(query: URLSearchParams): Promise<TeamCosts & { readonly since: string }>;
  questions(): Promise<readonly TeamQuestion[]>;
  store(): Promise<StoreActivity>;
  /** @throws HttpError RUN_UNKNOWN */
  run(id: string): Promise<RunFile>;
}

interface TeamOptions {
  readonly store: JournalStore;
  readonly project: Project;
  readonly clock: { readonly nowMs: () => number; readonly monotonicMs: () => number };
  readonly stopping: AbortSignal;
  readonly log: (line: string) => void;
}

const DAY_MS = 24 * 3_600_000;
const LIMIT_DEFAULT = 50;
const LIMIT_MAX = 500;
const DAYS_DEFAULT = 30;
const DAYS_MAX = 3660;

export function createTeam({ store, project, clock: { nowMs, monotonicMs }, stopping, log }: TeamOptions): Team {
  const runs = createTeamRuns({ store, project, nowMs });
  const costs = createTeamCosts({
    store,
    monotonicMs,
    stopping,
    onError: (error) => log(`a run could not be counted by function: ${messageOf(error)}`),
  });
  return {
    async runs(query) {
      const page = {
        offset: numberIn(query, 'offset', 0, Number.MAX_SAFE_INTEGER),
        limit: numberIn(query, 'limit', LIMIT_DEFAULT, LIMIT_MAX),
      };
      const filter = filterIn(query, nowMs(), undefined);
      return pageOfRuns((await runs.list()).runs, filter, page);
    },
    async costs(query) {
      const filter = filterIn(query, nowMs(), DAYS_DEFAULT);
      const list = await runs.list();
      const since = new Date(filter.sinceMs ?? 0).toISOString().slice(0, 10);
      return { since, ...(await costs.costs(list, withTheirWorkers(filterRuns(list.runs, filter), list.runs))) };
    },
    questions: async () => questionsIn(await runs.list()),
    store: () => readStoreActivity(store),
    async run(id) {
      const file = [...(await runs.list()).files.values()].find(({ ref }) => ref.run === id);
      if (file) return file;
      throw new HttpError(404, 'RUN_UNKNOWN', `There is no run ${id}`, { hint: 'GET /api/team/runs lists the runs' });
    },
  };
}

const MEMBERS: readonly string[] = ['q', 'status', 'person', 'workflow', 'days', 'offset', 'limit'];

/** `days=7` are today and the six days before it, in UTC. */
function filterIn(query: URLSearchParams, nowMs: number, daysDefault: number | undefined): RunFilter {
  const unknown = [...query.keys()].find((name) => !MEMBERS.includes(name));
  if (unknown !== undefined)
    throw new HttpError(400, 'REQUEST_INVALID', `There is no parameter "${unknown}"`, { hint: `use ${MEMBERS.join(', ')}` });
  const [text, person, workflow] = ['q', 'person', 'workflow'].map((name) => query.get(name) || undefined);
  const statuses = query.getAll('status').filter(Boolean);
  const days = query.has('days') ? numberIn(query, 'days', 1, DAYS_MAX) : daysDefault;
  return {
    ...(text !== undefined && { text }),
    ...(statuses.length > 0 && { statuses }),
    ...(person !== undefined && { person }),
    ...(workflow !== undefined && { workflow }),
    ...(days !== undefined && { sinceMs: Math.floor(nowMs / DAY_MS) * DAY_MS - Math.max(0, days - 1) * DAY_MS }),
  };
}

function numberIn(query: URLSearchParams, name: string, fallback: number, max: number): number {
  const text = query.get(name);
  if (text === null) return fallback;
  if (/^\d{1,15}$/.test(text) && Number(text) <= max) return Number(text);
  throw new HttpError(400, 'REQUEST_INVALID', `${name}=${text} is not a whole number up to ${max}`);
}
