import { describe, expect, it } from 'vitest';
import { WaitForCall } from '../../src/session/ports/claims/wait-for-call.js';

/** A watch that says of each wait in turn whether a hint came, over a clock that goes as far as the run waits. */
function waiting(hinted: readonly boolean[]) {
  let nowMs = 0;
  const waitedMs: number[] = [];
  const wait = new WaitForCall({
    claims: {
      watch: () => ({
        async wait(ms) {
          waitedMs.push(ms);
          nowMs += ms;
          return hinted[waitedMs.length - 1] ?? false;
        },
        close: () => undefined,
      }),
    },
    signal: new AbortController().signal,
    monotonicMs: () => nowMs,
  });
  return { wait, waitedMs };
}

async function look(wait: WaitForCall, times: number): Promise<void> {
  for (let n = 0; n < times; n++) await wait.untilNextLook();
}

describe('a run that waits for a call of another run', () => {
  it('looks after 100 ms, and ever more seldom up to every 2 s, when no hint comes', async () => {
    const { wait, waitedMs } = waiting([]);
    await look(wait, 7);
    expect(waitedMs).toEqual([100, 200, 400, 800, 1600, 2000, 2000]);
    expect(wait.lastedMs).toBe(7100);
  });

  it('begins anew with 100 ms when a hint came', async () => {
    const { wait, waitedMs } = waiting([false, false, true]);
    await look(wait, 5);
    expect(waitedMs).toEqual([100, 200, 400, 100, 200]);
  });
});
