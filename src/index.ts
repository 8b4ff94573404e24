/** The library: run a script, open a store, fold a journal. What is not exported here may change at any time. */
export { run, type RunRequest, type ScriptRequest } from './library/run.js';
export type { CacheRequest, RunIo, RunReport, StructuredResult } from './run-options.js';
export type { ReplayedWalk, ReplayOptions, ReplayReport, Stopped } from './run/replay/options.js';
export { replayRun } from './run/replay/replay.js';
export type { Divergence } from './run/replay/divergence.js';
export {
  findProject,
  findScript,
  listScripts,
  scriptName,
  workflowFor,
  type Project,
  type ProjectConfig,
  type ScriptFile,
} from './project.js';
export { MlldError, type PlacedLocation, type SourceLocation } from './errors.js';
export { JournalError } from '../journal/errors.js';
export { openFileStore } from './library/open-file-store.js';
export { openMemoryStore } from '../journal/memory-store.js';
export type { Defect, Journal, JournalStore, RunFile, RunLiveness } from '../journal/store.js';
export type { EventOf, Fact, FactType, JournalEvent, Json, Payload, RunStatus } from '../journal/event.js';
export type { CallKey, EventRef, OpPath, RunId, RunRef, Seq, Workflow } from '../journal/ids.js';
export { preparePipeline, type Transform } from './graph/prepare.js';
export {
  edgeAttribute,
  graphAttribute,
  nodeAttribute,
  type AttributeMap,
  type Graph,
  type GraphAttribute,
  type GraphEdge,
  type GraphNode,
} from './graph/model.js';
export { validate, validateOrThrow } from './graph/lint/validate.js';
export type { CustomRule, Finding, Severity } from './graph/lint/rule.js';
export { runGraph, watchGraph, type GraphRunRequest } from './library/run-graph.js';
export type { GraphNotice, WatchedGraph } from './watch-graph.js';
export type { GraphReport, GraphRunIo, WhoAnswers } from './run-graph-options.js';
export type { Answered, Backend, Backends, ModelQuestion } from './graph/backends/backend.js';
export type { CallTool, ToolAnswer } from './graph/backends/tool-calls.js';
export type { ArtifactEntry, Artifacts } from './graph/artifacts.js';
export type { Handler, Handlers, Stage } from './graph/handlers/handler.js';
export { outcomeOf, StageError, type StageOutcome, type StageStatus } from './graph/outcome.js';
export { askMultiple, callbackInterviewer, queueOf, type Answer, type Interviewer, type Question } from './graph/people/interviewer.js';
export { answerQuestion, type AnswerRequest, type GivenAnswer } from './run/graph/answer.js';
