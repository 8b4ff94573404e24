/** Finds the reason for which a call was executed, from what was recorded before it. EXPLAIN-1 to 5 are in `explain.ts`. */
import type { EventOf } from '../../../journal/event.js';
import type { CacheFlags } from '../../../journal/facts/run-event.js';
import type { CallKey, EventRef, Fingerprint, OpPath, RunId, Workflow } from '../../../journal/ids.js';
import { editBetween, isRefused, type Edit, type RecordedDefinition } from '../../memo/definitions.js';
import { isSimulated, usableEntry, type Memo, type UsableEntry } from '../../memo/memo.js';
import { editOfWaiting, unjudgedEntry, type ForkSource } from '../../memo/overlay.js';
import { cachePolicy, type ResumeMode, type Scope } from '../../memo/policy.js';
import type { Index } from '../../memo/snapshot.js';
import { isLater, whereItWent, whyPassedOver, type Fate, type Miss } from './miss.js';

/** The facts that were recorded before a call starts. */
export interface KnownBefore {
  /** The index as the next call sees it. */
  readonly index: Index;
  /** The events by which calls lost their results. */
  readonly fates: ReadonlyMap<CallKey, Fate>;
  /** Those that calls of the current run have replaced by a result. */
  readonly replaced: ReadonlyMap<CallKey, Fate>;
  readonly refusals: ReadonlyMap<CallKey, Extract<Miss, { why: 'refused' | 'rejected' }>>;
  /** The event that holds the result that an earlier run reused. */
  readonly reusedFrom: ReadonlyMap<CallKey, EventRef & { readonly workflow?: Workflow }>;
  // The run that is being folded.
  readonly current: RunId | undefined;
  readonly startedMs: number;
  readonly flags: CacheFlags;
  readonly header: ResumeMode | undefined;
  readonly isPipeline: boolean;
  readonly forks: number;
  readonly scope: Scope | undefined;
}

/** `main/work#0/try#1/model#0/ask#0`, `main/agent~1f2e3d4c#0/ask#0`: calls that a function makes as the backend of a stage or an agent. */
const INSIDE = /\/(?:try#\d+\/model#0|agent~[^/]+#\d+)\/./;

/** Returns the first reason that holds, in the order in which a result is looked up. */
export function whyExecuted(known: KnownBefore, event: EventOf<'call.started'>, forkSources: readonly ForkSource[]): Miss {
  const { key, received } = event;
  if (received) return { why: 'unjudged', run: received.run, seq: received.seq };
  const { memo } = known.index;
  const own = usableEntry(memo, key);
  const lent = forkSources.map((source) => usableEntry(source.memo, key)).find((entry) => entry !== undefined);
  const refusal = known.refusals.get(key);
  const borrowed = refusal === undefined ? lent : undefined;
  if (own !== undefined || borrowed !== undefined)
    return whyNotServed(known, event, (own ?? borrowed) as UsableEntry, own !== undefined, forkSources);
  const waiting = unjudgedEntry(memo, key);
  const notJudged = waiting && whyNotJudged(known, event, waiting, forkSources);
  if (notJudged !== undefined) return notJudged;
  const fate = known.fates.get(key);
  // The later of the two is the reason.
  if (refusal !== undefined && lent !== undefined && !(fate !== undefined && isLater(fate, refusal))) return refusal;
  return fate ?? whereItWent(known.reusedFrom.get(key), known.current);
}

function whyNotServed(
  known: KnownBefore,
  event: EventOf<'call.started'>,
  entry: UsableEntry,
  isOwn: boolean,
  forkSources: readonly ForkSource[],
): Miss {
  const { result: answer } = entry;
  const where = { run: answer.ref.run, seq: answer.seq };
  if (isSimulatedResult(known, event, entry, forkSources)) return { why: 'simulated', ...where };
  const isInside = INSIDE.test(event.op);
  const isEarlier = answer.ref.run !== known.current;
  if (isInside && !isEarlier) return known.replaced.get(event.key) ?? { why: 'inside', ...where }; // EXPLAIN-5
  const edit = editSince(entry.fingerprint, event, known.index, forkSources);
  const notReused = whyPassedOver(event, where) ?? whyNotReused(known, event, entry, isOwn, edit);
  if (notReused !== undefined) return notReused;
  if (isInside) return { why: 'inside', ...where };
  // Runs that go on beside each other look for results when they begin.
  return { why: isEarlier && answer.endedMs >= known.startedMs ? 'later' : 'damaged', ...where };
}

/** A result that waits for guards is taken by the rules of reuse, but that edited guards judge it too. calls.md 17.4. */
function whyNotJudged(
  known: KnownBefore,
  event: EventOf<'call.started'>,
  entry: UsableEntry,
  forkSources: readonly ForkSource[],
): Miss | undefined {
  const where = { run: entry.result.ref.run, seq: entry.result.seq };
  const passedOver = whyPassedOver(event, where);
  if (passedOver !== undefined || where.run === known.current) return passedOver;
  if (isSimulatedResult(known, event, entry, forkSources)) return { why: 'simulated', ...where };
  const edit = editOfWaiting(editSince(entry.fingerprint, event, known.index, forkSources));
  return whyNotReused(known, event, entry, true, edit);
}

function isSimulatedResult(
  { index: { memo } }: KnownBefore,
  event: EventOf<'call.started'>,
  entry: UsableEntry,
  forkSources: readonly ForkSource[],
): boolean {
  const memos: readonly Memo[] = [memo, ...forkSources.map((source) => source.memo)];
  return memos.some((each) => isSimulated(each, entry)) && !isSimulated(memo, event);
}

/** Returns the rule of reuse by which the call was not given the result. */
function whyNotReused(
  { index, current, flags, header, scope, forks, isPipeline }: KnownBefore,
  event: EventOf<'call.started'>,
  { result: answer }: UsableEntry,
  isOwn: boolean,
  edit: Edit,
): Miss | undefined {
  const where = { run: answer.ref.run, seq: answer.seq };
  const isEarlier = answer.ref.run !== current;
  const policy = cachePolicy({ flags: { ...flags, forks: Array.from({ length: forks }) }, header, scope });
  const isOff = isPipeline ? flags.checkpoint !== true && forks === 0 : policy.reuses === 'no';
  if (isOff) return { why: 'off', ...where };
  if (isEarlier && isOwn && policy.reuses === 'this-run') return { why: 'manual', ...where };
  if (isEarlier && policy.ttlMs !== undefined) {
    const ageMs = Math.max(0, Date.parse(event.ts) - answer.endedMs);
    if (ageMs >= policy.ttlMs) return { why: 'expired', ttlMs: policy.ttlMs, ageMs, ...where };
  }
  if (isEarlier && policy.requireComplete !== undefined && index.complete.get(policy.requireComplete) !== true)
    return { why: 'incomplete', checkpoint: policy.requireComplete };
  const { changed = 'serve' } = flags;
  return changed !== 'serve' && isRefused(edit, changed) ? { why: 'edited', changed, changes: edit.changes, ...where } : undefined;
}

/** A fingerprint names its definition, whichever run recorded it. */
export function editSince(
  before: Fingerprint | undefined,
  { fingerprint: now, op }: { readonly fingerprint?: Fingerprint; readonly op: OpPath },
  { definitions }: Index,
  forkSources: readonly ForkSource[],
): Edit {
  const recorded = (fingerprint: Fingerprint): RecordedDefinition | undefined =>
    definitions.get(fingerprint) ?? forkSources.find((forkSource) => forkSource.definitions.has(fingerprint))?.definitions.get(fingerprint);
  return editBetween(before, now, { recorded, op });
}
