/** The library: run a script, open a store, fold a journal. What is not exported here may change at any time. */
export { run, type RunRequest, type ScriptRequest } from './run.js';
export type { CacheRequest, RunIo, RunReport, StructuredResult } from '../session/script/run-options.js';
export type { ReplayedWalk, ReplayOptions, ReplayReport, StopPoint as Stopped } from '../session/rerun/replay-options.js';
export { replayRun } from '../session/rerun/replay.js';
export type { Divergence } from '../session/rerun/divergence.js';
export {
  findProject,
  findScript,
  listScripts,
  scriptName,
  workflowFor,
  type Project,
  type ProjectConfig,
  type ScriptFile,
} from '../session/project.js';
export { MlldError, type PlacedLocation, type SourceLocation } from '../errors.js';
export { JournalError } from '../../journal/errors.js';
export { openFileStore } from './open-file-store.js';
export { openMemoryStore } from '../../journal/storage/memory-store.js';
export type { Defect, Journal, JournalStore, RunFile, RunLiveness } from '../../journal/store.js';
export type { EventOf, Fact, FactType, JournalEvent, Json, Payload, RunStatus } from '../../journal/event.js';
export type { CallKey, EventRef, OpPath, RunId, RunRef, Seq, Workflow } from '../../journal/ids.js';
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
export { runPipeline as runGraph, watchPipeline as watchGraph, type PipelineRunRequest as GraphRunRequest } from './run-pipeline.js';
export type { PipelineNotice as GraphNotice, WatchedPipeline as WatchedGraph } from '../session/pipeline/watch-pipeline.js';
export type { PipelineReport as GraphReport, PipelineIo as GraphRunIo, WhoAnswers } from '../session/pipeline/run-pipeline-options.js';
export type { ModelReply as Answered, Backend, Backends, ModelRequest as ModelQuestion } from '../pipeline/backends/select-backend.js';
export type { CallTool, ToolResult as ToolAnswer } from '../pipeline/backends/tool-calls.js';
export type { ArtifactEntry, Artifacts } from '../pipeline/stage/artifacts.js';
export type { Handler, Handlers, Stage } from '../pipeline/handlers/handler.js';
export { outcomeOf, StageError, type StageOutcome, type StageStatus } from '../pipeline/model/outcome.js';
export {
  askMultiple,
  callbackInterviewer,
  queueInterviewer as queueOf,
  type Answer,
  type Interviewer,
  type Question,
} from '../pipeline/human/interviewer.js';
export { answerQuestion, type AnswerRequest, type GivenAnswer } from '../session/pipeline/answer-question.js';
