/** A connection whose answers are held until all that were asked for have come: what is asked for together waits for one round trip. */
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Connect } from '../../../../journal/postgres/connection.js';
import { connectClient } from '../../../../journal/postgres/pg-client.js';
import { parseStoreAddress } from '../../../../journal/postgres/store-address.js';

export class HeldAnswers {
  private asked = 0;
  private held: (() => void)[] = [];

  constructor(private readonly url: string) {}

  readonly connect: Connect = async (onLost) => {
    const client = await connectClient(parseStoreAddress(this.url, { environment: {} }), { connectMs: 5000, onLost });
    return {
      ...client,
      query: async (...statement) => {
        this.asked++;
        const answer = client.query(...statement);
        await answer.catch(() => undefined); // its caller learns of it
        await new Promise<void>((resolve) => this.held.push(resolve));
        return answer;
      },
    };
  };

  /** Returns how many round trips one after the other the work waits for. */
  async roundTrips(work: () => Promise<unknown>): Promise<number> {
    let isDone = false;
    const done = work().finally(() => (isDone = true));
    done.catch(() => undefined); // it is awaited below
    let count = 0;
    while (!isDone) {
      for (let turn = 0; turn < 20 && !isDone; turn++) await nextTurn();
      if (isDone || this.asked === 0 || this.held.length < this.asked) continue;
      count++;
      this.release();
    }
    while (this.asked > 0) {
      await nextTurn();
      this.release(); // of what the work did not wait for
    }
    await done;
    return count;
  }

  private release(): void {
    const { held } = this;
    this.held = [];
    this.asked -= held.length;
    for (const answer of held) answer();
  }
}
