/** The identity under which the result of a call may be reused. design.md 3. */
import { canonicalJson, sha256 } from '../../../journal/canonical.js';
import type { Json } from '../../../journal/event.js';
import type { CallKey } from '../../../journal/ids.js';
import { losesDigits } from '../../values/formats/exact-numbers.js';
import { toIdentifyingJson } from '../../values/native.js';
import { Annotated, type Value } from '../../values/value.js';

/**
 * The content of a call key. `via` is the call that a one-call wrapper forwards to; `attempt` counts retries from 2; `hint` is that of the
 * retry, where the body reads it.
 */
export interface CallRequest {
  readonly fn: string;
  readonly args: readonly Json[];
  readonly via?: { readonly fn: string; readonly args: readonly Json[] };
  readonly attempt?: number;
  readonly hint?: Json;
}

/** checkpoint-resume.md 6: members in this order, object members inside the arguments sorted by name. */
export function callKey({ fn, args, via, attempt, hint }: CallRequest): CallKey {
  const list = (values: readonly Json[]): string => `[${values.map(canonicalJson).join(',')}]`;
  const viaText = via ? `,"via":{"fn":${JSON.stringify(via.fn)},"args":${list(via.args)}}` : '';
  const attemptText = attempt === undefined ? '' : `,"attempt":${attempt}`;
  const hintText = hint === undefined ? '' : `,"hint":${canonicalJson(hint)}`;
  return sha256(`{"fn":${JSON.stringify(fn)},"args":${list(args)}${viaText}${attemptText}${hintText}}`) as string as CallKey;
}

/**
 * Returns the arguments as the call key and the journal have them. Data whose text has digits that a double can't hold is that text there:
 * the body may read them, so without it two arguments that differ would have one key.
 */
export function callArguments(inputs: readonly Value[]): Json[] {
  return inputs.map((input) => {
    const text = input instanceof Annotated && typeof input.data !== 'string' ? input.text : undefined;
    return text !== undefined && losesDigits(text) ? text : toIdentifyingJson(input);
  });
}
