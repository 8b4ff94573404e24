/** Checks a pipeline. Loads nothing of scripts: `mlld validate FILE.dot`. */
export { diagnosePipeline, type Diagnostic, type PipelineDiagnostics } from '../../pipeline/lint/diagnostics.js';
