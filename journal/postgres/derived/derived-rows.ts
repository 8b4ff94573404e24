/** Keeps what is derived from the runs of a workflow, such as its index: each is one row, which is replaced as a whole. */
import type { Workflow } from '../../ids.js';
import type { Sql } from '../connection.js';

export type Name = readonly [project: string, workflow: Workflow, name: string];

export async function readDerivedRow(sql: Sql, name: Name): Promise<Uint8Array | undefined> {
  const [found] = await sql.query(
    `select a.content from mlld.asides a join mlld.workflows w using (workflow_id) join mlld.projects p using (project_id)
     where p.name = $1 and w.path = $2 and a.name = $3`,
    name,
  );
  const content = found?.['content'];
  return content instanceof Uint8Array ? content : undefined;
}

export async function writeDerivedRow(sql: Sql, name: Name, content: string | Uint8Array): Promise<void> {
  await sql.query(
    `insert into mlld.asides (workflow_id, name, content) values (mlld.workflow_of($1, $2), $3, $4)
     on conflict (workflow_id, name) do update set content = excluded.content`,
    [...name, bytesOf(content)],
  );
}

/** Returns false when something else is there than what begins with `beginning`; without one, when anything is there. */
export async function replaceDerivedRow(
  sql: Sql,
  name: Name,
  content: string | Uint8Array,
  beginning: string | undefined,
): Promise<boolean> {
  const written = await sql.query(
    `insert into mlld.asides as a (workflow_id, name, content) values (mlld.workflow_of($1, $2), $3, $4)
     on conflict (workflow_id, name) do update set content = excluded.content
       where substring(a.content for octet_length($5::bytea)) = $5::bytea returning 1`,
    [...name, bytesOf(content), beginning === undefined ? null : bytesOf(beginning)],
  );
  return written.length > 0;
}

function bytesOf(content: string | Uint8Array): Buffer {
  return Buffer.from(content as Uint8Array); // also takes text
}
