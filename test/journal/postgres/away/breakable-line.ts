/** A way to the server that tests break. */
import type { Connect, SqlClient } from '../../../../journal/postgres/connection.js';
import { connectClient } from '../../../../journal/postgres/pg-client.js';
import { parseStoreAddress } from '../../../../journal/postgres/store-address.js';

/** A connection that can be cut, and refused until it is mended. */
export class Line {
  isCut = false;
  /** Called before each statement is sent. */
  before: (text: string) => Promise<void> = async () => undefined;
  private readonly clients: SqlClient[] = [];
  readonly connect: Connect;

  constructor(url: string) {
    const address = parseStoreAddress(url, { environment: {} });
    this.connect = async (onLost) => {
      if (this.isCut) throw Object.assign(new Error('connect ECONNREFUSED'), { code: 'ECONNREFUSED' });
      const client = await connectClient(address, { connectMs: 5000, onLost });
      this.clients.push(client);
      return {
        ...client,
        query: async (text, values, timeoutMs) => {
          await this.before(text);
          if (this.isCut) throw Object.assign(new Error('read ECONNRESET'), { code: 'ECONNRESET' });
          return client.query(text, values, timeoutMs);
        },
      };
    };
  }

  async cut(): Promise<void> {
    this.isCut = true;
    await Promise.all(this.clients.splice(0).map((client) => client.end()));
  }
}
