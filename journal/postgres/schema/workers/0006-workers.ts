/**
 * Calls that a run offers, and the runs of workers, which take offers over. team-store.md 7. Offers are an index: what they say follows
 * from the journal of the run that offers, and nothing is lost with them.
 */
export const workersSchema = `
-- Of a worker's run: name, version, slots by lane, and whether it takes nothing more.
alter table mlld.runs add column worker jsonb;
-- Where a worker's run says how the call ended that left no result to reuse; and why workers declined the call, by their names.
alter table mlld.offers add column ended_run bigint, add column ended_seq int, add column ended_at bigint, add column ended_bytes int,
  add column declined jsonb;
create index offers_run on mlld.offers (run_id);
create index offers_lane on mlld.offers (lane, offer_id);

-- The id of a new run of a worker that serves p_of_run; null when another writer has made one of that name.
create function mlld.begin_worker(p_project text, p_path text, p_run text, p_writer uuid, p_lease_s int, p_host text, p_pid int,
  p_process text, p_of_run bigint, p_worker jsonb) returns bigint
language plpgsql security invoker set search_path = pg_catalog, pg_temp as $$
declare
  v_workflow int := mlld.workflow_of(p_project, p_path);
  v_id bigint;
begin
  insert into mlld.runs (workflow_id, run, writer, lease_s, lease_until, host, pid, process, of_run, role, worker)
    values (v_workflow, p_run, p_writer, p_lease_s, clock_timestamp() + make_interval(secs => p_lease_s), p_host, p_pid, p_process,
      p_of_run, 'worker', p_worker)
    on conflict do nothing returning run_id into v_id;
  if v_id is null then
    select run_id into v_id from mlld.runs where workflow_id = v_workflow and run = p_run and writer = p_writer;
  end if;
  return v_id;
end $$;

-- p_wanted: [{key, lane, call, run, refused}]; run and refused name the result that the run does not reuse. Of each: 'answered' by another
-- result, or 'offered'. Repeated, it offers nothing twice.
create function mlld.offer(p_run bigint, p_fence int, p_wanted jsonb)
returns table (key text, state text, run text, seq int, at bigint, bytes int)
language plpgsql security invoker set search_path = pg_catalog, pg_temp as $$
declare
  v_workflow int;
  v record;
  w record;
begin
  select r.workflow_id into v_workflow from mlld.runs r where r.run_id = p_run and r.fence = p_fence;
  if not found then
    raise exception using errcode = 'ML001', message = 'the run was sealed';
  end if;
  perform set_config('synchronous_commit', 'off', true); -- the journal has each offer as well
  for v in select n.key, coalesce(n.lane, '') as lane, n.call, n.run, n.refused
    from jsonb_array_elements(p_wanted) with ordinality as e (value, i)
      cross join lateral jsonb_to_record(e.value) as n (key text, lane text, call text, run text, refused int) order by e.i
  loop
    select a.run_id, a.seq, a.at, a.bytes, r.run into w from mlld.answers a join mlld.runs r using (run_id)
      where a.workflow_id = v_workflow and a.key = v.key;
    if w.run is not null and not (w.run is not distinct from v.run and w.seq is not distinct from v.refused) then
      return query select v.key, 'answered', w.run, w.seq, w.at, w.bytes;
    else
      insert into mlld.offers as o (workflow_id, key, run_id, lane, call, refused_run, refused_seq)
        values (v_workflow, v.key, p_run, v.lane, v.call, w.run_id, w.seq)
        on conflict on constraint offers_workflow_id_key_run_id_key do update set refused_run = excluded.refused_run, refused_seq = excluded.refused_seq,
            ended_run = null, ended_seq = null, declined = null;
      return query select v.key, 'offered', null::text, null::int, null::bigint, null::int;
    end if;
  end loop;
end $$;

-- What became of the offers of a run: 'answered' by a result that was not refused, 'ended' without one, 'declined' by each worker that
-- looked at it for a lease while nobody executes it; worker is the name of the one that executed the call.
create function mlld.collect_offers(p_run bigint)
returns table (key text, state text, run text, seq int, at bigint, bytes int, worker text, why text)
language sql stable security invoker set search_path = pg_catalog, pg_temp as $$
  select o.key, 'answered', r.run, a.seq, a.at, a.bytes, r.worker ->> 'name', null::text
    from mlld.offers o join mlld.answers a using (workflow_id, key) join mlld.runs r on r.run_id = a.run_id
    where o.run_id = p_run and not (a.run_id is not distinct from o.refused_run and a.seq is not distinct from o.refused_seq)
  union all
  select o.key, 'ended', r.run, o.ended_seq, o.ended_at, o.ended_bytes, r.worker ->> 'name', null::text
    from mlld.offers o join mlld.runs r on r.run_id = o.ended_run where o.run_id = p_run and o.ended_seq is not null
  union all
  select o.key, 'declined', null::text, null::int, null::bigint, null::int, d.key, d.value ->> 'why'
    from mlld.offers o join mlld.runs r on r.run_id = o.run_id
      cross join lateral (select e.key, e.value from jsonb_each(o.declined) e order by e.value ? 'stop' desc limit 1) d
    where o.run_id = p_run and o.declined is not null and o.ended_seq is null
      and (d.value ? 'stop' or o.offered_at < clock_timestamp() - make_interval(secs => r.lease_s))
      and not exists (select from mlld.claims c join mlld.runs cr on cr.run_id = c.run_id
        where c.workflow_id = o.workflow_id and c.key = o.key and not cr.finished and mlld.is_alive(cr.lease_until, cr.lease_s))
$$;

-- Takes over the oldest offers that nobody executes. p_lanes: {lane: how many}. p_mine: {id of a run that offers: {id, fence, held} of
-- the run that
-- the worker serves it with}; a claim of that run that is not held is one whose answer was lost, and is taken anew. Of each offer:
-- 'claimed'; 'new' where the worker has no run for it yet; 'sealed' where that run was sealed.
create function mlld.take_offers(p_project text, p_worker text, p_lanes jsonb, p_mine jsonb)
returns table (state text, offer text, key text, lane text, call text, of_run text, of_name text, path text, run text, seq int)
language plpgsql security invoker set search_path = pg_catalog, pg_temp as $$
declare
  v_lane record;
  v record;
  v_mine jsonb;
begin
  for v_lane in select l.key as name, (l.value)::int as slots from jsonb_each(p_lanes) l loop
    for v in select s.* from (
        select o.offer_id, o.workflow_id, o.key, o.run_id, o.lane, o.call, o.refused_run, o.refused_seq, r.run as of_name, w.path
        from mlld.offers o join mlld.runs r on r.run_id = o.run_id join mlld.workflows w on w.workflow_id = o.workflow_id
          join mlld.projects p using (project_id)
        where p.name = p_project and o.lane = v_lane.name and o.ended_seq is null
          and (o.declined is null or not o.declined ? p_worker)
          and not r.finished and mlld.is_alive(r.lease_until, r.lease_s)
          and not exists (select from mlld.claims c join mlld.runs cr on cr.run_id = c.run_id
            where c.workflow_id = o.workflow_id and c.key = o.key and not cr.finished and mlld.is_alive(cr.lease_until, cr.lease_s)
              and (c.run_id is distinct from (p_mine -> o.run_id::text ->> 'id')::bigint or p_mine -> o.run_id::text -> 'held' ? c.key))
          and not exists (select from mlld.answers a where a.workflow_id = o.workflow_id and a.key = o.key
            and not (a.run_id is not distinct from o.refused_run and a.seq is not distinct from o.refused_seq))
        order by o.offer_id limit v_lane.slots for update of o skip locked
      ) s order by s.workflow_id, s.key
    loop
      v_mine := p_mine -> v.run_id::text;
      if v_mine is null then
        return query select 'new', v.offer_id::text, v.key, v.lane, v.call, v.run_id::text, v.of_name, v.path, null::text, null::int;
        continue;
      end if;
      if not exists (select from mlld.runs m where m.run_id = (v_mine ->> 'id')::bigint and m.fence = (v_mine ->> 'fence')::int) then
        return query select 'sealed', v.offer_id::text, v.key, v.lane, null::text, v.run_id::text, v.of_name, v.path, null::text, null::int;
        continue;
      end if;
      insert into mlld.claims as c (workflow_id, key, run_id) values (v.workflow_id, v.key, (v_mine ->> 'id')::bigint)
        on conflict on constraint claims_pkey do update set run_id = excluded.run_id, claimed_at = excluded.claimed_at
          where c.run_id = excluded.run_id
            or not exists (select from mlld.runs r where r.run_id = c.run_id and not r.finished and mlld.is_alive(r.lease_until, r.lease_s));
      if not found then continue; end if;
      -- A result that was swapped in between the look and the claim.
      if exists (select from mlld.answers a where a.workflow_id = v.workflow_id and a.key = v.key
          and not (a.run_id is not distinct from v.refused_run and a.seq is not distinct from v.refused_seq)) then
        delete from mlld.claims c where c.workflow_id = v.workflow_id and c.key = v.key and c.run_id = (v_mine ->> 'id')::bigint;
        continue;
      end if;
      return query select 'claimed', v.offer_id::text, v.key, v.lane, v.call, v.run_id::text, v.of_name, v.path,
        (select r.run from mlld.runs r where r.run_id = v.refused_run), v.refused_seq;
    end loop;
  end loop;
end $$;

-- Also removes what the dead have offered: a run that comes back offers it again.
create or replace function mlld.sweep_claims(p_project text) returns void
language sql security invoker set search_path = pg_catalog, pg_temp as $$
  delete from mlld.claims where (workflow_id, key) in (
    select c.workflow_id, c.key from mlld.claims c join mlld.runs r using (run_id) join mlld.workflows w on w.workflow_id = c.workflow_id
      join mlld.projects p using (project_id)
    where p.name = p_project and (r.finished or not mlld.is_alive(r.lease_until, r.lease_s))
    for update of c skip locked);
  delete from mlld.offers where offer_id in (
    select o.offer_id from mlld.offers o join mlld.runs r using (run_id) join mlld.workflows w on w.workflow_id = o.workflow_id
      join mlld.projects p using (project_id)
    where p.name = p_project and (r.finished or not mlld.is_alive(r.lease_until, r.lease_s))
    for update of o skip locked)
$$;
`;
