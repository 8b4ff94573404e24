/** Turns the options of `journal redact` and `journal bundle` into a request for redaction. */
import type { RunRef } from '../../src/api/ids.js';
import type { JournalStore } from '../../journal/store.js';
import { searchBlobs } from '../../src/api/commands/redact.js';
import type { RedactionRequest } from '../../replay/upkeep/redaction.js';
import { MlldError } from '../../src/errors.js';

/** Throws USAGE for a text that is not a regular expression. */
export function patternOf(option: string, text: string): RegExp {
  try {
    return new RegExp(text, 'gu');
  } catch (cause) {
    throw new MlldError('USAGE', `${option} ${text}: ${(cause as Error).message}`, { cause });
  }
}

export async function redactionRequest(
  store: JournalStore,
  ref: RunRef,
  { op, match, reason }: Pick<RedactionRequest, 'op' | 'match' | 'reason'>,
): Promise<RedactionRequest> {
  return { op, match, reason, blobs: match === undefined ? new Set() : await searchBlobs(store, ref, match) };
}
