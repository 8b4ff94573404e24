/**
 * Exports a run as OpenTelemetry spans, in the JSON form of OTLP: what a collector takes at `/v1/traces`. Names follow the semantic
 * conventions for generative AI where they have one, and begin with `mlld.` where they don't.
 *
 * A call is a span with one span inside it for each attempt; a reused result is a span that links to the call that recorded the result.
 * So does a call that a worker executed: its attempts are spans of the worker's run, and a service that adds up both counts them once.
 * Arguments and results are left out: a tracing service is no place for them unless the user decides so.
 */
import type { RunRef } from '../../journal/ids.js';
import { costOfCall } from '../reports/timeline/call-cost.js';
import type { TimelineAttempt } from '../reports/timeline/timeline-attempt.js';
import { endOf, type Moment, type Span, type Timeline, type TimelineCall } from '../reports/timeline/timeline.js';
import { outcomeOf } from './call-at-worker.js';
import { aboutAttempt, requestedModel } from './gen-ai.js';
import { attributes, CLIENT, eventObject, INTERNAL, type Attributes, type SpanFailure, type SpanParts } from './otlp-span.js';
import { attemptSpan } from './trace-ids.js';

export interface OtlpOptions {
  /** The version of the program that exports. */
  readonly version: string;
  /** A call that has not ended is not a failure while the run is in flight. */
  readonly isRunning: boolean;
}

/** A span before it is written. `call`: the call whose last attempt it is, which has the arguments and the result. */
export interface ExportedSpan {
  readonly parts: SpanParts;
  readonly call?: TimelineCall;
}

/** The document around some spans of a run. */
export function otlpDocument(
  ref: RunRef,
  { versions }: Timeline,
  spans: readonly object[],
  { version }: Pick<OtlpOptions, 'version'>,
): object {
  const about = { 'service.name': 'mlld', 'service.version': versions?.mlld, 'mlld.run.id': ref.run };
  return { resourceSpans: [{ resource: { attributes: attributes(about) }, scopeSpans: [{ scope: { name: 'mlld', version }, spans }] }] };
}

/** Yields the spans of a run, each behind the one that it is in. */
export function* otlpSpans(ref: RunRef, state: Timeline, { isRunning }: OtlpOptions): Generator<ExportedSpan> {
  // A run without an end and without a writer was killed, with all that was in flight.
  const cutOff = isRunning ? undefined : { type: state.status ?? 'crashed', message: 'the run ended before it did' };
  yield { parts: runSpan(ref, state, isRunning) };
  for (const span of state.spans) yield* operationSpans({ ref, state, cutOff }, span);
}

interface Run {
  readonly ref: RunRef;
  readonly state: Timeline;
  /** The failure of what had not ended when the run did. */
  readonly cutOff: SpanFailure | undefined;
}

function runSpan(ref: RunRef, state: Timeline, isRunning: boolean): SpanParts {
  const startedMs = state.startedMs ?? 0;
  const { status = isRunning ? undefined : 'crashed', error } = state;
  const isDone = status === 'completed' || status === 'restarted';
  return {
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
  };
}

/** An operation that made one call is one span; where it made several, each is a span inside it. */
function* operationSpans(run: Run, span: Span): Generator<ExportedSpan> {
  const { state, cutOff } = run;
  const call = onlyCall(span);
  const failure = failureOfSpan(span, cutOff) ?? (call && failureOfCall(call, cutOff));
  const parts: SpanParts = {
    id: idOf(span),
    parent: span.parent === undefined ? '' : idOf(span.parent),
    name: call && outcomeOf(call) === 'reused' ? `reused ${call.fn}` : nameOf(span),
    kind: INTERNAL,
    startedMs: span.startedMs,
    endedMs: endOf(span, state),
    about: { ...aboutSpan(span), ...(call && aboutCall(call)) },
    events: span.moments.map(momentEvent),
    failure,
    isDone: span.outcome === 'ok' || span.outcome === 'reused',
    link: call && linkOf(run, call),
  };
  yield { parts };
  if (call) yield* attemptSpans(run, span, call);
  else for (const each of span.calls) yield* callSpans(run, span, each);
}

function* callSpans(run: Run, span: Span, call: TimelineCall): Generator<ExportedSpan> {
  const parts: SpanParts = {
    id: idOfCall(span, call),
    parent: span.op,
    name: `${outcomeOf(call) === 'reused' ? 'reused' : 'call'} ${call.fn}`,
    kind: INTERNAL,
    startedMs: call.startedMs,
    endedMs: endOf(call, run.state),
    about: aboutCall(call),
    events: [],
    failure: failureOfCall(call, run.cutOff),
    isDone: call.outcome === 'executed' || call.outcome === 'reused',
    link: linkOf(run, call),
  };
  yield { parts };
  yield* attemptSpans(run, span, call);
}

/** The conventions name a request by its model; where the journal has no model, the function is the best name. */
function* attemptSpans(run: Run, span: Span, call: TimelineCall): Generator<ExportedSpan> {
  if (call.worker) return;
  for (const attempt of call.attempts) {
    const { outcome, startedMs, endedMs, usage } = attempt;
    // A call that a guard denied before its body ran called no model.
    if (outcome === 'denied' && attempt.lane === undefined && usage === undefined) continue;
    const parts: SpanParts = {
      id: attemptSpan(span.op, attempt.seq),
      parent: onlyCall(span) === call ? idOf(span) : idOfCall(span, call),
      name: `chat ${requestedModel(span, attempt) ?? usage?.model ?? call.fn}`,
      kind: CLIENT,
      startedMs,
      endedMs: endedMs ?? run.state.lastMs ?? startedMs,
      about: { ...aboutAttempt(span, attempt), 'mlld.function': call.fn },
      events: [],
      failure: failureOfCall(attempt, run.cutOff),
      isDone: outcome === 'executed',
    };
    yield attempt === call.attempts.at(-1) ? { parts, call } : { parts };
  }
}

function onlyCall({ calls: [only, ...further] }: Span): TimelineCall | undefined {
  return further.length === 0 ? only : undefined;
}

function idOf(span: Span): string {
  const call = onlyCall(span);
  return call?.endedSeq === undefined ? span.op : idOfResult(call.endedSeq);
}

function idOfCall({ op }: Span, { seq, endedSeq }: TimelineCall): string {
  return endedSeq === undefined ? `${op} call ${seq}` : idOfResult(endedSeq);
}

/** A reuse knows no more of the call than the event that holds its result. */
function idOfResult(seq: number): string {
  return `result ${seq}`;
}

function linkOf({ ref }: Run, { from }: TimelineCall): SpanParts['link'] {
  return from && { ref: { workflow: from.workflow ?? ref.workflow, run: from.run }, id: idOfResult(from.seq) };
}

function failureOfSpan({ outcome, message, errorCode, calls }: Span, cutOff: SpanFailure | undefined): SpanFailure | undefined {
  if (outcome === undefined) return cutOff;
  if (outcome !== 'failed' && outcome !== 'denied') return undefined;
  const last = calls.at(-1);
  return { type: last?.cause ?? errorCode ?? outcome, message: message ?? last?.message ?? outcome };
}

type Ended = Pick<TimelineCall | TimelineAttempt, 'outcome' | 'message' | 'cause'> & { readonly errorCode?: string | undefined };

function failureOfCall({ outcome, message, cause, errorCode }: Ended, cutOff: SpanFailure | undefined): SpanFailure | undefined {
  if (outcome === 'unfinished') return cutOff;
  if (outcome === 'executed' || outcome === 'reused') return undefined;
  return { type: cause ?? errorCode ?? (outcome === 'denied' ? 'DENIED' : outcome), message: message ?? outcome };
}

const nameOf = ({ kind, name }: Span): string => (name === undefined ? kind : `${kind} ${name}`);

function aboutSpan(span: Span): Attributes {
  return {
    'mlld.op.path': span.op,
    'mlld.op.kind': span.kind,
    'mlld.op.outcome': span.outcome === 'reused' && span.calls.at(-1)?.worker ? 'ok' : (span.outcome ?? 'unfinished'),
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
function aboutCall(call: TimelineCall): Attributes {
  const { fn, key, attempt, attempts, from, worker, errorCode } = call;
  const { costUsd, unpriced } = costOfCall(call);
  return {
    'mlld.function': fn,
    'mlld.call.key': key,
    'mlld.call.outcome': outcomeOf(call),
    'mlld.call.attempt': attempt,
    'mlld.call.attempts': from === undefined && !worker ? attempts.length : undefined,
    'mlld.call.cost_usd': costUsd,
    'mlld.call.unpriced': unpriced === 0 ? undefined : unpriced,
    'mlld.error.code': errorCode,
    'mlld.reused': from !== undefined && !worker,
    'mlld.reused.run': worker ? undefined : from?.run,
    'mlld.reused.seq': worker ? undefined : from?.seq,
    'mlld.worker.name': worker?.name,
    'mlld.worker.host': worker?.host,
    'mlld.worker.run': worker && from?.run,
    'mlld.worker.cost_usd': worker?.costUsd,
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
