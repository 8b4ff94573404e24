/**
 * Counts in the budgets of a project what an attempt cost whose process had slept beyond its lease. team-store.md 8.
 *
 * LATE-ENDS-1 An attempt that had begun counts as spent once the lease of its run has run out (LIMITS-3). Its reservation stays with what
 *    was counted for it, because the process may only sleep: the end of the attempt puts the told cost in the place of that. (It once
 *    counted nothing more, so an attempt whose cost was not known before was free.) A cost that is not told changes nothing.
 * LATE-ENDS-2 Such a reservation holds nothing back. It goes with the end of the attempt or of the run, when the run is sealed or removed,
 *    or after a week.
 *
 * In a budget of a day or a month the sum never becomes less by this: the day of what was counted may be over.
 */
export const lateEndsSchema = `
-- Null: it is in force.
alter table mlld.reservations add column counted numeric;

create or replace function mlld.end_reservations(p_project int, p_run bigint) returns int
language plpgsql security invoker set search_path = pg_catalog, pg_temp as $$
declare
  v_ended record;
  v_count int := 0;
begin
  if not exists (select from mlld.reservations) then return 0; end if;
  perform from mlld.budgets b join mlld.reservations v on v.project_id = b.project_id and v.name = b.name
    where b.project_id = p_project and (p_run is null or v.run_id = p_run) and v.counted is null order by b.name for update of b;
  for v_ended in -- LATE-ENDS-1
    update mlld.reservations v set counted = v.amount from mlld.runs r
      where p_run is null and v.project_id = p_project and v.counted is null and v.has_begun and r.run_id = v.run_id
        and not r.finished and r.lease_until > '-infinity'::timestamptz and not mlld.is_alive(r.lease_until, r.lease_s)
      returning v.name, v.amount
  loop
    perform mlld.settle_budget(p_project, v_ended.name, v_ended.amount, v_ended.amount);
    v_count := v_count + 1;
  end loop;
  for v_ended in
    delete from mlld.reservations v using mlld.runs r
      where v.project_id = p_project and r.run_id = v.run_id
        and case when p_run is not null then r.run_id = p_run
          else r.finished or (not mlld.is_alive(r.lease_until, r.lease_s)
            and (v.counted is null or r.lease_until < clock_timestamp() - interval '7 days')) end
      returning v.name, v.amount, v.has_begun, v.counted
  loop
    if v_ended.counted is null then
      perform mlld.settle_budget(p_project, v_ended.name, v_ended.amount, case when v_ended.has_begun then v_ended.amount else 0 end);
      v_count := v_count + 1;
    end if;
  end loop;
  return v_count;
end $$;

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
    if v_ended.counted is null then
      perform mlld.settle_budget(v_ended.project_id, v_ended.name, v_ended.amount, coalesce(v_cost, 0));
    else
      v_more := coalesce(v_cost, v_ended.counted) - v_ended.counted;
      perform mlld.settle_budget(v_ended.project_id, v_ended.name, 0, case when v_ended.period is null then v_more else greatest(0, v_more) end);
    end if;
  end loop;
end $$;
`;
