/** Exports the types that the functions and types of the library name, so that a program can name them too. */
export type { AttributeValue } from '../../grammar/dot-ast.js';
export type {
  DefinitionPart,
  OpKind,
  OutputFile,
  PayloadUse,
  Redacted,
  ResultForm,
  ResultMetadata,
  ReusedOutput,
  Usage,
} from '../../journal/event.js';
export type {
  AnsweredBy,
  BranchRef,
  EdgeVia,
  Fidelity,
  FidelityMode,
  GateStatus,
  PipelineFact,
  QuestionKind,
  QuestionOption,
  Routing,
} from '../../journal/facts/pipeline-event.js';
export type {
  CallFact,
  CallResult,
  FailureEvidence,
  FailureClass,
  Reservation,
  StopClass,
  WrittenFile,
} from '../../journal/facts/call-event.js';
export type {
  CacheFlags,
  ForkRef,
  Pause,
  RecordedCallSettings,
  RecordedInputs,
  RunFact,
  RunTotals,
  WorkerOfRun,
} from '../../journal/facts/run-event.js';
export type { JsonObject } from '../../journal/json-object.js';
export type { SealingKey } from '../../journal/secrets/keyring.js';
export type { ClaimRequest, Claimed, Claims, RecordedResult } from '../../journal/storage/claims.js';
export type {
  CallsAtWorkers,
  ExecutingWorker,
  LivingWorkers,
  OfferedResult,
  OfferOutcome,
  OfferRequest,
  Offers,
} from '../../journal/storage/offers.js';
export type { TeamReport, WorkerShare } from '../../replay/reports/team/team-calls.js';
export type { TeamRecord, UnendedCall } from '../../replay/reports/team/unended-at-workers.js';
export type { HintWatch } from '../../journal/storage/hints.js';
export type { FileStoreOptions } from '../../journal/storage/file-store.js';
export type { BlobWriter, StoredBlob } from '../../journal/storage/blob-writer.js';
export type {
  ContinuedRun,
  CreateOptions,
  ImmediateReads,
  IndexFile,
  IndexFiles,
  ListedIndexFile,
  PayloadStore,
  Recorded,
  RunStore,
  WantedIndexFile,
} from '../../journal/store.js';
export type { Secrets } from '../../journal/secrets/sealing.js';
export type { CallCounts, CallFigures } from '../../replay/fold/calls/call-counts.js';
export type { AttemptInFlight, CallLedger, CountedCall, FailedCall } from '../../replay/fold/calls/call-ledger.js';
export type { FailedCalls, IncompleteResult, PlaceOfFailure } from '../../journal/facts/failed-calls.js';
export type { AttemptOutcome, CallOutcome, EndedCall, EndOfCall } from '../../replay/fold/calls/ended-call.js';
export type { RecordedCounts } from '../../replay/fold/recorded-counts.js';
export type { FailedInStage, StageRetries } from '../../replay/fold/calls/stage-retries.js';
export type { CallCause } from '../../replay/fold/calls/failure-class.js';
export type { CountedStatus, ReportedStatus, UnresolvedCalls } from '../../replay/fold/reported-status.js';
export type { DefinitionChange } from '../../replay/memo/definitions.js';
export type { WaitingQuestion } from '../../replay/pipeline/waiting-question.js';
export type { Visit } from '../../replay/pipeline/node-visits.js';
export type { NodeProgress, OpenQuestion, PipelineProgress } from '../../replay/pipeline/progress.js';
export type { HistoryEntry } from '../../replay/pipeline/walk.js';
export type { FileOriginOptions } from '../../replay/reports/audit/file-origin-run.js';
export type { ContextChange, NodeChange, NodePair, NodesDiff, NodeSide, NodesFork } from '../../replay/reports/diff/diff-nodes.js';
export type { CallChange, ComparedPair, FileDifference, ForkPoint } from '../../replay/reports/diff/diff.js';
export type { Pair } from '../../replay/reports/diff/align.js';
export type { ComparedCall } from '../../replay/reports/diff/run-calls.js';
export type { DiffLines } from '../../replay/reports/diff/text-diff.js';
export type { ArgumentDifference } from '../../replay/reports/explain/argument-diff.js';
export type { ExplainedCall, Hit } from '../../replay/reports/explain/explain.js';
export type { Miss } from '../../replay/reports/explain/miss.js';
export type { LoadedModule } from '../../replay/reports/explain/loaded-modules.js';
export type { DispatchStop, LaneNow, Unsettled } from '../../replay/reports/postmortem/dispatch-state.js';
export type { FailureGroup, GuardDenial, HookFailure } from '../../replay/reports/postmortem/failure-groups.js';
export type { FailureCause } from '../../replay/reports/postmortem/failure-cause.js';
export type { Unresolved } from '../../replay/reports/postmortem/postmortem.js';
export type { ResumeEstimate } from '../../replay/reports/postmortem/resume-estimate.js';
export type { AttemptDetails, CallDetails, ShownPayload, SpanMoment } from '../../replay/reports/timeline/report-details.js';
export type { ShownText } from '../../replay/reports/timeline/shown-texts.js';
export type { AgentConfig } from '../session/agent-config.js';
export type { StoreConfig } from '../session/store-config.js';
export type { Effort } from '../workflows/run/agent-options.js';
export type { CallOptions, CallSettings, FileLimits, LaneSettings, ReplyFunction, ReplyPlace, Retries } from '../calls/options.js';
export type { BudgetLimits } from '../calls/budget/limits.js';
export type { Cost } from '../calls/budget/budget.js';
export type { OwnPrice } from '../calls/price/own-prices.js';
export type { AdapterName, ReportedUsage } from '../calls/replies/reply.js';
export type { ResultSchema } from '../calls/schema/compile-schema.js';
export type { ErrorDetails } from '../errors.js';
export type { EdgeAttributes, GraphAttributes, NodeAttributes } from '../pipeline/model/attributes.js';
export type { Choice } from '../pipeline/model/labels.js';
export type { Updates } from '../pipeline/model/outcome.js';
export type { ProjectFromFolder, WorkingProject } from '../session/project.js';
export type { CallsLeft, RunCalls, RunOutcome } from '../session/run-calls.js';
export type { DivergentRequest } from '../session/rerun/divergence.js';
export type { Sinks } from '../session/rerun/replayed-world.js';
export type { Value } from '../values/value.js';
export type { ResolverPrefix } from '../world/files/resolver-prefix.js';
