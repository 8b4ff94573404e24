/** Runs a pipeline with the options of the command line: `mlld run FILE.dot`. `src/api/run-pipeline.ts` is for programs. */
export { backendFor } from '../../pipeline/backends/select-backend.js';
export { runPipeline } from '../../session/pipeline/run-pipeline.js';
export type { PipelineReport, PipelineRunOptions, WhoAnswers } from '../../session/pipeline/run-pipeline-options.js';
