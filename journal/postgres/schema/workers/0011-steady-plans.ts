/**
 * Gives the statements behind offers plans that don't depend on what the server believes of their tables, and are made once for a
 * connection. team-store.md 7.1.
 *
 * A queue is empty when statistics are taken, or never looked at: of such tables the server reads whichever index is smallest. So a row
 * that is found by its key is looked up in a subquery of its own, and the offers of a run are a range of its index in the order of that
 * index: nothing else fits.
 */
export const steadyPlansSchema = `
drop index mlld.offers_lane; -- offers are taken run by run

create or replace function mlld.free_offers(p_run bigint, p_lane text, p_worker text, p_mine jsonb, p_held text[], p_but bigint[], p_count int)
returns setof bigint
language plpgsql security invoker set search_path = pg_catalog, pg_temp
set enable_bitmapscan = off set enable_sort = off as $$
begin
  return query select o.offer_id from mlld.offers o
    where (o.run_id, o.lane, o.offer_id) >= (p_run, p_lane, 0) and (o.run_id, o.lane, o.offer_id) < (p_run, p_lane, 9223372036854775807)
      and o.ended_seq is null and o.offer_id <> all (p_but)
      and (o.declined is null or not o.declined ? p_worker) and not o.workflow_id || ' ' || o.key = any (p_held)
      and (select c.run_id is distinct from (p_mine ->> 'id')::bigint
            and (select not cr.finished and mlld.is_alive(cr.lease_until, cr.lease_s) from mlld.runs cr where cr.run_id = c.run_id)
          from mlld.claims c where c.workflow_id = o.workflow_id and c.key = o.key) is not true
      and (select not (a.run_id is not distinct from o.refused_run and a.seq is not distinct from o.refused_seq)
          from mlld.answers a where a.workflow_id = o.workflow_id and a.key = o.key) is not true
    order by o.run_id, o.lane, o.offer_id limit p_count for update of o skip locked;
end $$;

-- As before.
create or replace function mlld.take_offers(p_project text, p_worker text, p_lanes jsonb, p_mine jsonb)
returns table (state text, offer text, key text, lane text, call text, of_run text, of_name text, path text, run text, seq int)
language plpgsql security invoker set search_path = pg_catalog, pg_temp
set plan_cache_mode = force_generic_plan set join_collapse_limit = 1 set jit = off set enable_seqscan = off set enable_hashjoin = off
set enable_mergejoin = off as $$
declare
  v_lane record;
  v_runs bigint[];
  v_again bigint[];
  v_run bigint;
  v_left int;
  v_share int;
  v_found bigint[];
  v_offers bigint[] := '{}';
  v record;
  v_mine jsonb;
  v_held text[];
begin
  select coalesce(array_agg(f.workflow_id || ' ' || h.key), '{}') into v_held from jsonb_each(p_mine) m
    join mlld.runs f on f.run_id = m.key::bigint cross join lateral jsonb_array_elements_text(m.value -> 'held') h (key);
  for v_lane in select l.key as name, (l.value)::int as slots from jsonb_each(p_lanes) l loop
    v_left := v_lane.slots;
    v_runs := array(
      select r.run_id from mlld.projects p join mlld.workflows w using (project_id) join mlld.runs r using (workflow_id)
        cross join lateral (select n.offer_id from (
            select o.run_id, o.lane, o.offer_id from mlld.offers o where (o.run_id, o.lane, o.offer_id) >= (r.run_id, v_lane.name, 0)
              order by o.run_id, o.lane, o.offer_id limit 1) n
          where n.run_id = r.run_id and n.lane = v_lane.name) f
        cross join lateral (select count(*) as calls from mlld.runs m join mlld.claims c on c.run_id = m.run_id
          where m.of_run = r.run_id and m.role = 'worker') h
      where p.name = p_project and not r.finished and mlld.is_alive(r.lease_until, r.lease_s)
      order by h.calls, f.offer_id);
    -- A round for each run that had enough in the one before, so that slots which a run leaves go to the others.
    while v_left > 0 and cardinality(v_runs) > 0 loop
      v_share := greatest(1, v_left / cardinality(v_runs));
      v_again := '{}';
      foreach v_run in array v_runs loop
        exit when v_left = 0;
        v_mine := p_mine -> v_run::text;
        v_found := array(select mlld.free_offers(v_run, v_lane.name, p_worker, v_mine, v_held, v_offers,
          case when v_mine is null then 1 else least(v_share, v_left) end));
        v_offers := v_offers || v_found;
        v_left := v_left - cardinality(v_found);
        if v_mine is not null and cardinality(v_found) = v_share then v_again := v_again || v_run; end if;
      end loop;
      v_runs := v_again;
    end loop;
  end loop;
  -- In one order, because two runs may offer the same call.
  for v in select o.offer_id, o.workflow_id, o.key, o.run_id, o.lane, o.call, o.refused_run, o.refused_seq, r.run as of_name, w.path
    from unnest(v_offers) as t (id) cross join lateral (select f.* from mlld.offers f where f.offer_id = t.id offset 0) o
      join mlld.runs r on r.run_id = o.run_id join mlld.workflows w on w.workflow_id = o.workflow_id
    order by o.workflow_id, o.key, o.offer_id
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
end $$;

-- As before.
create or replace function mlld.append(p_run bigint, p_fence int, p_seq int, p_hash text, p_lines text, p_ats bigint[], p_bytes bigint,
  p_new_hash text, p_finished boolean, p_digests text[], p_results jsonb, p_ended text[]) returns void
language plpgsql security invoker set search_path = pg_catalog, pg_temp
set plan_cache_mode = force_generic_plan set jit = off set enable_seqscan = off set enable_hashjoin = off set enable_mergejoin = off as $$
declare
  v_workflow int;
  v_of_run bigint;
  v_lost jsonb := '[]';
  v record;
begin
  if current_setting('synchronous_commit') in ('off', 'local', 'remote_write') then
    perform set_config('synchronous_commit', 'on', true);
  end if;
  update mlld.runs set next_seq = p_seq + cardinality(p_ats), bytes = p_bytes, hash = p_new_hash, finished = p_finished,
      lease_until = clock_timestamp() + make_interval(secs => lease_s)
    where run_id = p_run and fence = p_fence and next_seq = p_seq and hash = p_hash
    returning workflow_id, of_run into v_workflow, v_of_run;
  if not found then
    if exists (select from mlld.runs where run_id = p_run and fence = p_fence) then
      raise exception using errcode = 'ML002', message = 'the run has another head';
    end if;
    raise exception using errcode = 'ML001', message = 'the run was sealed';
  end if;
  insert into mlld.events (run_id, at, seq, line)
    select p_run, u.at, p_seq + u.n - 1, u.line
    from rows from (unnest(p_ats), string_to_table(p_lines, E'\\n')) with ordinality as u (at, line, n);
  if cardinality(p_digests) > 0 then
    insert into mlld.blob_uses (project_id, digest, run_id)
      select b.project_id, b.digest, p_run
      from mlld.workflows w join mlld.blobs b on b.project_id = w.project_id and b.digest = any (p_digests)
      where w.workflow_id = v_workflow on conflict do nothing;
  end if;
  if p_results is not null then
    for v in select * from jsonb_to_recordset(p_results) as n (key text, seq int, at bigint, bytes int, run text, refused int) order by key, seq
    loop
      insert into mlld.answers as a (workflow_id, key, run_id, seq, at, bytes) values (v_workflow, v.key, p_run, v.seq, v.at, v.bytes)
        on conflict (workflow_id, key) do update set run_id = excluded.run_id, seq = excluded.seq, at = excluded.at, bytes = excluded.bytes
          where a.run_id = p_run or (v.run is not null and a.seq = v.refused
            and a.run_id = (select r.run_id from mlld.runs r where r.workflow_id = v_workflow and r.run = v.run));
      if found then
        -- Nothing waits for a lock here, so that appends and workers that take don't wait for each other in a circle.
        update mlld.offers set ended_run = p_run, ended_seq = v.seq, ended_at = v.at, ended_bytes = v.bytes
          where offer_id = any (array(
            select f.offer_id from mlld.offers f where f.workflow_id = v_workflow and f.key = v.key for update skip locked));
      else
        v_lost := v_lost || (select jsonb_build_object('key', v.key, 'seq', v.seq, 'run', r.run, 'by', a.seq, 'at', a.at, 'bytes', a.bytes)
          from mlld.answers a join mlld.runs r using (run_id) where a.workflow_id = v_workflow and a.key = v.key);
      end if;
    end loop;
    if jsonb_array_length(v_lost) > 0 then
      raise exception using errcode = 'ML003', message = 'results came too late', detail = v_lost::text;
    end if;
  end if;
  if p_finished then
    delete from mlld.claims where run_id = p_run;
  elsif cardinality(p_ended) > 0 then
    delete from mlld.claims c using unnest(p_ended) as e (key)
      where c.workflow_id = v_workflow and c.key = e.key and c.run_id in (p_run, v_of_run);
  end if;
end $$;

-- Nobody needs the calls any more.
create function mlld.withdraw_offers(p_run bigint, p_keys text[]) returns void
language plpgsql security invoker set search_path = pg_catalog, pg_temp
set plan_cache_mode = force_generic_plan set enable_seqscan = off set enable_bitmapscan = off as $$
declare
  v_workflow int := (select r.workflow_id from mlld.runs r where r.run_id = p_run);
begin
  delete from mlld.offers where offer_id = any (array(
    select (select o.offer_id from mlld.offers o where o.workflow_id = v_workflow and o.key = k.key and o.run_id = p_run)
    from unnest(p_keys) as k (key)));
end $$;

-- As before. Of offers, the runs are looked at, one after the other, and not each offer.
create or replace function mlld.sweep_claims(p_project text) returns void
language sql security invoker set search_path = pg_catalog, pg_temp as $$
  delete from mlld.claims where (workflow_id, key) in (
    select c.workflow_id, c.key from mlld.claims c join mlld.runs r using (run_id) join mlld.workflows w on w.workflow_id = c.workflow_id
      join mlld.projects p using (project_id)
    where p.name = p_project and (r.finished or not mlld.is_alive(r.lease_until, r.lease_s))
    for update of c skip locked);
  with recursive offering (run_id) as (
    (select o.run_id from mlld.offers o order by o.run_id limit 1)
    union all
    select (select n.run_id from mlld.offers n where n.run_id > f.run_id order by n.run_id limit 1) from offering f where f.run_id is not null)
  delete from mlld.offers where offer_id in (
    select o.offer_id from offering f join mlld.runs r using (run_id) join mlld.workflows w using (workflow_id)
      join mlld.projects p using (project_id) join mlld.offers o on o.run_id = r.run_id
    where p.name = p_project and (r.finished or not mlld.is_alive(r.lease_until, r.lease_s))
    for update of o skip locked)
$$;
`;
