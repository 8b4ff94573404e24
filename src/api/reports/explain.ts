/** Says of each `llm` call of a run whether its result was reused, and if not, why: `mlld journal explain`. */
import type { JournalStore } from '../../../journal/store.js';
import { explainRun as explain, type RunExplanation } from '../../../replay/reports/explain/explain-run.js';
import { reportStore } from '../../../replay/reports/report-store.js';
import { runFile, skipDefects, type ReadOptions, type RunTarget } from '../run-target.js';

export type { ReportedCall, Resembles, RunExplanation } from '../../../replay/reports/explain/explain-run.js';

export interface ExplainOptions extends ReadOptions {
  /** Only calls in this operation, as `event.op` names it: `main/for#0[3]`. */
  readonly op?: string | undefined;
}

/**
 * Explains the calls of a run from the runs before it. Reads the whole workflow up to that run. Throws RUN_UNKNOWN, and `JournalError`
 * when the disk fails.
 *
 * ```js
 * const misses = (await explainRun(store, run)).calls.filter((call) => call.outcome !== 'reused');
 * ```
 */
export async function explainRun(store: JournalStore, run: RunTarget, options: ExplainOptions = {}): Promise<RunExplanation> {
  return explain(reportStore(store), await runFile(store, run), { op: options.op, onDefect: options.onDefect ?? skipDefects });
}
