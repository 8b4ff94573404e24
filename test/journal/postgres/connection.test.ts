/** A connection that is closed, and what is asked of it then. CONNECTION-5. */
import { expect, it } from 'vitest';
import { Connection, type Row } from '../../../journal/postgres/connection.js';

/** A server that answers when the test says so. */
function server() {
  const waiting: (() => void)[] = [];
  let [opened, ended] = [0, 0];
  const connect = async () => {
    opened += 1;
    return {
      query: () => new Promise<readonly Row[]>((resolve) => waiting.push(() => resolve([]))),
      end: async () => void (ended += 1),
    };
  };
  const connection = new Connection(connect, async () => undefined, 'test');
  return {
    connection,
    counts: () => ({ opened, ended }),
    answer: async () => {
      await expect.poll(() => waiting.length).toBeGreaterThan(0);
      waiting.shift()?.();
    },
  };
}

it('ends behind the statements under way', async () => {
  const { connection, counts, answer } = server();
  const statement = connection.query('select 1');
  await expect.poll(counts).toEqual({ opened: 1, ended: 0 });
  let isClosed = false;
  const closed = connection.close().then(() => (isClosed = true));
  await new Promise((resolve) => setTimeout(resolve, 20));
  expect([isClosed, counts().ended]).toEqual([false, 0]);
  await answer();
  await Promise.all([statement, closed]);
  expect(counts()).toEqual({ opened: 1, ended: 1 });
});

it('ends behind a transaction, and not between its statements', async () => {
  const { connection, counts, answer } = server();
  const work = connection.transaction(async (sql) => {
    await sql.query('update');
    await new Promise((resolve) => setTimeout(resolve, 20));
    await sql.query('update');
    return counts().ended;
  });
  const closed = connection.close();
  for (let statement = 0; statement < 4; statement++) await answer();
  expect(await work).toBe(0);
  await closed;
  expect(counts()).toEqual({ opened: 1, ended: 1 });
});

it('opens again for a statement that comes later, and ends behind it', async () => {
  const { connection, counts, answer } = server();
  await connection.close();
  const both = [connection.query('select 1'), connection.query('select 2')];
  await answer();
  await answer();
  await Promise.all(both);
  await expect.poll(counts).toEqual({ opened: 1, ended: 1 });
});
