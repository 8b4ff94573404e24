/**
 * A worker takes no call over that it holds. While the end of a call waits in a spill, its claim may be lost: the lease ran out, or the
 * server crashed. It was executed a second time, and one run had two results of it. team-store.md 6.
 */
export const heldOffersSchema = `
-- Takes over the oldest offers that nobody executes. p_lanes: {lane: how many}. p_mine: {id of a run that offers: {id, fence, held} of
-- the run that the worker serves it with}. What one of them holds is not taken, also where its claim is gone; a claim of the run that is
-- not held is one whose answer was lost, and is taken anew. Of each offer: 'claimed'; 'new' where the worker has no run for it yet;
-- 'sealed' where that run was sealed.
create or replace function mlld.take_offers(p_project text, p_worker text, p_lanes jsonb, p_mine jsonb)
returns table (state text, offer text, key text, lane text, call text, of_run text, of_name text, path text, run text, seq int)
language plpgsql security invoker set search_path = pg_catalog, pg_temp as $$
declare
  v_lane record;
  v record;
  v_mine jsonb;
  v_held text[];
begin
  select coalesce(array_agg(f.workflow_id || ' ' || h.key), '{}') into v_held from jsonb_each(p_mine) m
    join mlld.runs f on f.run_id = m.key::bigint cross join lateral jsonb_array_elements_text(m.value -> 'held') h (key);
  for v_lane in select l.key as name, (l.value)::int as slots from jsonb_each(p_lanes) l loop
    for v in select s.* from (
        select o.offer_id, o.workflow_id, o.key, o.run_id, o.lane, o.call, o.refused_run, o.refused_seq, r.run as of_name, w.path
        from mlld.offers o join mlld.runs r on r.run_id = o.run_id join mlld.workflows w on w.workflow_id = o.workflow_id
          join mlld.projects p using (project_id)
        where p.name = p_project and o.lane = v_lane.name and o.ended_seq is null
          and (o.declined is null or not o.declined ? p_worker) and not o.workflow_id || ' ' || o.key = any (v_held)
          and not r.finished and mlld.is_alive(r.lease_until, r.lease_s)
          and not exists (select from mlld.claims c join mlld.runs cr on cr.run_id = c.run_id
            where c.workflow_id = o.workflow_id and c.key = o.key and not cr.finished and mlld.is_alive(cr.lease_until, cr.lease_s)
              and c.run_id is distinct from (p_mine -> o.run_id::text ->> 'id')::bigint)
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
`;
