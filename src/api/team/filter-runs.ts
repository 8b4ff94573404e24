/** Picks of the runs of a project those that a reader wants to see, a page at a time, and names what there is to choose from. */
import { startOf } from '../../../journal/ids.js';
import type { TeamRun } from './team-runs.js';

/** A member that is absent picks all. */
export interface RunFilter {
  /** Words; each has to occur in the name or path of the workflow, the id of the run, its person, status or model. */
  readonly text?: string;
  readonly statuses?: readonly string[];
  readonly person?: string;
  readonly workflow?: string;
  /** Only runs that began at this time or later: milliseconds since 1970. */
  readonly sinceMs?: number;
}

export interface RunPage {
  readonly runs: readonly TeamRun[];
  readonly offset: number;
  /** Counts the runs that fit the filter; `total` counts all. */
  readonly matching: number;
  readonly total: number;
  /** Counts the runs that fit the rest of the filter. */
  readonly statuses: { readonly [status: string]: number };
  /** Names those of all runs, sorted. */
  readonly people: readonly string[];
  readonly workflows: readonly string[];
}

export function filterRuns(runs: readonly TeamRun[], filter: RunFilter): readonly TeamRun[] {
  const isWanted = predicateOf(filter);
  return runs.filter(isWanted);
}

/** Adds the runs of workers that served these: what they executed is part of what these runs did, whatever else is filtered. */
export function withTheirWorkers(chosen: readonly TeamRun[], all: readonly TeamRun[]): readonly TeamRun[] {
  const known = new Set(chosen.map(({ run }) => run));
  return all.filter(({ run, serves }) => known.has(run) || (serves !== null && known.has(serves)));
}

export function pageOfRuns(runs: readonly TeamRun[], filter: RunFilter, { offset, limit }: { offset: number; limit: number }): RunPage {
  const { statuses: wanted, ...rest } = filter;
  const near = filterRuns(runs, rest);
  const matching = wanted === undefined ? near : filterRuns(near, { statuses: wanted });
  const statuses: { [status: string]: number } = {};
  for (const { status } of near) statuses[status] = (statuses[status] ?? 0) + 1;
  return {
    runs: matching.slice(offset, offset + limit),
    offset,
    matching: matching.length,
    total: runs.length,
    statuses,
    people: namesOf(runs, ({ person }) => person),
    workflows: namesOf(runs, ({ workflow }) => workflow),
  };
}

function namesOf(runs: readonly TeamRun[], name: (run: TeamRun) => string): readonly string[] {
  return [...new Set(runs.map(name))].filter((each) => each !== '').sort();
}

function predicateOf({ text = '', statuses, person, workflow, sinceMs }: RunFilter): (run: TeamRun) => boolean {
  const words = text.toLowerCase().split(/\s+/).filter(Boolean);
  return (run) =>
    (statuses === undefined || statuses.includes(run.status)) &&
    (person === undefined || run.person === person) &&
    (workflow === undefined || run.workflow === workflow) &&
    (sinceMs === undefined || startOf(run.run) >= sinceMs) &&
    (words.length === 0 || hasAll(run, words));
}

function hasAll({ script, workflow, run, person, status, model }: TeamRun, words: readonly string[]): boolean {
  const text = [script, workflow, run, person, status, model ?? ''].join('\n').toLowerCase();
  return words.every((word) => text.includes(word));
}
