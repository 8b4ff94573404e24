/**
 * Folds the state of a pipeline: position, context, history, goal gates, retry counters, fidelity, artifacts. A fold over the runs of one
 * chain, a run and those that resumed it; any prefix of it is a checkpoint (`checkpoint-view.ts`).
 *
 * PIPELINE-STATE-1 A visit changes the state when it ends (`node.finished`), in one step; a node without that has not happened.
 * PIPELINE-STATE-2 A branch is a walk of its own on a copy of the context around it; when its parallel node ends only its history stays,
 *    but for one that failed, or holds an unmet gate: the visit that a resume begins may continue its branches.
 * PIPELINE-STATE-3 The answers of people, replies of models and retries that a visit had before a crash count until the visit ends.
 */
import type { EventOf, JournalEvent, Json } from '../../journal/event.js';
import type { RunStatus } from '../../journal/facts/run-event.js';
import {
  gateStatusAfter,
  type Fidelity,
  type GateStatus,
  type StageOutcome,
  type StageStatus,
} from '../../journal/facts/pipeline-event.js';
import type { OpPath, RunId, RunRef, Seq } from '../../journal/ids.js';
import type { Position } from '../../journal/store.js';
import { continueBranches, continueCutBranches, forgetGates, forgetReceived, keepBroken } from './continued-branches.js';
import {
  addExcerpt,
  addToHistory,
  branchHistories,
  closeQuestions,
  mainWalk,
  note,
  visitToRepeat,
  walkAtPath,
  walkFor,
  type HistoryEntry,
  type Walk,
} from './walk.js';
import { openQuestion, type WaitingQuestion } from './waiting-question.js';
import type { Projection } from '../fold/projection.js';
import { forgetInside, receive, receiveReply, speak, type Received } from './received-replies.js';

export interface Artifact {
  readonly id: string;
  readonly name: string;
  readonly node: string;
  readonly sizeBytes: number;
  readonly storedAt: string;
  readonly fileBacked: boolean;
  /** The place of its event: the state does not hold payloads. */
  readonly ref: RunRef;
  readonly position: Position;
}

export interface PipelineState {
  /** The first run of the chain, and the latest. */
  runId: RunId | undefined;
  journalRun: RunId | undefined;
  seq: Seq | undefined;
  /** Time of the last event, ISO. */
  timestamp: string;
  startedAt: string;
  pipeline: string;
  runDir: string;
  /** The restarts before this run, and the manager's attempt around it: they tell its calls from those of other walks of the file. */
  restarts: number;
  within: string | undefined;
  /** The manager's attempt that started the chain. */
  parent: EventOf<'run.started'>['parent'];
  gates: readonly string[];
  /** Context values from the command line. */
  given: Json;
  /** The status of the latest run; undefined while it is in flight, or when it has crashed. */
  status: RunStatus | undefined;
  error: EventOf<'run.finished'>['error'];
  /** Status `restarted`: where the next run begins. */
  restartAt: string | undefined;
  readonly main: Walk;
  /** Nodes in the order of their first start, with the status of their latest finished visit; `skipped` ones don't count. */
  readonly results: Map<string, StageStatus | undefined>;
  /** The goal gate that stopped the run, or the parallel node of the main path around it: a resume returns there. */
  unmetGate: string | undefined;
  /** Counters of nodes that were ever retried. */
  readonly retries: Map<string, number>;
  readonly artifacts: Map<string, Artifact>;
  readonly outputs: Map<string, readonly string[]>;
  /** By path of the attempt, or of the call that it makes to a model, or of a call inside that. */
  readonly received: Map<OpPath, Received>;
  readonly questions: Map<string, WaitingQuestion>;
  questionCount: number;
  /** Threads in which a model ever replied. */
  readonly threads: Set<string>;
  /** The threads of stages in flight, by path of the visit. A resume keeps its first stage out of it, and that leaves it here. */
  readonly threadsInFlight: Map<OpPath, string>;
  /** The next node runs as `compact`. */
  degradeNext: boolean;
  lastFidelity: (Fidelity & { readonly node: string; readonly thread?: string }) | undefined;
  /** Heads of the replies of the last model stages. */
  readonly summaries: { readonly node: string; readonly outcome: StageStatus; readonly text: string }[];
  steps: number;
  jumps: number;
  retriesTotal: number;
}

const SUMMARIES_MAX = 50;

export const pipelineState: Projection<PipelineState> = {
  initial: () => ({
    runId: undefined,
    journalRun: undefined,
    seq: undefined,
    timestamp: '',
    startedAt: '',
    pipeline: '',
    runDir: '',
    restarts: 0,
    within: undefined,
    parent: undefined,
    gates: [],
    given: {},
    status: undefined,
    error: undefined,
    restartAt: undefined,
    main: mainWalk(),
    results: new Map(),
    unmetGate: undefined,
    retries: new Map(),
    artifacts: new Map(),
    outputs: new Map(),
    received: new Map(),
    questions: new Map(),
    questionCount: 0,
    threads: new Set(),
    threadsInFlight: new Map(),
    degradeNext: false,
    lastFidelity: undefined,
    summaries: [],
    steps: 0,
    jumps: 0,
    retriesTotal: 0,
  }),
  apply(state, event, place) {
    const { ref, position } = place;
    state.seq = event.seq;
    state.timestamp = event.ts;
    switch (event.type) {
      case 'run.started':
        return startRun(state, event, ref.run);
      case 'run.finished':
        state.status = event.status;
        state.error = event.error;
        state.restartAt = event.next;
        return state;
      case 'node.started':
        return startNode(state, event);
      case 'node.finished':
        return finishNode(state, event);
      case 'edge.selected':
        return selectEdge(state, event);
      case 'context.updated':
        Object.assign(walkFor(state.main, event.op).context, event.updates);
        return state;
      case 'gate.checked':
        state.unmetGate = event.satisfied || event.target !== undefined ? undefined : (event.within ?? event.node);
        return state;
      case 'retry.scheduled':
        return scheduleRetry(state, event);
      case 'question.asked':
        state.questionCount = Math.max(state.questionCount + 1, numberOf(event.id));
        state.questions.set(event.id, openQuestion(event));
        return state;
      case 'question.answered':
        state.questionCount = Math.max(state.questionCount, numberOf(event.id));
        state.questions.delete(event.id);
        receive(state, event.op, { answer: { id: event.id, answer: event.answer, by: event.by } });
        return state;
      case 'call.completed':
        return receiveReply(state, event, place);
      case 'call.reused':
        return speak(state, event.op);
      case 'call.failed':
        if (event.retryInMs !== undefined) forgetInside(state, event.op); // its next attempt makes all its calls again
        return state;
      case 'artifact.stored': {
        const { id, name, node, sizeBytes, fileBacked, ts } = event;
        state.artifacts.set(id, { id, name, node, sizeBytes, fileBacked, storedAt: ts, ref, position });
        return state;
      }
      case 'artifact.removed':
        state.artifacts.delete(event.id);
        return state;
      default:
        return state;
    }
  },
};

/** Returns the status of every gate of the graph. */
export function gateStatuses({ gates, results }: Pick<PipelineState, 'gates' | 'results'>): { readonly [node: string]: GateStatus } {
  return Object.fromEntries(gates.map((node) => [node, gateStatusAfter(results.get(node))]));
}

/** The node that runs on the main path, else the one that finished last there. */
export function currentNode({ main }: Pick<PipelineState, 'main'>): string | undefined {
  return main.running?.node ?? main.current;
}

/** Was this an event of a pipeline run? Other workflows have journals too. */
export function isPipelineRun(event: JournalEvent): event is EventOf<'run.started'> & { readonly pipeline: string } {
  return event.type === 'run.started' && event.pipeline !== undefined;
}

function startRun(state: PipelineState, event: EventOf<'run.started'>, run: RunId): PipelineState {
  state.runId ??= run;
  state.journalRun = run;
  state.pipeline = event.pipeline ?? '';
  state.gates = event.gates ?? [];
  state.runDir = event.runDir ?? '';
  state.restarts = event.restarts ?? 0;
  state.within = event.within;
  state.parent = event.parent;
  if (state.startedAt === '') state.startedAt = event.ts;
  const { main } = state;
  // A run that died before it entered the node leaves it to the next one.
  if (event.enterAt !== undefined) main.isReentered = event.flags.resume === '' && (main.enterAt === undefined || main.isReentered);
  main.enterAt = event.enterAt;
  if (event.resume === undefined) state.given = event.payload;
  else {
    state.degradeNext = true;
    // A run that failed at a limit gets new ones; an interrupted one continues with what it had left.
    if (event.enterAt !== undefined) state.steps = state.jumps = 0;
  }
  state.status = undefined;
  state.error = undefined;
  state.restartAt = undefined;
  // People are asked again: answers to these questions would reach no one.
  state.questions.clear();
  return state;
}

function startNode(state: PipelineState, event: EventOf<'node.started'>): PipelineState {
  const { op, node, fidelity, thread } = event;
  beginVisit(state, walkFor(state.main, op, event.branch), event);
  state.degradeNext = false;
  if (fidelity !== undefined) state.lastFidelity = { ...fidelity, node, ...(thread === undefined ? {} : { thread }) };
  if (thread !== undefined) state.threadsInFlight.set(op, thread);
  return state;
}

/** A visit that continues after a crash has begun already. */
export function beginVisit(
  state: PipelineState,
  walk: Walk,
  { op, node, visit, continues }: Pick<EventOf<'node.started'>, 'op' | 'node' | 'visit' | 'continues'>,
): void {
  const broken = visitToRepeat(walk, node);
  walk.enterAt = undefined;
  walk.context['current_node'] = node;
  if (walk.running?.op !== op) {
    const repeats = broken === undefined ? [] : [{ op: broken.op, runs: broken.runs, repeats: [] }, ...broken.repeats];
    walk.running = { op, node, visit, retries: 0, answered: 0, runs: [], repeats };
    walk.branches.clear();
    if (broken !== undefined && broken.visit === continues) continueBranches(state, walk, op, broken);
    if (state.retries.has(node)) countRetries(state, walk, node, 0);
    state.outputs.delete(node); // its folder is emptied for the visit
  }
  const { runs } = walk.running;
  if (state.journalRun !== undefined && !runs.includes(state.journalRun)) runs.push(state.journalRun);
  if (!state.results.has(node)) state.results.set(node, undefined);
}

function finishNode(state: PipelineState, event: EventOf<'node.finished'>): PipelineState {
  const { op, node, visit, status, outcome, attempts, files, excerpt } = event;
  const walk = walkFor(state.main, op, event.branch);
  const updates = updatesOf(status, outcome);
  keepBroken(state, walk, event, updates);
  Object.assign(walk.context, updates);
  if ((status === 'success' || status === 'partial_success') && state.retries.has(node)) countRetries(state, walk, node, 0);
  const entry: HistoryEntry = {
    node_id: node,
    outcome: status,
    visit,
    attempts,
    ...(status === 'fail' ? { failure_reason: outcome.failure_reason } : {}),
    ...(walk.branches.size > 0 ? { branches: branchHistories(walk, outcome) } : {}),
  };
  addToHistory(walk, entry, walk.running?.op === op ? walk.running.answered : attempts - 1);
  const choice = outcome.context_updates['human.gate.label'];
  if (typeof choice === 'string') note(walk, { kind: 'answered', node, choice });
  walk.current = node;
  walk.outcome = outcome;
  walk.next = undefined;
  walk.running = undefined;
  walk.branches.clear(); // PIPELINE-STATE-2
  if (status !== 'skipped') state.results.set(node, status);
  if (files !== undefined) state.outputs.set(node, files);
  if (excerpt !== undefined) {
    addExcerpt(walk, node, excerpt);
    state.summaries.push({ node, outcome: status, text: excerpt });
    if (state.summaries.length > SUMMARIES_MAX) state.summaries.shift();
  }
  forgetReceived(state, walk, event);
  state.threadsInFlight.delete(op);
  closeQuestions(state.questions, op);
  state.steps += 1;
  return state;
}

/** Returns what the end of a visit changes in the context. An outcome that is carried on leaves the one before it there. */
function updatesOf(status: StageStatus, { carried, context_updates, preferred_label }: StageOutcome): { readonly [key: string]: Json } {
  if (carried !== undefined) return context_updates;
  return { ...context_updates, outcome: status, ...(preferred_label !== '' && { preferred_label }) };
}

function selectEdge(state: PipelineState, event: EventOf<'edge.selected'>): PipelineState {
  const { op, from, to, via, label, condition, fidelity, thread } = event;
  const walk = walkAtPath(state.main, op, event.branch);
  walk.next = {
    from,
    to,
    via,
    ...(label === undefined ? {} : { label }),
    ...(condition === undefined ? {} : { condition }),
    ...(fidelity === undefined ? {} : { fidelity }),
    ...(thread === undefined ? {} : { thread }),
  };
  forgetGates(walk, to);
  walk.enterAt = undefined; // the exit, where a gate sends the walk elsewhere
  if (via === 'retry_target' || via === 'fallback_retry_target' || via === 'gate') {
    state.jumps += 1;
    note(walk, { kind: 'jumped', from, to });
  }
  return state;
}

function scheduleRetry(state: PipelineState, { op, node, attempt, answered = attempt }: EventOf<'retry.scheduled'>): PipelineState {
  const walk = walkFor(state.main, op);
  if (walk.running?.op === op) {
    walk.running.retries = attempt;
    walk.running.answered = answered;
    continueCutBranches(state, walk);
  }
  closeQuestions(state.questions, op);
  countRetries(state, walk, node, attempt);
  state.retriesTotal += 1;
  return state;
}

function countRetries(state: PipelineState, walk: Walk, node: string, count: number): void {
  state.retries.set(node, count);
  walk.context[`internal.retry_count.${node}`] = count;
}

/** Returns 7 for `q7`: where an earlier question is lost, the numbers of the others still show how many there were. */
function numberOf(question: string): number {
  return Number(question.slice(1)) || 0;
}
