/** Gathers what a run recorded of one llm call: its arguments, each attempt, the result and what it was reused from. */
import type { EventOf, JournalEvent, Json, Payload } from '../../../journal/event.js';
import type { CallKey, EventRef, OpPath, RunId, RunRef, Seq, Workflow } from '../../../journal/ids.js';
import type { FailureClass, Usage } from '../../../journal/facts/call-event.js';
import type { Defect, JournalStore, RunFile } from '../../../journal/store.js';
import { isInside } from '../../fold/op-path.js';

/** A payload as far as a report may read it. `missing` says in words why there is no value. */
export type ReadPayload = { readonly value: Json } | { readonly missing: string };

export interface RecordedAttempt {
  /** From 1 on. */
  readonly try: number;
  readonly outcome: 'answered' | 'failed' | 'denied' | 'unfinished';
  /** ISO 8601, UTC. Absent where the attempt was not executed. */
  readonly started?: string;
  /** Milliseconds. */
  readonly elapsedMs?: number;
  readonly class?: FailureClass;
  readonly message?: string;
  readonly usage?: Usage;
  /** The beginning of a reply that was no result. */
  readonly excerpt?: ReadPayload;
}

export interface CallRecord {
  readonly workflow: Workflow;
  readonly run: RunId;
  readonly op: OpPath;
  readonly fn: string;
  readonly key: CallKey;
  readonly outcome: 'answered' | 'reused' | 'failed' | 'denied' | 'not-executed' | 'unfinished';
  /** The call whose result was reused. */
  readonly from?: EventRef & { readonly workflow: Workflow };
  /** The result of an earlier execution, which the guards judged: this run made no attempt. */
  readonly received?: EventRef;
  /** The worker that executed the call for this run, and its machine. */
  readonly worker?: string;
  readonly workerHost?: string;
  /** A list, as the function got them. */
  readonly arguments: ReadPayload;
  readonly result: ReadPayload;
  /** The attempts of this run; none where the result was reused or `received`. */
  readonly attempts: readonly RecordedAttempt[];
  /** Guards and hooks that ran for the call, as events. */
  readonly decisions: readonly EventOf<'guard.decided' | 'hook.fired'>[];
}

type CallEvent = EventOf<'call.started' | 'call.withdrawn' | 'call.completed' | 'call.failed' | 'call.reused'>;

interface Found {
  readonly op: OpPath;
  readonly events: CallEvent[];
  readonly decisions: EventOf<'guard.decided' | 'hook.fired'>[];
}

/**
 * Reads the calls at a path: the one that has this path, else those inside the operation. Reads the run once, and for a reused result the
 * run that it comes from.
 */
export async function callRecords(
  store: JournalStore,
  { ref }: RunFile,
  path: string,
  onDefect: (defect: Defect) => void,
): Promise<readonly CallRecord[]> {
  const found = new Map<OpPath, Found>();
  await store.scan(ref, (event) => gather(found, event, path), { onDefect });
  const calls = [...found.values()].filter(({ events }) => events.length > 0);
  const exact = calls.filter(({ op }) => op === path);
  const records: CallRecord[] = [];
  for (const call of exact.length > 0 ? exact : calls) records.push(await recordOf(store, ref, call, onDefect));
  return records;
}

function gather(found: Map<OpPath, Found>, event: JournalEvent, path: string): void {
  if (!('op' in event) || event.op === undefined || !isInside(event.op, path)) return;
  const isCall = isCallEvent(event);
  if (!isCall && event.type !== 'guard.decided' && event.type !== 'hook.fired') return;
  let call = found.get(event.op);
  if (call === undefined) found.set(event.op, (call = { op: event.op, events: [], decisions: [] }));
  if (isCall) call.events.push(event);
  else call.decisions.push(event);
}

const CALL_EVENTS: ReadonlySet<JournalEvent['type']> = new Set<CallEvent['type']>([
  'call.started',
  'call.withdrawn',
  'call.completed',
  'call.failed',
  'call.reused',
]);

function isCallEvent(event: JournalEvent): event is CallEvent {
  return CALL_EVENTS.has(event.type);
}

async function recordOf(
  store: JournalStore,
  ref: RunRef,
  { op, events, decisions }: Found,
  onDefect: (defect: Defect) => void,
): Promise<CallRecord> {
  const [first] = events as [CallEvent];
  const reused = events.find((event) => event.type === 'call.reused');
  const origin = reused && (await originOf(store, ref, reused, onDefect));
  const started = events.find((event) => event.type === 'call.started') ?? origin?.started;
  const completed = events.findLast((event) => event.type === 'call.completed') ?? origin?.completed;
  return {
    ...ref,
    op,
    fn: functionOf(events, started),
    key: first.key,
    outcome: outcomeOf(events),
    ...(reused && { from: { workflow: ref.workflow, ...reused.from } }),
    ...(started?.received && !reused && { received: started.received }),
    ...workerIn(events),
    arguments: started ? await readPayload(store, started.args, first.key) : { missing: 'not recorded' },
    result: completed ? await readPayload(store, completed.result, first.key) : { missing: reused ? 'its run is gone' : 'there is none' },
    attempts: await attemptsOf(store, events),
    decisions,
  };
}

function workerIn(events: readonly CallEvent[]): Pick<CallRecord, 'worker' | 'workerHost'> {
  const at = events.findLast((event) => event.type === 'call.reused' || event.type === 'call.started');
  if (at?.worker === undefined) return {};
  return { worker: at.worker, ...(at.workerHost !== undefined && { workerHost: at.workerHost }) };
}

function functionOf(events: readonly CallEvent[], started: EventOf<'call.started'> | undefined): string {
  for (const event of events) if ('fn' in event && event.fn !== undefined) return event.fn;
  return started?.fn ?? '';
}

function outcomeOf(events: readonly CallEvent[]): CallRecord['outcome'] {
  const last = events.at(-1);
  switch (last?.type) {
    case 'call.reused':
      return 'reused';
    case 'call.completed':
      return last.denied === true ? 'denied' : last.class !== undefined || last.exitCode !== undefined ? 'failed' : 'answered';
    case 'call.failed':
      if (last.retryInMs !== undefined) return 'unfinished';
      return last.denied === true ? 'denied' : last.class === 'upstream' ? 'not-executed' : 'failed';
    default:
      return 'unfinished';
  }
}

async function attemptsOf(store: JournalStore, events: readonly CallEvent[]): Promise<readonly RecordedAttempt[]> {
  const attempts = new Map<number, RecordedAttempt>();
  for (const event of events) {
    if (event.type === 'call.reused') continue;
    const number = event.try ?? 1;
    if (event.type === 'call.started' && event.received) return []; // calls.md 17.4
    if (event.type === 'call.started') attempts.set(number, { try: number, outcome: 'unfinished', started: event.ts });
    else if (event.type === 'call.withdrawn') attempts.delete(number);
    else attempts.set(number, { ...attempts.get(number), try: number, ...(await endOf(store, event)) });
  }
  return [...attempts.values()];
}

async function endOf(
  store: JournalStore,
  event: EventOf<'call.completed' | 'call.failed'>,
): Promise<Pick<RecordedAttempt, 'outcome'> & Partial<RecordedAttempt>> {
  const { elapsedMs, usage, class: failureClass, denied } = event;
  const common = { elapsedMs, ...(usage && { usage }), ...(failureClass && { class: failureClass }) };
  if (event.type === 'call.completed') {
    const failed = failureClass !== undefined || event.exitCode !== undefined;
    return { ...common, outcome: denied === true ? 'denied' : failed ? 'failed' : 'answered' };
  }
  const { message, excerpt, key } = event;
  const shown = excerpt && { excerpt: await readPayload(store, excerpt, key) };
  return { ...common, message, ...shown, outcome: denied === true ? 'denied' : 'failed' };
}

interface Origin {
  readonly started: EventOf<'call.started'> | undefined;
  readonly completed: EventOf<'call.completed'> | undefined;
}

/** Reads the recorded call up to the event that holds its result. */
async function originOf(
  store: JournalStore,
  ref: RunRef,
  { from, key }: EventOf<'call.reused'>,
  onDefect: (defect: Defect) => void,
): Promise<Origin> {
  let started: EventOf<'call.started'> | undefined;
  let completed: EventOf<'call.completed'> | undefined;
  const until: Seq = from.seq;
  const source = { workflow: from.workflow ?? ref.workflow, run: from.run };
  const visit = (event: JournalEvent): void => {
    if (event.seq > until || !('key' in event) || event.key !== key) return;
    if (event.type === 'call.started') started = event;
    if (event.type === 'call.completed' && event.seq === until) completed = event;
  };
  // A run that was collected since has no events.
  if ((await store.runs(source.workflow)).some((file) => file.ref.run === source.run)) await store.scan(source, visit, { onDefect });
  return { started, completed };
}

/** Secrets stay closed: a report has no key. */
export async function readPayload(store: JournalStore, payload: Payload, key: CallKey): Promise<ReadPayload> {
  if ('inline' in payload) return { value: payload.inline };
  if ('redacted' in payload) return { missing: `taken out of the journal: ${payload.redacted}` };
  if ('digest' in payload) return { missing: 'it holds a secret and was not kept' };
  if ('sealed' in payload || payload.keyId !== undefined) return { missing: 'it holds a secret and is kept sealed' };
  const value = await store.resolve(payload, key);
  return value === undefined ? { missing: 'it is gone, damaged or too large to be shown' } : { value };
}
