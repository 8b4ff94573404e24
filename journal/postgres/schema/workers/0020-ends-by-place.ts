/**
 * Lets a run find the results of its offers by their place in the journals of workers, so that an append changes no offer.
 * team-store.md 7.1.
 *
 * BY-PLACE-1 The results of a run are in `answers` in the order of its journal, because an append waits for the one before. So a run
 *    that collects says up to which event it has seen each journal, and is told what is behind; what the statement sees of a journal and
 *    of `answers` is of one moment. An append marked the offers of its calls before, which wrote each of them, and all of its index
 *    entries, a second time.
 * BY-PLACE-2 The look is at the journals of the workers that serve the run, from their beginning, and of other runs of the workflow that
 *    are open, from where they were when they were seen first. A result that is elsewhere, or whose offer was not there yet when its
 *    place was passed, is found by the look at all offers (TAKING-1).
 * BY-PLACE-3 The end of a call that failed is no result: its worker marks the offer, as before.
 *
 * The look writes nothing: a run that is killed has forgotten what it has seen, and its offers end with it.
 */
export const endsByPlaceSchema = `
create index answers_place on mlld.answers (run_id, seq);
drop index mlld.answers_run;

create function mlld.collect_ended(p_run bigint, p_seen jsonb, p_count int, p_line_bytes int, p_before int)
returns table (of_run text, is_worker boolean, seen int, key text, run text, seq int, at float8, bytes int, worker text, host text, line text,
  before text)
language plpgsql security invoker set search_path = pg_catalog, pg_temp
set plan_cache_mode = force_generic_plan set jit = off set enable_seqscan = off set enable_bitmapscan = off set enable_hashjoin = off
set enable_mergejoin = off as $$
declare
  v_workflow int := (select r.workflow_id from mlld.runs r where r.run_id = p_run);
begin
  return query
    with journals as materialized (
      select j.*, coalesce((p_seen ->> j.run_id::text)::int, case when j.serves then -1 else j.latest end) as behind from (
        select r.run_id, r.run, r.host, r.worker, r.next_seq - 1 as latest, true as serves from mlld.runs r where r.of_run = p_run
        union all
        select r.run_id, r.run, r.host, r.worker, r.next_seq - 1, false from mlld.runs r
          where r.workflow_id = v_workflow and not r.finished and r.of_run is distinct from p_run and r.run_id <> p_run) j),
    results as materialized (
      select j.run_id, j.run, j.host, j.worker, j.serves, a.key, a.seq, a.at, a.bytes
        from journals j cross join lateral (select x.key, x.seq, x.at, x.bytes from mlld.answers x
          where x.run_id = j.run_id and x.seq > j.behind order by x.seq limit p_count) a
        where j.latest > j.behind order by j.serves desc, j.run_id, a.seq limit p_count),
    ends as (
      select e.key, e.run_id, e.run, e.seq, e.at, e.bytes, case when e.serves then e.worker ->> 'name' end as worker, e.host
        from results e cross join lateral (select from mlld.offers o where o.workflow_id = v_workflow and o.key = e.key and o.run_id = p_run
          and not (e.run_id is not distinct from o.refused_run and e.seq is not distinct from o.refused_seq) offset 0) f
      union all
      select o.key, r.run_id, r.run, o.ended_seq, o.ended_at, o.ended_bytes, case when r.of_run = p_run then r.worker ->> 'name' end, r.host
        from (select f.* from mlld.offers f where f.run_id = p_run and f.ended_seq is not null limit p_count) o
          cross join lateral (select x.* from mlld.runs x where x.run_id = o.ended_run offset 0) r)
    select j.run_id::text, j.serves, case when (select count(*) from results) < p_count then j.latest
        else coalesce((select max(e.seq) from results e where e.run_id = j.run_id), j.behind) end,
        null::text, null::text, null::int, null::float8, null::int, null::text, null::text, null::text, null::text
      from journals j
    union all
    select null, null, null, e.key, e.run, e.seq, e.at::float8, e.bytes, e.worker, e.host,
        (select l.line from mlld.events l where l.run_id = e.run_id and l.at = e.at and octet_length(l.line) <= p_line_bytes),
        (select right(b.line, p_before) from mlld.events b where b.run_id = e.run_id and b.at < e.at order by b.at desc limit 1)
      from ends e;
end $$;

-- As before, without a look at offers.
create or replace function mlld.append(p_run bigint, p_fence int, p_seq int, p_hash text, p_lines text, p_ats bigint[], p_bytes bigint,
  p_new_hash text, p_finished boolean, p_digests text[], p_results jsonb, p_ended text[]) returns void
language plpgsql security invoker set search_path = pg_catalog, pg_temp set plan_cache_mode = force_generic_plan set enable_seqscan = off as $$
declare
  v_workflow int;
  v_of_run bigint;
  v_has_reservations boolean;
  v_results int;
  v_new int;
begin
  if current_setting('synchronous_commit') in ('off', 'local', 'remote_write') then
    perform set_config('synchronous_commit', 'on', true);
  end if;
  update mlld.runs set next_seq = p_seq + cardinality(p_ats), bytes = p_bytes, hash = p_new_hash, finished = p_finished,
      lease_until = clock_timestamp() + make_interval(secs => lease_s)
    where run_id = p_run and fence = p_fence and next_seq = p_seq and hash = p_hash
    returning workflow_id, of_run, exists (select from mlld.reservations v where v.run_id = p_run)
    into v_workflow, v_of_run, v_has_reservations;
  if not found then
    if exists (select from mlld.runs where run_id = p_run and fence = p_fence) then
      raise exception using errcode = 'ML002', message = 'the run has another head';
    end if;
    raise exception using errcode = 'ML001', message = 'the run was sealed';
  end if;
  if cardinality(p_ats) = 1 then
    insert into mlld.events (run_id, at, seq, line) values (p_run, p_ats[1], p_seq, p_lines);
  else
    insert into mlld.events (run_id, at, seq, line)
      select p_run, u.at, p_seq + u.n - 1, u.line
      from rows from (unnest(p_ats), string_to_table(p_lines, E'\\n')) with ordinality as u (at, line, n);
  end if;
  if cardinality(p_digests) > 0 then perform mlld.use_blobs(v_workflow, p_run, p_digests); end if;
  if p_results is not null then
    -- Most calls have no result yet. Where one of them has, or a call has several here, all of them are swapped in one by one.
    v_results := jsonb_array_length(p_results);
    if v_results = 1 and cardinality(p_ended) = 1 then
      insert into mlld.answers (workflow_id, key, run_id, seq, at, bytes) values (v_workflow, p_ended[1], p_run,
        (p_results -> 0 -> 'seq')::int, (p_results -> 0 -> 'at')::bigint, (p_results -> 0 -> 'bytes')::int) on conflict do nothing;
    else
      insert into mlld.answers (workflow_id, key, run_id, seq, at, bytes)
        select v_workflow, n.key, p_run, n.seq, n.at, n.bytes
        from jsonb_to_recordset(p_results) as n (key text, seq int, at bigint, bytes int) order by n.key, n.seq on conflict do nothing;
    end if;
    get diagnostics v_new = row_count;
    if v_new < v_results then perform mlld.swap_results(v_workflow, p_run, p_results); end if;
  end if;
  if p_finished then
    delete from mlld.claims where run_id = p_run;
  elsif cardinality(p_ended) = 1 then
    delete from mlld.claims c where c.workflow_id = v_workflow and c.key = p_ended[1] and c.run_id + 0 in (p_run, v_of_run);
  elsif cardinality(p_ended) > 1 then
    delete from mlld.claims where ctid = any (array(
      select (select c.ctid from mlld.claims c where c.workflow_id = v_workflow and c.key = e.key and c.run_id + 0 in (p_run, v_of_run))
      from unnest(p_ended) as e (key)));
  end if;
  if v_has_reservations then perform mlld.follow_calls(p_run, p_ats[1]); end if;
end $$;
drop function mlld.mark_offers(int, bigint, jsonb);
`;
