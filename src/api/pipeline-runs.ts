/**
 * Exports what a program that serves pipelines to others needs: pipeline runs as people see them (a resumed run is one run, whichever
 * process executes it), their questions, pictures and uploads. For `mlld serve`; not exported by the package.
 */
export { isTaken } from '../../journal/errors.js';
export { shellWords } from '../../journal/shell-words.js';
export { backendFor } from '../pipeline/backends/select-backend.js';
export { diagnosePipeline, type Diagnostic } from '../pipeline/lint/diagnostics.js';
export { isReservedKey } from '../pipeline/model/context-keys.js';
export { declaredInputs, valuesOfInputs, type PipelineInput } from '../pipeline/model/inputs.js';
export { renderGraph } from '../pipeline/render/render-graph.js';
export { followPage, type OpenPage, type PageOptions } from './reports/page.js';
export { answerQuestion, choiceIn } from '../session/pipeline/answer-question.js';
export { readLogicalRun, type NumberedEvent } from '../session/pipeline/history/follow-run.js';
export type { LogicalRun } from '../session/pipeline/history/logical-run.js';
export type { PipelineStatus } from '../session/pipeline/history/pipeline-status.js';
export { createPipelineRuns, type PipelineRun, type PipelineRuns } from '../session/pipeline/history/pipeline-runs.js';
export { runPipeline } from '../session/pipeline/run-pipeline.js';
export type { OutputReader, OutputSoFar, WatchOutput } from '../runtime/ports.js';
export { CANCELLED, type PipelineIo, type PipelineReport } from '../session/pipeline/run-pipeline-options.js';
export { recordedFile, uploadFolder, workflowFor, type Project } from '../session/project.js';
