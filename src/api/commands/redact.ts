/** Removes content from recorded runs for good: `mlld journal redact`. */
export { rewriteRun } from '../../../journal/upkeep/rewrite.js';
export { CRASHED_RUNS } from '../../../replay/reports/summary/crashed-runs.js';
export { forEachDigest } from '../../../replay/upkeep/blob-references.js';
export { redactEvent } from '../../../replay/upkeep/redaction.js';
export { searchBlobs } from '../../../replay/upkeep/search-blobs.js';
