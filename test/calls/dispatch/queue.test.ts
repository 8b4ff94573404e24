import { describe, expect, it } from 'vitest';

import { Queue } from '../../../src/calls/dispatch/queue.js';

const NONE: ReadonlySet<string> = new Set();
const waiting = (fn: string, name: string, isRetry = false) => ({ name, request: { fn, isRetry } });

describe('the queue of a lane', () => {
  it('has those tried again first, then the order in which they came', () => {
    const queue = new Queue<ReturnType<typeof waiting>>();
    for (const each of [waiting('f', '1'), waiting('g', '2'), waiting('f', '3'), waiting('g', '4', true)]) queue.add(each);
    const order: string[] = [];
    for (let head = queue.head(NONE); head; head = queue.head(NONE)) {
      order.push(head.name);
      queue.remove(head);
    }
    expect(order).toEqual(['4', '1', '2', '3']);
    expect(queue.length).toBe(0);
  });

  it('passes over functions that are held back', () => {
    const queue = new Queue<ReturnType<typeof waiting>>();
    for (const each of [waiting('f', '1'), waiting('g', '2')]) queue.add(each);
    expect(queue.head(new Set(['f']))?.name).toBe('2');
    expect(queue.head(new Set(['f', 'g']))).toBeUndefined();
    expect([...queue].map(({ name }) => name)).toEqual(['1', '2']);
  });

  it('keeps its order over many that come and go', () => {
    const queue = new Queue<ReturnType<typeof waiting>>();
    let next = 0;
    for (let i = 0; i < 5000; i++) {
      queue.add(waiting('f', String(i)));
      if (i % 2 === 0) continue;
      const head = queue.head(NONE) as ReturnType<typeof waiting>;
      expect(head.name).toBe(String(next++));
      queue.remove(head);
    }
    expect(queue.length).toBe(2500);
  });
});
