/**
 * Puts a recorded result through the adapter and the schema that its function has now, because they decide what the value is.
 * calls.md 11.3.
 */
import type { CallOptions } from '../../calls/options.js';
import { readReply } from '../../calls/replies/read-reply.js';
import type { CachedResult } from '../../runtime/calls/result-cache.js';
import { Signal } from '../../runtime/completion.js';
import { toJson } from '../../values/native.js';
import type { Value } from '../../values/value.js';
import { fitToSchema, replyText, resultIn } from './result-of-reply.js';

/** Names the option for which a recorded result is not reused. */
export type Unfit = 'schema' | 'reply';

export type ReusedResult = { readonly kind: 'fits'; readonly known: CachedResult } | { readonly kind: 'misfits'; readonly unfit: Unfit };

/** True when the options of the function, or the way in which the result was recorded, say something about its value. */
export function mayMisfit({ reply, schema }: CallOptions, { isInner }: CachedResult): boolean {
  return reply !== undefined || schema !== undefined || isInner === true;
}

/** A control word is no result in a reply, and stays as it is. */
export function resultNow(known: CachedResult, { reply: adapter, schema }: CallOptions, nowMs: number): ReusedResult {
  if (known.isInner && adapter === undefined) return { kind: 'misfits', unfit: 'reply' };
  const isRaw = adapter !== undefined && !known.isInner;
  const recorded = isRaw || schema ? known.value() : undefined;
  if ((!isRaw && !schema) || recorded instanceof Signal) return { kind: 'fits', known };
  const read = isRaw ? readReply({ stdout: replyText(recorded), stderr: '', exitCode: 0 }, { adapter, nowMs }) : undefined;
  if (read?.failure) return { kind: 'misfits', unfit: 'reply' };
  const result = read ? resultIn(read, recorded) : recorded;
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
