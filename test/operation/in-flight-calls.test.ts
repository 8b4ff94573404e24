/** Who waits for whose answer, and who must not. */
import { expect, it } from 'vitest';
import { opPath, type CallKey } from '../../journal/ids.js';
import { InFlightCalls } from '../../src/runtime/in-flight-calls.js';

const [X, Y, Z] = ['x', 'y', 'z'] as unknown as [CallKey, CallKey, CallKey];

function waiting(turns: InFlightCalls, key: CallKey, op: string): { isOver: boolean } {
  const state = { isOver: false };
  void Promise.resolve(turns.wait(key, opPath(op))).then(() => (state.isOver = true));
  return state;
}

const settle = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

it('lets the same question wait until the answer is there', async () => {
  const turns = new InFlightCalls();
  const end = turns.start(X, opPath('main/for#0[0]/a#0'));
  const second = waiting(turns, X, 'main/for#0[1]/a#0');
  const other = waiting(turns, Y, 'main/for#0[2]/b#0');
  await settle();
  expect([second.isOver, other.isOver]).toEqual([false, true]);
  end();
  await settle();
  expect(second.isOver).toBe(true);
});

it('lets it wait on for whoever asks again after a failure', async () => {
  const turns = new InFlightCalls();
  const endFirst = turns.start(X, opPath('main/a#0'));
  const second = waiting(turns, X, 'main/a#1');
  endFirst();
  const endNext = turns.start(X, opPath('main/a#2'));
  await settle();
  expect(second.isOver).toBe(false);
  endNext();
  await settle();
  expect(second.isOver).toBe(true);
});

it.each(['main/a#0/guard:g#0/a#0', 'main/a#0[1]/a#0'])('never lets a call wait for one that it lies in: %s', async (inside) => {
  const turns = new InFlightCalls();
  const end = turns.start(X, opPath('main/a#0'));
  const inner = waiting(turns, X, inside);
  await settle();
  expect(inner.isOver).toBe(true);
  // It asks in the shadow of the outer one: others go on waiting for that.
  turns.start(X, opPath(inside))();
  const beside = waiting(turns, X, 'main/a#01');
  await settle();
  expect(beside.isOver).toBe(false);
  end();
});

it('never closes a ring of calls that wait for each other', async () => {
  const turns = new InFlightCalls();
  turns.start(X, opPath('main/g[0]/x#0'));
  turns.start(Y, opPath('main/g[1]/y#0'));
  turns.start(Z, opPath('main/g[2]/z#0'));
  const first = waiting(turns, Y, 'main/g[0]/x#0/y#0');
  const second = waiting(turns, Z, 'main/g[1]/y#0/z#0');
  const closing = waiting(turns, X, 'main/g[2]/z#0/x#0');
  await settle();
  expect([first.isOver, second.isOver, closing.isOver]).toEqual([false, false, true]);
});

it('tells who was looking for an answer in the meantime that somebody else asks', async () => {
  const turns = new InFlightCalls();
  await turns.wait(X, opPath('main/for#0[1]/a#0'));
  expect(turns.isInFlight(X, opPath('main/for#0[1]/a#0'))).toBe(false);
  const end = turns.start(X, opPath('main/for#0[0]/a#0'));
  expect(turns.isInFlight(X, opPath('main/for#0[1]/a#0'))).toBe(true);
  expect(turns.isInFlight(X, opPath('main/for#0[0]/a#0/b#0'))).toBe(false);
  end();
  expect(turns.isInFlight(X, opPath('main/for#0[1]/a#0'))).toBe(false);
});
