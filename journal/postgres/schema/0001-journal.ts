/**
 * The first migration: the tables of team-store.md 3, and the functions that write runs. What is written is append-only: a function moves
 * the head of a run and adds its lines in one transaction, or does nothing.
 */
export const journalSchema = `
create schema mlld;
create table mlld.meta (one boolean primary key default true check (one), store_id uuid not null default gen_random_uuid(),
  version int not null, min_client int not null, migrated_at timestamptz not null default now());
create table mlld.projects (project_id int generated always as identity primary key, name text not null unique);
create table mlld.workflows (workflow_id int generated always as identity primary key, project_id int not null references mlld.projects,
  path text not null, unique (project_id, path));
create table mlld.runs (
  run_id bigint generated always as identity primary key,
  workflow_id int not null references mlld.workflows, run text not null, unique (workflow_id, run),
  role text not null default 'run' check (role in ('run', 'worker', 'salvage')),
  of_run bigint references mlld.runs on delete cascade,
  fence int not null default 0,
  next_seq int not null default 0, bytes bigint not null default 0, hash text not null default repeat('0', 64),
  finished boolean not null default false, rewritten int not null default 0,
  lease_s int not null default 60, lease_until timestamptz not null,
  host text not null default '', pid int not null default 0, created_at timestamptz not null default clock_timestamp(),
  writer uuid not null
) with (fillfactor = 50);
create index runs_of_run on mlld.runs (of_run) where of_run is not null;
create index runs_run on mlld.runs (run);
create table mlld.events (run_id bigint not null, at bigint not null, seq int not null, line text not null, primary key (run_id, at));
create table mlld.blobs (project_id int not null, digest text not null, bytes bigint not null, touched_at timestamptz not null,
  primary key (project_id, digest));
create table mlld.blob_parts (project_id int not null, digest text not null, part int not null, content bytea not null,
  primary key (project_id, digest, part));
alter table mlld.blob_parts alter column content set storage external;
create table mlld.blob_uses (project_id int not null, digest text not null, run_id bigint not null references mlld.runs on delete cascade,
  primary key (project_id, digest, run_id));
create index blob_uses_run on mlld.blob_uses (run_id);
create table mlld.asides (workflow_id int not null references mlld.workflows on delete cascade, name text not null, content bytea not null,
  primary key (workflow_id, name));
create table mlld.turns (workflow_id int primary key references mlld.workflows on delete cascade, holder uuid not null,
  until timestamptz not null);
create table mlld.answers (workflow_id int not null, key text not null, run_id bigint not null references mlld.runs on delete cascade,
  seq int not null, at bigint not null, bytes int not null, primary key (workflow_id, key));
create index answers_run on mlld.answers (run_id);
create table mlld.claims (workflow_id int not null, key text not null, run_id bigint not null references mlld.runs on delete cascade,
  claimed_at timestamptz not null default clock_timestamp(), primary key (workflow_id, key))
  with (autovacuum_vacuum_scale_factor = 0.02);
create index claims_run on mlld.claims (run_id);
create table mlld.offers (offer_id bigint generated always as identity primary key, workflow_id int not null, key text not null,
  run_id bigint not null references mlld.runs on delete cascade, lane text not null default '', call text not null,
  refused_run bigint, refused_seq int, offered_at timestamptz not null default clock_timestamp(), unique (workflow_id, key, run_id))
  with (autovacuum_vacuum_scale_factor = 0.02);
create table mlld.budgets (project_id int not null references mlld.projects, name text not null, unit text not null, period text,
  total numeric not null, spent numeric not null default 0, reserved numeric not null default 0, primary key (project_id, name));
create table mlld.reservations (run_id bigint not null references mlld.runs, workflow_id int not null, key text not null,
  project_id int not null, name text not null, amount numeric not null, primary key (run_id, workflow_id, key, name));
create table mlld.limits (project_id int not null references mlld.projects, lane text not null, tokens numeric not null,
  per_second numeric not null, burst numeric not null, blocked_until timestamptz, updated_at timestamptz not null,
  primary key (project_id, lane));

create function mlld.workflow_of(p_project text, p_path text) returns int
language plpgsql security invoker set search_path = pg_catalog, pg_temp as $$
declare
  v_workflow int;
begin
  select w.workflow_id into v_workflow from mlld.workflows w join mlld.projects p using (project_id) where p.name = p_project and w.path = p_path;
  if found then return v_workflow; end if;
  insert into mlld.projects (name) values (p_project) on conflict do nothing;
  insert into mlld.workflows (project_id, path) select project_id, p_path from mlld.projects where name = p_project on conflict do nothing;
  select w.workflow_id into v_workflow from mlld.workflows w join mlld.projects p using (project_id) where p.name = p_project and w.path = p_path;
  return v_workflow;
end $$;

create function mlld.put_part(p_project text, p_digest text, p_part int, p_content bytea) returns void
language plpgsql security invoker set search_path = pg_catalog, pg_temp as $$
begin
  insert into mlld.projects (name) select p_project where not exists (select from mlld.projects where name = p_project) on conflict do nothing;
  insert into mlld.blob_parts (project_id, digest, part, content)
    select project_id, p_digest, p_part, p_content from mlld.projects where name = p_project on conflict do nothing;
end $$;

-- Without content, the parts of the blob are there already.
create function mlld.put_blob(p_project text, p_digest text, p_bytes bigint, p_content bytea) returns void
language plpgsql security invoker set search_path = pg_catalog, pg_temp as $$
begin
  if p_content is not null then
    perform mlld.put_part(p_project, p_digest, 0, p_content);
  end if;
  insert into mlld.blobs as b (project_id, digest, bytes, touched_at)
    select project_id, p_digest, p_bytes, clock_timestamp() from mlld.projects where name = p_project
    on conflict (project_id, digest) do update set touched_at = excluded.touched_at;
end $$;

-- The id of the new run; null when another writer has made one of that name.
create function mlld.begin_run(p_project text, p_path text, p_run text, p_writer uuid, p_lease_s int, p_host text, p_pid int) returns bigint
language plpgsql security invoker set search_path = pg_catalog, pg_temp as $$
declare
  v_workflow int := mlld.workflow_of(p_project, p_path);
  v_id bigint;
begin
  insert into mlld.runs (workflow_id, run, writer, lease_s, lease_until, host, pid)
    values (v_workflow, p_run, p_writer, p_lease_s, clock_timestamp() + make_interval(secs => p_lease_s), p_host, p_pid)
    on conflict do nothing returning run_id into v_id;
  if v_id is null then
    select run_id into v_id from mlld.runs where workflow_id = v_workflow and run = p_run and writer = p_writer;
  end if;
  return v_id;
end $$;

create function mlld.append(p_run bigint, p_fence int, p_seq int, p_hash text, p_lines text, p_ats bigint[], p_bytes bigint,
  p_new_hash text, p_finished boolean, p_digests text[]) returns void
language plpgsql security invoker set search_path = pg_catalog, pg_temp as $$
begin
  if current_setting('synchronous_commit') in ('off', 'local', 'remote_write') then
    perform set_config('synchronous_commit', 'on', true);
  end if;
  update mlld.runs set next_seq = p_seq + cardinality(p_ats), bytes = p_bytes, hash = p_new_hash, finished = p_finished,
      lease_until = clock_timestamp() + make_interval(secs => lease_s)
    where run_id = p_run and fence = p_fence and next_seq = p_seq and hash = p_hash;
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
      from mlld.runs r join mlld.workflows w using (workflow_id) join mlld.blobs b on b.project_id = w.project_id and b.digest = any (p_digests)
      where r.run_id = p_run on conflict do nothing;
  end if;
end $$;

-- A run lives while its lease does, and for one lease after the server's start: before that nobody could have renewed it.
create function mlld.is_alive(p_until timestamptz, p_lease_s int) returns boolean
language sql stable security invoker set search_path = pg_catalog, pg_temp as $$
  select p_until > '-infinity'
    and (p_until > clock_timestamp() or pg_postmaster_start_time() + make_interval(secs => p_lease_s) > clock_timestamp())
$$;
`;
