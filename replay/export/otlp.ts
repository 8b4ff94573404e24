/**
 * A run as OpenTelemetry spans, in the JSON form of OTLP: what a collector takes at `/v1/traces`. Names follow the semantic
 * conventions for generative AI where they have one, and begin with `mlld.` where they don't. Ids are digests of the run's id and
 * the operation's path, so that exporting twice gives the same trace.
 *
 * Arguments and results are left out: a tracing service is no place for them unless the user decides so.
 */
import type { RunRef } from '../../journal/ids.js';
import { sha256Hex } from '../../journal/sha256.js';
import { endOf, type Moment, type Span, type Timeline, type TimelineCall } from '../reports/timeline/timeline.js';

type Attribute = string | number | boolean | undefined;
type Attributes = { readonly [name: string]: Attribute };

const INTERNAL = 1;
const CLIENT = 3;
const STATUS_OK = 1;
const STATUS_ERROR = 2;

export interface OtlpOptions {
  /** The version of the program that exports. */
  readonly version: string;
  /** A call that has not ended is not a failure while the run is in flight. */
  readonly isRunning: boolean;
}

export function otlpTraces(ref: RunRef, state: Timeline, { version, isRunning }: OtlpOptions): object {
  // A run without an end and without a writer was killed, with all that was in flight.
  const cutOff = isRunning ? undefined : { type: state.status ?? 'crashed', message: 'the run ended before it did' };
  const spans = [runSpan(ref, state, isRunning), ...state.spans.flatMap((span) => operationSpans(ref, state, span, cutOff))];
  return {
    resourceSpans: [
      {
        resource: { attributes: attributes({ 'service.name': 'mlld', 'service.version': state.versions?.mlld, 'mlld.run.id': ref.run }) },
        scopeSpans: [{ scope: { name: 'mlld', version }, spans }],
      },
    ],
  };
}

function runSpan(ref: RunRef, state: Timeline, isRunning: boolean): object {
  const startedMs = state.startedMs ?? 0;
  const { status = isRunning ? undefined : 'crashed', error } = state;
  const isDone = status === 'completed' || status === 'restarted';
  return spanObject(ref, {
    id: '',
    name: `invoke_workflow ${state.name ?? ref.workflow}`,
    kind: INTERNAL,
    startedMs,
    endedMs: state.lastMs ?? startedMs,
    about: {
      'gen_ai.operation.name': 'invoke_workflow',
      'gen_ai.workflow.name': state.name,
      'mlld.workflow': ref.workflow,
      'mlld.run.status': status ?? 'unfinished',
    },
    events: state.phases.map(({ name, atMs }) => eventObject('mlld.checkpoint', atMs, { 'mlld.checkpoint.name': name })),
    failure: isDone || status === undefined ? undefined : { type: error?.code ?? status, message: error?.message ?? status },
    isDone,
  });
}

/** An operation that made one call is one span; where it made several, each is a span inside it. */
function operationSpans(ref: RunRef, state: Timeline, span: Span, cutOff: Failure | undefined): object[] {
  const [only, ...further] = span.calls;
  const call = further.length === 0 ? only : undefined;
  const failure = failureOfSpan(span, cutOff) ?? (call && failureOfCall(call, cutOff));
  const own = spanObject(ref, {
    id: span.op,
    parent: span.parent?.op ?? '',
    name: call === undefined ? nameOf(span) : callName(span, call),
    kind: call === undefined || call.outcome === 'reused' ? INTERNAL : CLIENT,
    startedMs: span.startedMs,
    endedMs: endOf(span, state),
    about: { ...aboutSpan(span), ...(call && aboutCall(span, call)) },
    events: span.moments.map(momentEvent),
    failure,
    isDone: span.outcome === 'ok' || span.outcome === 'reused',
  });
  return call === undefined ? [own, ...span.calls.map((each) => callSpan(ref, state, span, each, cutOff))] : [own];
}

function failureOfSpan({ outcome, message, errorCode, calls }: Span, cutOff: Failure | undefined): Failure | undefined {
  if (outcome === undefined) return cutOff;
  if (outcome !== 'failed' && outcome !== 'denied') return undefined;
  return { type: errorCode ?? outcome, message: message ?? calls.at(-1)?.message ?? outcome };
}

function failureOfCall({ outcome, message, errorCode }: TimelineCall, cutOff: Failure | undefined): Failure | undefined {
  if (outcome === 'unfinished') return cutOff;
  return outcome === 'failed' || outcome === 'denied' ? { type: errorCode ?? outcome, message: message ?? outcome } : undefined;
}

function callSpan(ref: RunRef, state: Timeline, span: Span, call: TimelineCall, cutOff: Failure | undefined): object {
  return spanObject(ref, {
    id: `${span.op} call ${call.seq}`,
    parent: span.op,
    name: callName(span, call),
    kind: call.outcome === 'reused' ? INTERNAL : CLIENT,
    startedMs: call.startedMs,
    endedMs: endOf(call, state),
    about: aboutCall(span, call),
    events: [],
    failure: failureOfCall(call, cutOff),
    isDone: call.outcome === 'executed' || call.outcome === 'reused',
  });
}

const nameOf = ({ kind, name }: Span): string => (name === undefined ? kind : `${kind} ${name}`);
/** The conventions name a request by its model; where the journal has no model, the function is the best name. */
const callName = ({ model }: Span, { fn, outcome }: TimelineCall): string =>
  outcome === 'reused' ? `reused ${fn}` : `chat ${model ?? fn}`;

function aboutSpan(span: Span): Attributes {
  return {
    'mlld.op.path': span.op,
    'mlld.op.kind': span.kind,
    'mlld.op.outcome': span.outcome ?? 'unfinished',
    'mlld.op.item': span.item,
    'mlld.checkpoint.name': span.phase,
    ...aboutSite(span.site),
  };
}

/** `patrol.mld:12:3`. */
function aboutSite(site: string | undefined): Attributes {
  const [, path, line, column] = /^(.*?)(?::(\d+))?(?::(\d+))?$/s.exec(site ?? '') ?? [];
  const numberOf = (text: string | undefined): number | undefined => (text === undefined ? undefined : Number(text));
  return { 'code.file.path': path || undefined, 'code.line.number': numberOf(line), 'code.column.number': numberOf(column) };
}

/** A reused result cost nothing and called no model: it must not be counted as a request. */
function aboutCall({ model, provider }: Span, call: TimelineCall): Attributes {
  const common = { 'mlld.function': call.fn, 'mlld.call.key': call.key, 'mlld.call.outcome': call.outcome };
  if (call.from !== undefined)
    return { ...common, 'mlld.reused': true, 'mlld.reused.run': call.from.run, 'mlld.reused.seq': call.from.seq };
  const { usage } = call;
  return {
    ...common,
    'mlld.reused': false,
    'gen_ai.operation.name': 'chat',
    'gen_ai.provider.name': provider,
    'gen_ai.request.model': model,
    'gen_ai.usage.input_tokens': usage?.inputTokens,
    'gen_ai.usage.output_tokens': usage?.outputTokens,
    'mlld.usage.cost_usd': usage?.costUsd,
    'mlld.call.attempt': call.attempt,
  };
}

function momentEvent({ atMs, event }: Moment): object {
  switch (event.type) {
    case 'effect.performed':
      return eventObject('mlld.effect', atMs, {
        'mlld.effect.kind': event.kind,
        'mlld.effect.request': event.request,
        'mlld.effect.error': event.error,
      });
    case 'hook.fired':
      return eventObject('mlld.hook', atMs, {
        'mlld.hook.name': event.hook,
        'mlld.hook.timing': event.timing,
        'mlld.hook.error': event.error,
      });
    case 'guard.decided':
      return eventObject('mlld.guard', atMs, {
        'mlld.guard.name': event.guard,
        'mlld.guard.decision': event.decision,
        'mlld.guard.reason': event.reason,
      });
    case 'retry.scheduled':
      return eventObject('mlld.retry', atMs, { 'mlld.retry.attempt': event.attempt, 'mlld.retry.delay_ms': event.delayMs });
  }
}

interface SpanParts {
  /** Unique in the run; empty for the run itself. */
  readonly id: string;
  readonly parent?: string;
  readonly name: string;
  readonly kind: number;
  readonly startedMs: number;
  readonly endedMs: number;
  readonly about: Attributes;
  readonly events: readonly object[];
  readonly failure: Failure | undefined;
  readonly isDone: boolean;
}

interface Failure {
  /** The code of the error, or a word for the outcome. */
  readonly type: string;
  readonly message: string;
}

function spanObject({ workflow, run }: RunRef, { id, parent, name, kind, startedMs, endedMs, about, events, failure, isDone }: SpanParts) {
  const trace = sha256Hex(`mlld trace ${workflow}\n${run}`).slice(0, 32);
  const idOf = (part: string): string => sha256Hex(`mlld span ${run}\n${part}`).slice(0, 16);
  return {
    traceId: trace,
    spanId: idOf(id),
    ...(parent === undefined ? {} : { parentSpanId: idOf(parent) }),
    name,
    kind,
    startTimeUnixNano: nanoseconds(startedMs),
    endTimeUnixNano: nanoseconds(endedMs),
    attributes: attributes({ ...about, 'error.type': failure?.type }),
    events,
    status: failure === undefined ? (isDone ? { code: STATUS_OK } : {}) : { code: STATUS_ERROR, message: failure.message },
  };
}

function eventObject(name: string, atMs: number, about: Attributes): object {
  return { name, timeUnixNano: nanoseconds(atMs), attributes: attributes(about) };
}

/** 64-bit numbers are texts in OTLP's JSON. */
const nanoseconds = (ms: number): string => (BigInt(Math.round(ms)) * 1_000_000n).toString();

function attributes(about: Attributes): object[] {
  return Object.entries(about).flatMap(([key, value]) => (value === undefined ? [] : [{ key, value: attributeValue(value) }]));
}

function attributeValue(value: string | number | boolean): object {
  if (typeof value === 'string') return { stringValue: value };
  if (typeof value === 'boolean') return { boolValue: value };
  return Number.isSafeInteger(value) ? { intValue: String(value) } : { doubleValue: value };
}
