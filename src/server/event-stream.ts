/**
 * Streams the journal of a run as server-sent events, at the pace of the client.
 *
 * STREAM-1 `id` is the number of the event within the logical run; it is the event's `seq` unless the run was resumed or restarted.
 * STREAM-2 The stream ends after the last event of a run that is over. A request that continues from there gets 204, which stops the
 *          reconnects of a browser.
 * STREAM-3 Streams take at most half of the connections, so that watchers keep nobody from starting, answering or cancelling.
 */
import { readLogicalRun } from '../api/pipeline-runs.js';
import { CONNECTIONS_MAX, type HttpRequest, type HttpResponse } from '../world/http.js';
import { emptyResponse, streamResponse } from './responses.js';
import { frameOf, isOver, type Feed, type FeedPorts, type FeedRun } from './feeds.js';
import { HttpError } from './http-error.js';

const KEEP_ALIVE_MS = 15_000;

const STREAMS_MAX = CONNECTIONS_MAX / 2;

/** Counts the streams of a server. */
export interface OpenStreams {
  count: number;
}

export interface EventSource extends FeedPorts {
  readonly streams: OpenStreams;
  readonly watch: (run: FeedRun) => Feed;
}

export async function eventResponse(source: EventSource, run: FeedRun, { headers, gone }: HttpRequest): Promise<HttpResponse> {
  const after = numberAfter(headers['last-event-id']);
  enter(source.streams, gone);
  const signal = AbortSignal.any([gone, source.stopping]);
  if (!isOver(run)) return streamResponse((write) => watch({ source, signal, write }, run, after));
  const reader = readLogicalRun(source.store, run.logicalRun, after);
  const first = await reader.more();
  if (first.length === 0) return emptyResponse(204);
  return streamResponse(async (write) => {
    for (let part = first; part.length > 0 && !signal.aborted; part = await reader.more()) await write(part.map(frameOf).join(''));
  });
}

/** STREAM-3 @throws HttpError STREAMS_TOO_MANY */
function enter(streams: OpenStreams, gone: AbortSignal): void {
  if (gone.aborted) return;
  if (streams.count >= STREAMS_MAX) {
    throw new HttpError(503, 'STREAMS_TOO_MANY', `${STREAMS_MAX} clients follow events already`, {
      hint: 'close some, or ask for the status',
    });
  }
  streams.count++;
  gone.addEventListener('abort', () => streams.count--, { once: true });
}

interface Sending {
  readonly source: EventSource;
  readonly signal: AbortSignal;
  readonly write: (text: string | Uint8Array) => Promise<void>;
}

async function watch(sending: Sending, run: FeedRun, from: number): Promise<void> {
  const { source, signal, write } = sending;
  const feed = source.watch(run);
  let after = from;
  try {
    while (!signal.aborted) {
      const next = feed.after(after);
      if (next === undefined) {
        if (feed.isOver) return;
        const sinceMs = source.monotonicMs();
        await feed.change(signal, KEEP_ALIVE_MS);
        if (source.monotonicMs() - sinceMs >= KEEP_ALIVE_MS) await write(': keep-alive\n\n');
      } else if ('behind' in next) {
        after = await catchUp(sending, feed.run, { after, until: next.until });
      } else {
        await write(next.bytes);
        after = next.last;
      }
    }
  } finally {
    feed.leave();
  }
}

/** Sends events from the journal, up to the first event that the feed still has. */
async function catchUp(
  { source, signal, write }: Sending,
  run: FeedRun,
  { after, until }: { readonly after: number; readonly until: number },
): Promise<number> {
  const reader = readLogicalRun(source.store, run.logicalRun, after);
  for (let part = await reader.more(); !signal.aborted; part = await reader.more()) {
    const wanted = part.filter(({ number }) => number <= until);
    if (wanted.length > 0) await write(wanted.map(frameOf).join(''));
    if (wanted.length < part.length || part.length === 0) break;
  }
  return until;
}

function numberAfter(lastEventId: string | undefined): number {
  if (lastEventId === undefined || lastEventId === '') return -1;
  const number = Number(lastEventId);
  if (Number.isSafeInteger(number)) return number;
  throw new HttpError(400, 'REQUEST_INVALID', `Last-Event-ID has to be the number of an event, not "${lastEventId}"`);
}
