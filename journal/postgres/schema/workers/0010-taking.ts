/**
 * Lets workers take offers, and runs collect what became of them, at a price that does not grow with their number. team-store.md 7.1.
 *
 * TAKING-1 The append that holds a result marks the offers of its call, so a run that collects reads the marked ones only. A mark may be
 *    missing, because the offer was made or locked at that moment: from time to time the run looks at all of its offers.
 */
export const takingSchema = `
-- Most runs have ended; these are looked through for offers.
create index runs_open on mlld.runs (workflow_id) where not finished;
create index offers_ended on mlld.offers (run_id) where ended_seq is not null;

-- The body is parsed here and has no settings of its own, so that the server writes it out where it is used. The clock is that of the
-- statement: one that waited counts a run as alive for longer, never for shorter.
create or replace function mlld.is_alive(p_until timestamptz, p_lease_s int) returns boolean
language sql stable security invoker
return p_until > '-infinity'::timestamptz and (p_until > statement_timestamp()
  or pg_postmaster_start_time() + make_interval(secs => p_lease_s) > statement_timestamp());

-- TAKING-1
create or replace function mlld.append(p_run bigint, p_fence int, p_seq int, p_hash text, p_lines text, p_ats bigint[], p_bytes bigint,
  p_new_hash text, p_finished boolean, p_digests text[], p_results jsonb, p_ended text[]) returns void
language plpgsql security invoker set search_path = pg_catalog, pg_temp set jit = off set enable_seqscan = off as $$
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
    delete from mlld.claims where workflow_id = v_workflow and key = any (p_ended) and run_id in (p_run, v_of_run);
  end if;
end $$;

-- What became of the offers of a run: 'ended' where the end of the call is marked; 'answered' where a result that was not refused is there
-- all the same; 'declined' as before.
create or replace function mlld.collect_offers(p_run bigint)
returns table (key text, state text, run text, seq int, at bigint, bytes int, worker text, host text, why text)
language sql stable security invoker set search_path = pg_catalog, pg_temp
set jit = off set enable_seqscan = off set enable_bitmapscan = off set enable_hashjoin = off set enable_mergejoin = off as $$
  select o.key, 'answered', r.run, a.seq, a.at, a.bytes, case when r.of_run = p_run then r.worker ->> 'name' end,
      case when r.of_run = p_run then r.host end, null::text
    from mlld.offers o join mlld.answers a using (workflow_id, key) join mlld.runs r on r.run_id = a.run_id
    where o.run_id = p_run and o.ended_seq is null
      and not (a.run_id is not distinct from o.refused_run and a.seq is not distinct from o.refused_seq)
  union all
  select o.key, 'ended', r.run, o.ended_seq, o.ended_at, o.ended_bytes, case when r.of_run = p_run then r.worker ->> 'name' end,
      case when r.of_run = p_run then r.host end, null::text
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

-- What statistics say of a queue is never true: the plans must be those that walk along an index and stop.
alter function mlld.take_offers(text, text, jsonb, jsonb)
  set jit = off set enable_seqscan = off set enable_hashjoin = off set enable_mergejoin = off;

-- As before; in this language the plan is made once for a connection.
create or replace function mlld.free_offers(p_run bigint, p_lane text, p_worker text, p_mine jsonb, p_held text[], p_but bigint[], p_count int)
returns setof bigint
language plpgsql security invoker set search_path = pg_catalog, pg_temp
set enable_bitmapscan = off set enable_sort = off as $$
begin
  return query select o.offer_id from mlld.offers o
    where o.run_id = p_run and o.lane = p_lane and o.ended_seq is null and o.offer_id <> all (p_but)
      and (o.declined is null or not o.declined ? p_worker) and not o.workflow_id || ' ' || o.key = any (p_held)
      and not exists (select from mlld.claims c join mlld.runs cr on cr.run_id = c.run_id
        where c.workflow_id = o.workflow_id and c.key = o.key and not cr.finished and mlld.is_alive(cr.lease_until, cr.lease_s)
          and c.run_id is distinct from (p_mine ->> 'id')::bigint)
      and not exists (select from mlld.answers a where a.workflow_id = o.workflow_id and a.key = o.key
        and not (a.run_id is not distinct from o.refused_run and a.seq is not distinct from o.refused_seq))
    order by o.offer_id limit p_count for update of o skip locked;
end $$;
`;
