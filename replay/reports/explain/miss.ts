/** Names the reasons for which a call was executed. */
import type { EventOf } from '../../../journal/event.js';
import type { EventRef, OpPath, RunId, Seq, Workflow } from '../../../journal/ids.js';
import type { DefinitionChange } from '../../memo/definitions.js';

/** The reason for which no result was reused. `run` is the run in which that happened. */
export type Miss =
  /** No recorded run made the call. */
  | { readonly why: 'new' }
  | { readonly why: 'invalidated'; readonly selector: string; readonly run: RunId; readonly seq: Seq }
  /** A fork source has a result that this script may not reuse any more. */
  | { readonly why: 'refused'; readonly selector: string; readonly run: RunId; readonly seq: Seq }
  /** `mlld journal reject` marked its result as bad, in `run`, at `at` (ISO 8601, UTC). */
  | { readonly why: 'rejected'; readonly reason?: string; readonly at: string; readonly run: RunId; readonly seq: Seq }
  | { readonly why: 'reset'; readonly by: 'fresh' | 'clean'; readonly run: RunId; readonly seq: Seq }
  | { readonly why: 'failed'; readonly message: string; readonly denied: boolean; readonly run: RunId; readonly seq: Seq }
  /** It was not executed, because these calls, whose results its arguments need, have failed. */
  | { readonly why: 'upstream'; readonly upstream: readonly OpPath[]; readonly run: RunId; readonly seq: Seq }
  /** There was a result that may not be reused: its command failed. */
  | { readonly why: 'unusable'; readonly message: string; readonly run: RunId; readonly seq: Seq }
  /** The run ended while the call was in flight. */
  | { readonly why: 'interrupted'; readonly run: RunId; readonly seq: Seq }
  | { readonly why: 'expired'; readonly ttlMs: number; readonly ageMs: number; readonly run: RunId; readonly seq: Seq }
  /** The checkpoint's `complete` was not true when it was last evaluated. */
  | { readonly why: 'incomplete'; readonly checkpoint: string }
  /** `resume: manual`: results of earlier runs are there and are not reused. */
  | { readonly why: 'manual'; readonly run: RunId; readonly seq: Seq }
  /** A pipeline that ran without `--checkpoint` executes its calls again. */
  | { readonly why: 'off'; readonly run: RunId; readonly seq: Seq }
  /** `--changed ask` and the definition is another, or it or `--changed ask-guards` and other guards or hooks hold. */
  | {
      readonly why: 'edited';
      readonly changed: 'ask' | 'ask-guards';
      readonly changes: readonly DefinitionChange[];
      readonly run: RunId;
      readonly seq: Seq;
    }
  /** There is a result of the backend `simulated`, and the call has another backend. */
  | { readonly why: 'simulated'; readonly run: RunId; readonly seq: Seq }
  /** Declared output files were not what the recorded call had written. */
  | { readonly why: 'outputs'; readonly files: readonly string[]; readonly run: RunId; readonly seq: Seq }
  /** Files that the recorded call had written were missing, and their content was not kept. */
  | { readonly why: 'file gone'; readonly files: readonly string[]; readonly run: RunId; readonly seq: Seq }
  /** There is a result, and it does not fit the schema of now; or it can't be read by the adapter of now, or needs the one of then. */
  | { readonly why: 'schema' | 'reply'; readonly run: RunId; readonly seq: Seq }
  /** Its result had come back, and the guards behind the call judged it: its body was not executed. */
  | { readonly why: 'unjudged'; readonly run: RunId; readonly seq: Seq }
  /** The result belongs to another call: one inside a stage or an agent is offered only that of its own place, if that was cut short. */
  | { readonly why: 'inside'; readonly run: RunId; readonly seq: Seq }
  /** There is a result, and it was recorded after this run had begun. */
  | { readonly why: 'later'; readonly run: RunId; readonly seq: Seq }
  /** There is a result, and it could not be read. */
  | { readonly why: 'damaged'; readonly run: RunId; readonly seq: Seq }
  /** `journal redact` took the result out of the run that had it. */
  | { readonly why: 'redacted'; readonly reason: string; readonly run: RunId; readonly seq: Seq }
  /** An earlier run reused a result of `run`, which is not in the journal any more. */
  | { readonly why: 'collected'; readonly run: RunId; readonly seq: Seq }
  /** An earlier run reused the forked result; this one does not fork `workflow`. */
  | { readonly why: 'not-forked'; readonly workflow: Workflow; readonly run: RunId; readonly seq: Seq };

/** The latest event that left a call without a usable result. */
export type Fate = Extract<
  Miss,
  { why: 'invalidated' | 'rejected' | 'reset' | 'failed' | 'upstream' | 'unusable' | 'interrupted' | 'damaged' | 'redacted' }
>;

/**
 * Explains a call of which only a reuse is recorded. Runs that go on beside each other reuse results both ways: one of this run, or of a
 * later one, was not there when this one began.
 */
export function whereItWent(from: (EventRef & { readonly workflow?: Workflow }) | undefined, current: RunId | undefined): Miss {
  if (from === undefined) return { why: 'new' };
  const { workflow, run, seq } = from;
  if (workflow === undefined && current !== undefined && run >= current) return { why: 'new' };
  return workflow === undefined ? { why: 'collected', run, seq } : { why: 'not-forked', workflow, run, seq };
}

/** Returns what a call says about a recorded result that its run looked at and did not take. `at`: the event that holds it. */
export function whyPassedOver(
  { outdated, gone, unfit }: EventOf<'call.started'>,
  at: { readonly run: RunId; readonly seq: Seq },
): Miss | undefined {
  if (outdated !== undefined) return { why: 'outputs', files: outdated, ...at };
  if (gone !== undefined) return { why: 'file gone', files: gone, ...at };
  return unfit && { why: unfit, ...at };
}

export function isLater(left: EventRef, right: EventRef): boolean {
  return left.run > right.run || (left.run === right.run && left.seq > right.seq);
}

export function upstreamMiss({ upstream = [], seq }: EventOf<'call.failed'>, run: RunId): Miss & { readonly why: 'upstream' } {
  return { why: 'upstream', upstream, run, seq };
}
