/** Many who watch one run: what they have in common, and what becomes of those who are slow. */
import { expect, it } from 'vitest';
import type { Fact } from '../../journal/event.js';
import { openMemoryStore } from '../../journal/storage/memory-store.js';
import { eventResponse } from '../../src/server/event-stream.js';
import { createFeeds, PART_BYTES, type Feed, type FeedRun } from '../../src/server/feeds.js';
import { finished, runRef, started } from '../support/written-runs.js';

const EVENT_BYTES = 8_000;
/** More than a feed keeps. */
const EVENTS = 1_500;

function note(number: number): Fact {
  return { type: 'checkpoint.reached', name: `${number} ${'x'.repeat(EVENT_BYTES)}` };
}

async function opened() {
  const ref = runRef(1);
  const store = openMemoryStore();
  const journal = await store.create(ref);
  await journal.append(started(ref));
  const status: { status: FeedRun['status']['status'] } = { status: 'running' };
  const run: FeedRun = { status, logicalRun: { id: ref.run, segments: [{ ref, until: undefined }] }, latest: { ref } };
  const runs = { find: async () => run };
  const ending = new AbortController();
  const ports = { store, runs, stopping: ending.signal, monotonicMs: () => performance.now() };
  const watch = createFeeds(ports);
  return {
    journal,
    watch: () => watch(run),
    source: { ...ports, watch, streams: { count: 0 } },
    run,
    end: async () => {
      await journal.append(finished());
      status.status = 'completed';
    },
    stop: () => ending.abort(),
  };
}

const never = new AbortController().signal;

async function next(feed: Feed, number: number) {
  for (;;) {
    const part = feed.after(number);
    if (part) return part;
    await feed.change(never, 60_000);
  }
}

it('sends watchers at the same place the same bytes', async () => {
  const { journal, watch, stop } = await opened();
  const [one, other] = [watch(), watch()];
  const first = await next(one, -1);
  expect(first).toMatchObject({ last: 0 });
  expect(await next(other, -1)).toBe(first);
  await journal.append(note(1));
  const second = await next(one, 0);
  expect(await next(other, 0)).toBe(second);
  stop();
});

it('keeps the latest events only, in parts of a size', async () => {
  const { journal, watch, end } = await opened();
  const feed = watch();
  for (let number = 1; number <= EVENTS; number++) await journal.append(note(number));
  await end();
  while (!feed.isOver) await feed.change(never, 60_000);
  const late = feed.after(-1);
  if (!late || !('behind' in late)) throw new Error('all of it is kept');
  let keptBytes = 0;
  let last = late.until;
  for (let part = feed.after(last); part && 'bytes' in part; part = feed.after(last)) {
    expect(part.bytes.length).toBeLessThanOrEqual(PART_BYTES);
    keptBytes += part.bytes.length;
    last = part.last;
  }
  expect(last).toBe(EVENTS + 1);
  expect(keptBytes).toBeLessThan(4 * 1024 * 1024 + 1);
});

it.each([
  ['reads everything at once', -1, 0],
  ['reads nothing until the run is over', -1, EVENTS + 1],
  ['starts in the middle and pauses now and then', 700, 100],
])('sends every event once and in order to a watcher that %s', async (_, after, restsUntil) => {
  const { journal, source, run, end } = await opened();
  const headers = after < 0 ? {} : { 'last-event-id': String(after) };
  const answer = await eventResponse(source, run, { headers, gone: never } as never);
  let written = 0;
  let text = '';
  const taking = answer.stream?.(async (content) => {
    text += typeof content === 'string' ? content : Buffer.from(content).toString();
    while (written < restsUntil) await new Promise((resolve) => setTimeout(resolve, 5));
  });
  for (written = 1; written <= EVENTS; written++) {
    await journal.append(note(written));
    if (written % 50 === 0) await new Promise((resolve) => setTimeout(resolve, 5)); // so that watchers can run
  }
  await end();
  await taking;
  const numbers = [...text.matchAll(/^id: (\d+)$/gm)].map(([, number]) => Number(number));
  expect(numbers).toEqual(Array.from({ length: EVENTS + 1 - after }, (_unused, n) => after + 1 + n));
});
