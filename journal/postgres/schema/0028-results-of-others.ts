/**
 * Lets a result take the place of an entry of the index that names a run of another workflow. team-store.md 4.2.
 *
 * OTHERS-1 Only SQL writes such an entry, and no run can read the result that it names. It held the place of the call's result all the
 *    same, so that each result came too late, and each run paid for the call again. Now it is nobody's, as one of a run that is gone
 *    (SHORT-APPENDS-2): the next result of the call replaces it.
 */
export const resultsOfOthersSchema = `
create or replace function mlld.swap_results(p_workflow int, p_run bigint, p_results jsonb) returns void
language plpgsql security invoker set search_path = pg_catalog, pg_temp set plan_cache_mode = force_generic_plan set enable_seqscan = off as $$
declare
  v_lost jsonb := '[]';
  v record;
begin
  for v in select * from jsonb_to_recordset(p_results) as n (key text, seq int, at bigint, bytes int, run text, refused int) order by key, seq
  loop
    insert into mlld.answers as a (workflow_id, key, run_id, seq, at, bytes) values (p_workflow, v.key, p_run, v.seq, v.at, v.bytes)
      on conflict (workflow_id, key) do update set run_id = excluded.run_id, seq = excluded.seq, at = excluded.at, bytes = excluded.bytes
        where a.run_id = p_run
          or not exists (select from mlld.runs r where r.run_id = a.run_id and r.workflow_id = p_workflow) -- SHORT-APPENDS-2, OTHERS-1
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
`;
