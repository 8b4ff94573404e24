/**
 * Lets a blob whose rows were changed by SQL be stored again. team-store.md 10.
 *
 * WHOLE-1 A blob that is there is only touched, and one that its digest does not fit is not there for readers: stored again it stayed so,
 *    and each run that needed the result paid for it again. Now its rows are removed first. Of a blob of more than 64 MiB only the length
 *    is looked at.
 * WHOLE-2 Only rows that do not fit are ever removed, whoever asks: the function has the rights of the owner, because those who record
 *    may not remove anything. The row in `blobs` is locked meanwhile, so that of two at once the second finds what the first has stored.
 *
 * The removal and the storing are one transaction: a kill leaves the damaged rows or the whole ones.
 */
export const wholeBlobsSchema = `
create function mlld.is_whole(p_project_id int, p_digest text, p_bytes bigint) returns boolean
language plpgsql stable security invoker set search_path = pg_catalog, pg_temp as $$
declare
  v_bytes bigint;
begin
  select sum(octet_length(content)) into v_bytes from mlld.blob_parts where project_id = p_project_id and digest = p_digest;
  if v_bytes is distinct from p_bytes then return false; end if;
  if p_bytes > 67108864 then return true; end if;
  return 'sha256:' || encode(sha256((select string_agg(content, ''::bytea order by part) from mlld.blob_parts
    where project_id = p_project_id and digest = p_digest)), 'hex') = p_digest;
end $$;

create function mlld.drop_damaged(p_project text, p_digest text) returns void
language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
declare
  v_project int;
  v_bytes bigint;
begin
  select b.project_id, b.bytes into v_project, v_bytes from mlld.blobs b join mlld.projects p using (project_id)
    where p.name = p_project and b.digest = p_digest for update of b;
  if not found or mlld.is_whole(v_project, p_digest, v_bytes) then return; end if;
  delete from mlld.blob_parts where project_id = v_project and digest = p_digest;
  delete from mlld.blobs where project_id = v_project and digest = p_digest;
end $$;
revoke all on function mlld.drop_damaged(text, text) from public;

create or replace function mlld.put_blob(p_project text, p_digest text, p_bytes bigint, p_content bytea) returns void
language plpgsql security invoker set search_path = pg_catalog, pg_temp as $$
begin
  if p_content is not null then
    perform mlld.drop_damaged(p_project, p_digest);
    perform mlld.put_part(p_project, p_digest, 0, p_content);
  end if;
  insert into mlld.blobs as b (project_id, digest, bytes, touched_at)
    select project_id, p_digest, p_bytes, clock_timestamp() from mlld.projects where name = p_project
    on conflict (project_id, digest) do update set touched_at = excluded.touched_at;
end $$;
`;
