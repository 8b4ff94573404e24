import { expect, it } from 'vitest';
import { createReplayOrder } from '../../src/session/rerun/replay-order.js';

it('releases results in the order of the record, whatever order they are waited for in', async () => {
  const order = createReplayOrder(() => true);
  const released: number[] = [];
  await Promise.all([7, 3, 5, -1].map(async (seq) => order.waitFor(seq).then(() => released.push(seq))));
  expect(released).toEqual([-1, 3, 5, 7]);
});

it('lets what follows from a result wait for an earlier one than those that wait already', async () => {
  const order = createReplayOrder(() => true);
  const released: number[] = [];
  const late = order.waitFor(9).then(() => released.push(9));
  await order.waitFor(2).then(() => released.push(2));
  await order.waitFor(4).then(() => released.push(4));
  await late;
  expect(released).toEqual([2, 4, 9]);
});

it('releases nothing while a result is read from the disk', async () => {
  const order = createReplayOrder(() => true);
  const release = order.hold();
  let isReleased = false;
  const waiting = order.waitFor(1).then(() => (isReleased = true));
  await new Promise((resolve) => setTimeout(resolve, 20));
  expect(isReleased).toBe(false);
  release();
  release(); // a second call does nothing
  await waiting;
  expect(isReleased).toBe(true);
});

it('releases nothing any more where the replay stops', async () => {
  const released: number[] = [];
  const order = createReplayOrder((seq) => seq < 4);
  for (const seq of [2, 4, 6]) void order.waitFor(seq).then(() => released.push(seq));
  await new Promise((resolve) => setTimeout(resolve, 20));
  expect(released).toEqual([2]);
});
