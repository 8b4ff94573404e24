/** Records as fast as it can until the process is killed; says on standard output what was acknowledged. */
import { writeAll } from '../../../cli/terminal/write-all.js';
import type { JournalStore } from '../../../journal/store.js';
import { callCompleted, callStarted, opStarted, runRef, started } from './facts.js';

const WRITERS = 8;

export async function writeEndlessly(store: JournalStore): Promise<void> {
  const journal = await store.create(runRef(1));
  /** Waits while the pipe is full: importing `node:process` opens standard output, which makes the pipe non-blocking. */
  const acknowledge = (n: number): void => writeAll(1, `${n}\n`);
  await journal.append(started);
  acknowledge(0);
  let calls = 0;
  await Promise.all(
    Array.from({ length: WRITERS }, async () => {
      for (;;) {
        const n = calls++;
        journal.post(opStarted(n));
        acknowledge((await journal.append(callStarted(n))).seq);
        acknowledge((await journal.append(callCompleted(n, `answer ${n} `.repeat(n % 500)))).seq);
      }
    }),
  );
}
