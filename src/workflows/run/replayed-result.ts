/** Ends a call in a replay as the record says: nothing is asked, whoever answered. workflows-js.md 7. */
import { decodeResult } from '../../operation/encode-result.js';
import { valueIn } from '../../runtime/completion.js';
import type { Frame } from '../../runtime/frame.js';
import type { Value } from '../../values/value.js';

export async function replayedResult({ op, run }: Frame): Promise<Value> {
  const recorded = run.replayed?.call(op.path);
  const end = await recorded?.completed?.();
  if (end?.result) return valueIn(decodeResult(end.result, run.settings.projectRoot));
  if (recorded?.failed) return new Promise(() => {}); // the failure of the record ends the call
  return recorded ? recorded.waitForGood() : null;
}
