/** Returns status and counts of many runs without reading those that ended in order: `mlld journal list`. */
export { startOf } from '../../../journal/ids.js';
export { recordedCounts } from '../../../replay/fold/recorded-counts.js';
export { countedStatus } from '../../../replay/fold/reported-status.js';
export { crashedRuns } from '../../../replay/reports/summary/crashed-runs.js';
export { runDurationMs } from '../../../replay/fold/run-duration.js';
export { workerOfRun, type ServingWorker } from '../../../replay/reports/summary/worker-of-run.js';
