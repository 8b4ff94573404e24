/**
 * Workers serve the runs that offer calls in equal parts, and say on which machine they are. team-store.md 7.1.
 */
export const fairWorkersSchema = `
drop index mlld.offers_run;
create index offers_run on mlld.offers (run_id, lane, offer_id);

drop function mlld.collect_offers(bigint);

-- What became of the offers of a run: 'answered' by a result that was not refused, 'ended' without one, 'declined' by each worker that
-- looked at it for a lease while nobody executes it; worker and host are those of the one that executed the call for this run.
create function mlld.collect_offers(p_run bigint)
returns table (key text, state text, run text, seq int, at bigint, bytes int, worker text, host text, why text)
language sql stable security invoker set search_path = pg_catalog, pg_temp as $$
  select o.key, 'answered', r.run, a.seq, a.at, a.bytes, case when r.of_run = p_run then r.worker ->> 'name' end,
      case when r.of_run = p_run then r.host end, null::text
    from mlld.offers o join mlld.answers a using (workflow_id, key) join mlld.runs r on r.run_id = a.run_id
    where o.run_id = p_run and not (a.run_id is not distinct from o.refused_run and a.seq is not distinct from o.refused_seq)
  union all
  select o.key, 'ended', r.run, o.ended_seq, o.ended_at, o.ended_bytes, r.worker ->> 'name', r.host, null::text
    from mlld.offers o join mlld.runs r on r.run_id = o.ended_run where o.run_id = p_run and o.ended_seq is not null
  union all
  select o.key, 'declined', null::text, null::int, null::bigint, null::int, d.key, null::text, d.value ->> 'why'
    from mlld.offers o join mlld.runs r on r.run_id = o.run_id
      cross join lateral (select e.key, e.value from jsonb_each(o.declined) e order by e.value ? 'stop' desc limit 1) d
    where o.run_id = p_run and o.declined is not null and o.ended_seq is null
      and (d.value ? 'stop' or o.offered_at < clock_timestamp() - make_interval(secs => r.lease_s))
      and not exists (select from mlld.claims c join mlld.runs cr on cr.run_id = c.run_id
        where c.workflow_id = o.workflow_id and c.key = o.key and not cr.finished and mlld.is_alive(cr.lease_until, cr.lease_s))
$$;

-- The oldest offers of a run in a lane that nobody executes, locked. p_held: what the worker holds, as 'workflow key'. p_mine: the run
-- with which it serves this one; what that has claimed and does not hold is taken anew.
create function mlld.free_offers(p_run bigint, p_lane text, p_worker text, p_mine jsonb, p_held text[], p_but bigint[], p_count int)
returns setof bigint
language sql volatile security invoker set search_path = pg_catalog, pg_temp as $$
  select o.offer_id from mlld.offers o
  where o.run_id = p_run and o.lane = p_lane and o.ended_seq is null and o.offer_id <> all (p_but)
    and (o.declined is null or not o.declined ? p_worker) and not o.workflow_id || ' ' || o.key = any (p_held)
    and not exists (select from mlld.claims c join mlld.runs cr on cr.run_id = c.run_id
      where c.workflow_id = o.workflow_id and c.key = o.key and not cr.finished and mlld.is_alive(cr.lease_until, cr.lease_s)
        and c.run_id is distinct from (p_mine ->> 'id')::bigint)
    and not exists (select from mlld.answers a where a.workflow_id = o.workflow_id and a.key = o.key
      and not (a.run_id is not distinct from o.refused_run and a.seq is not distinct from o.refused_seq))
  order by o.offer_id limit p_count for update of o skip locked
$$;

-- Takes over offers that nobody executes: of each run the oldest, and of the runs those first for which workers execute the fewest calls.
-- p_lanes: {lane: how many}. p_mine: {id of a run that offers: {id, fence, held} of the run that the worker serves it with}. What one of
-- them holds is not taken, also where its claim is gone; a claim of the run that is not held is one whose answer was lost, and is taken
-- anew. Of each offer: 'claimed'; 'new' where the worker has no run for it yet; 'sealed' where that run was sealed.
create or replace function mlld.take_offers(p_project text, p_worker text, p_lanes jsonb, p_mine jsonb)
returns table (state text, offer text, key text, lane text, call text, of_run text, of_name text, path text, run text, seq int)
language plpgsql security invoker set search_path = pg_catalog, pg_temp as $$
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
      select r.run_id from mlld.runs r join mlld.workflows w using (workflow_id) join mlld.projects p using (project_id)
        cross join lateral (select o.offer_id from mlld.offers o where o.run_id = r.run_id and o.lane = v_lane.name
          order by o.offer_id limit 1) f
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
    from mlld.offers o join mlld.runs r on r.run_id = o.run_id join mlld.workflows w on w.workflow_id = o.workflow_id
    where o.offer_id = any (v_offers) order by o.workflow_id, o.key, o.offer_id
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
`;
