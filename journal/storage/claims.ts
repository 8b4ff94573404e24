/** Claims of calls: of all runs that write to one store, one executes a call, and the others wait for its result. team-store.md 6. */
import type { CallKey, EventRef, Position, RunId, Seq } from '../ids.js';
import type { HintWatch } from './hints.js';

/** The place of a result in a run of the same workflow. */
export interface RecordedResult {
  readonly run: RunId;
  readonly seq: Seq;
  readonly position: Position;
}

export interface ClaimRequest {
  readonly key: CallKey;
  /** The recorded result that the caller does not reuse. */
  readonly refused?: EventRef | undefined;
  /** The caller reuses no result of another run: it executes the call whoever else does. */
  readonly isAlone?: boolean;
}

export type Claimed =
  /** The caller executes the call. `replaces` is the result that its own will replace. */
  | { readonly kind: 'claimed'; readonly replaces: RecordedResult | undefined }
  /** There is a result that was not refused. */
  | { readonly kind: 'answered'; readonly by: RecordedResult }
  /** Another run executes the call. */
  | { readonly kind: 'taken'; readonly run: RunId; readonly host: string };

export interface Claims {
  /** A store that can't be reached is waited for so long. */
  readonly waitMs: number;
  /** Rejects with `JournalError`; after STORE_UNREACHABLE, the same may succeed. Repeated, it does nothing more. */
  claim(request: ClaimRequest): Promise<Claimed>;
  /** True when the lease of the run may have run out since the call was claimed: another run may have claimed it. */
  mayBeLost(key: CallKey): boolean;
  /** Renews the lease of the run and claims the call again, in one. Rejects as `claim` does. */
  claimAgain(request: ClaimRequest): Promise<Claimed>;
  /** True for a run of the workflow that did not end, and has not been heard of for its lease: its claims are free. */
  isLost(run: RunId): Promise<boolean>;
  /** Frees a call that ended without an event. The end of a call frees it as well. */
  giveBack(key: CallKey): void;
  /** Waits between two looks at a call that another run executes, until calls of other runs have ended. */
  watch(): HintWatch;
}
