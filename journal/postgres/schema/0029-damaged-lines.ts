/**
 * Lets SQL read lines of which some are damaged: one of them costs itself, and no statement. team-store.md 12.
 *
 * DAMAGED-LINES-1 A line is stored as text (team-store.md 3), so whoever may change rows can put anything there: no JSON, a JSON that is
 *    no object, and what no jsonb can hold, as a number of 1e400000. To cast it failed the statement, with the lines of all other runs:
 *    one such row kept the index of the whole project from being made anew, and its own run from being redacted.
 * DAMAGED-LINES-2 Escapes that no jsonb takes (`\u0000`, half of a surrogate pair) damage nothing: each counts as a question mark. What
 *    SQL asks for (keys, names, numbers, times) has none.
 * DAMAGED-LINES-3 The lines of a run are looked at together, and one by one only where that fails: a block that catches errors for each
 *    line costs nearly as much as the cast.
 *
 * The functions change nothing, so a kill in them leaves nothing.
 */

/** DAMAGED-LINES-2 */
const membersOf = (line: string): string =>
  String.raw`case when strpos(${line}, '\u') > 0 then regexp_replace(${line}, '\\u[0-9a-fA-F]{4}', '\\u003f', 'g') else ${line} end::jsonb`;

export const damagedLinesSchema = String.raw`
-- Null for a damaged line.
create function mlld.members_of(p_line text) returns jsonb
language plpgsql immutable security invoker set search_path = pg_catalog, pg_temp as $$
declare
  v_members jsonb;
begin
  v_members := ${membersOf('p_line')};
  return case jsonb_typeof(v_members) when 'object' then v_members end;
exception when data_exception or program_limit_exceeded then
  return null;
end $$;

-- The offsets of the damaged lines of a run.
create function mlld.damaged_lines(p_run bigint) returns setof bigint
language plpgsql stable security invoker set search_path = pg_catalog, pg_temp set plan_cache_mode = force_generic_plan set enable_seqscan = off as $$
begin
  begin -- DAMAGED-LINES-3
    if not exists (select from mlld.events e where e.run_id = p_run and jsonb_typeof(${membersOf('e.line')}) <> 'object') then return; end if;
  exception when data_exception or program_limit_exceeded then null;
  end;
  return query select e.at from mlld.events e where e.run_id = p_run and mlld.members_of(e.line) is null order by e.at;
end $$;

-- Null for what is no time. A text like 'now' or 'infinity', which the server takes for one, is none either.
create function mlld.time_of(p_text text) returns timestamptz
language plpgsql stable security invoker set search_path = pg_catalog, pg_temp as $$
begin
  return case when p_text ~ '^[0-9]{4}-' then p_text::timestamptz end;
exception when data_exception then
  return null;
end $$;

-- As before, and around damaged lines. A result that has a member "unusable" inside it may have any escapes.
create or replace function mlld.index_results(p_run bigint) returns void
language plpgsql security invoker set search_path = pg_catalog, pg_temp as $$
begin
  with late as materialized (
    select mlld.members_of(e.line) -> 'of' as seq from mlld.events e
    where e.run_id = p_run and e.line ~ '^\{"v":[0-9]+,"seq":[0-9]+,"type":"call\.superseded"')
  insert into mlld.answers as a (workflow_id, key, run_id, seq, at, bytes)
    select distinct on (c.key) r.workflow_id, c.key, r.run_id, c.seq, c.at, octet_length(c.line)
    from mlld.runs r join (
      select e.run_id, e.seq, e.at, e.line,
        substring(e.line from '^\{"v":[0-9]+,"seq":[0-9]+,"type":"call\.completed","key":"([^"]+)"') as key
      from mlld.events e where e.run_id = p_run
    ) c using (run_id)
    where r.run_id = p_run and c.key is not null and c.line not like '%"result":{"redacted":%'
      and not mlld.members_of(c.line) ? 'unusable'
      and not exists (select from late l where l.seq = to_jsonb(c.seq))
    order by c.key, c.seq desc
    on conflict (workflow_id, key) do update set run_id = excluded.run_id, seq = excluded.seq, at = excluded.at, bytes = excluded.bytes
      where (select run from mlld.runs where run_id = a.run_id) collate "C"
        <= (select run from mlld.runs where run_id = excluded.run_id) collate "C";
end $$;
`;
