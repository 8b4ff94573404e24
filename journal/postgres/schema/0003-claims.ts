/**
 * One execution of a call at a time for the whole team, and one result: an append swaps results into `answers` in its own transaction, or
 * does nothing; a call is claimed before it is executed. team-store.md 4.2 and 6.
 */
export const claimsSchema = `
-- Writes the results of a run into the index: of several runs that have one for a key, the one that sorts last.
create function mlld.index_results(p_run bigint) returns void
language plpgsql security invoker set search_path = pg_catalog, pg_temp as $$
begin
  with gone as (
    select substring(e.line from '"of":([0-9]+)')::int as seq from mlld.events e
    where e.run_id = p_run and e.line ~ '^\\{"v":[0-9]+,"seq":[0-9]+,"type":"call\\.superseded"')
  insert into mlld.answers as a (workflow_id, key, run_id, seq, at, bytes)
    select distinct on (c.key) r.workflow_id, c.key, r.run_id, c.seq, c.at, octet_length(c.line)
    from mlld.runs r join (
      select e.run_id, e.seq, e.at, e.line,
        substring(e.line from '^\\{"v":[0-9]+,"seq":[0-9]+,"type":"call\\.completed","key":"([^"]+)"') as key
      from mlld.events e where e.run_id = p_run
    ) c using (run_id)
    where r.run_id = p_run and c.key is not null and c.line not like '%"result":{"redacted":%'
      and (c.line not like '%"unusable":%' or (c.line not like '%\\\\u0000%' and not c.line::jsonb ? 'unusable'))
      and c.seq not in (select gone.seq from gone)
    order by c.key, c.seq desc
    on conflict (workflow_id, key) do update set run_id = excluded.run_id, seq = excluded.seq, at = excluded.at, bytes = excluded.bytes
      where (select run from mlld.runs where run_id = a.run_id) collate "C"
        <= (select run from mlld.runs where run_id = excluded.run_id) collate "C";
end $$;

-- Makes the index of a project anew, and frees its claims.
create function mlld.rebuild(p_project text) returns bigint
language plpgsql security invoker set search_path = pg_catalog, pg_temp as $$
declare
  v_run bigint;
  v_results bigint;
begin
  delete from mlld.answers a using mlld.workflows w, mlld.projects p
    where a.workflow_id = w.workflow_id and w.project_id = p.project_id and p.name = p_project;
  delete from mlld.claims c using mlld.workflows w, mlld.projects p
    where c.workflow_id = w.workflow_id and w.project_id = p.project_id and p.name = p_project;
  for v_run in select r.run_id from mlld.runs r join mlld.workflows w using (workflow_id) join mlld.projects p using (project_id)
    where p.name = p_project order by r.workflow_id, r.run collate "C"
  loop
    perform mlld.index_results(v_run);
  end loop;
  select count(*) into v_results from mlld.answers a join mlld.workflows w using (workflow_id) join mlld.projects p using (project_id)
    where p.name = p_project;
  return v_results;
end $$;

select mlld.index_results(run_id) from (select run_id from mlld.runs order by workflow_id, run collate "C") r;

drop function mlld.append(bigint, int, int, text, text, bigint[], bigint, text, boolean, text[]);

-- p_results: [{key, seq, at, bytes, run, refused}] of results that compete for their calls; run and refused name the result that each of
-- them may replace. p_ended: the keys of calls that ended. ML003 says which results came too late, and what won.
create function mlld.append(p_run bigint, p_fence int, p_seq int, p_hash text, p_lines text, p_ats bigint[], p_bytes bigint,
  p_new_hash text, p_finished boolean, p_digests text[], p_results jsonb, p_ended text[]) returns void
language plpgsql security invoker set search_path = pg_catalog, pg_temp as $$
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
      if not found then
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

-- p_wanted: [{key, run, refused, alone}]. Of each: 'answered' by a result that is not the refused one; 'claimed', and what it may replace;
-- 'taken' by a run that lives. One that is alone takes no result of another run, and waits for none.
create function mlld.claim(p_run bigint, p_fence int, p_wanted jsonb)
returns table (key text, state text, run text, seq int, at bigint, bytes int, host text)
language plpgsql security invoker set search_path = pg_catalog, pg_temp as $$
declare
  v_workflow int;
  v record;
  w record;
  v_is_claimed boolean;
begin
  select r.workflow_id into v_workflow from mlld.runs r where r.run_id = p_run and r.fence = p_fence;
  if not found then
    raise exception using errcode = 'ML001', message = 'the run was sealed';
  end if;
  for v in select n.key, n.run, n.refused, coalesce(n.alone, false) as alone
    from jsonb_to_recordset(p_wanted) as n (key text, run text, refused int, alone boolean) order by n.key
  loop
    v_is_claimed := false;
    -- The second look finds a result that was swapped in, and whose claim was given back, between the first look and the claim.
    loop
      select a.seq, a.at, a.bytes, r.run into w from mlld.answers a join mlld.runs r using (run_id)
        where a.workflow_id = v_workflow and a.key = v.key;
      if w.run is not null and not v.alone and not (w.run is not distinct from v.run and w.seq is not distinct from v.refused) then
        if v_is_claimed then
          delete from mlld.claims c where c.workflow_id = v_workflow and c.key = v.key and c.run_id = p_run;
        end if;
        return query select v.key, 'answered', w.run, w.seq, w.at, w.bytes, null::text;
        exit;
      end if;
      if v_is_claimed then
        return query select v.key, 'claimed', w.run, w.seq, w.at, w.bytes, null::text;
        exit;
      end if;
      insert into mlld.claims as c (workflow_id, key, run_id) values (v_workflow, v.key, p_run)
        on conflict on constraint claims_pkey do update set run_id = excluded.run_id, claimed_at = excluded.claimed_at
          where c.run_id = p_run
            or not exists (select from mlld.runs r where r.run_id = c.run_id and not r.finished and mlld.is_alive(r.lease_until, r.lease_s));
      v_is_claimed := found;
      if not v_is_claimed then
        if v.alone then
          return query select v.key, 'claimed', w.run, w.seq, w.at, w.bytes, null::text;
          exit;
        end if;
        return query select v.key, 'taken', r.run, null::int, null::bigint, null::int, r.host
          from mlld.claims c join mlld.runs r using (run_id) where c.workflow_id = v_workflow and c.key = v.key;
        exit when found; -- else it was given back meanwhile
      end if;
    end loop;
  end loop;
end $$;

-- Frees what runs have claimed that ended, or are dead.
create function mlld.sweep_claims(p_project text) returns void
language sql security invoker set search_path = pg_catalog, pg_temp as $$
  delete from mlld.claims where (workflow_id, key) in (
    select c.workflow_id, c.key from mlld.claims c join mlld.runs r using (run_id) join mlld.workflows w on w.workflow_id = c.workflow_id
      join mlld.projects p using (project_id)
    where p.name = p_project and (r.finished or not mlld.is_alive(r.lease_until, r.lease_s))
    for update of c skip locked)
$$;
`;
