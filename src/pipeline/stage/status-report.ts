/** What a stage reported through its status file, if it did. graph-pipelines.md 8.3. */
import type { Frame } from '../../runtime/frame.js';
import { performEffect } from '../../operation/perform-effect.js';
import type { Stage } from '../handlers/handler.js';
import { nodeAttribute } from '../model/graph.js';
import { outcomeOf, StageError, type StageOutcome } from '../model/outcome.js';
import { parseStatus } from './status-file.js';

/** Throws a transient `StageError` for a file that breaks the contract. */
export async function readStatusReport({ run, folder }: Stage, frame: Frame): Promise<StageOutcome | undefined> {
  const answer = await performEffect(frame, 'file.read', { path: folder.statusFile }, { values: [], hides: run.secretSettings });
  if ('text' in answer) return parseStatus(answer.text);
  if (answer.missing === 'absent') return undefined;
  throw new StageError('transient', `the status file can't be read: ${answer.detail}`);
}

/**
 * The handler's own verdict, replaced by what the stage reported; the updates of both, the reported ones last. A reason stays where none
 * was reported: a failure has one.
 */
export function mergeStatusReport(own: StageOutcome, report: StageOutcome | undefined): StageOutcome {
  if (!report) return own;
  const failure_reason = report.failure_reason || own.failure_reason;
  return { ...report, failure_reason, context_updates: { ...own.context_updates, ...report.context_updates } };
}

/** Where a report is due and none came. Throws a transient `StageError` unless the node says `auto_status`. */
export function missingReport({ node }: Stage): StageOutcome {
  if (nodeAttribute(node, 'auto_status') === true) return outcomeOf('success', { notes: 'nothing was reported: success by auto_status' });
  throw new StageError('transient', `${node.id} reported nothing, and a report is due`);
}
