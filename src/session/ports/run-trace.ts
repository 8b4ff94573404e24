/**
 * Tells the programs of a recorded run which span of its trace they work in, by the ids that the export gives the same spans later.
 * calls.md 17.1.
 */
import type { RunRef } from '../../../journal/ids.js';
import { attemptSpan, parseTraceparent, traceparentOf } from '../../../replay/export/trace-ids.js';
import type { RunTrace } from '../../runtime/recorder.js';

type Environment = { readonly [name: string]: string | undefined };

/** By these the conventions of OpenTelemetry name where programs send their spans. */
const EXPORTERS = ['OTEL_EXPORTER_OTLP_ENDPOINT', 'OTEL_EXPORTER_OTLP_TRACES_ENDPOINT'];

/** Returns the trace context that a run is started in; undefined where there is none, or what is given is none. */
export function givenTraceparent({ TRACEPARENT }: Environment): string | undefined {
  return parseTraceparent(TRACEPARENT) && TRACEPARENT;
}

/** Undefined where nobody traces: programs would sample spans that belong to nothing. */
export function runTrace(environment: Environment, ref: RunRef): RunTrace | undefined {
  const given = givenTraceparent(environment);
  if (given === undefined && !hasExporter(environment)) return undefined;
  const within = (id: string): string => traceparentOf(ref, given, id);
  return {
    attempt: (op, seq) => within(attemptSpan(op, seq)),
    operation: (op) => within(op === 'main' ? '' : op),
  };
}

/** A warning about a trace context that is none; undefined where there is nothing to warn of. */
export function traceparentWarning(environment: Environment): string | undefined {
  const { TRACEPARENT = '' } = environment;
  if (TRACEPARENT === '' || givenTraceparent(environment) !== undefined) return undefined;
  return 'warning: TRACEPARENT is not a W3C trace context (00-<32 hex digits>-<16 hex digits>-<2 hex digits>), so the run is not a part of that trace';
}

function hasExporter(environment: Environment): boolean {
  const { OTEL_SDK_DISABLED, OTEL_TRACES_EXPORTER = '' } = environment;
  if (OTEL_SDK_DISABLED?.toLowerCase() === 'true' || OTEL_TRACES_EXPORTER === 'none') return false;
  return OTEL_TRACES_EXPORTER !== '' || EXPORTERS.some((name) => (environment[name] ?? '') !== '');
}
