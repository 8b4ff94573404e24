/**
 * Begins a run of a pipeline that goes on with another one, and takes that one from its writer, in one transaction. team-store.md 4.5, 9.1.
 *
 * TAKING-OVER-1 At most one run goes on with another: the fence must be the one that was read, and is raised. A process that had read the
 *    same and was stopped finds another fence when it is back.
 * TAKING-OVER-2 The run is taken as it was read: where its writer has appended since, or is alive, nothing is begun.
 * TAKING-OVER-3 Runs that were begun behind it, have no lines, and whose writers are gone, are sealed as well. Nobody who read the history
 *    saw them, and such a writer may have begun to go on with the same run.
 * TAKING-OVER-4 The roles that record may raise no fence but by `take_over`, which runs with the rights of its owner. It does no more than
 *    this, names every relation and function of ours with its schema, and may be called by nobody else.
 *
 * A kill before the commit leaves everything as it was, one behind it a sealed run and one that has no lines: a resume goes on with the
 * former.
 */
export const takingOverSchema = `
create function mlld.take_over(p_workflow int, p_run text, p_bytes bigint, p_fence int) returns boolean
language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
begin
  update mlld.runs r set fence = r.fence + 1, lease_until = '-infinity'
    where r.workflow_id = p_workflow and r.run = p_run and r.fence = p_fence and r.bytes = coalesce(p_bytes, r.bytes)
      and (r.finished or not mlld.is_alive(r.lease_until, r.lease_s));
  if not found then return false; end if;
  update mlld.runs r set fence = r.fence + 1, lease_until = '-infinity'
    where r.workflow_id = p_workflow and r.run collate "C" > p_run collate "C" and r.role = 'run' and r.next_seq = 0 and not r.finished
      and not mlld.is_alive(r.lease_until, r.lease_s);
  return true;
end $$;
revoke all on function mlld.take_over(int, text, bigint, int) from public;

-- Null where another writer has a run of that name. ML004: the run that it would go on with is another writer's, or not the one that was read.
create function mlld.begin_after(p_project text, p_path text, p_run text, p_writer uuid, p_lease_s int, p_host text, p_pid int,
  p_process text, p_after text, p_bytes bigint, p_fence int) returns bigint
language plpgsql security invoker set search_path = pg_catalog, pg_temp as $$
declare
  v_workflow int := mlld.workflow_of(p_project, p_path);
  v_id bigint;
begin
  insert into mlld.runs (workflow_id, run, writer, lease_s, lease_until, host, pid, process)
    values (v_workflow, p_run, p_writer, p_lease_s, clock_timestamp() + make_interval(secs => p_lease_s), p_host, p_pid, p_process)
    on conflict do nothing returning run_id into v_id;
  if v_id is null then -- the statement may be sent twice
    select run_id into v_id from mlld.runs where workflow_id = v_workflow and run = p_run and writer = p_writer;
    return v_id;
  end if;
  if not mlld.take_over(v_workflow, p_after, p_bytes, p_fence) then
    raise exception using errcode = 'ML004', message = 'another process has gone on with the run';
  end if;
  return v_id;
end $$;
`;
