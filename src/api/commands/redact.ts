/** Removes content from recorded runs for good: `mlld journal redact`. */
export { hasKeeper } from '../../session/upkeep/keeper-of.js';
export { redactRun, type RedactionReport } from '../../session/upkeep/redact-run.js';
