/** Folds the calls of a run for a comparison: key, definition and outcome. Results are not held, only their digests. */
import type { EventOf, Payload } from '../../../journal/event.js';
import type { BlobId, CallKey, EventRef, Fingerprint, OpPath, Seq, Workflow } from '../../../journal/ids.js';
import type { Position } from '../../../journal/store.js';
import { placesLeft } from '../../../journal/facts/failed-calls.js';
import { sha256Hex } from '../../../journal/sha256.js';
import { emptyLedger, failedInExecutionBefore, followCall, type CallLedger } from '../../fold/calls/call-ledger.js';
import { endedCall, isEndOfCall, type CallOutcome } from '../../fold/calls/ended-call.js';
import { endVisit, failInStage, leaveStage, noStageRetries, retryStage, type StageRetries } from '../../fold/calls/stage-retries.js';
import { callPhases, type CallPhases } from '../../workflows/call-phases.js';
import type { CallCause } from '../../fold/calls/failure-class.js';
import { nodeVisits, type NodeVisits } from '../../pipeline/node-visits.js';
import type { Place, Projection } from '../../fold/projection.js';
import { previewOf } from '../../fold/preview.js';

export interface ComparedCall {
  readonly seq: Seq;
  readonly op: OpPath;
  readonly fn: string;
  readonly key: CallKey;
  readonly fingerprint: Fingerprint | undefined;
  /** Undefined for a reused call whose event has none: the comparison fills it in. */
  preview: string | undefined;
  /** The phase of a call of a workflow script. */
  readonly phase?: string | undefined;
  outcome: CallOutcome | 'unfinished';
  /** The class of a failed call. */
  cause: CallCause | undefined;
  /** Digest of the result, or class of the failure (its message without one); undefined for a reused call, or where there is none. */
  digest: string | undefined;
  /** The event that recorded its result: its own, or one of another run. */
  resultFrom: (EventRef & { readonly workflow?: Workflow }) | undefined;
  /** Places of `call.started` and of the event that ended it. */
  readonly started: Position | undefined;
  ended: Position | undefined;
}

export interface RunCalls {
  /** In the order in which they began. */
  readonly calls: Set<ComparedCall>;
  /** Starts of which no body began. */
  readonly withdrawn: ComparedCall[];
  readonly inFlight: Map<OpPath, ComparedCall>;
  /** Those that have failed or were not executed, and count until they are made again with a result: COUNTS-2. */
  readonly failed: Map<CallKey, ComparedCall[]>;
  readonly stages: StageRetries<ComparedCall>;
  readonly phases: CallPhases;
  /** By path; a published module by its name. */
  readonly sources: Map<string, { readonly blob: BlobId; readonly module: EventOf<'source.loaded'>['module'] }>;
  /** The last content that was written, by path. */
  readonly files: Map<string, string>;
  readonly output: RunOutput;
  /** Empty but of a pipeline. */
  readonly nodes: NodeVisits;
  status: EventOf<'run.finished'>['status'] | undefined;
  error: EventOf<'run.finished'>['error'];
  forks: EventOf<'run.started'>['forks'];
  firstTs: string | undefined;
  lastTs: string | undefined;
  readonly ledger: CallLedger;
}

/** Standard output: a digest of all of it, and beginnings of the first writes. */
interface RunOutput {
  digest: string;
  writes: number;
  readonly beginnings: string[];
}

/** So many writes are kept to be shown. */
const WRITES_KEPT = 1000;

/** Folds the events of one run. */
export const runCalls: Projection<RunCalls> = {
  initial: () => ({
    calls: new Set(),
    withdrawn: [],
    inFlight: new Map(),
    failed: new Map(),
    stages: noStageRetries(),
    phases: callPhases.initial(),
    sources: new Map(),
    files: new Map(),
    output: { digest: '', writes: 0, beginnings: [] },
    nodes: nodeVisits.initial(),
    status: undefined,
    error: undefined,
    forks: undefined,
    firstTs: undefined,
    lastTs: undefined,
    ledger: emptyLedger(),
  }),
  apply(state, event, place) {
    const { position } = place;
    nodeVisits.apply(state.nodes, event, place);
    const again = event.type === 'call.started' || event.type === 'call.reused' ? failedInExecutionBefore(state.ledger, event) : [];
    followCall(state.ledger, event);
    for (const { key } of again) dropMadeAgain(state, key);
    callPhases.apply(state.phases, event, place);
    switch (event.type) {
      case 'run.started':
        state.forks = event.forks;
        break;
      case 'run.finished':
        state.status = event.status;
        state.error = event.error;
        break;
      case 'source.loaded':
        // Two versions of a module have two paths, and one name.
        state.sources.set(event.module?.name ?? event.path, { blob: event.blob, module: event.module });
        break;
      case 'call.started': {
        const { seq, op, fn, key, fingerprint, preview = previewOf(event.args) } = event;
        if (state.inFlight.get(op)?.key === key) break; // a further attempt of the same call
        const call: ComparedCall = {
          seq,
          op,
          fn,
          key,
          fingerprint,
          preview,
          phase: state.phases.get(op),
          outcome: 'unfinished',
          cause: undefined,
          digest: undefined,
          resultFrom: undefined,
          started: position,
          ended: undefined,
        };
        state.calls.add(call);
        state.inFlight.set(op, call);
        break;
      }
      case 'call.withdrawn': {
        const call = state.inFlight.get(event.op);
        state.inFlight.delete(event.op);
        if (call && state.calls.delete(call)) state.withdrawn.push(call);
        break;
      }
      case 'call.completed':
        end(state, event, place, digestOf(event.result));
        break;
      case 'call.failed':
        if (isEndOfCall(event)) end(state, event, place, event.class ?? event.message);
        break;
      case 'retry.scheduled':
        // The next attempt of the stage makes the call again: this one was an attempt of it, as for every count of calls.
        for (const { failed } of retryStage(state.stages, event)) state.calls.delete(failed);
        break;
      case 'node.finished':
        endVisit(state.stages, event);
        break;
      case 'edge.selected':
        leaveStage(state.stages, event.op, event.from);
        break;
      case 'call.reused': {
        const { seq, op, fn, key, fingerprint, preview, from } = event;
        state.calls.add({
          seq,
          op,
          fn,
          key,
          fingerprint,
          preview,
          phase: state.phases.get(op),
          outcome: 'reused',
          cause: undefined,
          digest: undefined,
          resultFrom: from,
          started: undefined,
          ended: undefined,
        });
        dropMadeAgain(state, key);
        break;
      }
      case 'effect.performed':
        if (event.file !== undefined && event.kind !== 'file.read') state.files.set(event.subject, event.file);
        else if (event.kind === 'stream.write' && event.subject.startsWith('stdout')) write(state.output, event);
        break;
      default:
        break;
    }
    state.firstTs ??= event.ts;
    state.lastTs = event.ts; // parsing the time of every event would cost more than all else here
    return state;
  },
};

function end(state: RunCalls, event: EventOf<'call.completed' | 'call.failed'>, { ref, position }: Place, digest: string): void {
  const { op, key, seq } = event;
  const ended = endedCall(event);
  const call = state.inFlight.get(op) ?? nameless(state, seq, op, key);
  state.inFlight.delete(op);
  call.outcome = ended.outcome;
  call.cause = ended.cause;
  call.digest = digest;
  call.resultFrom = event.type === 'call.completed' ? { run: ref.run, seq } : undefined;
  call.ended = position;
  if (call.outcome === 'failed') failInStage(state.stages, op, key, call);
  dropMadeAgain(state, key);
  if (call.outcome !== 'failed' && call.outcome !== 'not-executed') return;
  const known = state.failed.get(key);
  if (known) known.push(call);
  else state.failed.set(key, [call]);
}

/** Drops the failed calls that were made again, as the count of calls does. */
function dropMadeAgain({ calls, failed, ledger }: RunCalls, key: CallKey): void {
  const known = failed.get(key);
  if (known === undefined) return;
  const left = placesLeft(ledger.failures, key);
  for (const call of known) if (!left.has(call.op)) calls.delete(call);
  failed.set(
    key,
    known.filter((call) => left.has(call.op)),
  );
}

/** The line that began it is damaged. */
function nameless({ calls }: RunCalls, seq: Seq, op: OpPath, key: CallKey): ComparedCall {
  const unknown = {
    fingerprint: undefined,
    preview: undefined,
    cause: undefined,
    digest: undefined,
    resultFrom: undefined,
    started: undefined,
    ended: undefined,
  };
  const call: ComparedCall = { seq, op, fn: '', key, ...unknown, outcome: 'unfinished' };
  calls.add(call);
  return call;
}

function write(output: RunOutput, { request, subject }: EventOf<'effect.performed'>): void {
  output.writes += 1;
  output.digest = sha256Hex(output.digest + request);
  if (output.beginnings.length < WRITES_KEPT) output.beginnings.push(subject.replace(/^stdout: /, ''));
}

/** Equal for equal payloads, wherever they lie. */
function digestOf(payload: Payload): string {
  if ('inline' in payload) return `sha256:${sha256Hex(JSON.stringify(payload.inline))}`;
  if ('blob' in payload) return payload.blob;
  if ('sealed' in payload) return payload.sealed;
  return 'digest' in payload ? payload.digest : 'redacted';
}
