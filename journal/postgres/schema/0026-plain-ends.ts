/**
 * Lets an append name the lines that hold the first results of their calls, in place of describing each. team-store.md 4.2.
 *
 * PLAIN-END-1 `p_results` is an array of numbers when each call of `p_ended` has one result here that replaces none: the lines of these
 *    results, in the order of the keys, counted from 0. Where one of these calls has a result already, the statement fails as the key of
 *    `answers` says (23505), nothing is taken, and the program sends the results described, as before.
 *
 * Described results are inserted unless one is there, which is written twice for each of them. A kill leaves what it left before.
 */
export const plainEndsSchema = `
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
  if jsonb_typeof(p_results) = 'object' then
    if v_of_run is not null then
      update mlld.offers o set ended_run = p_run, ended_seq = f.seq, ended_at = f.at, ended_bytes = f.bytes
        from jsonb_to_recordset(p_results -> 'failed') as f (key text, seq int, at bigint, bytes int)
        where o.workflow_id = v_workflow and o.key = f.key and o.run_id = v_of_run;
    end if;
    p_results := nullif(p_results -> 'results', '[]');
  end if;
  if jsonb_typeof(p_results -> 0) = 'number' then
    if cardinality(p_ended) = 1 then
      v_new := (p_results -> 0)::int + 1;
      insert into mlld.answers (workflow_id, key, run_id, seq, at, bytes) values (v_workflow, p_ended[1], p_run, p_seq + v_new - 1, p_ats[v_new],
        coalesce(p_ats[v_new + 1], p_bytes) - p_ats[v_new] - 1);
    else
      insert into mlld.answers (workflow_id, key, run_id, seq, at, bytes)
        select v_workflow, e.key, p_run, p_seq + e.line::int, p_ats[e.line::int + 1],
          coalesce(p_ats[e.line::int + 2], p_bytes) - p_ats[e.line::int + 1] - 1
        from rows from (unnest(p_ended), jsonb_array_elements(p_results)) as e (key, line) order by e.key;
    end if;
  elsif p_results is not null then
    -- Most calls have no result yet. Where one of them has, or a call has several here, all of them are swapped in one by one.
    v_results := jsonb_array_length(p_results);
    insert into mlld.answers (workflow_id, key, run_id, seq, at, bytes)
      select v_workflow, n.key, p_run, n.seq, n.at, n.bytes
      from jsonb_to_recordset(p_results) as n (key text, seq int, at bigint, bytes int) order by n.key, n.seq on conflict do nothing;
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
`;
