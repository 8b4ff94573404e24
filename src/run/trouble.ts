/** What a run says when its journal fails it. */
import { isTooDeep } from '../../journal/canonical.js';
import { JournalError } from '../../journal/errors.js';
import type { Defect } from '../../journal/store.js';

export interface Trouble {
  /** `but` is what works all the same. */
  error(error: Error, but?: string): void;
  defect(defect: Defect): void;
  /** The disk takes nothing, for so long that the user wonders; undefined: it does again. */
  outage(error: JournalError | undefined, waitMs: number): void;
}

/** One line for trouble with the journal, one for damage in it: the run goes on. */
export function tellOnce(stderr: (text: string) => void): Trouble {
  let told = false;
  let tooDeep = false;
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
      const hint = error instanceof JournalError && error.hint ? ` (${error.hint})` : '';
      const results = but === undefined ? 'results are not recorded' : `results are not recorded, ${but}`;
      stderr(`warning: the journal can't be written, ${results}: ${error.message}${hint}\n`);
    },
    outage(error, waitMs) {
      stderr(
        error === undefined
          ? 'the journal is written again; nothing is missing in it\n'
          : `warning: ${error.message}; calls wait, for ${waitMs / 1000} s at most (--journal-wait)\n`,
      );
    },
    defect({ kind, message, run }) {
      if (damaged || kind === 'torn-tail') return;
      damaged = true;
      stderr(`warning: run ${run.run}: ${message}; see mlld journal verify ${run.run}\n`);
    },
  };
}
