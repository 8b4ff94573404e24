/** Looks a result up: in the fork sources first, then in the workflow's own memo. */
import { simulates } from '../../journal/facts/simulated-definition.js';
import { textOfRef, type CallKey, type EventRef, type Fingerprint, type OpPath, type RunId, type Workflow } from '../../journal/ids.js';
import type { Completeness } from './checkpoints.js';
import {
  completeDefinition,
  editBetween,
  isRefused,
  type Definitions,
  type Edit,
  type Parts,
  type RecordedDefinition,
} from './definitions.js';
import { isSimulated, usableEntry, type UsableEntry, type Memo } from './memo.js';
import type { CachePolicy } from './policy.js';
import type { StoredResult } from './stored-result.js';

export interface ForkSource {
  readonly workflow: Workflow;
  readonly memo: Memo;
  readonly definitions: Definitions;
}

export interface CallQuery {
  readonly op: OpPath;
  readonly key: CallKey;
  readonly fingerprint: Fingerprint;
  /** The parts of the fingerprint, with the guards and hooks that hold now. */
  readonly parts: Parts;
  /** The result that was recorded for this very call, of those that its key has: no other one is returned. */
  readonly received?: ReceivedResult | undefined;
}

/** A result and the definition that it was made with, where that was looked for. */
export interface ReceivedResult {
  readonly fingerprint?: Fingerprint | undefined;
  readonly result: StoredResult;
}

export interface OverlayHit {
  readonly entry: UsableEntry;
  /** The workflow that a forked result belongs to. */
  readonly forkSource: Workflow | undefined;
  /** The difference of definition, guards and hooks from those that the result was made with. */
  readonly edit: Edit;
}

export interface Overlay {
  /** Returns the result that the policy lets a call reuse; undefined is a miss. */
  lookup(call: CallQuery, policy: CachePolicy, nowMs: number): OverlayHit | undefined;
  /** Returns whether any result waits for guards. */
  hasUnjudged(): boolean;
  /** Returns the result of the call that came back in an earlier execution and that no guard has judged, by the same policy. */
  unjudged(call: CallQuery, policy: CachePolicy, nowMs: number): OverlayHit | undefined;
  /** Skips a result that could not be reused: from now on `lookup` returns the next one. */
  decline(result: EventRef): void;
}

/**
 * `own` is followed while the run appends, so that a call is reused within the run whatever the policy says about
 * earlier ones. The memos of fork sources are only read; `own.refused` filters them. `changed` makes results of another
 * definition, or those that other guards held for, misses. A simulated result is a miss for every call that is not simulated itself.
 */
export function createOverlay({
  run,
  own,
  definitions,
  complete,
  forks,
  changed = 'serve',
}: {
  readonly run: RunId;
  readonly own: Memo;
  readonly definitions: Definitions;
  readonly complete: Completeness;
  readonly forks: readonly ForkSource[];
  readonly changed?: 'serve' | 'ask' | 'ask-guards' | undefined;
}): Overlay {
  const declined = new Set<string>();
  const offered = (memo: Memo, entry: UsableEntry | undefined, { parts }: CallQuery): UsableEntry | undefined =>
    entry !== undefined && isSimulated(memo, entry) && !simulates(parts) ? undefined : entry;
  const known = (memo: Memo, call: CallQuery): UsableEntry | undefined => {
    const entry = offered(memo, usableEntry(memo, call.key), call);
    return entry === undefined || (declined.size > 0 && declined.has(textOfRef({ run: entry.result.ref.run, seq: entry.result.seq })))
      ? undefined
      : entry;
  };
  const editOf = (entry: UsableEntry, { op, fingerprint, parts }: CallQuery): Edit => {
    const recorded = (each: Fingerprint): RecordedDefinition | undefined => {
      if (each === fingerprint) return completeDefinition(parts);
      return definitions.get(each) ?? forks.find((fork) => fork.definitions.has(each))?.definitions.get(each);
    };
    return editBetween(entry.fingerprint, fingerprint, { recorded, op });
  };
  const mayReuse = (entry: UsableEntry, edit: Edit, policy: CachePolicy, nowMs: number): boolean =>
    isCurrent(entry, policy, nowMs, complete) && (changed === 'serve' || !isRefused(edit, changed));
  const ownHit = (entry: UsableEntry, edit: Edit, policy: CachePolicy, nowMs: number): OverlayHit | undefined => {
    const isOfThisRun = entry.result.ref.run === run;
    if (!isOfThisRun && (policy.reuses === 'this-run' || !mayReuse(entry, edit, policy, nowMs))) return undefined;
    return { entry, forkSource: undefined, edit };
  };
  return {
    decline(result) {
      declined.add(textOfRef(result));
    },
    hasUnjudged: () => own.unjudged.size > 0,
    unjudged(call, policy, nowMs) {
      const entry = policy.reuses === 'no' ? undefined : offered(own, unjudgedEntry(own, call.key), call);
      return entry && ownHit(entry, editOfWaiting(editOf(entry, call)), policy, nowMs);
    },
    lookup(call, policy, nowMs) {
      if (policy.reuses === 'no') return undefined;
      const { key, received } = call;
      if (!received && !own.refused.has(key)) {
        for (const { workflow, memo } of forks) {
          const entry = known(memo, call);
          const edit = entry && editOf(entry, call);
          if (entry && edit && mayReuse(entry, edit, policy, nowMs)) return { entry, forkSource: workflow, edit };
        }
      }
      const latest = known(own, call);
      if (latest === undefined) return undefined; // `received`, if any, was invalidated or rejected
      const entry = received ? { ...latest, fingerprint: received.fingerprint ?? latest.fingerprint, result: received.result } : latest;
      return ownHit(entry, editOf(entry, call), policy, nowMs);
    },
  };
}

/** Returns the entry of a call whose result waits for the guards behind it, with that result and its definition. */
export function unjudgedEntry({ unjudged, entries }: Pick<Memo, 'unjudged' | 'entries'>, key: CallKey): UsableEntry | undefined {
  const waiting = unjudged.get(key);
  const entry = waiting && entries.get(key);
  return entry && { ...entry, fingerprint: waiting.fingerprint, result: waiting.result };
}

/** Yields all calls whose results wait for the guards behind them. */
export function* unjudgedCalls(memo: Pick<Memo, 'unjudged' | 'entries'>): Generator<readonly [CallKey, UsableEntry]> {
  for (const key of memo.unjudged.keys()) {
    const entry = unjudgedEntry(memo, key);
    if (entry !== undefined) yield [key, entry];
  }
}

/** Guards judge it as they are now, whatever they were when it came back. */
export function editOfWaiting(edit: Edit): Edit {
  return { ...edit, interceptors: false };
}

/** Returns whether a result of an earlier run is young enough, and from a scope that was completed. */
function isCurrent({ result }: UsableEntry, { ttlMs, requireComplete }: CachePolicy, nowMs: number, complete: Completeness): boolean {
  // A clock that was set back makes no result younger than new.
  if (ttlMs !== undefined && Math.max(0, nowMs - result.endedMs) >= ttlMs) return false;
  return requireComplete === undefined || complete.get(requireComplete) === true;
}
