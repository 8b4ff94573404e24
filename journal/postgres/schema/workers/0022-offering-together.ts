/**
 * Makes all offers of a statement by one insert, where a loop ran two statements for each of them. team-store.md 7.1.
 *
 * OFFERING-1 It looks for results once, before it offers: one that is swapped in meanwhile is found by the look at all offers (BY-PLACE-2),
 *    as one was that came behind the look at its call.
 * OFFERING-2 A call that is named twice is offered once: one insert may change no row a second time.
 * OFFERING-3 Only calls that have a result are returned. Whoever offers knows the others.
 */
export const offeringTogetherSchema = `
create or replace function mlld.offer(p_run bigint, p_fence int, p_wanted jsonb)
returns table (key text, state text, run text, seq int, at bigint, bytes int)
language plpgsql security invoker set search_path = pg_catalog, pg_temp
set plan_cache_mode = force_generic_plan set jit = off set enable_seqscan = off set enable_hashjoin = off set enable_mergejoin = off as $$
declare
  v_workflow int;
begin
  select r.workflow_id into v_workflow from mlld.runs r where r.run_id = p_run and r.fence = p_fence;
  if not found then
    raise exception using errcode = 'ML001', message = 'the run was sealed';
  end if;
  perform set_config('synchronous_commit', 'off', true); -- the journal has each offer as well
  return query
    with wanted as materialized (
      select distinct on (n.key) n.key, coalesce(n.lane, '') as lane, n.call, n.run, n.refused, e.i
        from jsonb_array_elements(p_wanted) with ordinality as e (value, i)
          cross join lateral jsonb_to_record(e.value) as n (key text, lane text, call text, run text, refused int)
        order by n.key, e.i desc), -- OFFERING-2
    known as materialized (
      select w.*, a.run_id, a.seq, a.at, a.bytes, a.by_run,
          a.by_run is not null and not (a.by_run is not distinct from w.run and a.seq is not distinct from w.refused) as is_news
        from wanted w left join lateral (
          select x.run_id, x.seq, x.at, x.bytes, (select r.run from mlld.runs r where r.run_id = x.run_id) as by_run
            from mlld.answers x where x.workflow_id = v_workflow and x.key = w.key offset 0) a on true),
    offered as (
      insert into mlld.offers (workflow_id, key, run_id, lane, call, refused_run, refused_seq)
        select v_workflow, k.key, p_run, k.lane, k.call, k.run_id, k.seq from known k where not k.is_news order by k.i
        on conflict on constraint offers_workflow_id_key_run_id_key do update
          set refused_run = excluded.refused_run, refused_seq = excluded.refused_seq, ended_run = null, ended_seq = null, declined = null)
    select k.key, 'answered', k.by_run, k.seq, k.at, k.bytes from known k where k.is_news order by k.i;
end $$;
`;
