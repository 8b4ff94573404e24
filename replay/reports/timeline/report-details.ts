/** Reads the details of a span for a report: arguments, results, commands, decisions. Texts are clipped. */
import type { JournalEvent, Payload } from '../../../journal/event.js';
import type { RunRef } from '../../../journal/ids.js';
import type { JournalStore, Position } from '../../../journal/store.js';
import { describeEvent } from '../summary/describe.js';
import type { Span, TimelineCall } from './timeline.js';

/** UTF-16 units of one argument list or result. */
const TEXT_MAX = 16_384;

export interface CallDetails {
  readonly fn: string;
  readonly outcome: string;
  readonly durationMs: number | null;
  readonly costUsd: number | null;
  readonly inputTokens: number | null;
  readonly outputTokens: number | null;
  /** Null: not in this run's journal, or it may not be read. */
  readonly args: string | null;
  readonly result: string | null;
  /** The event that holds a reused result. */
  readonly from: string | null;
  readonly message: string | null;
}

export interface SpanDetails {
  readonly site: string | null;
  readonly calls: readonly CallDetails[];
  readonly moments: readonly string[];
}

/** Undefined when the span has no details. */
export async function spanDetails(store: JournalStore, ref: RunRef, span: Span): Promise<SpanDetails | undefined> {
  if (span.calls.length === 0 && span.moments.length === 0 && span.site === undefined) return undefined;
  const calls: CallDetails[] = [];
  for (const call of span.calls) calls.push(await callDetails(store, ref, call));
  return { site: span.site ?? null, calls, moments: span.moments.map(({ event }) => clipped(describeEvent(event))) };
}

async function callDetails(store: JournalStore, ref: RunRef, call: TimelineCall): Promise<CallDetails> {
  const { fn, outcome, durationMs = null, usage, from, message = null, startedAt: askedAt, endedAt: answeredAt, key } = call;
  return {
    fn,
    outcome,
    durationMs,
    costUsd: usage?.costUsd ?? null,
    inputTokens: usage?.inputTokens ?? null,
    outputTokens: usage?.outputTokens ?? null,
    args: await textAt(store, ref, { position: askedAt, about: key }, (event) => (event.type === 'call.started' ? event.args : undefined)),
    result: await textAt(store, ref, { position: answeredAt, about: key }, (event) =>
      event.type === 'call.completed' ? event.result : undefined,
    ),
    from: from === undefined ? null : `event ${from.seq} of ${from.run}`,
    message,
  };
}

async function textAt(
  store: JournalStore,
  ref: RunRef,
  { position, about }: { readonly position: Position | undefined; readonly about: string },
  payloadOf: (event: JournalEvent) => Payload | undefined,
): Promise<string | null> {
  const event = position && (await store.readAt(ref, position));
  const payload = event && payloadOf(event);
  const value = payload && (await store.resolve(payload, about));
  if (value === undefined) return null;
  return clipped(typeof value === 'string' ? value : JSON.stringify(value, undefined, 2));
}

function clipped(text: string): string {
  return text.length <= TEXT_MAX ? text : `${text.slice(0, TEXT_MAX)}\n… ${text.length - TEXT_MAX} more characters in the journal`;
}
