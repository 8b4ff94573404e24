/**
 * Lanes that all processes of a project share. team-store.md 8.
 *
 * LANES-1 `lane_events` says in one order, behind the lock of the lane's row, which attempts of all runs started and how they ended.
 *    A start that is exact is taken only when its run has seen all events of the others: of two that believe to be next, one looks again.
 * LANES-2 It is an index of the latest events, and may be emptied at any time: lanes then learn anew, as those of files do.
 */
export const lanesSchema = `
alter table mlld.limits add column n bigint not null default 0, add column limits jsonb;
create table mlld.lane_events (project_id int not null references mlld.projects, lane text not null, n bigint not null,
  run_id bigint not null, event jsonb not null, at timestamptz not null default clock_timestamp(), primary key (project_id, lane, n))
  with (autovacuum_vacuum_scale_factor = 0.02);

-- p_events: [{kind, id, …}]; p_limits: what this run has learned, and how long it holds the lane (heldMs); p_others: runs that seem to have
-- attempts in flight. The first row has no run, and says in its event whether the starts are taken; then follow the events of other runs
-- behind p_seen, and which of p_others are gone.
create function mlld.exchange(p_project text, p_path text, p_run text, p_lane text, p_seen bigint, p_events jsonb, p_is_exact boolean,
  p_limits jsonb, p_others bigint[])
returns table (n bigint, run text, event jsonb, ago_ms float8)
language plpgsql security invoker set search_path = pg_catalog, pg_temp as $$
declare
  v_run bigint;
  v_project int;
  v_n bigint;
  v_count int;
  v_is_taken boolean;
begin
  perform set_config('synchronous_commit', 'off', true); -- LANES-2
  select r.run_id, w.project_id into v_run, v_project from mlld.runs r join mlld.workflows w using (workflow_id) join mlld.projects p using (project_id)
    where p.name = p_project and w.path = p_path and r.run = p_run;
  if not found then raise exception using errcode = '55P03', message = 'the run is not there yet'; end if;
  insert into mlld.limits (project_id, lane, tokens, per_second, burst, updated_at)
    select v_project, p_lane, 0, 0, 0, clock_timestamp()
    where not exists (select from mlld.limits l where l.project_id = v_project and l.lane = p_lane) on conflict do nothing;
  select l.n into v_n from mlld.limits l where l.project_id = v_project and l.lane = p_lane for update;
  v_is_taken := not p_is_exact or not exists (select from mlld.lane_events e
    where e.project_id = v_project and e.lane = p_lane and e.n > p_seen and e.run_id <> v_run);
  insert into mlld.lane_events (project_id, lane, n, run_id, event)
    select v_project, p_lane, v_n + row_number() over (order by u.nth), v_run, u.event
    from jsonb_array_elements(p_events) with ordinality as u (event, nth) where v_is_taken or u.event ->> 'kind' <> 'start';
  get diagnostics v_count = row_count;
  if v_count > 0 or p_limits is not null then
    update mlld.limits l set n = v_n + v_count, updated_at = clock_timestamp(), limits = coalesce(p_limits - 'heldMs', l.limits),
        per_second = case when p_limits is null then l.per_second else coalesce(1000 / nullif((p_limits ->> 'gapMs')::numeric, 0), 0) end,
        burst = coalesce((p_limits ->> 'limit')::numeric, l.burst),
        blocked_until = greatest(l.blocked_until, clock_timestamp() + make_interval(secs => (p_limits ->> 'heldMs')::float8 / 1000))
      where l.project_id = v_project and l.lane = p_lane;
    delete from mlld.lane_events e where e.project_id = v_project and e.lane = p_lane and e.n <= v_n - 1000;
  end if;
  return query select v_n + v_count, null::text, jsonb_build_object('isTaken', v_is_taken), 0::float8;
  return query select e.n, e.run_id::text, e.event, extract(epoch from clock_timestamp() - e.at)::float8 * 1000 from mlld.lane_events e
    where e.project_id = v_project and e.lane = p_lane and e.n > p_seen and e.run_id <> v_run order by e.n;
  return query select v_n, o.run_id::text, jsonb_build_object('kind', 'gone'), 0::float8 from unnest(p_others) as o (run_id)
    where not exists (select from mlld.runs r where r.run_id = o.run_id and not r.finished and mlld.is_alive(r.lease_until, r.lease_s));
end $$;
`;
