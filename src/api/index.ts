/**
 * The library: run a script or a pipeline, open a store, read, follow and fold what is recorded, report on it. What is not exported here
 * may change at any time; `docs/library.md` says which of it is stable.
 */
export { run, watchScript, type RunRequest, type ScriptRequest } from './run.js';
export type { CacheRequest, RunIo, RunReport, StructuredResult } from '../session/script/run-options.js';
export { runPipeline, watchPipeline, type PipelineNotice, type PipelineRunRequest } from './run-pipeline.js';
export * from './programs.js';
export type { Watched } from './watch.js';
export type { PipelineReport, PipelineIo, WhoAnswers } from '../session/pipeline/run-pipeline-options.js';
export type * from './named-types.js';
export * from './validate.js';
export * from './pipelines.js';
export type { ReplayedWalk, ReplayOptions, ReplayReport, StopPoint } from '../session/rerun/replay-options.js';
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
export type { RunError } from '../session/user-error.js';
export { MlldError, type PlacedLocation, type SourceLocation } from '../errors.js';
export { JournalError } from '../../journal/errors.js';
export { openFileStore, openProjectStore, type ProjectStoreOptions } from './open-store.js';
export { openMemoryStore } from '../../journal/storage/memory-store.js';
export type { Defect, Journal, JournalStore, Position, RunFile, RunLiveness, ScanOptions, ScanReport } from '../../journal/store.js';
export type { EventOf, Fact, FactType, JournalEvent, Json, Payload } from '../../journal/event.js';
export type { RunStatus } from '../../journal/facts/run-event.js';
export * from './ids.js';
export type { ReadOptions, RunTarget } from './run-target.js';
export * from './recorded-runs.js';
export * from './reports/events.js';
export * from './fold.js';
export * from './own-facts.js';
export * from './reports/summary.js';
export * from './memo.js';
export * from './reports/audit.js';
export * from './reports/verify.js';
export * from './reports/call.js';
export * from './reports/explain.js';
export * from './reports/diff.js';
export * from './reports/postmortem.js';
export * from './reports/stats.js';
export * from './reports/timeline.js';
export * from './reports/export.js';
export * from './reports/push-otlp.js';
