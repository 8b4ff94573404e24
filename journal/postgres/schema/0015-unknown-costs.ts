/**
 * Reserves something for attempts whose cost the run does not know. calls.md 13.3, team-store.md 8.
 *
 * UNKNOWN-1 Each budget knows the largest cost that an attempt told it, whichever run made it. A run that knows no cost yet, as that of a
 *    worker that has just begun, reserves this. It once reserved nothing: workers that were started again near the end of a budget
 *    paid beyond it.
 * UNKNOWN-2 It changes in the transaction that settles an attempt, behind the lock of the budget's row. A kill leaves both or neither.
 */
export const unknownCostsSchema = `
alter table mlld.budgets add column largest numeric;

create or replace function mlld.settle_call(p_run bigint, p_line jsonb) returns void
language plpgsql security invoker set search_path = pg_catalog, pg_temp as $$
declare
  v_usage jsonb := case when p_line -> 'onlyCalls' is null then p_line -> 'usage' end;
  v_ended record;
  v_cost numeric;
  v_more numeric;
begin
  perform from mlld.budgets b join mlld.reservations v on v.project_id = b.project_id and v.name = b.name
    where v.run_id = p_run and v.key = p_line ->> 'key' order by b.name for update of b;
  for v_ended in
    delete from mlld.reservations v using mlld.budgets b
      where v.run_id = p_run and v.key = p_line ->> 'key' and v.try = coalesce((p_line ->> 'try')::int, 1)
        and b.project_id = v.project_id and b.name = v.name
      returning v.project_id, v.name, v.amount, v.has_begun, v.counted, b.unit, b.period
  loop
    v_cost := case v_ended.unit
      when 'usd' then (v_usage ->> 'costUsd')::numeric
      when 'tok' then case when v_usage is not null
        then coalesce((v_usage ->> 'inputTokens')::numeric, 0) + coalesce((v_usage ->> 'outputTokens')::numeric, 0) end
      else case when v_ended.has_begun then 1 else 0 end end;
    update mlld.budgets b set largest = v_cost -- UNKNOWN-1
      where b.project_id = v_ended.project_id and b.name = v_ended.name and v_cost > coalesce(b.largest, 0);
    if v_ended.counted is null then
      perform mlld.settle_budget(v_ended.project_id, v_ended.name, v_ended.amount, coalesce(v_cost, 0));
    else
      v_more := coalesce(v_cost, v_ended.counted) - v_ended.counted;
      perform mlld.settle_budget(v_ended.project_id, v_ended.name, 0, case when v_ended.period is null then v_more else greatest(0, v_more) end);
    end if;
  end loop;
end $$;

create or replace function mlld.reserve(p_project text, p_path text, p_run text, p_key text, p_try int, p_names text[],
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
      case b.unit when 'usd' then coalesce(p_usd, b.largest, 0) when 'tok' then coalesce(p_tokens, b.largest, 0) else 1 end as amount
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
      case b.unit when 'usd' then coalesce(p_usd, b.largest, 0) when 'tok' then coalesce(p_tokens, b.largest, 0) else 1 end
    from mlld.budgets b where b.project_id = v_project and b.name = any (p_names);
  update mlld.budgets b set reserved = b.reserved + v.amount
    from mlld.reservations v
    where v.run_id = v_run.run_id and v.key = p_key and v.try = p_try and b.project_id = v.project_id and b.name = v.name;
end $$;
`;
