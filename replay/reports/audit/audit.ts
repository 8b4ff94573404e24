/**
 * Folds the effects of a run on the world and of the world on the run: model calls, commands, files, decisions of guards, errors of hooks.
 *
 * AUDIT-1 an entry is complete when it is added: a call with its outcome, at the place in the order where that was known
 * AUDIT-2 entries are collected in `entries`; the reader of a long run takes them out, so that memory is bound by what is in flight
 * AUDIT-3 what had not ended when the events do is an entry too: `unended` returns these calls
 */
import type { EventOf, Payload, Usage } from '../../../journal/event.js';
import type { CallKey, EventRef, OpPath, Seq, Workflow } from '../../../journal/ids.js';
import type { Position } from '../../../journal/store.js';
import { endedAttempt, type AttemptOutcome } from '../../fold/calls/ended-call.js';
import { callPhases, type CallPhases } from '../../workflows/call-phases.js';
import type { CallCause } from '../../fold/calls/failure-class.js';
import { ancestorsOf } from '../../fold/op-path.js';
import { previewOf } from '../../fold/preview.js';
import { dropOldest } from '../team/team-calls.js';
import type { Place, Projection } from '../../fold/projection.js';

interface Common {
  readonly seq: Seq;
  /** ISO 8601, UTC. */
  readonly ts: string;
  readonly op?: OpPath;
  /** Labels of the operation and of those around it. */
  readonly labels?: readonly string[];
  /** The phase of a call of a workflow script. */
  readonly phase?: string;
}

/** One attempt of a call, a reused result, or a call that was not executed. */
export interface AuditedCall extends Common {
  readonly entry: 'call';
  readonly op: OpPath;
  readonly fn: string;
  readonly key: CallKey;
  readonly site?: string;
  /** The first argument as text, clipped; absent for a secret. */
  readonly preview?: string;
  /** The number of the attempt. Absent for a reused result, a result that was judged later, and a call that was not executed. */
  readonly try?: number;
  /** As `ended-call.ts` has it; `unfinished`: it was in flight when the events ended. */
  readonly outcome: AttemptOutcome | 'unfinished';
  /** The class of a failed attempt. */
  readonly class?: CallCause;
  /** The attempt failed, and another one followed after this time. */
  readonly retryInMs?: number;
  readonly lane?: string;
  /** The cost of the call whose result was reused, when it was executed. */
  readonly savedUsd?: number;
  readonly message?: string;
  /** The worker that executed the call for this run, its machine, and what it cost there: the worker's run has the attempts. */
  readonly worker?: string;
  readonly workerHost?: string;
  readonly workerUsd?: number;
  /** The event that holds the result of an earlier execution, which the guards judged: no attempt began. */
  readonly received?: EventRef;
  /** The event that holds a reused result. */
  readonly from?: EventRef & { readonly workflow?: Workflow };
  /** This and the members up to `costSource` are there for an attempt, and null where they are not known. */
  readonly model?: string | null;
  readonly inputTokens?: number | null;
  readonly outputTokens?: number | null;
  /** US dollars. */
  readonly costUsd?: number | null;
  readonly costSource?: NonNullable<Usage['costSource']> | null;
  /** All that the attempt reported. */
  readonly usage?: Usage;
  readonly durationMs?: number;
  /** Files that it wrote: declared ones, and those that its arguments name. */
  readonly outputs?: readonly { readonly path: string; readonly hash?: string }[];
}

export interface AuditedCommand extends Common {
  readonly entry: 'command';
  /** As the script has it, clipped. */
  readonly command: string;
  readonly exitCode?: number;
  readonly error?: string;
  readonly durationMs?: number;
}

export interface AuditedFile extends Common {
  readonly entry: 'file';
  /** `missed`: it was looked for, and was not there to be read. */
  readonly did: 'read' | 'missed' | 'write' | 'append' | 'remove';
  /** The path as the script gave it. */
  readonly path: string;
  /** The digest of what was read or written: `sha256:` and 64 hex digits. */
  readonly hash?: string;
  /** The published module that the file is. */
  readonly module?: EventOf<'source.loaded'>['module'];
  readonly error?: string;
}

export interface AuditedGuard extends Common {
  readonly entry: 'guard';
  readonly guard: string;
  readonly timing: 'before' | 'after';
  readonly filter: string;
  readonly decision: 'allow' | 'deny' | 'retry';
  readonly reason?: string;
  readonly transformed: boolean;
}

export interface AuditedHook extends Common {
  readonly entry: 'hook';
  readonly hook: string;
  readonly timing: 'before' | 'after';
  readonly filter: string;
  readonly durationMs: number;
  readonly error?: string;
}

/** A result of this run that is not used: the one of `by` was recorded first. */
export interface AuditedSuperseded extends Common {
  readonly entry: 'superseded';
  readonly op: OpPath;
  readonly key: CallKey;
  readonly fn: string;
  /** The number of the event that holds the result. */
  readonly of: Seq;
  readonly by: EventRef;
  /** US dollars; null where it is not known. */
  readonly costUsd: number | null;
}

export type AuditEntry = AuditedCall | AuditedSuperseded | AuditedCommand | AuditedFile | AuditedGuard | AuditedHook;

interface CallInFlight {
  readonly seq: Seq;
  readonly ts: string;
  readonly op: OpPath;
  readonly fn: string;
  readonly key: CallKey;
  readonly site?: string;
  readonly preview?: string;
  readonly try?: number;
  readonly received?: EventRef;
  readonly lane?: string;
  readonly worker?: string;
  readonly workerHost?: string;
  readonly usage?: Usage;
}

export interface AuditTrail {
  entries: AuditEntry[];
  readonly inFlight: Map<OpPath, CallInFlight>;
  /** Labels of open operations that carry some. */
  readonly labels: Map<OpPath, readonly string[]>;
  readonly phases: CallPhases;
  /** The latest results: an event behind one may say that it came too late. */
  readonly recent: Map<Seq, { readonly fn: string; readonly costUsd: number | null }>;
  /** Places of the results that this run recorded, by the number of their entry; undefined unless `keepResults` is set. */
  readonly results: Map<Seq, Position> | undefined;
}

/** Folds the events of one run. `keepResults`: also keeps the place of each result, for a caller that reads them. */
export function auditTrail({ keepResults }: { readonly keepResults: boolean }): Projection<AuditTrail> {
  return {
    initial: () => ({
      entries: [],
      inFlight: new Map(),
      labels: new Map(),
      phases: callPhases.initial(),
      recent: new Map(),
      results: keepResults ? new Map() : undefined,
    }),
    apply(state, event, place) {
      callPhases.apply(state.phases, event, place);
      switch (event.type) {
        case 'source.loaded':
          state.entries.push({
            entry: 'file',
            seq: event.seq,
            ts: event.ts,
            did: 'read',
            path: event.path,
            hash: event.blob,
            ...(event.module && { module: event.module }),
          });
          break;
        case 'op.started':
          if (event.labels !== undefined) state.labels.set(event.op, event.labels);
          break;
        case 'op.finished':
          state.labels.delete(event.op);
          break;
        case 'call.started':
          startCall(state, event);
          break;
        case 'result.received':
          receive(state, event);
          break;
        case 'call.withdrawn':
          state.inFlight.delete(event.op);
          break;
        case 'call.completed':
          completeCall(state, event, place);
          break;
        case 'call.failed':
          state.entries.push(ended(state, event));
          break;
        case 'call.reused':
          reuseCall(state, event);
          break;
        case 'call.superseded': {
          const { key, op, of, by } = event;
          const { fn = '', costUsd = null } = state.recent.get(of) ?? {};
          state.entries.push({ entry: 'superseded', ...common(state, event), op, key, fn, of, by, costUsd });
          break;
        }
        case 'effect.performed':
          effect(state, event);
          break;
        case 'guard.decided': {
          const { guard, timing, filter, decision, reason, transformed } = event;
          const why = reason === undefined ? {} : { reason };
          state.entries.push({ entry: 'guard', ...common(state, event), guard, timing, filter, decision, ...why, transformed });
          break;
        }
        case 'hook.fired': {
          const { hook, timing, filter, elapsedMs: durationMs, error } = event;
          const why = error === undefined ? {} : { error };
          state.entries.push({ entry: 'hook', ...common(state, event), hook, timing, filter, durationMs, ...why });
          break;
        }
        default:
          break;
      }
      return state;
    },
  };
}

/** Returns the calls that had not ended when the events ended (AUDIT-3). */
export function unended(state: AuditTrail): readonly AuditedCall[] {
  return [...state.inFlight.values()].map(({ usage, ...call }) => ({
    entry: 'call',
    ...call,
    ...labelled(state, call.op),
    outcome: 'unfinished',
    ...(call.received === undefined && priceOf(usage)),
  }));
}

function startCall(state: AuditTrail, event: EventOf<'call.started'>): void {
  const { seq, ts, op, fn, key, site, preview = previewOf(event.args), try: tried = 1, received, lane, worker, workerHost } = event;
  state.inFlight.set(op, {
    seq,
    ts,
    op,
    fn,
    key,
    ...(site !== undefined && { site }),
    ...(preview !== undefined && { preview }),
    ...(received === undefined ? { try: tried } : { received }),
    ...(lane !== undefined && { lane }),
    ...(worker !== undefined && { worker }),
    ...(workerHost !== undefined && { workerHost }),
  });
}

/** The cost of an attempt is known before it ends where guards judge what came back. */
function receive({ inFlight }: AuditTrail, { op, usage }: EventOf<'result.received'>): void {
  const begun = inFlight.get(op);
  if (begun !== undefined && usage !== undefined) inFlight.set(op, { ...begun, usage });
}

function completeCall(state: AuditTrail, event: EventOf<'call.completed'>, { position }: Place): void {
  const { seq } = event;
  const written = [...(event.outputs ?? []), ...(event.files ?? []).filter(({ inner }) => !inner)];
  state.results?.set(seq, position);
  const call = ended(state, event);
  state.recent.set(seq, { fn: call.fn, costUsd: (event.callUsage ?? event.usage)?.costUsd ?? null });
  dropOldest(state.recent);
  state.entries.push({
    ...call,
    ...(written.length > 0 && { outputs: written.map((file) => ({ path: file.path, ...('blob' in file && { hash: file.blob }) })) }),
  });
}

/** A damaged `call.started` loses the names, not the entry. */
function ended(state: AuditTrail, event: EventOf<'call.completed' | 'call.failed'>): AuditedCall {
  const { op, key } = event;
  const { outcome, message, usage, durationMs, cause } = endedAttempt(event);
  const begun = state.inFlight.get(op);
  state.inFlight.delete(op);
  const named = event.type === 'call.failed' ? event.fn : undefined;
  const retryInMs = event.type === 'call.failed' ? event.retryInMs : undefined;
  const { fn = named ?? '', site, preview, try: tried, received, lane, worker, workerHost } = begun ?? {};
  return {
    entry: 'call',
    ...common(state, event),
    op,
    fn,
    key,
    ...(site !== undefined && { site }),
    ...(preview !== undefined && { preview }),
    ...(tried !== undefined && { try: tried }),
    ...(received !== undefined && { received }),
    outcome,
    ...(cause !== undefined && { class: cause }),
    ...(retryInMs !== undefined && { retryInMs }),
    ...(lane !== undefined && { lane }),
    ...(worker !== undefined && { worker }),
    ...(workerHost !== undefined && { workerHost }),
    ...(message !== undefined && { message }),
    ...(outcome !== 'not-executed' && received === undefined && priceOf(usage)),
    ...(usage !== undefined && { usage }),
    ...(durationMs !== undefined && { durationMs }),
  };
}

type Price = Pick<AuditedCall, 'model' | 'inputTokens' | 'outputTokens' | 'costUsd' | 'costSource'>;

function priceOf(usage: Usage | undefined): Price {
  const { model, inputTokens, outputTokens, costUsd, costSource } = usage ?? {};
  return {
    model: model ?? null,
    inputTokens: inputTokens ?? null,
    outputTokens: outputTokens ?? null,
    costUsd: costUsd ?? null,
    costSource: costSource ?? null,
  };
}

function reuseCall(state: AuditTrail, event: EventOf<'call.reused'>): void {
  const { op, fn, key, site, preview, from, savedUsd, worker, workerHost, workerUsd } = event;
  const outputs = [...(event.outputs ?? []), ...(event.files ?? []).filter(({ did }) => did === 'same' || did === 'restored')];
  state.entries.push({
    entry: 'call',
    ...common(state, event),
    op,
    fn,
    key,
    ...(site !== undefined && { site }),
    ...(preview !== undefined && { preview }),
    outcome: 'reused',
    ...(savedUsd !== undefined && { savedUsd }),
    ...(worker !== undefined && { worker }),
    ...(workerHost !== undefined && { workerHost }),
    ...(workerUsd !== undefined && { workerUsd }),
    from,
    ...(outputs.length > 0 && { outputs: outputs.map(({ path }) => ({ path })) }),
  });
}

const FILE_EFFECTS: { readonly [kind: string]: AuditedFile['did'] } = {
  'file.read': 'read',
  'file.write': 'write',
  'file.append': 'append',
  'file.remove': 'remove',
};

function effect(state: AuditTrail, event: EventOf<'effect.performed'>): void {
  const { kind, subject, file, error, elapsedMs: durationMs, result } = event;
  const why = error === undefined ? {} : { error };
  const did = kind === 'file.read' && isMissing(result) ? 'missed' : FILE_EFFECTS[kind];
  if (did !== undefined) {
    state.entries.push({ entry: 'file', ...common(state, event), did, path: subject, ...(file !== undefined && { hash: file }), ...why });
  } else if (kind === 'command.run' || kind === 'code.run') {
    const exitCode = exitCodeOf(result);
    state.entries.push({
      entry: 'command',
      ...common(state, event),
      command: subject,
      ...(exitCode !== undefined && { exitCode }),
      ...why,
      ...(durationMs !== undefined && { durationMs }),
    });
  }
}

function isMissing(result: Payload | undefined): boolean {
  return (
    result !== undefined && 'inline' in result && typeof result.inline === 'object' && result.inline !== null && 'missing' in result.inline
  );
}

function exitCodeOf(result: Payload | undefined): number | undefined {
  if (result === undefined || !('inline' in result)) return undefined;
  const { exitCode } = (result.inline ?? {}) as { readonly exitCode?: unknown };
  return typeof exitCode === 'number' ? exitCode : undefined;
}

function common(state: AuditTrail, { seq, ts, op }: { readonly seq: Seq; readonly ts: string; readonly op: OpPath }) {
  const phase = state.phases.get(op);
  return { seq, ts, op, ...labelled(state, op), ...(phase !== undefined && { phase }) };
}

function labelled({ labels }: AuditTrail, op: OpPath): { readonly labels?: readonly string[] } {
  if (labels.size === 0) return {};
  let all = labels.get(op);
  for (const path of ancestorsOf(op)) {
    const around = labels.get(path);
    if (around !== undefined && around !== all) all = all === undefined ? around : [...new Set([...all, ...around])];
  }
  return all === undefined ? {} : { labels: all };
}
