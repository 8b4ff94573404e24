/** A call that one run executes at a time, and what the journal stores of its result. team-store.md 6. */
import type { Json, ResultForm, ResultMetadata } from '../../../journal/event.js';
import type { CallKey, EventRef, RunId } from '../../../journal/ids.js';

export interface ClaimedCall {
  /** The key that it is recorded under. */
  readonly key: CallKey;
  readonly fn: string;
  /** Called when the call has to wait for another run; returns what must be called when it waits no longer. */
  readonly onWaiting?: (() => () => void) | undefined;
}

export type ClaimedCallState =
  /** `replaces` is the recorded result that the new one replaces. */
  { readonly kind: 'claimed'; readonly replaces: EventRef | undefined } | { readonly kind: 'answered'; readonly by: EventRef };

/** The call is not this run's any more, and its body must not begin. */
export interface LostClaim {
  /** The run that executes it, or has its result. Absent: this run must stop. */
  readonly to: RunId | undefined;
}

/** A result in the form that the journal stores. */
export interface Encoded {
  readonly json: Json;
  readonly form?: ResultForm | undefined;
  /** Metadata of the value; for a control word, of the value that it carries. */
  readonly notes: readonly ResultMetadata[];
}
