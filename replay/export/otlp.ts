/**
 * A run as OpenTelemetry spans, in the JSON form of OTLP: what a collector takes at `/v1/traces`. Names follow the semantic
 * conventions for generative AI where they have one, and begin with `mlld.` where they don't. Ids are digests of the run's id and
 * the operation's path, so that exporting twice gives the same trace.
 *
 * Arguments and results are left out: a tracing service is no place for them unless somebody decides so.
 */
import type { RunRef } from '../../journal/ids.js';
import { sha256Hex } from '../../journal/sha256.js';
import { endOf, type Moment, type Span, type Timeline, type TimelineCall } from '../timeline.js';

type Attribute = string | number | boolean | undefined;
type Attributes = { readonly [name: string]: Attribute };

const INTERNAL = 1;
const CLIENT = 3;
const STATUS_OK = 1;
const STATUS_ERROR = 2;

/** `version`: of the program that exports. */
export function otlpTraces(ref: RunRef, state: Timeline, version: string): object {
  const spans = [runSpan(ref, state), ...state.spans.flatMap((span) => operationSpans(ref, state, span))];
  return {
    resourceSpans: [
      {
        resource: { attributes: attributes({ 'service.name': 'mlld', 'service.version': state.versions?.mlld, 'mlld.run.id': ref.run }) },
        scopeSpans: [{ scope: { name: 'mlld', version }, spans }],
      },
    ],
  };
}

function runSpan(ref: RunRef, state: Timeline): object {
  const startedMs = state.startedMs ?? 0;
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
      'mlld.run.status': state.status ?? 'unfinished',
      'error.type': state.error?.code,
    },
    events: state.phases.map(({ name, atMs }) => eventObject('mlld.checkpoint', atMs, { 'mlld.checkpoint.name': name })),
    failure: state.status === undefined || state.status === 'completed' ? undefined : (state.error?.message ?? state.status),
    isDone: state.status === 'completed',
  });
}

/** An operation that asked once is one span; the further questions of one that asked again are spans inside it. */
function operationSpans(ref: RunRef, state: Timeline, span: Span): object[] {
  const [first, ...further] = span.calls;
  const own = spanObject(ref, {
    id: span.op,
    parent: span.parent?.op ?? '',
    name: first === undefined || further.length > 0 ? nameOf(span) : callName(span, first),
    kind: first?.outcome === 'reused' || first === undefined || further.length > 0 ? INTERNAL : CLIENT,
    startedMs: span.startedMs,
    endedMs: endOf(span, state),
    about: { ...aboutSpan(span), ...(first === undefined || further.length > 0 ? {} : aboutCall(span, first)) },
    events: span.moments.map(momentEvent),
    failure: span.outcome === 'failed' || span.outcome === 'denied' ? (span.message ?? first?.message ?? span.outcome) : undefined,
    isDone: span.outcome === 'ok' || span.outcome === 'reused',
  });
  if (further.length === 0) return [own];
  return [own, ...span.calls.map((call) => callSpan(ref, state, span, call))];
}

function callSpan(ref: RunRef, state: Timeline, span: Span, call: TimelineCall): object {
  return spanObject(ref, {
    id: `${span.op} call ${call.seq}`,
    parent: span.op,
    name: callName(span, call),
    kind: call.outcome === 'reused' ? INTERNAL : CLIENT,
    startedMs: call.startedMs,
    endedMs: endOf(call, state),
    about: aboutCall(span, call),
    events: [],
    failure: call.outcome === 'failed' || call.outcome === 'denied' ? call.message : undefined,
    isDone: call.outcome === 'completed' || call.outcome === 'reused',
  });
}

const nameOf = ({ kind, name }: Span): string => (name === undefined ? kind : `${kind} ${name}`);
/** The conventions name a request by its model; where no model is told, the function says more than nothing. */
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

/** An answer that was served cost nothing and asked no model: it must not be counted as a request. */
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
    'error.type': call.outcome === 'failed' || call.outcome === 'denied' ? call.outcome : undefined,
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
  readonly failure: string | undefined;
  readonly isDone: boolean;
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
    attributes: attributes(about),
    events,
    status: failure === undefined ? (isDone ? { code: STATUS_OK } : {}) : { code: STATUS_ERROR, message: failure },
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
