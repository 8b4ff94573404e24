/**
 * Puts a recorded result through the adapter and the schema that its function has now, because they decide what the value is.
 * calls.md 11.3.
 */
import type { CallOptions, ReplyPlace } from '../../calls/options.js';
import { readReply } from '../../calls/replies/read-reply.js';
import type { CachedResult } from '../../runtime/calls/result-cache.js';
import { Signal } from '../../runtime/completion.js';
import { toJson } from '../../values/native.js';
import { flow, type Value } from '../../values/value.js';
import { readByFunction } from './read-by-function.js';
import { fitToSchema, replyText, resultIn } from './result-of-reply.js';

/** Names the option for which a recorded result is not reused. */
export type Unfit = 'schema' | 'reply';

export type ReusedResult = { readonly kind: 'fits'; readonly known: CachedResult } | { readonly kind: 'misfits'; readonly unfit: Unfit };

/** True when the options of the function, or the way in which the result was recorded, say something about its value. */
export function mayMisfit({ reply, schema }: CallOptions, { isInner }: CachedResult): boolean {
  return reply !== undefined || schema !== undefined || isInner === true;
}

/** The moment and the place of the call that reuses the result. A plan has no place: no function of the script runs for it. */
export interface Now {
  readonly nowMs: number;
  readonly place?: ReplyPlace;
}

/** A control word is no result in a reply, and stays as it is. */
export async function resultNow(
  known: CachedResult,
  { reply: adapter, schema }: CallOptions,
  { nowMs, place }: Now,
): Promise<ReusedResult> {
  if (known.isInner && adapter === undefined) return { kind: 'misfits', unfit: 'reply' };
  const isRaw = adapter !== undefined && !known.isInner;
  const recorded = isRaw || schema ? known.value() : undefined;
  if ((!isRaw && !schema) || recorded instanceof Signal) return { kind: 'fits', known };
  const raw = isRaw ? { stdout: replyText(recorded), stderr: '', exitCode: 0, durationMs: 0 } : undefined;
  if (raw && typeof adapter === 'object' && !place) return { kind: 'fits', known };
  const text = raw && readReply(raw, { adapter: typeof adapter === 'string' ? adapter : 'text', nowMs });
  const byFunction =
    raw && text && place && typeof adapter === 'object'
      ? await readByFunction(adapter, raw, { known: text, printed: recorded, place, nowMs })
      : undefined;
  const read = byFunction?.reply ?? text;
  if (read?.failure) return { kind: 'misfits', unfit: 'reply' };
  const returned = byFunction?.returned;
  const result = read ? flow(resultIn(read, recorded), returned === undefined ? [] : [returned]) : recorded;
  if (!schema) return { kind: 'fits', known: { ...known, value: () => result } };
  const value = fitted(result);
  return value === undefined ? { kind: 'misfits', unfit: 'schema' } : { kind: 'fits', known: { ...known, value: () => value } };

  /** A text may be the reply that JSON is read from, or the text that was read from it when the result was recorded. */
  function fitted(value: Value): Value {
    for (const data of read ? [read.data] : [undefined, toJson(value)]) {
      const fit = fitToSchema(value, schema as NonNullable<typeof schema>, { data });
      if (fit.kind === 'fits') return fit.value;
    }
    return undefined;
  }
}
