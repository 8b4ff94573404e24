/** Decides if `--resume failed` continues a run, because calls without a result are all that is left. calls.md 14.5 */
import type { PostMortemReport } from './postmortem-run.js';

export const FAILED = 'failed';

type Ending = Pick<PostMortemReport, 'status' | 'unresolved' | 'error' | 'chain' | 'checkpoint'> & {
  readonly pipeline?: PostMortemReport['pipeline'] | undefined;
};

/** Unresolved calls, and what comes after them, are all that is left: as the summary of the run says. */
export function resumeTarget(ending: Ending): typeof FAILED | undefined {
  const { status, unresolved, error, chain, checkpoint } = ending;
  const isOfCall = error?.code === 'CALL_FAILED' || error?.code === 'CALL_NOT_EXECUTED' || chain.some((link) => link.class !== undefined);
  const endedByCall = status === 'failed' && unresolved > 0 && isOfCall;
  const areCallsLeft = (isIncomplete(ending) || endedByCall) && checkpoint?.reached.includes(FAILED) !== true;
  return areCallsLeft && ending.pipeline === undefined ? FAILED : undefined;
}

/** The pipeline's own report says how a pipeline goes on. */
export function isIncomplete({ status, unresolved, pipeline }: Pick<Ending, 'status' | 'unresolved' | 'pipeline'>): boolean {
  return status === 'completed' && unresolved > 0 && !pipeline;
}
