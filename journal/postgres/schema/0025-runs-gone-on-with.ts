/**
 * Lets a run say with which run it goes on, so that another one that goes on with the same seals it. team-store.md 4.5, 9.1.
 *
 * GONE-ON-1 A process may sleep between the commit that takes a run and the first line of its own, for longer than its turn lasts and
 *    shorter than its lease. Who comes next sees no line of it, and took only runs whose lease was over (TAKING-OVER-3): both went on.
 * GONE-ON-2 A run that goes on with no run may be about to begin, and is left alone as before.
 * GONE-ON-3 The run is taken before the own one is there, which would be sealed as well. The statement may be sent twice, also at once: the
 *    one that waits for the other finds the run that the other has made.
 *
 * A kill leaves what it left before: nothing, or a sealed run and one without lines.
 */
export const runsGoneOnWithSchema = `
alter table mlld.runs add column after_run bigint;

create or replace function mlld.take_over(p_workflow int, p_run text, p_bytes bigint, p_fence int) returns boolean
language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
declare
  v_id bigint;
begin
  update mlld.runs r set fence = r.fence + 1, lease_until = '-infinity'
    where r.workflow_id = p_workflow and r.run = p_run and r.fence = p_fence and r.bytes = coalesce(p_bytes, r.bytes)
      and (r.finished or not mlld.is_alive(r.lease_until, r.lease_s))
    returning r.run_id into v_id;
  if not found then return false; end if;
  update mlld.runs r set fence = r.fence + 1, lease_until = '-infinity'
    where r.workflow_id = p_workflow and r.run collate "C" > p_run collate "C" and r.role = 'run' and r.next_seq = 0 and not r.finished
      and (r.after_run = v_id or not mlld.is_alive(r.lease_until, r.lease_s));
  return true;
end $$;

create or replace function mlld.begin_after(p_project text, p_path text, p_run text, p_writer uuid, p_lease_s int, p_host text, p_pid int,
  p_process text, p_after text, p_bytes bigint, p_fence int) returns bigint
language plpgsql security invoker set search_path = pg_catalog, pg_temp as $$
declare
  v_workflow int := mlld.workflow_of(p_project, p_path);
  v_known record;
  v_id bigint;
begin
  select r.run_id, r.writer into v_known from mlld.runs r where r.workflow_id = v_workflow and r.run = p_run;
  if not found and not mlld.take_over(v_workflow, p_after, p_bytes, p_fence) then
    select r.run_id, r.writer into v_known from mlld.runs r where r.workflow_id = v_workflow and r.run = p_run; -- GONE-ON-3
    if not found then
      raise exception using errcode = 'ML004', message = 'another process has gone on with the run';
    end if;
  end if;
  if v_known.run_id is not null then return case when v_known.writer = p_writer then v_known.run_id end; end if;
  insert into mlld.runs (workflow_id, run, writer, lease_s, lease_until, host, pid, process, after_run)
    select v_workflow, p_run, p_writer, p_lease_s, clock_timestamp() + make_interval(secs => p_lease_s), p_host, p_pid, p_process, r.run_id
      from mlld.runs r where r.workflow_id = v_workflow and r.run = p_after
    returning run_id into v_id;
  return v_id;
end $$;
`;
