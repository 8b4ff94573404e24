/**
 * Conversations of model stages: one stage speaks at a time, and a long conversation loses its older half. graph-pipelines.md 9.3 to 9.5.
 */
import { expect, it } from 'vitest';
import { createThreads } from '../../../src/pipeline/stage/threads.js';

it('lets one stage of a thread speak at a time, and stages of other threads meanwhile', async () => {
  const threads = createThreads(new Set());
  const order: string[] = [];
  let end: () => void = () => undefined;
  const first = threads.exclusive('crew', async (add) => {
    order.push('first starts');
    await new Promise<void>((resolve) => (end = resolve));
    add({ prompt: 'p1', reply: 'r1' });
    order.push('first ends');
  });
  const second = threads.exclusive('crew', async () => void order.push(`second hears ${threads.conversation('crew')?.turns[0]?.reply}`));
  await threads.exclusive('harbour', async () => void order.push('other thread'));
  end();
  await Promise.all([first, second]);
  expect(order).toEqual(['first starts', 'other thread', 'first ends', 'second hears r1']);
});

it('lets the next stage speak after one that failed', async () => {
  const threads = createThreads(new Set());
  await expect(threads.exclusive('crew', () => Promise.reject(new Error('the model is away')))).rejects.toThrow('the model is away');
  expect(await threads.exclusive('crew', async () => 'spoken')).toBe('spoken');
});

it('knows the threads that an earlier process has lost', () => {
  const threads = createThreads(new Set(['crew']));
  expect([threads.isLost('crew'), threads.isLost('harbour'), threads.conversation('crew')]).toEqual([true, false, undefined]);
});

it('drops the older half of a conversation above 600,000 characters, and keeps a last turn of any length', async () => {
  const threads = createThreads(new Set());
  const speak = (replyUnits: number): Promise<void> =>
    threads.exclusive('crew', async (add) => add({ prompt: '', reply: 'x'.repeat(replyUnits) }));
  for (let turn = 0; turn < 6; turn++) await speak(100_000);
  expect(threads.conversation('crew')).toMatchObject({ omittedTurns: 0, turns: { length: 6 } });
  await speak(100_000);
  expect(threads.conversation('crew')).toMatchObject({ omittedTurns: 4, turns: { length: 3 } });
  await speak(700_000);
  expect(threads.conversation('crew')).toMatchObject({ omittedTurns: 7, turns: { length: 1 } });
});
