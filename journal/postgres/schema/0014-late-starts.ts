/**
 * Lets no attempt begin unpaid whose process had slept between its reservation and its start. team-store.md 8.
 *
 * LATE-STARTS-1 The sweep once freed what a run had reserved and not begun when its lease ran out. A process that only slept there went on:
 *    its attempt was paid beyond the budget, and counted nowhere. Now it counts as spent like what had begun, and its reservation stays.
 * LATE-STARTS-2 It is given back with the end, the sealing or the removal of its run, or after a week, if its attempt never began. So a
 *    kill in the moment between both costs the budget one estimate of each lane until then; `store rebuild` gives it back at once,
 *    because the journals say that nothing began.
 *
 * In a budget of a day or a month nothing is given back: the day of what was counted may be over.
 */
export const lateStartsSchema = `
create or replace function mlld.end_reservations(p_project int, p_run bigint) returns int
language plpgsql security invoker set search_path = pg_catalog, pg_temp as $$
declare
  v_ended record;
  v_count int := 0;
begin
  if not exists (select from mlld.reservations) then return 0; end if;
  perform from mlld.budgets b join mlld.reservations v on v.project_id = b.project_id and v.name = b.name
    where b.project_id = p_project and (p_run is null or v.run_id = p_run) order by b.name for update of b;
  for v_ended in -- LATE-ENDS-1, LATE-STARTS-1
    update mlld.reservations v set counted = v.amount from mlld.runs r
      where p_run is null and v.project_id = p_project and v.counted is null and r.run_id = v.run_id
        and not r.finished and r.lease_until > '-infinity'::timestamptz and not mlld.is_alive(r.lease_until, r.lease_s)
      returning v.name, v.amount
  loop
    perform mlld.settle_budget(p_project, v_ended.name, v_ended.amount, v_ended.amount);
    v_count := v_count + 1;
  end loop;
  for v_ended in
    delete from mlld.reservations v using mlld.runs r, mlld.budgets b
      where v.project_id = p_project and r.run_id = v.run_id and b.project_id = v.project_id and b.name = v.name
        and case when p_run is not null then r.run_id = p_run
          else r.finished or (not mlld.is_alive(r.lease_until, r.lease_s)
            and (v.counted is null or r.lease_until < clock_timestamp() - interval '7 days')) end
      returning v.name, v.amount, v.has_begun, v.counted, b.period
  loop
    if v_ended.counted is null then
      perform mlld.settle_budget(p_project, v_ended.name, v_ended.amount, case when v_ended.has_begun then v_ended.amount else 0 end);
      v_count := v_count + 1;
    elsif not v_ended.has_begun and v_ended.period is null then -- LATE-STARTS-2
      perform mlld.settle_budget(p_project, v_ended.name, 0, -v_ended.counted);
    end if;
  end loop;
  return v_count;
end $$;
`;
