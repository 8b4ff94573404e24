/**
 * The budgets that all runs of a project share, in the database. team-store.md 8.
 *
 * SHARED-BUDGETS-1 Reserving may be repeated: what is reserved already is not reserved again, so a lost answer costs nothing.
 * SHARED-BUDGETS-2 Reservations of the dead end when somebody reserves in vain or looks, and each quarter of a lease while this process
 *    reserves.
 * SHARED-BUDGETS-3 A budget whose sums are no amounts, because SQL has written them, is shown as damaged and not with these sums, and no
 *    run that names it begins.
 * SHARED-BUDGETS-4 A run that the server does not have is waited for, because it may not have heard of it yet; where it had, an older state
 *    was restored, and nothing is waited for.
 */
import { JournalError } from '../../errors.js';
import type { RunRef } from '../../ids.js';
import type { Row, Sql } from '../connection.js';
import { RUN_MISSING_STATE, stateBehind } from '../store-errors.js';

export type BudgetUnit = 'usd' | 'tok' | 'calls';
export type BudgetPeriod = 'day' | 'month';

/** Sums are in the unit of the budget. */
export interface SharedBudget {
  readonly name: string;
  readonly unit: BudgetUnit;
  /** Null: it never begins anew. */
  readonly period: BudgetPeriod | null;
  readonly total: number;
  /** In this period. */
  readonly spent: number;
  /** Held back for attempts in flight. */
  readonly reserved: number;
}

/** Names what one attempt holds back. */
export interface ReservationId {
  readonly run: RunRef;
  readonly key: string;
  readonly try: number;
}

export interface ReserveRequest extends ReservationId {
  readonly names: readonly string[];
  /** The cost that is expected; absent where it is not known. */
  readonly usd?: number;
  readonly tokens?: number;
}

/** Says why nothing was reserved. */
export type ReserveRefusal =
  | { readonly kind: 'missing'; readonly name: string }
  /** `amount` is what the attempt wanted to reserve. */
  | { readonly kind: 'full'; readonly budget: SharedBudget; readonly amount: number };

export interface BudgetChange {
  readonly unit: BudgetUnit;
  readonly total: number;
  /** Undefined leaves it as it is. */
  readonly period?: BudgetPeriod | 'project';
}

/** The budgets of a store that has them. */
export interface SharedBudgets {
  /** Undefined when it is reserved. SHARED-BUDGETS-1 */
  reserve(request: ReserveRequest): Promise<ReserveRefusal | undefined>;
  /** Gives back what an attempt holds back that did not begin. Repeated, it does nothing more. */
  release(reservation: ReservationId): Promise<void>;
  /** All but the damaged ones. SHARED-BUDGETS-3 */
  list(): Promise<readonly SharedBudget[]>;
  /** The names of budgets whose sums are no amounts. */
  damaged(): Promise<readonly string[]>;
  /** Makes or changes a budget. Undefined when there is one that counts in another unit, which stays as it is. */
  set(name: string, change: BudgetChange): Promise<SharedBudget | undefined>;
}

interface PgBudgetsPorts {
  readonly sql: Sql;
  /** Repeats what the server did not answer. Absent: nothing is repeated. */
  readonly patiently?: (sql: Sql) => Sql;
  /** The error of a run of this process that the store had and has no longer. Absent where none is written. SHARED-BUDGETS-4 */
  readonly lost?: (run: RunRef) => Promise<JournalError | undefined>;
  readonly project: string;
  readonly leaseMs: number;
}

/** Sweeping ends when nothing was reserved for so many sweeps. */
const IDLE_SWEEPS_MAX = 12;
const SUMS = `b.name, b.unit, b.period, b.total::float8 as total, b.reserved::float8 as reserved,
  (case when b.began < mlld.period_start(b.period) then 0 else b.spent end)::float8 as spent`;

/**
 * NaN comes behind every other number, and a larger sum may be none of a float8. An attempt whose cost nobody knows reserves the `largest`
 * one (UNKNOWN-1), which is null until there is one.
 */
const IS_READABLE = ['b.total', 'b.spent', 'b.reserved', 'coalesce(b.largest, 0)']
  .map((sum) => `${sum} > -1e30 and ${sum} < 1e30`)
  .join(' and ');

/** The names, in order. SHARED-BUDGETS-3 */
export async function damagedBudgets(sql: Sql, project: string): Promise<readonly string[]> {
  const rows = await sql.query(
    `select b.name from mlld.budgets b join mlld.projects p using (project_id) where p.name = $1 and not (${IS_READABLE}) order by b.name collate "C"`,
    [project],
  );
  return rows.map(({ name }) => String(name));
}

/**
 * Budgets are locked before reservations, as everywhere. A reservation that was counted as spent, because its run seemed dead, is given
 * back as LATE-STARTS-2 says: not in a budget of a day or a month.
 */
const RELEASE = `with mine as materialized (
    select r.run_id, w.project_id from mlld.runs r join mlld.workflows w using (workflow_id) join mlld.projects p using (project_id)
    where p.name = $1 and w.path = $2 and r.run = $3),
  locked as materialized (
    select b.project_id, b.name, b.period from mlld.budgets b
    where (b.project_id, b.name) in (select v.project_id, v.name from mlld.reservations v join mine m on m.run_id = v.run_id
      where v.key = $4 and v.try = $5::int)
    order by b.name for update),
  gone as (
    delete from mlld.reservations v using mine m, locked b
    where v.run_id = m.run_id and v.key = $4 and v.try = $5::int and b.project_id = v.project_id and b.name = v.name
    returning v.project_id, v.name, v.amount, v.counted, b.period)
  select mlld.settle_budget(project_id, name, case when counted is null then amount else 0 end,
    case when counted is null or period is not null then 0 else -counted end) from gone`;

export class PgBudgets implements SharedBudgets {
  private timer: NodeJS.Timeout | undefined;
  private idleSweeps = 0;

  private readonly sql: Sql;

  constructor(private readonly ports: PgBudgetsPorts) {
    this.sql = ports.patiently?.(ports.sql) ?? ports.sql;
  }

  async reserve(request: ReserveRequest): Promise<ReserveRefusal | undefined> {
    this.idleSweeps = 0;
    this.timer ??= setInterval(() => this.sweepInTime(), this.ports.leaseMs / 4).unref();
    const refused = await this.tryReserve(request);
    if (refused?.kind !== 'full' || (await this.sweep()) === 0) return refused;
    return this.tryReserve(request);
  }

  async release({ run, key, try: attempt }: ReservationId): Promise<void> {
    await this.sql.query(RELEASE, [this.ports.project, run.workflow, run.run, key, attempt]);
  }

  async list(): Promise<readonly SharedBudget[]> {
    await this.sweep();
    const rows = await this.sql.query(
      `select ${SUMS} from mlld.budgets b join mlld.projects p using (project_id) where p.name = $1 and ${IS_READABLE} order by b.name collate "C"`,
      [this.ports.project],
    );
    return rows.map(budgetOf);
  }

  damaged(): Promise<readonly string[]> {
    return damagedBudgets(this.sql, this.ports.project);
  }

  async set(name: string, { unit, total, period }: BudgetChange): Promise<SharedBudget | undefined> {
    const {
      sql,
      ports: { project },
    } = this;
    await sql.query('insert into mlld.projects (name) values ($1) on conflict do nothing', [project]);
    const [changed] = await sql.query(
      `insert into mlld.budgets as b (project_id, name, unit, total, period)
         select project_id, $2, $3, $4, case when $5::text = 'project' then null else $5::text end from mlld.projects where name = $1
       on conflict (project_id, name) do update set total = excluded.total,
         period = case when $5::text is null then b.period else excluded.period end where b.unit = excluded.unit
       returning ${SUMS}`,
      [project, name, unit, String(total), period],
    );
    return changed && budgetOf(changed);
  }

  leave(): void {
    clearInterval(this.timer);
    this.timer = undefined;
  }

  private async tryReserve({ run, key, try: attempt, names, usd, tokens }: ReserveRequest): Promise<ReserveRefusal | undefined> {
    const { sql, patiently = (each: Sql): Sql => each, lost, project } = this.ports;
    const send: Sql['query'] = async (...statement) =>
      sql.query(...statement).catch(async (error: unknown) => {
        throw (stateBehind(error) === RUN_MISSING_STATE && (await lost?.(run))) || error; // SHARED-BUDGETS-4
      });
    const [refused] = await patiently({ query: send }).query(
      `select refused as name, unit, period, total::float8 as total, spent::float8 as spent, reserved::float8 as reserved,
         amount::float8 as amount from mlld.reserve($1, $2, $3, $4, $5, $6, round($7::numeric, 9), $8::numeric)`,
      [project, run.workflow, run.run, key, attempt, [...new Set(names)], textOf(usd), textOf(tokens)],
    );
    if (refused === undefined) return undefined;
    if (refused['unit'] === null) return { kind: 'missing', name: String(refused['name']) };
    return { kind: 'full', budget: budgetOf(refused), amount: Number(refused['amount']) };
  }

  private async sweep(): Promise<number> {
    const {
      sql,
      ports: { project },
    } = this;
    const [swept] = await sql.query('select mlld.end_reservations(p.project_id, null) as ended from mlld.projects p where p.name = $1', [
      project,
    ]);
    return Number(swept?.['ended'] ?? 0);
  }

  /** One that fails is not reported: the next comes soon, and whoever reserves says what is wrong with the store. */
  private sweepInTime(): void {
    if (++this.idleSweeps > IDLE_SWEEPS_MAX) return this.leave();
    void this.sweep().catch(() => undefined);
  }
}

/** Throws STORE_FAILED. SHARED-BUDGETS-3 */
function budgetOf(row: Row): SharedBudget {
  const number = (name: string): number => Number(row[name]);
  const [name, total, spent, reserved] = [String(row['name']), number('total'), number('spent'), number('reserved')];
  if (![total, spent, reserved].every(Number.isFinite)) throw sumsAreNoAmounts(name);
  return { name, unit: row['unit'] as BudgetUnit, period: (row['period'] ?? null) as BudgetPeriod | null, total, spent, reserved };
}

function sumsAreNoAmounts(name: string): JournalError {
  return new JournalError('STORE_FAILED', `the sums of the shared budget ${name} are no amounts, so they were not written by mlld`, {
    hint: 'mlld store rebuild makes them anew from the journals',
  });
}

const textOf = (amount: number | undefined): string | undefined => (amount === undefined ? undefined : String(amount));
