/** Reads the details of spans for a page: arguments, results, attempts, commands, decisions. Texts are cut so that all of them fit. */
import type { JournalEvent, Json } from '../../../journal/event.js';
import type { CallKey, RunRef } from '../../../journal/ids.js';
import type { JournalStore, Position } from '../../../journal/store.js';
import { readPayload, type ReadPayload } from '../call/call-record.js';
import { describeEvent } from '../summary/describe.js';
import { resultOrigins, type Origin, type OriginOf } from './result-origins.js';
import { cutTo, sharedLimit, type ShownText } from './shown-texts.js';
import type { TimelineAttempt } from './timeline-attempt.js';
import type { Span, TimelineCall } from './timeline.js';
import { costOfCall } from './call-cost.js';

/** UTF-16 units of one argument or result. */
const TEXT_MAX = 16_384;

/** `missing` says in words why there is no text. */
export type ShownPayload = ShownText | { readonly missing: string };

export interface AttemptDetails {
  readonly try: number;
  readonly outcome: string;
  readonly durationMs: number | null;
  readonly waitedMs: number | null;
  readonly lane: string | null;
  readonly cause: string | null;
  readonly message: string | null;
  /** Another attempt followed after this time. */
  readonly retryInMs: number | null;
  readonly model: string | null;
  readonly costUsd: number | null;
  readonly inputTokens: number | null;
  readonly outputTokens: number | null;
}

export interface CallDetails {
  readonly fn: string;
  readonly outcome: string;
  readonly durationMs: number | null;
  readonly costUsd: number | null;
  readonly inputTokens: number | null;
  readonly outputTokens: number | null;
  readonly model: string | null;
  readonly args: readonly ShownPayload[];
  readonly result: ShownPayload;
  /** The worker that executed the call for the run, and what it cost there; null for a call that none executed. */
  readonly worker: { readonly name: string; readonly host: string | null; readonly costUsd: number | null } | null;
  /** The event that holds a reused result; `op` is its call, null where its run is gone. */
  readonly from: { readonly workflow: string; readonly run: string; readonly seq: number; readonly op: string | null } | null;
  readonly attempts: readonly AttemptDetails[];
  /** Files that the call wrote. */
  readonly files: readonly string[];
  readonly message: string | null;
}

export interface SpanMoment {
  readonly kind: 'effect' | 'hook' | 'guard' | 'retry';
  readonly text: string;
}

export interface SpanDetails {
  readonly site: string | null;
  readonly calls: readonly CallDetails[];
  readonly moments: readonly SpanMoment[];
}

/** Reads the details of all spans, in their order; null for a span that has none. `textUnits`: of all texts together. */
export async function readDetails(
  store: JournalStore,
  ref: RunRef,
  spans: readonly Span[],
  textUnits: number,
): Promise<readonly (SpanDetails | null)[]> {
  const originOf = await resultOrigins(store, ref, spans);
  const all: (SpanDetails | null)[] = [];
  let limit = TEXT_MAX;
  let units = 0;
  const fit = (): void => {
    const lengths = all.flatMap((details) => textsOf(details).map(({ text }) => text.length));
    limit = Math.min(limit, sharedLimit(lengths, textUnits));
    for (const [place, details] of all.entries()) all[place] = details && cutDetails(details, limit);
    units = lengths.reduce((sum, length) => sum + Math.min(length, limit), 0);
  };
  for (const span of spans) {
    const details = await spanDetails(store, ref, span, originOf);
    const cut = details && cutDetails(details, limit);
    all.push(cut);
    for (const { text } of textsOf(cut)) units += text.length;
    // Twice as much at most is in memory at a time.
    if (units > 2 * textUnits) fit();
  }
  if (units > textUnits) fit();
  return all;
}

async function spanDetails(store: JournalStore, ref: RunRef, span: Span, originOf: OriginOf): Promise<SpanDetails | null> {
  if (span.calls.length === 0 && span.moments.length === 0 && span.site === undefined) return null;
  const calls: CallDetails[] = [];
  for (const call of span.calls) calls.push(await callDetails(store, ref, call, call.from && originOf(call.from)));
  const moments = span.moments.map(({ event }) => ({ kind: KINDS[event.type], text: describeEvent(event).slice(0, TEXT_MAX) }));
  return { site: span.site ?? null, calls, moments };
}

const KINDS = { 'effect.performed': 'effect', 'hook.fired': 'hook', 'guard.decided': 'guard', 'retry.scheduled': 'retry' } as const;

async function callDetails(store: JournalStore, ref: RunRef, call: TimelineCall, origin: Origin | undefined): Promise<CallDetails> {
  const { fn, outcome, durationMs, usage, from, worker, message = null, key, attempts } = call;
  const where = origin ?? { ref, startedAt: call.startedAt, endedAt: call.endedAt };
  const started = await eventAt(store, where.ref, where.startedAt);
  const completed = await eventAt(store, where.ref, where.endedAt);
  const gone = { missing: from === undefined ? 'there is none' : 'its run is gone' };
  const args = started?.type === 'call.started' ? await readPayload(store, started.args, key as CallKey) : gone;
  const result = completed?.type === 'call.completed' ? await readPayload(store, completed.result, key as CallKey) : gone;
  const files = completed?.type === 'call.completed' ? [...(completed.files ?? []), ...(completed.outputs ?? [])] : [];
  return {
    fn,
    outcome,
    durationMs: durationMs ?? null,
    ...measuresOf(usage),
    costUsd: costOfCall(call).costUsd ?? null,
    args: argumentsOf(args),
    result: shown(result),
    worker: worker ? { name: worker.name, host: worker.host ?? null, costUsd: worker.costUsd ?? null } : null,
    from: from === undefined ? null : { workflow: from.workflow ?? ref.workflow, run: from.run, seq: from.seq, op: origin?.op ?? null },
    attempts: attempts.map(attemptDetails),
    files: [...new Set(files.map(({ path }) => path))],
    message,
  };
}

async function eventAt(store: JournalStore, ref: RunRef, position: Position | undefined): Promise<JournalEvent | undefined> {
  return position && store.readAt(ref, position);
}

function attemptDetails(attempt: TimelineAttempt): AttemptDetails {
  const { outcome, durationMs = null, waitedMs = null, lane = null, cause = null, message = null, retryInMs = null, usage } = attempt;
  return { try: attempt.try, outcome, durationMs, waitedMs, lane, cause, message, retryInMs, ...measuresOf(usage) };
}

function measuresOf(usage: TimelineCall['usage']): Pick<CallDetails, 'model' | 'costUsd' | 'inputTokens' | 'outputTokens'> {
  const { model = null, costUsd = null, inputTokens = null, outputTokens = null } = usage ?? {};
  return { model, costUsd, inputTokens, outputTokens };
}

/** Each argument has a text of its own. */
function argumentsOf(payload: ReadPayload): readonly ShownPayload[] {
  if ('missing' in payload || !Array.isArray(payload.value)) return [shown(payload)];
  return payload.value.map((value: Json) => shown({ value }));
}

function shown(payload: ReadPayload): ShownPayload {
  if ('missing' in payload) return payload;
  const { value } = payload;
  return cutTo({ text: typeof value === 'string' ? value : JSON.stringify(value, undefined, 2), more: 0 }, TEXT_MAX);
}

function textsOf(details: SpanDetails | null): readonly ShownText[] {
  return (details?.calls ?? []).flatMap(({ args, result }) => [...args, result].filter((each) => 'text' in each));
}

function cutDetails(details: SpanDetails, limit: number): SpanDetails {
  const cut = (each: ShownPayload): ShownPayload => ('text' in each ? cutTo(each, limit) : each);
  return { ...details, calls: details.calls.map((call) => ({ ...call, args: call.args.map(cut), result: cut(call.result) })) };
}
