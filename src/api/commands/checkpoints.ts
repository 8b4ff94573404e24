/** Lists and invalidates what is recorded of one script: `mlld checkpoint`; and of one call: `mlld journal reject`. */
export { usable } from '../../../replay/memo/memo.js';
export { nearScript } from '../../session/recorded-run.js';
export { cleanScript, recordedBy } from '../../session/upkeep/clean-script.js';
export { rejectResult, restoreResult, type Marking } from '../../session/upkeep/reject-result.js';
export { entriesOf, openRecorded, runsOf, type RecordedScript } from '../../session/upkeep/recorded-script.js';
