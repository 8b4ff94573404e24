/** Reads the report that a stage left in its status file, and joins it with the verdict of the handler. graph-pipelines.md 8.3. */
import type { Frame } from '../../runtime/frame.js';
import { performEffect } from '../../operation/perform-effect.js';
import type { Stage } from './stage.js';
import { nodeAttribute } from '../model/graph.js';
import { outcomeOf, StageError, type StageOutcome } from '../model/outcome.js';
import { parseStatus } from './status-file.js';

/** Returns undefined when there is no status file. Throws a transient `StageError` for a file that breaks the contract. */
export async function readStatusReport({ run, folder }: Stage, frame: Frame): Promise<StageOutcome | undefined> {
  const found = await performEffect(frame, 'file.read', { path: folder.statusFile }, { values: [], hides: run.secretSettings });
  if ('text' in found) return parseStatus(found.text);
  if (found.missing === 'absent') return undefined;
  throw new StageError('transient', `the status file can't be read: ${found.detail}`);
}

/**
 * Returns the report in place of the handler's own verdict, with the updates of both, the reported ones last. The handler's reason is kept
 * where the report has none, because a failure needs one.
 */
export function mergeStatusReport(own: StageOutcome, report: StageOutcome | undefined): StageOutcome {
  if (!report) return own;
  const failure_reason = report.failure_reason || own.failure_reason;
  return { ...report, failure_reason, context_updates: { ...own.context_updates, ...report.context_updates } };
}

/** Returns a success when the node says `auto_status`; otherwise throws a transient `StageError`, because a report was required. */
export function missingReport({ node }: Stage): StageOutcome {
  if (nodeAttribute(node, 'auto_status') === true)
    return outcomeOf('success', { notes: 'no status file was written: success by auto_status' });
  throw new StageError('transient', `${node.id} left no status file: write one to $MLLD_STATUS_FILE, or set auto_status=true`);
}
