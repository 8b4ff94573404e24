/** Makes the names of things in a journal from plain texts and numbers; everything else takes them ready-made. */
import {
  isDigest,
  isRunId,
  runIdAt,
  seqOf,
  workflowOf,
  type CallKey,
  type Fingerprint,
  type BlobId,
  type RunId,
} from '../../journal/ids.js';
import { callKey, type CallRequest } from '../runtime/calls/call-key.js';
import { hostDefaults } from '../world/host-defaults.js';
import { randomDigits } from '../world/host.js';
import { badOption } from './check.js';

export { callKey, isDigest, isRunId, seqOf, workflowOf };
export { opPath as opPathOf, startOf as startOfRun } from '../../journal/ids.js';
export type { BlobId, CallKey, EventRef, Fingerprint, OpPath, RunId, RunRef, Seq, Workflow } from '../../journal/ids.js';
export type { CallRequest };

/**
 * The id of a run that begins now (or at `startMs`, milliseconds since 1970). Ids sort by that time; four random characters keep runs
 * apart that begin in the same millisecond.
 *
 * ```js
 * const ref = { workflow: workflowOf('notes/thread-1'), run: newRunId() };
 * ```
 */
export function newRunId(startMs: number = hostDefaults().io.nowMs()): RunId {
  return runIdAt(startMs, randomDigits(4));
}

/**
 * A run id that was kept as a text. Throws BAD_OPTION when it is not one.
 *
 * ```js
 * const ref = await store.find(runIdOf('20261121-084512-123-9f3a'));
 * ```
 */
export function runIdOf(text: string): RunId {
  if (isRunId(text)) return text;
  throw badOption('runIdOf()', `${JSON.stringify(text)} is not a run id`, 'for example 20261121-084512-123-9f3a');
}

/**
 * A call key, fingerprint or blob id that was kept as a text. Throws BAD_OPTION when it is not `sha256:` and 64 hex digits.
 *
 * ```js
 * const bytes = await store.getBlob(digestOf(text));
 * ```
 */
export function digestOf(text: string): CallKey & Fingerprint & BlobId {
  if (isDigest(text)) return text;
  throw badOption('digestOf()', `${JSON.stringify(text)} is not a digest`, 'sha256: and 64 hex digits');
}
