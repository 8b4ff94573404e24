/** Warns on standard error about what keeps a run from recording or reusing results; each kind of trouble once. */
import { isTooDeep } from '../../../journal/canonical.js';
import { isOfStore, JournalError } from '../../../journal/errors.js';
import type { Payload } from '../../../journal/event.js';
import type { RunRef } from '../../../journal/ids.js';
import type { Defect, JournalStore } from '../../../journal/store.js';
import { usable, type Memo } from '../../../replay/memo/memo.js';
import { holdsResult, type StoredResult } from '../../../replay/memo/stored-result.js';

const REMIND_EVERY_MS = 60_000;

export interface JournalWarnings {
  /** The journal can't be written. `remains` says what works without it. */
  error(error: Error, remains?: string): void;
  /** A source text or the output of a command could not be stored: no result depends on it. */
  gap(error: Error): void;
  defect(defect: Defect): void;
  /**
   * The disk has taken nothing for so long that the user will wonder. Called without an error by the same writer when it takes data again.
   * A long one is reported again each minute.
   */
  outage(error: JournalError | undefined, waitMs: number): void;
  /** A recorded result of the function can't be read; `remedy` says what happens instead. */
  unreadable(fn: string, remedy: string): void;
}

export function createJournalWarnings(stderr: (text: string) => void): JournalWarnings {
  let isErrorReported = false;
  let isSpillReported = false;
  let isDepthReported = false;
  let isGapReported = false;
  let isDefectReported = false;
  let outages = 0;
  let reminding: NodeJS.Timeout | undefined;
  const unreadable = new Set<string>();
  return {
    error(error, remains) {
      if (isTooDeep(error)) {
        if (!isDepthReported) stderr(`warning: ${error.message}; every run makes this call again\n`);
        isDepthReported = true;
        return;
      }
      clearInterval(reminding);
      const isSpilled = error instanceof JournalError && error.code === 'STORE_SPILLED';
      if (isSpilled ? isSpillReported : isErrorReported) return;
      isErrorReported = true;
      isSpillReported ||= isSpilled; // also behind another error: paid results may lie there, in a folder that the user would remove
      if (isSpilled) return stderr(`warning: ${error.message}${hintOf(error)}\n`);
      // A run over the store of a team keeps results of calls in flight, in a spill or a salvage run: they are not lost.
      if (isOfStore(error) && remains === undefined) return stderr(`warning: no further call begins: ${error.message}${hintOf(error)}\n`);
      const results = remains === undefined ? 'results are not recorded' : `results are not recorded, ${remains}`;
      stderr(`warning: the journal can't be written, ${results}: ${error.message}${hintOf(error)}\n`);
    },
    gap(error) {
      if (isGapReported || isErrorReported) return;
      isGapReported = true;
      stderr(`warning: ${error.message}; results are recorded, but journal replay may not find all it needs${hintOf(error)}\n`);
    },
    outage(error, waitMs) {
      if (error === undefined) {
        if (--outages > 0) return;
        clearInterval(reminding);
        stderr('the journal is written again; nothing is missing in it\n');
      } else if (outages++ === 0) {
        stderr(`warning: ${error.message}; calls wait, for ${waitMs / 1000} s at most (--journal-wait)\n`);
        let minutes = 0;
        reminding = setInterval(
          () => stderr(`calls have waited for ${++minutes * 60} of ${waitMs / 1000} s: the journal can't be written\n`),
          REMIND_EVERY_MS,
        ).unref();
      }
    },
    defect({ kind, message, run }) {
      if (isDefectReported || kind === 'torn-tail') return;
      isDefectReported = true;
      stderr(`warning: run ${run.run}: ${message}; see mlld journal verify ${run.run}\n`);
    },
    unreadable(fn, remedy) {
      if (unreadable.has(fn)) return;
      unreadable.add(fn);
      stderr(`warning: a recorded result of @${fn} can't be read any more; ${remedy}\n`);
    },
  };
}

function hintOf(error: Error): string {
  return error instanceof JournalError && error.hint ? ` (${error.hint})` : '';
}

interface OtherKeyOptions {
  readonly store: JournalStore;
  readonly ref: RunRef;
  readonly memos: readonly Memo[];
  readonly stderr: (text: string) => void;
}

/**
 * Returns a function that is called with a miss that another key may explain. It warns, once in a run, that recorded results of this
 * function are sealed with a key which is not the run's.
 */
export function createOtherKeyWarning({ store, ref, memos, stderr }: OtherKeyOptions): (call: { readonly fn: string }) => Promise<void> {
  const examined = new Set<string>();
  let isReported = false;
  return async ({ fn }) => {
    if (isReported || examined.has(fn)) return;
    examined.add(fn);
    for (const result of sealedResults(memos, fn)) {
      if (result.ref.run === ref.run) continue;
      const event = await store.readAt(result.ref, result.position);
      const ours = (await store.knownSecrets())?.keyId;
      const theirs = holdsResult(event) ? (keyOf(event.result) ?? keyOf(event.notes)) : undefined;
      if (theirs === undefined || theirs === ours || isReported) continue;
      isReported = true;
      const own = ours === undefined ? 'this run has no key' : `this run has the key ${ours}`;
      stderr(
        `warning: results of @${fn} are sealed with the key ${theirs}, but ${own}: they are not reused; MLLD_JOURNAL_KEY sets the key\n`,
      );
      return;
    }
  };
}

function keyOf(payload: Payload | undefined): string | undefined {
  return payload && 'keyId' in payload ? payload.keyId : undefined;
}

function* sealedResults(memos: readonly Memo[], fn: string): Generator<StoredResult> {
  for (const memo of memos) for (const [, { fn: name, result }] of usable(memo)) if (result.sealed && name === fn) yield result;
}

/** Says at the end of a run that secret results will not be there for later runs; undefined when all were kept. */
export function unkeptNotice(count: number): string | undefined {
  if (count === 0) return undefined;
  const results = count === 1 ? '1 result is secret and was' : `${count} results are secret and were`;
  return `${results} not kept for later runs: MLLD_JOURNAL_KEY has the value "none"; unset it, or set a key (openssl rand -hex 32), to keep them sealed`;
}

/** True of a store that this program can't use until somebody migrates it or installs another version: to wait for it is no use. */
export function isOfOtherVersion({ code }: JournalError): boolean {
  return code === 'STORE_MIGRATE' || code === 'STORE_NEWER';
}
