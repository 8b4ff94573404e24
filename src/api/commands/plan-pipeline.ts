/** Predicts which nodes of a pipeline a resumed run would execute: `mlld run FILE.dot --plan`. */
export { planPipeline, type PipelinePlan, type PlannedChild, type PlannedStep } from '../../session/pipeline/plan-pipeline.js';
