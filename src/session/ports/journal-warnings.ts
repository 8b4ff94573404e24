/** What a run says when its journal fails it. */
import { isTooDeep } from '../../../journal/canonical.js';
import { JournalError } from '../../../journal/errors.js';
import type { Defect } from '../../../journal/store.js';

export interface JournalWarnings {
  /** `but` is what works all the same. */
  error(error: Error, but?: string): void;
  /** Something that no result depends on could not be stored: a source text, what a command printed. */
  gap(error: Error): void;
  defect(defect: Defect): void;
  /** The disk takes nothing, for so long that the user wonders; undefined: for who told that, it does again. */
  outage(error: JournalError | undefined, waitMs: number): void;
}

/** One line for trouble with the journal, one for damage in it: the run goes on. */
export function createJournalWarnings(stderr: (text: string) => void): JournalWarnings {
  let told = false;
  let tooDeep = false;
  let isGapTold = false;
  let outages = 0;
  let damaged = false;
  return {
    error(error, but) {
      if (isTooDeep(error)) {
        if (!tooDeep) stderr(`warning: ${error.message}; it is asked again by every run\n`);
        tooDeep = true;
        return;
      }
      if (told) return;
      told = true;
      const hint = hintOf(error);
      const results = but === undefined ? 'results are not recorded' : `results are not recorded, ${but}`;
      stderr(`warning: the journal can't be written, ${results}: ${error.message}${hint}\n`);
    },
    gap(error) {
      if (isGapTold || told) return;
      isGapTold = true;
      stderr(`warning: ${error.message}; results are recorded, but journal replay may not find all it needs${hintOf(error)}\n`);
    },
    outage(error, waitMs) {
      if (error === undefined) {
        if (--outages === 0) stderr('the journal is written again; nothing is missing in it\n');
      } else if (outages++ === 0) stderr(`warning: ${error.message}; calls wait, for ${waitMs / 1000} s at most (--journal-wait)\n`);
    },
    defect({ kind, message, run }) {
      if (damaged || kind === 'torn-tail') return;
      damaged = true;
      stderr(`warning: run ${run.run}: ${message}; see mlld journal verify ${run.run}\n`);
    },
  };
}

function hintOf(error: Error): string {
  return error instanceof JournalError && error.hint ? ` (${error.hint})` : '';
}
