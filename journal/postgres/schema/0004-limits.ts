/**
 * Budgets that all runs of a project share. team-store.md 8.
 *
 * LIMITS-1 `spent + reserved <= total` whenever something is reserved: one row is one lock, and sums change behind it only.
 * LIMITS-2 A reservation ends in the transaction that holds the end of its attempt, whoever appends it: a trigger reads the lines.
 * LIMITS-3 The commit that holds a `call.started` marks its reservation as begun. Of a run that is dead or over, what had begun counts
 *    as spent, because it may have been paid; what had not is free again.
 * LIMITS-4 Rows of budgets are locked in the order of their names, so that two transactions don't wait for each other.
 *
 * A kill leaves nothing before `reserve` commits; behind it, a reservation that has not begun; behind `call.started`, one that has. Both
 * end with the lease of the run, by LIMITS-3. Behind the end of the attempt it leaves nothing.
 */
export const limitsSchema = `
alter table mlld.budgets add column began timestamptz not null default clock_timestamp(), add check (period in ('day', 'month')),
  add check (unit in ('usd', 'tok', 'calls'));
alter table mlld.reservations add column try int not null default 1, add column has_begun boolean not null default false,
  drop constraint reservations_pkey, add primary key (run_id, key, try, name);

-- The beginning of the day or month, of the calendar of UTC and the clock of the server.
create function mlld.period_start(p_period text) returns timestamptz
language sql stable security invoker set search_path = pg_catalog, pg_temp as $$
  select case when p_period is null then '-infinity'::timestamptz
    else date_trunc(p_period, clock_timestamp() at time zone 'UTC') at time zone 'UTC' end
$$;

-- Replaces what was reserved by what was spent.
create function mlld.settle_budget(p_project int, p_name text, p_reserved numeric, p_spent numeric) returns void
language sql security invoker set search_path = pg_catalog, pg_temp as $$
  update mlld.budgets b set reserved = greatest(0, b.reserved - p_reserved),
      spent = p_spent + case when b.began < mlld.period_start(b.period) then 0 else b.spent end,
      began = greatest(b.began, mlld.period_start(b.period))
    where b.project_id = p_project and b.name = p_name
$$;

-- LIMITS-3: ends all reservations of runs that write nothing any more. Without a run: of all that are dead or over.
create function mlld.end_reservations(p_project int, p_run bigint) returns int
language plpgsql security invoker set search_path = pg_catalog, pg_temp as $$
declare
  v_ended record;
  v_count int := 0;
begin
  if not exists (select from mlld.reservations) then return 0; end if;
  perform from mlld.budgets b join mlld.reservations v on v.project_id = b.project_id and v.name = b.name
    where b.project_id = p_project and (p_run is null or v.run_id = p_run) order by b.name for update of b;
  for v_ended in
    delete from mlld.reservations v using mlld.runs r
      where v.project_id = p_project and r.run_id = v.run_id
        and case when p_run is null then r.finished or not mlld.is_alive(r.lease_until, r.lease_s) else r.run_id = p_run end
      returning v.name, v.amount, v.has_begun
  loop
    perform mlld.settle_budget(p_project, v_ended.name, v_ended.amount, case when v_ended.has_begun then v_ended.amount else 0 end);
    v_count := v_count + 1;
  end loop;
  return v_count;
end $$;

-- LIMITS-2
create function mlld.settle_call(p_run bigint, p_line jsonb) returns void
language plpgsql security invoker set search_path = pg_catalog, pg_temp as $$
declare
  v_usage jsonb := case when p_line -> 'onlyCalls' is null then p_line -> 'usage' end;
  v_ended record;
begin
  perform from mlld.budgets b join mlld.reservations v on v.project_id = b.project_id and v.name = b.name
    where v.run_id = p_run and v.key = p_line ->> 'key' order by b.name for update of b;
  for v_ended in
    delete from mlld.reservations v using mlld.budgets b
      where v.run_id = p_run and v.key = p_line ->> 'key' and v.try = coalesce((p_line ->> 'try')::int, 1)
        and b.project_id = v.project_id and b.name = v.name
      returning v.project_id, v.name, v.amount, v.has_begun, b.unit
  loop
    perform mlld.settle_budget(v_ended.project_id, v_ended.name, v_ended.amount, coalesce(case v_ended.unit
      when 'usd' then (v_usage ->> 'costUsd')::numeric
      when 'tok' then coalesce((v_usage ->> 'inputTokens')::numeric, 0) + coalesce((v_usage ->> 'outputTokens')::numeric, 0)
      else case when v_ended.has_begun then 1 else 0 end end, 0));
  end loop;
end $$;

-- Escapes that a jsonb does not take are of no interest here: keys and numbers have none.
create function mlld.follow_calls() returns trigger
language plpgsql security invoker set search_path = pg_catalog, pg_temp as $$
declare
  v_added record;
  v_line jsonb;
begin
  if not exists (select from mlld.reservations) then return null; end if;
  for v_added in
    select a.run_id, a.line from added a
      where a.line ~ '"type":"(call\\.(started|completed|failed)|run\\.finished)"'
        and exists (select from mlld.reservations v where v.run_id = a.run_id)
      order by a.run_id, a.at
  loop
    v_line := regexp_replace(v_added.line, '\\\\u[0-9a-fA-F]{4}', '\\\\u003f', 'g')::jsonb;
    case v_line ->> 'type'
      when 'call.started' then
        update mlld.reservations set has_begun = true
          where run_id = v_added.run_id and key = v_line ->> 'key' and try = coalesce((v_line ->> 'try')::int, 1);
      when 'call.completed', 'call.failed' then
        perform mlld.settle_call(v_added.run_id, v_line);
      when 'run.finished' then
        perform mlld.end_reservations(w.project_id, r.run_id) from mlld.runs r join mlld.workflows w using (workflow_id)
          where r.run_id = v_added.run_id;
      else null;
    end case;
  end loop;
  return null;
end $$;
create trigger follow_calls after insert on mlld.events referencing new table as added
  for each statement execute function mlld.follow_calls();

-- A run that is removed is one that nobody writes.
create function mlld.forget_run() returns trigger
language plpgsql security invoker set search_path = pg_catalog, pg_temp as $$
begin
  if exists (select from mlld.reservations v where v.run_id = old.run_id) then
    perform mlld.end_reservations(w.project_id, old.run_id) from mlld.workflows w where w.workflow_id = old.workflow_id;
  end if;
  return old;
end $$;
create trigger forget_run before delete on mlld.runs for each row execute function mlld.forget_run();

-- LIMITS-1. No row: it is reserved, or was before. Else the budget that refuses it, or the names that are none.
create function mlld.reserve(p_project text, p_path text, p_run text, p_key text, p_try int, p_names text[],
  p_usd numeric, p_tokens numeric)
returns table (refused text, unit text, period text, total numeric, spent numeric, reserved numeric, amount numeric)
language plpgsql security invoker set search_path = pg_catalog, pg_temp as $$
declare
  v_run mlld.runs;
  v_project int;
  v_row record;
begin
  perform set_config('synchronous_commit', 'off', true); -- the commit of call.started carries it to the disk
  select r.* into v_run from mlld.runs r join mlld.workflows w using (workflow_id) join mlld.projects p using (project_id)
    where p.name = p_project and w.path = p_path and r.run = p_run;
  if not found then raise exception using errcode = '55P03', message = 'the run is not there yet'; end if;
  select w.project_id into v_project from mlld.workflows w where w.workflow_id = v_run.workflow_id;
  perform from mlld.budgets b where b.project_id = v_project and b.name = any (p_names) order by b.name for update;
  if exists (select from mlld.reservations v where v.run_id = v_run.run_id and v.key = p_key and v.try = p_try) then return; end if;
  for v_row in
    select n.name, b.unit, b.period, b.total, case when b.began < mlld.period_start(b.period) then 0 else b.spent end as spent, b.reserved,
      case b.unit when 'usd' then coalesce(p_usd, 0) when 'tok' then coalesce(p_tokens, 0) else 1 end as amount
    from unnest(p_names) as n (name) left join mlld.budgets b on b.project_id = v_project and b.name = n.name order by n.name
  loop
    -- A budget that is used up lets nothing begin, also where nothing can be reserved.
    if v_row.unit is null or v_row.spent + v_row.reserved + v_row.amount > v_row.total or v_row.spent + v_row.reserved >= v_row.total then
      return query select v_row.name, v_row.unit, v_row.period, v_row.total, v_row.spent, v_row.reserved, v_row.amount;
      return;
    end if;
  end loop;
  insert into mlld.reservations (run_id, workflow_id, key, try, project_id, name, amount)
    select v_run.run_id, v_run.workflow_id, p_key, p_try, v_project, b.name,
      case b.unit when 'usd' then coalesce(p_usd, 0) when 'tok' then coalesce(p_tokens, 0) else 1 end
    from mlld.budgets b where b.project_id = v_project and b.name = any (p_names);
  update mlld.budgets b set reserved = b.reserved + v.amount
    from mlld.reservations v
    where v.run_id = v_run.run_id and v.key = p_key and v.try = p_try and b.project_id = v.project_id and b.name = v.name;
end $$;
`;
