/** Removes content from recorded runs for good: `mlld journal redact`. */
export { redactRun, type RedactionReport } from '../../session/upkeep/redact-run.js';
