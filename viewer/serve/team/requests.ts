/** Keeps what the page of the team shows in its address, and names the requests for it. The token is in neither. */
import type { RunPage } from '../../../src/api/team/filter-runs.js';
import type { StoreActivity } from '../../../src/api/team/store-activity.js';
import type { TeamCosts } from '../../../src/api/team/team-costs.js';
import type { TeamQuestion } from '../../../src/api/team/team-runs.js';

export interface Shown {
  readonly q: string;
  readonly status: string;
  readonly person: string;
  readonly workflow: string;
  readonly days: string;
  readonly offset: number;
}

export type Costs = TeamCosts & { readonly since: string };

export interface Overview {
  readonly costs: Costs;
  readonly questions: readonly TeamQuestion[];
  readonly store: StoreActivity;
}

export type Read = <T>(path: string, signal: AbortSignal) => Promise<T>;

const DAYS_DEFAULT = '30';
export const PAGE_ROWS = 50;

export function shownIn(search: string): Shown {
  const query = new URLSearchParams(search);
  const text = (name: string, fallback = ''): string => query.get(name) ?? fallback;
  const offset = Number(text('offset', '0'));
  return {
    q: text('q'),
    status: text('status'),
    person: text('person'),
    workflow: text('workflow'),
    days: /^[1-9]\d{0,2}$/.test(text('days')) ? text('days') : DAYS_DEFAULT,
    offset: Number.isSafeInteger(offset) && offset > 0 ? offset : 0,
  };
}

/** Leaves out what is usual. */
export function searchOf({ offset, days, ...texts }: Shown): string {
  const query = new URLSearchParams(Object.entries(texts).filter(([, text]) => text !== ''));
  if (days !== DAYS_DEFAULT) query.set('days', days);
  if (offset > 0) query.set('offset', String(offset));
  return query.size === 0 ? '' : `?${query.toString()}`;
}

export function readRuns(read: Read, shown: Shown, signal: AbortSignal): Promise<RunPage> {
  const query = filterOf(shown);
  query.set('offset', String(shown.offset));
  query.set('limit', String(PAGE_ROWS));
  return read(`runs?${query.toString()}`, signal);
}

export async function readOverview(read: Read, shown: Shown, signal: AbortSignal): Promise<Overview> {
  const [costs, questions, store] = await Promise.all([
    read<Costs>(`costs?${filterOf(shown).toString()}`, signal),
    read<readonly TeamQuestion[]>('questions', signal),
    read<StoreActivity>('store', signal),
  ]);
  return { costs, questions, store };
}

function filterOf({ offset: _offset, ...texts }: Shown): URLSearchParams {
  return new URLSearchParams(Object.entries(texts).filter(([, text]) => text !== ''));
}
