/** Exports the parts of a pipeline that a program supplies or reads: its graph, lint, handlers, backends, and people who answer. */
export { preparePipeline, type Transform } from '../pipeline/model/prepare.js';
export {
  edgeAttribute,
  graphAttribute,
  nodeAttribute,
  type AttributeMap,
  type Graph,
  type GraphAttribute,
  type GraphEdge,
  type GraphNode,
} from '../pipeline/model/graph.js';
export { validate, validateOrThrow } from '../pipeline/lint/validate.js';
export type { CustomRule, Finding, Severity } from '../pipeline/lint/rule.js';
export type { Backend, Backends, CallTool, ModelReply, ModelRequest, ToolResult } from '../pipeline/stage/backend.js';
export type { ArtifactEntry, Artifacts } from '../pipeline/stage/artifacts.js';
export type { Handler, Handlers } from '../pipeline/handlers/handler.js';
export type { PipelineServices, Stage } from '../pipeline/stage/stage.js';
export { outcomeOf, StageError, type StageOutcome, type StageStatus } from '../pipeline/model/outcome.js';
export {
  askMultiple,
  callbackInterviewer,
  queueInterviewer,
  type Answer,
  type Interviewer,
  type Question,
} from '../pipeline/human/interviewer.js';
export { answerQuestion, type AnswerRequest, type GivenAnswer } from '../session/pipeline/answer-question.js';
