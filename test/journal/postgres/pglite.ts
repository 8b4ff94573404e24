/** PostgreSQL inside the test's process: it proves the statements, and nothing about races, leases or crashes. */
import { PGlite } from '@electric-sql/pglite';
import type { SqlClient, Row } from '../../../journal/postgres/connection.js';

export async function openPglite(): Promise<SqlClient> {
  const database = await PGlite.create();
  return {
    async query(text, values) {
      if (values !== undefined) return (await database.query<Row>(text, [...values])).rows;
      return ((await database.exec(text)).at(-1)?.rows ?? []) as Row[];
    },
    end: () => database.close(),
  };
}
