/** Reads and invalidates what is recorded of one script: `mlld checkpoint`. */
export { functionHistory } from '../../../replay/memo/history.js';
export { concurrentRuns, loadWorkflow } from '../../../replay/memo/load.js';
export { usable } from '../../../replay/memo/memo.js';
export { reportRun, summary } from '../../../replay/reports/summary/summary.js';
export { unknownRuns } from '../../../replay/upkeep/unknown-events.js';
export { createRun } from '../../session/ports/create-run.js';
export { resolveWorkflow } from '../../session/project.js';
export { nearScript } from '../../session/recorded-run.js';
