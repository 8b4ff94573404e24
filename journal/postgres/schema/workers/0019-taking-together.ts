/**
 * Lets a worker take several offers by few statements, which were several for each of them. team-store.md 7.1.
 *
 * TOGETHER-1 Calls that nobody has claimed are claimed by one statement; the others one by one, as before, and without a wait: who holds
 *    claims that were new and waits for one of the dead would wait in a circle with a worker that does the same. The look for results comes
 *    behind it, in a statement of its own, which sees those that were swapped in meanwhile. All of it is one transaction: a kill leaves
 *    claims that the worker may not know of, and finds again as its own.
 * TOGETHER-2 A worker says behind which offers of a run its last ones were, and looks there first: before them are mostly those that
 *    others execute, and what ended offers have left in the index. Where that finds fewer than it has slots for, twice a second
 *    (`TAKE_ALL_MS`), and when it has given one back, it looks from the oldest one, so what was given back or declined is found.
 * TOGETHER-3 To find a run that the worker does not serve yet, nothing is locked: workers that hear of it at the same moment hid its only
 *    offer from each other.
 * TOGETHER-4 Reasons of workers are those of a type, as roles are (PLAIN-HEADS-1): each result changes the offers of its call.
 */
const FREE = `from mlld.offers o
    where (o.run_id, o.lane, o.offer_id) > (p_run, p_lane, v_from) and (o.run_id, o.lane, o.offer_id) < (p_run, p_lane, 9223372036854775807)
      and o.ended_seq is null and o.offer_id <> all (p_but)
      and (o.declined is null or not o.declined ? p_worker) and not o.workflow_id || ' ' || o.key = any (p_held)
      and (select c.run_id is distinct from (p_mine ->> 'id')::bigint
            and (select not cr.finished and mlld.is_alive(cr.lease_until, cr.lease_s) from mlld.runs cr where cr.run_id = c.run_id)
          from mlld.claims c where c.workflow_id = o.workflow_id and c.key = o.key) is not true
      and (select not (a.run_id is not distinct from o.refused_run and a.seq is not distinct from o.refused_seq)
          from mlld.answers a where a.workflow_id = o.workflow_id and a.key = o.key) is not true
    order by o.run_id, o.lane, o.offer_id limit p_count`;

export const takingTogetherSchema = `
create domain mlld.reasons as jsonb check (jsonb_typeof(value) = 'object');
alter table mlld.offers drop constraint offers_declined_check;
alter table mlld.offers alter column declined type mlld.reasons;

create or replace function mlld.free_offers(p_run bigint, p_lane text, p_worker text, p_mine jsonb, p_held text[], p_but bigint[], p_count int)
returns setof bigint
language plpgsql security invoker set search_path = pg_catalog, pg_temp
set enable_bitmapscan = off set enable_sort = off as $$
declare
  v_from bigint := coalesce((p_mine -> 'from' ->> p_lane)::bigint, 0);
begin
  if p_mine is null then
    return query select o.offer_id ${FREE}; -- TOGETHER-3
  else
    return query select o.offer_id ${FREE} for update of o skip locked;
  end if;
end $$;

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
  v_wanted int;
  v_found bigint[];
  v_offers bigint[] := '{}';
  v_late bigint[];
  v record;
  v_new int;
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
      where p.name = p_project and not r.finished and mlld.is_alive(r.lease_until, r.lease_s)
      order by f.offer_id);
    if cardinality(v_runs) > 1 then -- those first for which workers execute the fewest calls
      v_runs := array(select t.id from unnest(v_runs) with ordinality t (id, n)
        order by (select count(*) from mlld.runs m join mlld.claims c on c.run_id = m.run_id where m.of_run = t.id and m.role = 'worker'), t.n);
    end if;
    -- A round for each run that had enough in the one before, so that slots which a run leaves go to the others.
    while v_left > 0 and cardinality(v_runs) > 0 loop
      v_share := greatest(1, v_left / cardinality(v_runs));
      v_again := '{}';
      foreach v_run in array v_runs loop
        exit when v_left = 0;
        v_mine := p_mine -> v_run::text;
        v_wanted := case when v_mine is null then 1 else least(v_share, v_left) end;
        v_found := array(select mlld.free_offers(v_run, v_lane.name, p_worker, v_mine, v_held, v_offers, v_wanted));
        if v_mine -> 'from' ? v_lane.name and cardinality(v_found) < v_wanted then -- TOGETHER-2
          v_found := v_found || array(select mlld.free_offers(v_run, v_lane.name, p_worker, v_mine - 'from', v_held, v_offers || v_found,
            v_wanted - cardinality(v_found)));
        end if;
        v_offers := v_offers || v_found;
        v_left := v_left - cardinality(v_found);
        if v_mine is not null and cardinality(v_found) = v_share then v_again := v_again || v_run; end if;
      end loop;
      v_runs := v_again;
    end loop;
  end loop;
  if cardinality(v_offers) = 0 then return; end if;
  -- TOGETHER-1. In one order, because two runs may offer the same call.
  insert into mlld.claims (workflow_id, key, run_id)
    select o.workflow_id, o.key, m.run_id
    from unnest(v_offers) as t (id) cross join lateral (select f.* from mlld.offers f where f.offer_id = t.id offset 0) o
      cross join lateral (select r.run_id from mlld.runs r where r.run_id = (p_mine -> o.run_id::text ->> 'id')::bigint
        and r.fence = (p_mine -> o.run_id::text ->> 'fence')::int offset 0) m
    order by o.workflow_id, o.key, o.offer_id on conflict do nothing;
  get diagnostics v_new = row_count;
  if v_new < cardinality(v_offers) then
    for v in select o.workflow_id, o.key, m.run_id
      from unnest(v_offers) as t (id) cross join lateral (select f.* from mlld.offers f where f.offer_id = t.id offset 0) o
        cross join lateral (select r.run_id from mlld.runs r where r.run_id = (p_mine -> o.run_id::text ->> 'id')::bigint
          and r.fence = (p_mine -> o.run_id::text ->> 'fence')::int offset 0) m
      order by o.workflow_id, o.key, o.offer_id
    loop
      perform from mlld.claims c where c.workflow_id = v.workflow_id and c.key = v.key for update skip locked;
      if found then
        update mlld.claims c set run_id = v.run_id, claimed_at = clock_timestamp()
          where c.workflow_id = v.workflow_id and c.key = v.key and c.run_id <> v.run_id
            and not exists (select from mlld.runs r where r.run_id = c.run_id and not r.finished and mlld.is_alive(r.lease_until, r.lease_s));
      end if;
    end loop;
  end if;
  v_late := array(
    select t.id from unnest(v_offers) as t (id) cross join lateral (select f.* from mlld.offers f where f.offer_id = t.id offset 0) o
    where (select not (a.run_id is not distinct from o.refused_run and a.seq is not distinct from o.refused_seq)
      from mlld.answers a where a.workflow_id = o.workflow_id and a.key = o.key));
  if cardinality(v_late) > 0 then
    for v in select o.workflow_id, o.key, (p_mine -> o.run_id::text ->> 'id')::bigint as run_id
      from unnest(v_late) as t (id) cross join lateral (select f.* from mlld.offers f where f.offer_id = t.id offset 0) o
    loop
      delete from mlld.claims c where c.workflow_id = v.workflow_id and c.key = v.key and c.run_id = v.run_id;
    end loop;
  end if;
  return query
    select s.state, o.offer_id::text, o.key, o.lane, case when s.state <> 'sealed' then o.call end, o.run_id::text, r.run, w.path,
        (select x.run from mlld.runs x where x.run_id = o.refused_run), o.refused_seq
      from unnest(v_offers) as t (id) cross join lateral (select f.* from mlld.offers f where f.offer_id = t.id offset 0) o
        join mlld.runs r on r.run_id = o.run_id join mlld.workflows w on w.workflow_id = o.workflow_id
        cross join lateral (select case
          when not p_mine ? o.run_id::text then 'new'
          when (select m.fence from mlld.runs m where m.run_id = (p_mine -> o.run_id::text ->> 'id')::bigint)
            is distinct from (p_mine -> o.run_id::text ->> 'fence')::int then 'sealed'
          when (select c.run_id from mlld.claims c where c.workflow_id = o.workflow_id and c.key = o.key)
            = (p_mine -> o.run_id::text ->> 'id')::bigint then 'claimed' end as state) s
      where s.state is not null
      order by o.offer_id;
end $$;
`;
