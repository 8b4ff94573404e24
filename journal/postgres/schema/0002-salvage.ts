/** Runs that serve another one, and the process that writes a run, as its own machine knows it. team-store.md 4.5. */
export const salvageSchema = `
alter table mlld.runs add column process text not null default '';

-- The id of the new run; null when another writer has made one of that name. p_of_run: the run that a salvage run serves.
create function mlld.begin_run(p_project text, p_path text, p_run text, p_writer uuid, p_lease_s int, p_host text, p_pid int,
  p_process text, p_of_run bigint) returns bigint
language plpgsql security invoker set search_path = pg_catalog, pg_temp as $$
declare
  v_workflow int := mlld.workflow_of(p_project, p_path);
  v_id bigint;
begin
  insert into mlld.runs (workflow_id, run, writer, lease_s, lease_until, host, pid, process, of_run, role)
    values (v_workflow, p_run, p_writer, p_lease_s, clock_timestamp() + make_interval(secs => p_lease_s), p_host, p_pid, p_process,
      p_of_run, case when p_of_run is null then 'run' else 'salvage' end)
    on conflict do nothing returning run_id into v_id;
  if v_id is null then
    select run_id into v_id from mlld.runs where workflow_id = v_workflow and run = p_run and writer = p_writer;
  end if;
  return v_id;
end $$;
`;
