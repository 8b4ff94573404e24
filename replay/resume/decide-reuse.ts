/**
 * Decides for a call of prior runs whether a run would reuse its result, and if not, why: by the flags, the checkpoints, and the
 * definitions as the script has them now.
 */
import type { CallKey, Fingerprint, OpPath } from '../../journal/ids.js';
import { isInGuard } from '../fold/op-path.js';
import {
  changesAt,
  completeDefinition,
  definitionChanges,
  editOfChanges,
  isInterceptor,
  isRefused,
  UNEDITED,
  type DefinitionChange,
  type Edit,
  type Parts,
  type RecordedDefinition,
} from '../memo/definitions.js';
import { isSimulated, usableEntry, type MemoEntry, type UsableEntry } from '../memo/memo.js';
import { editOfWaiting, unjudgedEntry, type ForkSource } from '../memo/overlay.js';
import { cachePolicy, type PolicyFlags, type ResumeMode, type Scope } from '../memo/policy.js';
import type { Index } from '../memo/snapshot.js';
import type { StoredResult } from '../memo/stored-result.js';
import type { LatestRun } from './latest-run.js';

/** The reason for which a result that is usable now would not be reused. */
export type WhyNotReused =
  | 'invalidated'
  | 'reset'
  | 'edited'
  | 'expired'
  | 'incomplete'
  | 'manual'
  | 'off'
  | 'outputs'
  | 'file gone'
  | 'rejected'
  | 'schema'
  | 'reply'
  | 'simulated';

/** The definition of a function as the script has it now. */
export interface CurrentDefinition {
  readonly fingerprint: Fingerprint;
  readonly parts: Parts;
  /** Captured variables whose values are known only during the run. */
  readonly unknown: readonly string[];
  /** Guards that hold for some of its calls, by the labels of their arguments: known only during the run. */
  readonly guardsByLabel: readonly string[];
  /** Its body is one call and nothing else: what it forwards is part of the call key. */
  readonly forwards: boolean;
  /** It declares output files. */
  readonly writes: boolean;
}

export interface ReuseFacts {
  /** Before the flags were looked at. */
  readonly before: Index;
  readonly forks: readonly ForkSource[];
  readonly invalidatedKeys: ReadonlySet<CallKey>;
  readonly invalidatedForkedKeys: ReadonlySet<CallKey>;
  readonly flags: PolicyFlags;
  readonly header: ResumeMode | undefined;
  /** Options of checkpoints as the script has them now, by name; for other checkpoints those of the last run count. */
  readonly scopes: ReadonlyMap<string, Scope>;
  readonly nowMs: number;
  readonly latest: LatestRun | undefined;
  /** By the name of the function; several where modules declare the same name. */
  readonly current: ReadonlyMap<string, readonly CurrentDefinition[]>;
  /** Results that can't be reused because of the files of their calls. */
  readonly outdated: ReadonlyMap<StoredResult, 'outputs' | 'file gone'>;
  /** Results that don't fit an option of their function as it is now. */
  readonly unfit?: ReadonlyMap<StoredResult, 'schema' | 'reply'>;
}

export type Decision =
  | { readonly kind: 'none' }
  | {
      readonly kind: 'reused';
      readonly result: UsableEntry['result'];
      readonly edited: boolean;
      readonly forwards: boolean;
      readonly changes: readonly DefinitionChange[];
    }
  | {
      readonly kind: 'again';
      readonly result: UsableEntry['result'];
      readonly why: WhyNotReused;
      readonly changes: readonly DefinitionChange[];
    };

export const NO_RESULT: Decision = { kind: 'none' };

/** Looks a result up as `createOverlay` does: forked ones, then the own one; returns the first reason of the first that is there. */
export function decideReuse(key: CallKey, entry: MemoEntry, facts: ReuseFacts): Decision {
  const { before, forks, invalidatedForkedKeys, invalidatedKeys, flags } = facts;
  const forked =
    before.memo.refused.has(key) && flags.fresh !== true ? undefined : forks.map(({ memo }) => usableEntry(memo, key)).find(Boolean);
  const own = usableEntry(before.memo, key);
  let decision = NO_RESULT;
  for (const [usable, isOwn] of [
    [forked, false],
    [own, true],
  ] as const) {
    if (usable === undefined) continue;
    const edit = editOf(key, usable, facts);
    const invalid = isOwn ? whyOwnIsInvalid(invalidatedKeys.has(key), flags) : invalidatedForkedKeys.has(key) ? 'invalidated' : undefined;
    const why = invalid ?? whyNotReused(usable, isOwn, edit, facts) ?? whyUnfit(usable.result, facts);
    if (why === undefined) return { kind: 'reused', result: usable.result, ...edit };
    if (decision.kind === 'none') decision = { kind: 'again', result: usable.result, why, changes: edit.changes };
  }
  return decision.kind === 'none' ? rejectedDecision(key, entry, facts) : decision;
}

/**
 * Decides for a call whose result waits for the guards behind it if they judge that before anything is executed again, and if not, why.
 * Returns undefined where none waits.
 */
export function decideJudging(key: CallKey, facts: ReuseFacts): 'judged' | WhyNotReused | undefined {
  const usable = unjudgedEntry(facts.before.memo, key);
  if (usable === undefined) return undefined;
  const edit = editOf(key, usable, facts);
  const invalid = whyOwnIsInvalid(facts.invalidatedKeys.has(key), facts.flags);
  return invalid ?? whyNotReused(usable, true, { ...edit, ...editOfWaiting(edit) }, facts) ?? whyUnfit(usable.result, facts) ?? 'judged';
}

function whyUnfit(result: StoredResult, { unfit, outdated }: ReuseFacts): WhyNotReused | undefined {
  return unfit?.get(result) ?? outdated.get(result);
}

/** A rejected result is there, and only the person who marked it can say that it is usable. */
function rejectedDecision(key: CallKey, entry: MemoEntry, facts: ReuseFacts): Decision {
  const { before, forks, flags } = facts;
  const rejection = before.memo.rejected.get(key);
  if (rejection === undefined || flags.fresh === true) return NO_RESULT;
  const known =
    rejection.result === undefined ? forks.map(({ memo }) => usableEntry(memo, key)).find(Boolean) : { ...entry, result: rejection.result };
  return known === undefined
    ? NO_RESULT
    : { kind: 'again', result: known.result, why: 'rejected', changes: editOf(key, known, facts).changes };
}

function whyOwnIsInvalid(isSelected: boolean, { fresh }: PolicyFlags): WhyNotReused | undefined {
  if (fresh === true) return 'reset';
  return isSelected ? 'invalidated' : undefined;
}

function whyNotReused(usable: UsableEntry, isOwn: boolean, edit: PlannedEdit, facts: ReuseFacts): WhyNotReused | undefined {
  const { result, scope: scopeName } = usable;
  const { flags, header, nowMs, before, forks, latest, scopes } = facts;
  // The calls of a script are not simulated. Those of a workflow that it forks may be.
  if ([before, ...forks].some(({ memo }) => isSimulated(memo, usable))) return 'simulated';
  const reached = scopeName === undefined ? undefined : latest?.checkpoints.get(scopeName);
  const then = reached && { name: reached.name, resume: reached.resume, ttlMs: reached.ttlMs, complete: reached.conditional };
  const scope = (scopeName === undefined ? undefined : scopes.get(scopeName)) ?? then;
  const { reuses, ttlMs, requireComplete } = cachePolicy({ flags, header, scope });
  if (reuses === 'no') return 'off';
  if (reuses === 'this-run' && isOwn) return 'manual';
  if (ttlMs !== undefined && Math.max(0, nowMs - result.endedMs) >= ttlMs) return 'expired';
  if (requireComplete !== undefined && before.complete.get(requireComplete) !== true) return 'incomplete';
  return isRefused(edit, flags.changed ?? 'serve') ? 'edited' : undefined;
}

interface PlannedEdit extends Edit {
  /** Any of the two. */
  readonly edited: boolean;
  /** The edit may be part of what the function forwards. */
  readonly forwards: boolean;
}

const UNEDITED_PLAN: PlannedEdit = { ...UNEDITED, edited: false, forwards: false };

/** Compares with the definition of this name that is nearest to the one that the result was made with. */
function editOf(key: CallKey, { fn, fingerprint }: UsableEntry, { current, before, forks, latest }: ReuseFacts): PlannedEdit {
  const now = current.get(fn) ?? [];
  if (fingerprint === undefined || now.length === 0 || now.some((definition) => definition.fingerprint === fingerprint))
    return UNEDITED_PLAN;
  const recorded =
    before.definitions.get(fingerprint) ?? forks.find(({ definitions }) => definitions.has(fingerprint))?.definitions.get(fingerprint);
  const places = (latest?.calls.get(key)?.starts ?? []).map(({ op }) => op);
  const place = places.find((op) => !isInGuard(op)) ?? places[0]; // most holds for a call that no guard makes
  const edits = now.map((definition) => editAgainst(recorded, definition, place));
  return edits.reduce((nearest, edit) =>
    edit.edited && (!nearest.edited || nearest.changes.length <= edit.changes.length) ? nearest : edit,
  );
}

function editAgainst(
  recorded: RecordedDefinition | undefined,
  { parts, unknown, guardsByLabel, forwards }: CurrentDefinition,
  place: OpPath | undefined,
): PlannedEdit {
  if (recorded === undefined) {
    const isKnown = unknown.length === 0;
    return { definition: isKnown, interceptors: false, edited: isKnown, forwards: forwards && isKnown, changes: [] };
  }
  // A name whose value is unknown may be a function, with everything behind it: then nothing can be compared.
  if (recorded.parts.some(({ kind, name }) => kind !== 'variable' && !isInterceptor({ kind }) && unknown.includes(name)))
    return UNEDITED_PLAN;
  const all = definitionChanges(recorded, completeDefinition(parts));
  const changes = (place === undefined ? all : changesAt(place, all)).filter(({ kind, name, how }) => {
    if (kind === 'guard') return how === 'changed' || !guardsByLabel.includes(name);
    return kind !== 'variable' || !unknown.includes(name);
  });
  return {
    ...editOfChanges(changes),
    edited: changes.length > 0,
    forwards: forwards && changes.some(({ kind }) => kind === 'body' || kind === 'variable'),
  };
}
