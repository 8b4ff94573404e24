/** Decides what a run records and reuses, from flags, the script's header and the scope of the call. */
import type { CacheFlags } from '../../journal/facts/run-event.js';

export type ResumeMode = 'auto' | 'manual' | 'never';

export interface PolicyFlags extends CacheFlags {
  /** The fork sources of `--fork`. */
  readonly forks?: readonly unknown[];
  /** Wins over everything. */
  readonly noCheckpoint?: boolean;
}

/** The options of the last checkpoint. */
export interface Scope {
  readonly name: string;
  readonly resume?: ResumeMode | undefined;
  readonly ttlMs?: number | undefined;
  /** The checkpoint has the option `complete`; how it came out is in the journal. */
  readonly complete?: boolean | undefined;
}

export interface CachePolicy {
  readonly records: boolean;
  /** `this-run`: of the workflow's own results only those of this run; forked results are reused all the same. */
  readonly reuses: 'no' | 'this-run' | 'all';
  /** Results of earlier runs that are this old or older are not reused. */
  readonly ttlMs?: number;
  /** Results of earlier runs are reused only if the last recorded evaluation of this checkpoint was true. */
  readonly requireComplete?: string;
}

/** Returns the option, of the run or its last checkpoint, that decides about results and is known to this run alone; else undefined. */
export function ownLimitOfReuse(
  { forks = [], changed = 'serve' }: PolicyFlags,
  { ttlMs, requireComplete }: CachePolicy,
): string | undefined {
  if (forks.length > 0) return '--fork';
  if (changed !== 'serve') return '--changed';
  if (ttlMs !== undefined) return 'the ttl of its checkpoint';
  return requireComplete === undefined ? undefined : 'the option complete of its checkpoint';
}

const OFF: CachePolicy = { records: false, reuses: 'no' };
const RECORDS_ONLY: CachePolicy = { records: true, reuses: 'no' };

export function cachePolicy({
  flags,
  header,
  scope,
}: {
  readonly flags: PolicyFlags;
  readonly header: ResumeMode | undefined;
  readonly scope: Scope | undefined;
}): CachePolicy {
  if (flags.noCheckpoint === true) return OFF;
  if (flags.resume !== undefined) return { records: true, reuses: 'all' };

  const mode = scope?.resume ?? header;
  if (mode === 'never') return OFF;
  const isAboutResults = flags.changed !== undefined || flags.keepFiles === true;
  const isWanted = flags.checkpoint === true || flags.fresh === true || isAboutResults || (flags.forks?.length ?? 0) > 0;
  // A scope's `auto` switches recording on by itself; any other option needs it to be on already.
  if (!isWanted && mode !== 'auto' && (header === undefined || header === 'never'))
    return flags.record === true && header !== 'never' ? RECORDS_ONLY : OFF;

  return {
    records: true,
    reuses: mode === 'manual' ? 'this-run' : 'all',
    ...(scope?.ttlMs !== undefined && { ttlMs: scope.ttlMs }),
    ...(scope?.complete === true && { requireComplete: scope.name }),
  };
}
