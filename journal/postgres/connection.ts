/**
 * Holds one connection to the database, which is opened when it is needed and opened again after it was lost.
 *
 * CONNECTION-1 No statement goes over a connection before `prepare` has looked at the server: its version, its settings and the schema.
 *    One that only reads (`read`) is sent right behind that look, and its answer counts only if the look found nothing wrong.
 * CONNECTION-2 A statement is sent once. Whether it was done when its answer did not arrive is for the caller to find out.
 * CONNECTION-3 Only statements under way keep the process alive.
 * CONNECTION-4 A transaction has one connection from its beginning to its end: when that is lost, it fails as a whole.
 * CONNECTION-5 `close` waits for the statements under way. A statement that comes later has a connection for itself, which is closed behind
 *    it.
 */
import { failureOf, storeError } from './store-errors.js';

export interface Row {
  readonly [column: string]: unknown;
}

export interface Sql {
  /** Rejects with `JournalError`. Without `values`, the text may hold several statements. */
  query(text: string, values?: readonly unknown[], timeoutMs?: number): Promise<readonly Row[]>;
}

/** An open connection, as the program that speaks to the server has it. CONNECTION-3 */
export interface SqlClient {
  query(text: string, values?: readonly unknown[], timeoutMs?: number): Promise<readonly Row[]>;
  /** Absent where the server has no notifications. */
  readonly onNotification?: (listener: (channel: string, payload: string) => void) => void;
  end(): Promise<void>;
}

export type Connect = (onLost: () => void) => Promise<SqlClient>;

export interface Transactions extends Sql {
  /** Commits what `work` did, or nothing of it. One at a time. */
  transaction<T>(work: (sql: Sql) => Promise<T>): Promise<T>;
}

/** A statement counts as lost after so long. Undefined: it may work for as long as it likes. */
export interface Limits {
  /** For one that has no limit of its own. */
  readonly statementMs?: number;
  /** For the beginning and the end of a transaction. */
  readonly briefMs?: number;
}

/** A connection that is opened, or was. */
interface Opening {
  readonly client: Promise<SqlClient>;
  /** CONNECTION-1 */
  readonly prepared: Promise<SqlClient>;
}

export class Connection implements Transactions {
  private opening: Opening | undefined;
  /** Ends when the last transaction that was asked for has ended. */
  private transactions: Promise<unknown> = Promise.resolve();
  /** The statements and transactions that have not ended. */
  private readonly underWay = new Set<Promise<unknown>>();
  private isClosed = false;
  private ended: Promise<void> = Promise.resolve();

  constructor(
    private readonly connect: Connect,
    private readonly prepare: (client: SqlClient) => Promise<void>,
    private readonly shown: string,
    private readonly limits: Limits = {},
  ) {}

  query(text: string, values?: readonly unknown[], timeoutMs?: number): Promise<readonly Row[]> {
    return this.over((opening) => this.send(opening, text, values, timeoutMs));
  }

  /** Sends a statement that only reads a round trip earlier than `query` does, where the connection is being opened. CONNECTION-1 */
  read(text: string, values?: readonly unknown[], timeoutMs?: number): Promise<readonly Row[]> {
    return this.over(async (opening) => {
      const answer = this.send({ ...opening, prepared: opening.client }, text, values, timeoutMs);
      answer.catch(() => undefined); // what is wrong with the server comes first
      await opening.prepared;
      return answer;
    });
  }

  /** Opens it before it is needed. The next statement reports what is wrong with the server. */
  open(): void {
    void this.over(({ prepared }) => prepared).catch(() => undefined);
  }

  /** CONNECTION-4 */
  transaction<T>(work: (sql: Sql) => Promise<T>): Promise<T> {
    const turn = this.transactions.then(() => this.over((opening) => this.inTransaction(opening, work)));
    this.transactions = turn.catch(() => undefined);
    return turn;
  }

  private over<T>(work: (opening: Opening) => Promise<T>): Promise<T> {
    const doing = work((this.opening ??= this.begin()));
    this.underWay.add(doing);
    const done = (): void => {
      this.underWay.delete(doing);
      if (this.isClosed && this.underWay.size === 0) this.end();
    };
    doing.then(done, done);
    return doing;
  }

  private async inTransaction<T>(opening: Opening, work: (sql: Sql) => Promise<T>): Promise<T> {
    const sql: Sql = { query: (text, values, timeoutMs) => this.send(opening, text, values, timeoutMs) };
    const { briefMs } = this.limits;
    await sql.query('begin', undefined, briefMs);
    try {
      const result = await work(sql);
      await sql.query('commit', undefined, briefMs);
      return result;
    } catch (error) {
      await sql.query('rollback', undefined, briefMs).catch(() => undefined); // the first error is the one to report
      throw error;
    }
  }

  private async send(
    opening: Opening,
    text: string,
    values?: readonly unknown[],
    timeoutMs = this.limits.statementMs,
  ): Promise<readonly Row[]> {
    const client = await opening.prepared;
    try {
      return await client.query(text, values, timeoutMs);
    } catch (error) {
      if (failureOf(error) === 'lost') this.leave(opening);
      throw storeError(error, this.shown, text);
    }
  }

  /** CONNECTION-5 */
  async close(): Promise<void> {
    this.isClosed = true;
    while (this.underWay.size > 0) await Promise.allSettled(this.underWay);
    this.end();
    await this.ended;
  }

  private end(): void {
    const { opening } = this;
    if (!opening) return;
    this.opening = undefined;
    this.ended = opening.prepared.then((client) => client.end()).catch(() => undefined); // it is gone already
  }

  private begin(): Opening {
    const explained = (error: unknown): never => {
      throw storeError(error, this.shown);
    };
    const client = this.connect(() => this.leave(opening)).catch(explained);
    const prepared = client.then((connected) => this.prepared(connected)).catch(explained);
    const opening: Opening = { client, prepared };
    prepared.catch(() => {
      if (this.opening === opening) this.opening = undefined; // a later one may have been opened meanwhile
    });
    return opening;
  }

  /** CONNECTION-1 */
  private async prepared(client: SqlClient): Promise<SqlClient> {
    try {
      await this.prepare(client);
      return client;
    } catch (error) {
      void client.end().catch(() => undefined); // the first error is the one to report
      throw error;
    }
  }

  /** The next statement opens another one. */
  private leave(opening: Opening): void {
    if (this.opening?.client !== opening.client) return;
    this.opening = undefined;
    void opening.prepared.then((client) => client.end()).catch(() => undefined);
  }
}
