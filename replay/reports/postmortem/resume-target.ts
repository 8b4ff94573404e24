/** Decides if `--resume failed` continues a run, because calls without a result are all that is left. calls.md 14.5 */
import type { PostMortemReport } from './postmortem-run.js';

export const FAILED = 'failed';

type Ending = Pick<PostMortemReport, 'status' | 'unresolved' | 'unresolvedBefore' | 'error' | 'chain' | 'checkpoint'> & {
  readonly pipeline?: PostMortemReport['pipeline'] | undefined;
};

/** Unresolved calls, and what comes after them, are all that is left: as the summary of the run says. */
export function resumeTarget(ending: Ending): typeof FAILED | undefined {
  const { status, unresolved, unresolvedBefore, error, chain, checkpoint, pipeline } = ending;
  if (pipeline !== undefined || checkpoint?.reached.includes(FAILED) === true) return undefined; // the report of a pipeline says how it goes on
  const isOfCall = error?.code === 'CALL_FAILED' || error?.code === 'CALL_NOT_EXECUTED' || chain.some((link) => link.class !== undefined);
  const isLeftOver = unresolved + unresolvedBefore > 0 && (status === 'completed' || (status === 'failed' && isOfCall));
  return isLeftOver ? FAILED : undefined;
}
