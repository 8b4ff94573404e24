/** One llm call of a run, whole: `mlld journal cat`. */
import type { JournalStore } from '../../../journal/store.js';
import { callRecords, type CallRecord } from '../../../replay/reports/call/call-record.js';
import { reportStore } from '../../../replay/reports/report-store.js';
import { MlldError } from '../../errors.js';
import { runFile, skipDefects, type ReadOptions, type RunTarget } from '../run-target.js';

export type { CallRecord, ReadPayload, RecordedAttempt } from '../../../replay/reports/call/call-record.js';

const NAMED_MAX = 5;

/**
 * Reads one call: its arguments, its result, its attempts, and of a reused call what it was reused from. `path` is that of the call, as
 * `event.op` names it, or of an operation with only one call inside. Reads the whole run. Secrets stay closed. Throws OPERATION_UNKNOWN,
 * OPERATION_AMBIGUOUS and RUN_UNKNOWN.
 *
 * ```js
 * const { result } = await readCall(store, run, 'main/for#0[3]/review#0');
 * ```
 */
export async function readCall(store: JournalStore, run: RunTarget, path: string, options: ReadOptions = {}): Promise<CallRecord> {
  const file = await runFile(store, run);
  const [call, ...others] = await callRecords(reportStore(store), file, path, options.onDefect ?? skipDefects);
  if (call === undefined) {
    throw new MlldError('OPERATION_UNKNOWN', `Run ${file.ref.run} made no llm call in ${path}`, {
      hint: `mlld journal explain ${file.ref.run} lists all of them`,
    });
  }
  if (others.length === 0) return call;
  const named = [call, ...others].slice(0, NAMED_MAX).map(({ op }) => op);
  const more = others.length + 1 - named.length;
  throw new MlldError(
    'OPERATION_AMBIGUOUS',
    `${others.length + 1} llm calls are in ${path}: ${named.join(', ')}${more > 0 ? ` and ${more} more` : ''}`,
    {
      hint: `name one of them: mlld journal cat ${file.ref.run} '${named[0] ?? ''}'`,
    },
  );
}
