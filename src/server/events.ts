/**
 * The journal of a run as server-sent events. It is read at the pace of the client: the journal is the queue, and what a slow client
 * has not taken is in no memory.
 *
 * E1 `id` is the number of the event in the line of the run, which is its `seq` unless the run was resumed or restarted.
 * E2 The stream ends behind the last event of a run that is over; who asks again from there gets 204, so that a browser stops asking.
 */
import type { JournalStore } from '../../journal/store.js';
import { readLine, type Numbered } from '../run/graph/follow.js';
import type { GraphRuns, PipelineRun } from '../run/graph/runs.js';
import type { HttpAnswer, HttpRequest } from '../world/http.js';
import { emptyAnswer, streamAnswer } from './answer.js';
import { Refusal } from './refusal.js';

const POLL_MS = 100;
/** How often it is looked whether a run still goes on, and in which journals. */
const LOOK_MS = 1000;
const KEEP_ALIVE_MS = 15_000;

export interface EventSource {
  readonly store: JournalStore;
  readonly runs: GraphRuns;
  /** The server ends. */
  readonly ending: AbortSignal;
  readonly monotonicMs: () => number;
}

export async function eventAnswer(source: EventSource, run: PipelineRun, { headers, gone }: HttpRequest): Promise<HttpAnswer> {
  const after = numberAfter(headers['last-event-id']);
  const reader = readLine(source.store, run.line, after);
  const first = await reader.more();
  if (first.length === 0 && isOver(run)) return emptyAnswer(204);
  const signal = AbortSignal.any([gone, source.ending]);
  return streamAnswer((write) => send({ source, run, after, reader, first, signal, write }));
}

interface Sending {
  readonly source: EventSource;
  readonly run: PipelineRun;
  readonly after: number;
  readonly reader: ReturnType<typeof readLine>;
  readonly first: readonly Numbered[];
  readonly signal: AbortSignal;
  readonly write: (text: string) => Promise<void>;
}

async function send({ source, signal, write, first, ...begun }: Sending): Promise<void> {
  let { run, reader, after } = begun;
  // Over before the reading began: when it comes to its end, that is all.
  let isLast = isOver(run);
  let lookedMs = source.monotonicMs();
  let wroteMs = lookedMs;
  for (let part = first; !signal.aborted; part = await reader.more()) {
    const nowMs = source.monotonicMs();
    const latest = part.at(-1);
    if (latest) {
      await write(part.map(frameOf).join(''));
      after = latest.number;
      wroteMs = nowMs;
      if (latest.event.type === 'run.finished') lookedMs = Number.NEGATIVE_INFINITY;
    } else if (isLast) {
      return;
    } else if (nowMs - lookedMs >= LOOK_MS) {
      const now = await source.runs.find(run.line.id);
      if (!now) return; // its journal was removed
      if (now.latest.ref.run !== run.latest.ref.run) reader = readLine(source.store, now.line, after);
      run = now;
      isLast = isOver(now);
      lookedMs = nowMs;
    } else {
      await pause(signal);
      if (nowMs - wroteMs < KEEP_ALIVE_MS) continue;
      await write(': keep-alive\n\n');
      wroteMs = nowMs;
    }
  }
}

function isOver({ status: { status } }: PipelineRun): boolean {
  return status !== 'running' && status !== 'waiting';
}

function frameOf({ number, event }: Numbered): string {
  return `id: ${number}\nevent: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`;
}

function numberAfter(lastEventId: string | undefined): number {
  if (lastEventId === undefined || lastEventId === '') return -1;
  const number = Number(lastEventId);
  if (Number.isSafeInteger(number)) return number;
  throw new Refusal(400, 'REQUEST_INVALID', `Last-Event-ID: "${lastEventId}" is no number of an event`);
}

async function pause(signal: AbortSignal): Promise<void> {
  await new Promise<void>((resolve) => {
    const timer = setTimeout(done, POLL_MS);
    signal.addEventListener('abort', done, { once: true });
    function done(): void {
      clearTimeout(timer);
      signal.removeEventListener('abort', done);
      resolve();
    }
  });
}
