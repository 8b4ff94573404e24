/**
 * The ids of traces and spans: digests of what they stand for, so that exporting twice gives the same trace, and a program that runs inside
 * an attempt can be told the id of the attempt's span before anything is exported. calls.md 17.1.
 */
import type { OpPath, RunRef, Seq } from '../../journal/ids.js';
import { sha256Hex } from '../../journal/sha256.js';

/** A trace context as W3C words it. */
export interface TraceContext {
  /** 32 hexadecimal digits. */
  readonly traceId: string;
  /** 16 hexadecimal digits. */
  readonly spanId: string;
  /** Two hexadecimal digits; `01`: the trace is sampled. */
  readonly flags: string;
}

/** Reads `00-<trace>-<span>-<flags>`. Later versions may have more members behind. Undefined for what is not a trace context. */
export function parseTraceparent(text: string | undefined): TraceContext | undefined {
  const [, version, traceId = '', spanId = '', flags = '', more] =
    /^([\da-f]{2})-([\da-f]{32})-([\da-f]{16})-([\da-f]{2})(-.*)?$/.exec(text ?? '') ?? [];
  if (version === undefined || version === 'ff' || (version === '00' && more !== undefined)) return undefined;
  return /^0+$/.test(traceId) || /^0+$/.test(spanId) ? undefined : { traceId, spanId, flags };
}

/** `given`: the trace context that the run was started in; its spans then belong to that trace. */
export function traceIdOf({ workflow, run }: RunRef, given?: string): string {
  return parseTraceparent(given)?.traceId ?? sha256Hex(`mlld trace ${workflow}\n${run}`).slice(0, 32);
}

/** `id`: unique in the run; empty for the run itself. */
export function spanIdOf({ run }: RunRef, id: string): string {
  return sha256Hex(`mlld span ${run}\n${id}`).slice(0, 16);
}

/** `seq`: of the event that started the attempt. */
export function attemptSpan(op: OpPath, seq: Seq): string {
  return `${op} attempt ${seq}`;
}

/** Returns the trace context for a program that works inside a span of a run. */
export function traceparentOf(ref: RunRef, given: string | undefined, id: string): string {
  const flags = parseTraceparent(given)?.flags ?? SAMPLED;
  return `00-${traceIdOf(ref, given)}-${spanIdOf(ref, id)}-${flags}`;
}

const SAMPLED = '01';
