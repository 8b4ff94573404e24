/** Calls that wait for the result of an identical call, and calls that must not. */
import { expect, it } from 'vitest';
import { opPath, type CallKey } from '../../journal/ids.js';
import { InFlightCalls } from '../../src/runtime/calls/in-flight-calls.js';

const [X, Y, Z] = ['x', 'y', 'z'] as unknown as [CallKey, CallKey, CallKey];

function waiting(calls: InFlightCalls, key: CallKey, op: string): { isOver: boolean } {
  const state = { isOver: false };
  void Promise.resolve(calls.wait(key, opPath(op))).then(() => (state.isOver = true));
  return state;
}

const settle = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

it('lets an identical call wait until the one in flight has ended', async () => {
  const calls = new InFlightCalls();
  const end = calls.start(X, opPath('main/for#0[0]/a#0'));
  const second = waiting(calls, X, 'main/for#0[1]/a#0');
  const other = waiting(calls, Y, 'main/for#0[2]/b#0');
  await settle();
  expect([second.isOver, other.isOver]).toEqual([false, true]);
  end();
  await settle();
  expect(second.isOver).toBe(true);
});

it('lets it wait for the next one that is in flight after a failure', async () => {
  const calls = new InFlightCalls();
  const endFirst = calls.start(X, opPath('main/a#0'));
  const second = waiting(calls, X, 'main/a#1');
  endFirst();
  const endNext = calls.start(X, opPath('main/a#2'));
  await settle();
  expect(second.isOver).toBe(false);
  endNext();
  await settle();
  expect(second.isOver).toBe(true);
});

it.each(['main/a#0/guard:g#0/a#0', 'main/a#0[1]/a#0'])('never lets a call wait for one that it is inside of: %s', async (inside) => {
  const calls = new InFlightCalls();
  const end = calls.start(X, opPath('main/a#0'));
  const inner = waiting(calls, X, inside);
  await settle();
  expect(inner.isOver).toBe(true);
  // Others continue to wait for the outer one.
  calls.start(X, opPath(inside))();
  const beside = waiting(calls, X, 'main/a#01');
  await settle();
  expect(beside.isOver).toBe(false);
  end();
});

it('never closes a ring of calls that wait for each other', async () => {
  const calls = new InFlightCalls();
  calls.start(X, opPath('main/g[0]/x#0'));
  calls.start(Y, opPath('main/g[1]/y#0'));
  calls.start(Z, opPath('main/g[2]/z#0'));
  const first = waiting(calls, Y, 'main/g[0]/x#0/y#0');
  const second = waiting(calls, Z, 'main/g[1]/y#0/z#0');
  const closing = waiting(calls, X, 'main/g[2]/z#0/x#0');
  await settle();
  expect([first.isOver, second.isOver, closing.isOver]).toEqual([false, false, true]);
});

it('sees that an identical call started while a result was looked up', async () => {
  const calls = new InFlightCalls();
  await calls.wait(X, opPath('main/for#0[1]/a#0'));
  expect(calls.isInFlight(X, opPath('main/for#0[1]/a#0'))).toBe(false);
  const end = calls.start(X, opPath('main/for#0[0]/a#0'));
  expect(calls.isInFlight(X, opPath('main/for#0[1]/a#0'))).toBe(true);
  expect(calls.isInFlight(X, opPath('main/for#0[0]/a#0/b#0'))).toBe(false);
  end();
  expect(calls.isInFlight(X, opPath('main/for#0[1]/a#0'))).toBe(false);
});
