/**
 * Makes anew what the store derives from its journals: which result of a call is used, what shared budgets have spent; and frees the calls
 * that the dead have claimed or offered. What lanes have learned is emptied, and learned anew. team-store.md 4.2, 12, I5.
 *
 * REBUILD-1 All of it is one transaction: a kill at any statement leaves everything as it was. A dry run ends it without a commit.
 * REBUILD-2 The usable result of a call is used that no `call.superseded` names and no other one has replaced. If several are left, as
 *    after `journal gc` of the run that had replaced one, it is that of the run that sorts last.
 * REBUILD-3 Nothing is changed while a run of the project is in flight. One that begins meanwhile keeps its claims and reservations, and
 *    its results compete behind the transaction.
 * REBUILD-4 An attempt that holds a reservation counts in a budget with what its end says. One without an end counts with what it had
 *    reserved, because it may have been paid; one that was withdrawn counts nothing. A day or a month counts the attempts that ended in
 *    it, by the time in their lines; one without such a time counts in budgets alone that have no period.
 * REBUILD-5 A damaged line (DAMAGED-LINES-1) counts as one that is not there, and the report names its run. No run could read the result
 *    in it, so an older one of the call is used where there is one.
 */
import type { RunId, RunRef, Workflow } from '../../ids.js';
import type { Row, Sql, Transactions } from '../connection.js';
import type { BudgetPeriod, BudgetUnit } from '../limits/shared-budgets.js';

export interface RebuiltBudget {
  readonly name: string;
  readonly unit: BudgetUnit;
  readonly period: BudgetPeriod | null;
  readonly spent: number;
  /** Before; null for what SQL had made no amount of. */
  readonly spentBefore: number | null;
}

/** REBUILD-5 */
export interface DamagedRun extends RunRef {
  /** Counts the damaged ones. */
  readonly lines: number;
}

export interface RebuildReport {
  readonly dryRun: boolean;
  /** Counts the calls of the project that have a result, and those for which none, another one, or one too many was noted. */
  readonly results: { readonly total: number; readonly added: number; readonly changed: number; readonly removed: number };
  /** Claims that were freed, and offers that were removed. */
  readonly claims: number;
  readonly offers: number;
  readonly budgets: readonly RebuiltBudget[];
  readonly damagedRuns: readonly DamagedRun[];
}

export type RebuildOutcome =
  | { readonly kind: 'rebuilt'; readonly report: RebuildReport }
  /** REBUILD-3 */
  | { readonly kind: 'in flight'; readonly runs: readonly RunRef[] };

export interface RebuildOptions {
  readonly dryRun: boolean;
}

/** Ends the transaction of a dry run. */
class DryRun extends Error {
  constructor(readonly outcome: RebuildOutcome) {
    super('a dry run changes nothing');
  }
}

export async function rebuildIndex(sql: Transactions, project: string, { dryRun }: RebuildOptions): Promise<RebuildOutcome> {
  try {
    return await sql.transaction(async (transaction) => {
      const outcome = await rebuildIn(transaction, project, dryRun);
      if (dryRun) throw new DryRun(outcome);
      return outcome;
    });
  } catch (error) {
    if (error instanceof DryRun) return error.outcome;
    throw error;
  }
}

async function rebuildIn(sql: Sql, project: string, dryRun: boolean): Promise<RebuildOutcome> {
  const alive = await sql.query(IN_FLIGHT, [project]);
  if (alive.length > 0) {
    return { kind: 'in flight', runs: alive.map(({ path, run }) => ({ workflow: path as Workflow, run: run as RunId })) };
  }
  const damaged = await sql.query(DAMAGED, [project]);
  const [results] = await sql.query(RESULTS, [project]);
  const [claims] = await sql.query(DEAD_CLAIMS, [project]);
  const [offers] = await sql.query(DEAD_OFFERS, [project]);
  for (const statement of LANES) await sql.query(statement, [project]);
  await sql.query(LOCK_BUDGETS, [project]);
  const before = await sql.query(SPENT, [project]);
  await sql.query(DEAD_RESERVATIONS, [project]);
  await sql.query(BUDGETS, [project]);
  const after = await sql.query(SPENT, [project]);
  const counts = (row: Row | undefined, name: string): number => Number(row?.[name] ?? 0);
  const report: RebuildReport = {
    dryRun,
    results: {
      total: counts(results, 'total'),
      added: counts(results, 'added'),
      changed: counts(results, 'changed'),
      removed: counts(results, 'removed'),
    },
    claims: counts(claims, 'count'),
    offers: counts(offers, 'count'),
    budgets: after.map((row, n) => ({
      name: String(row['name']),
      unit: row['unit'] as BudgetUnit,
      period: (row['period'] ?? null) as BudgetPeriod | null,
      spent: Number(row['spent']),
      spentBefore: spentBefore(before[n]),
    })),
    damagedRuns: damaged.map(({ path, run, lines }) => ({ workflow: path as Workflow, run: run as RunId, lines: Number(lines) })),
  };
  return { kind: 'rebuilt', report };
}

/** A budget that is new since then had spent nothing. */
function spentBefore(row: Row | undefined): number | null {
  if (row === undefined) return 0;
  return row['spent'] === null ? null : Number(row['spent']);
}

const MINE = `select r.run_id, r.run, r.workflow_id, r.finished, r.lease_until, r.lease_s, w.path
  from mlld.runs r join mlld.workflows w using (workflow_id) join mlld.projects p using (project_id) where p.name = $1`;
const IN_FLIGHT = `select m.path, m.run from (${MINE}) m where not m.finished and mlld.is_alive(m.lease_until, m.lease_s) order by m.run`;
const LIVES = 'not m.finished and mlld.is_alive(m.lease_until, m.lease_s)';
const counting = (table: string): string =>
  `with mine as (${MINE}), gone as (delete from mlld.${table} t using mine m where t.run_id = m.run_id and not (${LIVES}) returning 1)
   select count(*)::int as count from gone`;
const DEAD_CLAIMS = counting('claims');
const DEAD_OFFERS = counting('offers');
/** LATE-ENDS-1: what may only sleep keeps its reservation, with what the journals count for it: nothing where it had not begun. */
const MAY_SLEEP = `not m.finished and m.lease_until > '-infinity'::timestamptz`;
const DEAD_RESERVATIONS = `with mine as (${MINE}),
  kept as (update mlld.reservations v set counted = case when v.has_begun then v.amount else 0 end from mine m
    where v.run_id = m.run_id and not (${LIVES}) and ${MAY_SLEEP})
  delete from mlld.reservations v using mine m where v.run_id = m.run_id and not (${LIVES}) and not (${MAY_SLEEP})`;
/** LANES-2 */
const LANES = ['lane_events', 'limits'].map(
  (table) => `delete from mlld.${table} t using mlld.projects p
  where p.name = $1 and t.project_id = p.project_id`,
);

/** REBUILD-5 */
const DAMAGED = `with mine as (${MINE})
  select m.path, m.run, count(*)::int as lines from mine m cross join lateral mlld.damaged_lines(m.run_id)
  group by m.path, m.run order by m.run collate "C", m.path collate "C"`;

/** Begins a line of this type. The members before it have a place of their own in the form of lines (CODEC-1). */
const typed = (type: string): string => String.raw`^\{"v":[0-9]+,"seq":[0-9]+,"type":"${type}"`;
/** `j.members` of a line: null where it is damaged. Without the offset, the server would cast the line for each of its uses. */
const MEMBERS = 'cross join lateral (select mlld.members_of(e.line) as members offset 0) j';

/** A member of a line that a colleague's SQL wrote may have any type: what is no number counts as absent, and fails no statement. */
const numberAt = (json: string, path: string): string =>
  `case jsonb_typeof(${json} #> '{${path}}') when 'number' then
    case when abs((${json} #>> '{${path}}')::numeric) < 1e30 then (${json} #>> '{${path}}')::numeric end end`;
const TRY = `coalesce(${numberAt('j.members', 'try')}, 1) as try`;

/**
 * REBUILD-2. What is usable is what `mlld.index_results` of the schema takes. Runs are locked, so that one that is removed meanwhile takes
 * its results along (SHORT-APPENDS-1).
 */
const RESULTS = String.raw`with mine as materialized (${MINE} for key share of r),
  late as materialized (select e.run_id, mlld.members_of(e.line) -> 'of' as seq from mine m join mlld.events e using (run_id)
    where e.line ~ '${typed('call\\.superseded')}'),
  completed as (
    select distinct on (c.run_id, c.key) m.workflow_id, m.run, c.* from mine m join (
      select e.run_id, e.seq, e.at, octet_length(e.line) as bytes, substring(e.line from '${typed('call\\.completed')},"key":"([^"]+)"') as key
      from mine m join mlld.events e using (run_id)
      where e.line ~ '${typed('call\\.completed')},"key":"[^"]+"' and e.line not like '%"result":{"redacted":%'
        and not mlld.members_of(e.line) ? 'unusable') c using (run_id)
    where not exists (select from late l where l.run_id = c.run_id and l.seq = to_jsonb(c.seq))
    order by c.run_id, c.key, c.seq desc),
  refusals as materialized (
    select m.workflow_id, e.run_id, e.seq, j.members ->> 'key' as key, j.members #>> '{refused,run}' as run,
      ${numberAt('j.members', 'refused,seq')} as refused
    from mine m join mlld.events e using (run_id) ${MEMBERS}
    where e.line ~ '${typed('call\\.started')}' and e.line like '%"refused":{%'),
  replaced as (
    select old.run_id, old.key from refusals f
      join completed new on new.run_id = f.run_id and new.key = f.key and new.seq > f.seq
      join completed old on old.workflow_id = f.workflow_id and old.run = f.run and old.seq = f.refused and old.key = f.key
    where old.run_id <> new.run_id),
  wanted as materialized (
    select distinct on (c.workflow_id, c.key) c.workflow_id, c.key, c.run_id, c.seq, c.at, c.bytes from completed c
    order by c.workflow_id, c.key, (c.run_id, c.key) in (select run_id, key from replaced), c.run collate "C" desc),
  gone as (
    delete from mlld.answers a where a.workflow_id in (select w.workflow_id from mlld.workflows w join mlld.projects p using (project_id)
        where p.name = $1)
      and not exists (select from wanted n where n.workflow_id = a.workflow_id and n.key = a.key) returning 1),
  put as (
    insert into mlld.answers as a (workflow_id, key, run_id, seq, at, bytes) select * from wanted
      on conflict (workflow_id, key) do update set run_id = excluded.run_id, seq = excluded.seq, at = excluded.at, bytes = excluded.bytes
        where (a.run_id, a.seq, a.at, a.bytes) is distinct from (excluded.run_id, excluded.seq, excluded.at, excluded.bytes)
      returning a.xmax = 0 as added)
  select (select count(*) from wanted)::int as total, (select count(*) from gone)::int as removed,
    (select count(*) from put where added)::int as added, (select count(*) from put where not added)::int as changed`;

const LOCK_BUDGETS = `select from mlld.budgets b join mlld.projects p using (project_id) where p.name = $1 order by b.name for update of b`;
const SPENT = `select b.name, b.unit, b.period,
    (case when b.began < mlld.period_start(b.period) then 0 when b.spent > -1e30 and b.spent < 1e30 then b.spent end)::float8 as spent
  from mlld.budgets b join mlld.projects p using (project_id) where p.name = $1 order by b.name collate "C"`;

/**
 * REBUILD-4. A call of a salvage run began in the run that was sealed, where it counts. Attempts are joined with their ends: to look the
 * first end of each one up reads all ends of the project for it.
 */
const BUDGETS = String.raw`with mine as materialized (${MINE}),
  begun as materialized (
    select e.run_id, e.at, e.seq, j.members ->> 'key' as key, ${TRY}, n.name,
      ${numberAt('j.members', 'reserved,usd')} as usd, ${numberAt('j.members', 'reserved,tokens')} as tokens,
      mlld.time_of(j.members ->> 'ts') as ts
    from mine m join mlld.events e using (run_id) ${MEMBERS}
      cross join lateral jsonb_array_elements_text(
        case jsonb_typeof(j.members #> '{reserved,shared}') when 'array' then j.members #> '{reserved,shared}' else '[]' end) as n (name)
    where e.line ~ '${typed('call\\.started')}' and e.line like '%"shared":[%' and j.members -> 'begun' is null),
  ended as materialized (
    select e.run_id, e.seq, j.members ->> 'key' as key, ${TRY}, mlld.time_of(j.members ->> 'ts') as ts,
      case when j.members -> 'onlyCalls' is null then j.members -> 'usage' end as usage, j.members ->> 'type' = 'call.withdrawn' as withdrawn
    from (select distinct run_id from begun) m join mlld.events e using (run_id) ${MEMBERS}
    where e.line ~ '${typed('call\\.(completed|failed|withdrawn)')}'),
  attempts as materialized (
    select distinct on (b.run_id, b.at, b.name) b.name, coalesce(e.ts, b.ts, '-infinity') as ts, e.withdrawn,
      case when e.seq is null then b.usd else coalesce(${numberAt('e.usage', 'costUsd')}, 0) end as usd,
      case when e.seq is null then b.tokens
        else coalesce(${numberAt('e.usage', 'inputTokens')}, 0) + coalesce(${numberAt('e.usage', 'outputTokens')}, 0) end as tok
    from begun b left join ended e on e.run_id = b.run_id and e.key = b.key and e.try = b.try and e.seq > b.seq
    order by b.run_id, b.at, b.name, e.seq)
  update mlld.budgets b set began = greatest(b.began, mlld.period_start(b.period)),
    largest = case when b.largest > -1e30 and b.largest < 1e30 then b.largest end,
    reserved = coalesce((select sum(v.amount) from mlld.reservations v where v.project_id = b.project_id and v.name = b.name and v.counted is null), 0),
    spent = coalesce((select sum(coalesce(case b.unit when 'usd' then a.usd when 'tok' then a.tok else 1 end, 0)) from attempts a
      where a.name = b.name and a.withdrawn is not true and a.ts >= mlld.period_start(b.period)), 0)
  from mlld.projects p where p.project_id = b.project_id and p.name = $1`;
