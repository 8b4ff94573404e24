/**
 * Makes an append cheaper: fewer statements, and none about what the run does not have. team-store.md 4.1, 17.
 *
 * SHORT-APPENDS-1 `answers.run_id` has no foreign key: its check was a tenth of an append with one result. An entry goes with its run all
 *    the same, in the transaction that removes the run's row (`forget_run`). That waits for an append or a rebuild under way, because
 *    both hold a lock of the row, and what comes later finds no row. So a kill leaves the row with its entries, or neither.
 *    docs/decisions/0058-an-index-without-a-foreign-key.md
 * SHORT-APPENDS-2 An entry of a run that is not there would be nobody's: the next result of the call replaces it.
 * SHORT-APPENDS-3 Reservations are settled by the append itself, which every line passes through, and only where its run has some
 *    (LIMITS-2). A trigger had to collect all lines of each append for it.
 *
 * Plans don't depend on statistics, as before: what is found by its key is looked up in a subquery of its own.
 */
export const shortAppendsSchema = `
drop trigger follow_calls on mlld.events;
drop function mlld.follow_calls();
alter table mlld.answers drop constraint answers_run_id_fkey;

-- SHORT-APPENDS-1. A run that is removed is one that nobody writes.
create or replace function mlld.forget_run() returns trigger
language plpgsql security invoker set search_path = pg_catalog, pg_temp set enable_seqscan = off as $$
begin
  if exists (select from mlld.reservations v where v.run_id = old.run_id) then
    perform mlld.end_reservations(w.project_id, old.run_id) from mlld.workflows w where w.workflow_id = old.workflow_id;
  end if;
  delete from mlld.answers where run_id = old.run_id;
  return old;
end $$;

-- SHORT-APPENDS-3: what the lines of a run from p_from on mean for its reservations. Escapes that a jsonb does not take are of no interest
-- here: keys and numbers have none.
create function mlld.follow_calls(p_run bigint, p_from bigint) returns void
language plpgsql security invoker set search_path = pg_catalog, pg_temp set plan_cache_mode = force_generic_plan set enable_seqscan = off as $$
declare
  v_added record;
  v_line jsonb;
begin
  for v_added in
    select e.line from mlld.events e where e.run_id = p_run and e.at >= p_from
        and e.line ~ '"type":"(call\\.(started|completed|failed)|run\\.finished)"' order by e.at
  loop
    v_line := regexp_replace(v_added.line, '\\\\u[0-9a-fA-F]{4}', '\\\\u003f', 'g')::jsonb;
    case v_line ->> 'type'
      when 'call.started' then
        update mlld.reservations set has_begun = true
          where run_id = p_run and key = v_line ->> 'key' and try = coalesce((v_line ->> 'try')::int, 1);
      when 'call.completed', 'call.failed' then
        perform mlld.settle_call(p_run, v_line);
      when 'run.finished' then
        perform mlld.end_reservations(w.project_id, r.run_id) from mlld.runs r join mlld.workflows w using (workflow_id) where r.run_id = p_run;
      else null;
    end case;
  end loop;
end $$;

create function mlld.use_blobs(p_workflow int, p_run bigint, p_digests text[]) returns void
language plpgsql security invoker set search_path = pg_catalog, pg_temp
set plan_cache_mode = force_generic_plan set jit = off set enable_seqscan = off set enable_hashjoin = off set enable_mergejoin = off as $$
begin
  insert into mlld.blob_uses (project_id, digest, run_id)
    select b.project_id, b.digest, p_run
    from mlld.workflows w join mlld.blobs b on b.project_id = w.project_id and b.digest = any (p_digests)
    where w.workflow_id = p_workflow on conflict do nothing;
end $$;

-- Swaps results in whose calls have one already; ML003 says which of them came too late.
create function mlld.swap_results(p_workflow int, p_run bigint, p_results jsonb) returns void
language plpgsql security invoker set search_path = pg_catalog, pg_temp set plan_cache_mode = force_generic_plan set enable_seqscan = off as $$
declare
  v_lost jsonb := '[]';
  v record;
begin
  for v in select * from jsonb_to_recordset(p_results) as n (key text, seq int, at bigint, bytes int, run text, refused int) order by key, seq
  loop
    insert into mlld.answers as a (workflow_id, key, run_id, seq, at, bytes) values (p_workflow, v.key, p_run, v.seq, v.at, v.bytes)
      on conflict (workflow_id, key) do update set run_id = excluded.run_id, seq = excluded.seq, at = excluded.at, bytes = excluded.bytes
        where a.run_id = p_run or not exists (select from mlld.runs r where r.run_id = a.run_id) -- SHORT-APPENDS-2
          or (v.run is not null and a.seq = v.refused
            and a.run_id = (select r.run_id from mlld.runs r where r.workflow_id = p_workflow and r.run = v.run));
    if not found then
      v_lost := v_lost || (select jsonb_build_object('key', v.key, 'seq', v.seq, 'run', r.run, 'by', a.seq, 'at', a.at, 'bytes', a.bytes)
        from mlld.answers a join mlld.runs r using (run_id) where a.workflow_id = p_workflow and a.key = v.key);
    end if;
  end loop;
  if jsonb_array_length(v_lost) > 0 then
    raise exception using errcode = 'ML003', message = 'results came too late', detail = v_lost::text;
  end if;
end $$;

-- TAKING-1. Nothing waits for a lock here, so that appends and workers that take don't wait for each other in a circle.
create function mlld.mark_offers(p_workflow int, p_run bigint, p_results jsonb) returns void
language plpgsql security invoker set search_path = pg_catalog, pg_temp
set plan_cache_mode = force_generic_plan set jit = off set enable_seqscan = off set enable_hashjoin = off set enable_mergejoin = off as $$
declare
  v record;
begin
  for v in select * from jsonb_to_recordset(p_results) as n (key text, seq int, at bigint, bytes int) order by key, seq
  loop
    update mlld.offers set ended_run = p_run, ended_seq = v.seq, ended_at = v.at, ended_bytes = v.bytes
      where offer_id = any (array(
        select f.offer_id from mlld.offers f where f.workflow_id = p_workflow and f.key = v.key for update skip locked));
  end loop;
end $$;

-- As before.
create or replace function mlld.append(p_run bigint, p_fence int, p_seq int, p_hash text, p_lines text, p_ats bigint[], p_bytes bigint,
  p_new_hash text, p_finished boolean, p_digests text[], p_results jsonb, p_ended text[]) returns void
language plpgsql security invoker set search_path = pg_catalog, pg_temp set plan_cache_mode = force_generic_plan set enable_seqscan = off as $$
declare
  v_workflow int;
  v_of_run bigint;
  v_has_reservations boolean;
  v_has_offers boolean;
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
    if v_results = 1 then
      insert into mlld.answers (workflow_id, key, run_id, seq, at, bytes) values (v_workflow, p_results -> 0 ->> 'key', p_run,
        (p_results -> 0 -> 'seq')::int, (p_results -> 0 -> 'at')::bigint, (p_results -> 0 -> 'bytes')::int) on conflict do nothing;
      get diagnostics v_new = row_count;
      v_has_offers := exists (select from mlld.offers o where o.workflow_id = v_workflow and o.key = p_results -> 0 ->> 'key');
    else
      insert into mlld.answers (workflow_id, key, run_id, seq, at, bytes)
        select v_workflow, n.key, p_run, n.seq, n.at, n.bytes
        from jsonb_to_recordset(p_results) as n (key text, seq int, at bigint, bytes int) order by n.key, n.seq on conflict do nothing;
      get diagnostics v_new = row_count;
      v_has_offers := exists (select from unnest(p_ended) as e (key)
        where (select true from mlld.offers o where o.workflow_id = v_workflow and o.key = e.key limit 1));
    end if;
    if v_new < v_results then perform mlld.swap_results(v_workflow, p_run, p_results); end if;
    if v_has_offers then perform mlld.mark_offers(v_workflow, p_run, p_results); end if;
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
`;
