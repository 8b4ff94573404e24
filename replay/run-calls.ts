/** The calls of a run as a comparison needs them: what was asked, how, and what came of it. Results stay where they are, by a digest. */
import type { EventOf, Payload } from '../journal/event.js';
import type { BlobId, CallKey, EventRef, Fingerprint, OpPath, Seq, Workflow } from '../journal/ids.js';
import type { Position } from '../journal/store.js';
import { sha256Hex } from '../journal/sha256.js';
import { nodeVisits, type NodeVisits } from './node-visits.js';
import type { Projection } from './projection.js';
import { previewOf } from './preview.js';

export interface ComparedCall {
  readonly seq: Seq;
  readonly op: OpPath;
  readonly fn: string;
  readonly key: CallKey;
  readonly fingerprint: Fingerprint | undefined;
  /** A served answer doesn't repeat what was asked: who compares fills it in. */
  preview: string | undefined;
  outcome: 'executed' | 'served' | 'failed' | 'denied' | 'unfinished';
  /** Of the result or of the message; undefined where it is served, or there is none. */
  digest: string | undefined;
  /** Where its answer was first given: its own event, or that of another run. */
  answer: (EventRef & { readonly workflow?: Workflow }) | undefined;
  /** Of `call.started` and of what ended it. */
  readonly asked: Position | undefined;
  ended: Position | undefined;
}

export interface RunCalls {
  readonly calls: ComparedCall[];
  readonly open: Map<OpPath, ComparedCall>;
  readonly sources: Map<string, BlobId>;
  /** The last content that was written, by path. */
  readonly files: Map<string, string>;
  readonly output: RunOutput;
  /** Empty but of a pipeline. */
  readonly nodes: NodeVisits;
  status: EventOf<'run.finished'>['status'] | undefined;
  error: EventOf<'run.finished'>['error'];
  forks: EventOf<'run.started'>['forks'];
  startedMs: number | undefined;
  lastMs: number;
  callsMs: number;
  costUsd: number | undefined;
}

/** What went to standard output: all of it by a digest, and beginnings of what was written first. */
interface RunOutput {
  digest: string;
  writes: number;
  readonly beginnings: string[];
}

/** So many writes are kept to be shown. */
const WRITES_KEPT = 1000;

/** Of one run. */
export const runCalls: Projection<RunCalls> = {
  initial: () => ({
    calls: [],
    open: new Map(),
    sources: new Map(),
    files: new Map(),
    output: { digest: '', writes: 0, beginnings: [] },
    nodes: nodeVisits.initial(),
    status: undefined,
    error: undefined,
    forks: undefined,
    startedMs: undefined,
    lastMs: 0,
    callsMs: 0,
    costUsd: undefined,
  }),
  apply(state, event, place) {
    const { ref, position } = place;
    nodeVisits.apply(state.nodes, event, place);
    switch (event.type) {
      case 'run.started':
        state.startedMs = Date.parse(event.ts);
        state.forks = event.forks;
        break;
      case 'run.finished':
        state.status = event.status;
        state.error = event.error;
        break;
      case 'source.loaded':
        state.sources.set(event.path, event.blob);
        break;
      case 'call.started': {
        const { seq, op, fn, key, fingerprint, preview = previewOf(event.args) } = event;
        const call: ComparedCall = {
          seq,
          op,
          fn,
          key,
          fingerprint,
          preview,
          outcome: 'unfinished',
          digest: undefined,
          answer: undefined,
          asked: position,
          ended: undefined,
        };
        state.calls.push(call);
        state.open.set(op, call);
        break;
      }
      case 'call.completed': {
        state.callsMs += event.elapsedMs;
        if (event.usage?.costUsd !== undefined) state.costUsd = (state.costUsd ?? 0) + event.usage.costUsd;
        end(state, event.op, position, 'executed', digestOf(event.result), { run: ref.run, seq: event.seq });
        break;
      }
      case 'call.failed':
        state.callsMs += event.elapsedMs;
        end(state, event.op, position, event.denied === true ? 'denied' : 'failed', event.message, undefined);
        break;
      case 'call.reused': {
        const { seq, op, fn, key, fingerprint, preview, from } = event;
        state.calls.push({
          seq,
          op,
          fn,
          key,
          fingerprint,
          preview,
          outcome: 'served',
          digest: undefined,
          answer: from,
          asked: undefined,
          ended: undefined,
        });
        break;
      }
      case 'effect.performed':
        if (event.file !== undefined && event.kind !== 'file.read') state.files.set(event.subject, event.file);
        else if (event.kind === 'stream.write' && event.subject.startsWith('stdout')) write(state.output, event);
        break;
      default:
        break;
    }
    // Parsing the time of every event would cost more than all else here.
    if (event.type !== 'op.started' && event.type !== 'op.finished') state.lastMs = Date.parse(event.ts);
    return state;
  },
};

function end(
  state: RunCalls,
  op: OpPath,
  position: Position,
  outcome: ComparedCall['outcome'],
  digest: string,
  answer: ComparedCall['answer'],
): void {
  const call = state.open.get(op);
  if (call === undefined) return; // its beginning is damaged
  state.open.delete(op);
  call.outcome = outcome;
  call.digest = digest;
  call.answer = answer;
  call.ended = position;
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
