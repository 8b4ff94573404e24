/** Whoever may only read could otherwise take all connections of the server with streams that never end. */
import { expect, it } from 'vitest';
import { openMemoryStore } from '../../journal/storage/memory-store.js';
import { eventResponse } from '../../src/server/event-stream.js';
import { createFeeds, type FeedRun } from '../../src/server/feeds.js';
import type { HttpRequest } from '../../src/world/http.js';
import { runRef } from '../journal/support/facts.js';

it('lets at most half of the connections be streams, and another one begin when one has ended', async () => {
  const ports = { store: openMemoryStore(), runs: { find: async () => undefined }, stopping: new AbortController().signal };
  const feeds = { ...ports, monotonicMs: () => 0 };
  const source = { ...feeds, watch: createFeeds(feeds), streams: { count: 0 } };
  const ref = runRef(1);
  const run: FeedRun = {
    logicalRun: { id: ref.run, segments: [{ ref, until: undefined }] },
    latest: { ref },
    status: { status: 'running' },
  };
  const follow = (gone: AbortSignal) => eventResponse(source, run, { headers: {}, gone } as unknown as HttpRequest);
  const clients = Array.from({ length: 256 }, () => new AbortController());
  for (const { signal } of clients) expect((await follow(signal)).status).toBe(200);
  await expect(follow(new AbortController().signal)).rejects.toMatchObject({ status: 503, code: 'STREAMS_TOO_MANY' });
  clients[0]?.abort();
  expect((await follow(new AbortController().signal)).status).toBe(200);
});
