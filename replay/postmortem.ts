/**
 * Why a run did not get to its end: a fold over its events.
 *
 * Q1 an error rises through the operations around it: the chain of an operation that failed is that of the part that failed with it
 * Q2 an operation that ends well has dealt with what failed inside it; that stays a failure, and is no cause
 * Q3 any prefix is a legal input: of a run that crashed or goes on, what is open says where it stands
 * Q4 memory in proportion to what is open and to the questions asked, not to events
 */
import type { EventOf, Payload } from '../journal/event.js';
import type { BlobId, CallKey, OpPath, Seq } from '../journal/ids.js';
import { causeOf, type FailureCause } from './failure-cause.js';
import { ancestorsOf, iterationOf } from './op-path.js';
import { previewOf } from './preview.js';
import type { Projection } from './projection.js';

/** An operation that has not ended, or one of the chain. */
export interface Step {
  readonly op: OpPath;
  readonly kind: string;
  readonly name: string | undefined;
  readonly item: string | undefined;
  /** Where it was called: `llm/run/job.mld:12:9`. */
  site: string | undefined;
  readonly startedMs: number;
  readonly seq: Seq;
  /** Loops only. */
  readonly loop: LoopCount | undefined;
  /** Operations directly inside that have not ended. */
  open: number;
  call: AskedCall | undefined;
}

interface LoopCount {
  readonly total: number;
  begun: number;
  ended: number;
  /** Questions inside, by function. */
  readonly calls: Map<string, number>;
}

export interface AskedCall {
  readonly key: CallKey;
  readonly fn: string;
  readonly preview: string | undefined;
  readonly startedMs: number;
}

export interface FailureGroup {
  readonly cause: FailureCause;
  /** The function, or the kind of operation. */
  readonly what: string;
  count: number;
  /** Of the first one. */
  readonly message: string;
  readonly op: OpPath;
  readonly seq: Seq;
}

export interface HookFailure {
  readonly hook: string;
  readonly timing: 'before' | 'after';
  readonly filter: string;
  readonly error: string;
  count: number;
  readonly op: OpPath;
  readonly seq: Seq;
}

export interface GuardDenial {
  readonly guard: string;
  readonly timing: 'before' | 'after';
  readonly filter: string;
  readonly reason: string | undefined;
  count: number;
  readonly op: OpPath;
  readonly seq: Seq;
}

/** Why a question has no answer that could be served. */
export type Unanswered = 'in-flight' | 'failed' | 'denied' | 'unusable';

/** What the calls of a function took and cost. */
export interface Rate {
  calls: number;
  elapsedMs: number;
  priced: number;
  costUsd: number;
}

interface Chain {
  readonly message: string | undefined;
  /** Outermost first. */
  readonly steps: readonly Step[];
}

export interface PostMortem {
  started: EventOf<'run.started'> | undefined;
  finished: EventOf<'run.finished'> | undefined;
  lastMs: number;
  lastSeq: number;
  readonly sources: Map<string, BlobId>;
  readonly steps: Map<OpPath, Step>;
  /** What has failed inside an operation that is still open; under '' what failed at the top. */
  readonly risen: Map<string, Chain[]>;
  /** Operations whose failure was counted when their call failed. */
  readonly counted: Set<OpPath>;
  readonly failures: Map<string, FailureGroup>;
  readonly hookFailures: Map<string, HookFailure>;
  readonly denials: Map<string, GuardDenial>;
  checkpoint: { readonly name: string; readonly seq: Seq; closed: boolean } | undefined;
  executed: number;
  reused: number;
  readonly answered: Set<CallKey>;
  readonly unanswered: Map<CallKey, { readonly fn: string; readonly preview: string | undefined; why: Unanswered }>;
  readonly rates: Map<string, Rate>;
}

const TOP = '';

/** Of one run. */
export const postMortem: Projection<PostMortem> = {
  initial: () => ({
    started: undefined,
    finished: undefined,
    lastMs: 0,
    lastSeq: -1,
    sources: new Map(),
    steps: new Map(),
    risen: new Map(),
    counted: new Set(),
    failures: new Map(),
    hookFailures: new Map(),
    denials: new Map(),
    checkpoint: undefined,
    executed: 0,
    reused: 0,
    answered: new Set(),
    unanswered: new Map(),
    rates: new Map(),
  }),
  apply(state, event) {
    state.lastMs = Date.parse(event.ts);
    state.lastSeq = event.seq;
    switch (event.type) {
      case 'run.started':
        state.started = event;
        break;
      case 'run.finished':
        state.finished = event;
        break;
      case 'source.loaded':
        state.sources.set(event.path, event.blob);
        break;
      case 'op.started':
        startStep(state, event);
        break;
      case 'op.finished':
        endStep(state, event);
        break;
      case 'call.started':
        startCall(state, event);
        break;
      case 'call.completed':
        completeCall(state, event);
        break;
      case 'call.reused':
        state.reused += 1;
        settle(state, event.key);
        countInLoops(state, event.op, event.fn);
        break;
      case 'call.failed':
        failCall(state, event);
        break;
      case 'effect.performed':
        noteExitStatus(state, event);
        break;
      case 'hook.fired':
        if (event.error !== undefined) {
          const { hook, timing, filter, error, op, seq } = event;
          tally(state.hookFailures, [hook, timing, filter, error], { hook, timing, filter, error, op, seq });
        }
        break;
      case 'guard.decided':
        if (event.decision === 'deny') {
          const { guard, timing, filter, reason, op, seq } = event;
          tally(state.denials, [guard, timing, filter, reason], { guard, timing, filter, reason, op, seq });
        }
        break;
      case 'checkpoint.reached':
        state.checkpoint = { name: event.name, seq: event.seq, closed: false };
        break;
      case 'checkpoint.closed':
        if (state.checkpoint?.name === event.name) state.checkpoint.closed = true;
        break;
      default:
        break;
    }
    return state;
  },
};

/** The operations down to what ended the run, or to where a run without an end stands: outermost first. */
export function causeChain(state: PostMortem): readonly Step[] {
  const status = state.finished?.status;
  if (status !== undefined) {
    if (status === 'completed') return [];
    return state.risen.get(TOP)?.at(-1)?.steps ?? openChain(state);
  }
  return openChain(state);
}

/** Innermost operations that have not ended, and every call in flight; nothing twice. */
export function inFlight(state: PostMortem): readonly Step[] {
  const calls = [...state.steps.values()].filter(({ call }) => call !== undefined);
  const asking = new Set(calls.map(({ op }) => op));
  const leaves = [...state.steps.values()].filter(({ open, call }) => open === 0 && call === undefined);
  return [...calls, ...leaves.filter(({ op }) => !ancestors(op).some((path) => asking.has(path)))];
}

// ---- operations

function startStep(state: PostMortem, event: EventOf<'op.started'>): void {
  const { op, kind, name, item, site, seq, total } = event;
  const loop = total === undefined ? undefined : { total, begun: 0, ended: 0, calls: new Map<string, number>() };
  const around = nearest(state, op);
  if (around !== undefined) around.open += 1;
  if (kind === 'for:iteration' && around?.loop !== undefined) around.loop.begun += 1;
  state.steps.set(op, { op, kind, name, item, site, startedMs: state.lastMs, seq, loop, open: 0, call: undefined });
}

function endStep(state: PostMortem, { op, outcome, message, seq }: EventOf<'op.finished'>): void {
  const step = state.steps.get(op);
  state.steps.delete(op);
  const inside = state.risen.get(op);
  state.risen.delete(op);
  const around = nearest(state, op);
  if (around !== undefined) {
    around.open -= 1;
    if (around.loop !== undefined && iterationOf(op) !== undefined) around.loop.ended += 1;
  }
  const wasCounted = state.counted.delete(op);
  if (outcome !== 'failed' && outcome !== 'denied') return; // Q2
  // Side by side several may have failed: the one that rose is the one that is told of here.
  const cause = inside?.findLast((chain) => chain.message === message) ?? inside?.at(-1);
  if (cause === undefined && !wasCounted && message !== undefined) {
    countFailure(state, step?.call?.fn ?? step?.name ?? step?.kind ?? op, message, { op, seq });
  }
  const steps = [...(step === undefined ? [] : [step]), ...(cause?.steps ?? [])]; // Q1
  if (steps.length === 0) return;
  const under = around?.op ?? TOP;
  const beside = state.risen.get(under);
  if (beside === undefined) state.risen.set(under, [{ message, steps }]);
  else {
    beside.push({ message, steps });
    if (beside.length > CHAINS_MAX) beside.shift();
  }
}

/** Of one operation: a loop may collect any number of failed iterations before it ends. */
const CHAINS_MAX = 100;

function nearest(state: PostMortem, op: OpPath): Step | undefined {
  for (const path of ancestorsOf(op)) {
    const step = state.steps.get(path);
    if (step !== undefined) return step;
  }
  return undefined;
}

function ancestors(op: OpPath): readonly OpPath[] {
  return [...ancestorsOf(op)];
}

/** Down to the call that was asked last, or to the operation that was begun last. */
function openChain(state: PostMortem): readonly Step[] {
  const candidates = inFlight(state);
  const asking = candidates.filter(({ call }) => call !== undefined);
  const last = (asking.length > 0 ? asking : candidates).reduce<Step | undefined>(
    (latest, step) => (latest === undefined || step.seq > latest.seq ? step : latest),
    undefined,
  );
  if (last === undefined) return [];
  const around = ancestors(last.op).map((path) => state.steps.get(path));
  return [...around.filter((step) => step !== undefined).reverse(), last];
}

// ---- calls

function startCall(state: PostMortem, event: EventOf<'call.started'>): void {
  const { op, key, fn, site } = event;
  const preview = event.preview ?? previewOf(event.args);
  const step = state.steps.get(op);
  if (step !== undefined) {
    step.call = { key, fn, preview, startedMs: state.lastMs };
    step.site ??= site;
  }
  state.answered.delete(key);
  state.unanswered.set(key, { fn, preview, why: 'in-flight' });
  countInLoops(state, op, fn);
}

function completeCall(state: PostMortem, event: EventOf<'call.completed'>): void {
  const { op, key, elapsedMs, usage, unusable, result, seq } = event;
  const step = state.steps.get(op);
  const fn = step?.call?.fn ?? state.unanswered.get(key)?.fn ?? op;
  if (step !== undefined) step.call = undefined;
  state.executed += 1;
  const rate = rateOf(state, fn);
  rate.calls += 1;
  rate.elapsedMs += elapsedMs;
  if (usage?.costUsd !== undefined) {
    rate.priced += 1;
    rate.costUsd += usage.costUsd;
  }
  if (unusable === undefined) return settle(state, key);
  const open = state.unanswered.get(key);
  if (open !== undefined) open.why = 'unusable';
  const said = beginningOf(result);
  countFailure(state, fn, said === '' ? unusable : `${unusable}: ${said}`, { op, seq });
}

function failCall(state: PostMortem, { op, key, message, denied, seq }: EventOf<'call.failed'>): void {
  const step = state.steps.get(op);
  const open = state.unanswered.get(key);
  countFailure(state, step?.call?.fn ?? open?.fn ?? step?.name ?? op, message, { op, seq }, denied === true ? 'denied' : undefined);
  if (open !== undefined) open.why = denied === true ? 'denied' : 'failed';
  if (step !== undefined) {
    step.call = undefined;
    state.counted.add(op);
  }
}

function settle(state: PostMortem, key: CallKey): void {
  state.answered.add(key);
  state.unanswered.delete(key);
}

function countInLoops(state: PostMortem, op: OpPath, fn: string): void {
  for (const path of ancestorsOf(op)) {
    const loop = state.steps.get(path)?.loop;
    if (loop !== undefined) loop.calls.set(fn, (loop.calls.get(fn) ?? 0) + 1);
  }
}

/** Commands of the script itself; that of a call tells its status in the call. */
function noteExitStatus(state: PostMortem, event: EventOf<'effect.performed'>): void {
  if (state.steps.get(event.op)?.call !== undefined) return;
  if (event.kind !== 'command.run' || event.result === undefined || !('inline' in event.result)) return;
  const { exitCode, stderr } = (event.result.inline ?? {}) as { readonly exitCode?: unknown; readonly stderr?: unknown };
  if (typeof exitCode !== 'number' || exitCode === 0) return;
  const said = typeof stderr === 'string' ? stderr.trim().slice(0, SAID_UNITS_MAX) : '';
  const message = `ended with status ${exitCode}: ${said === '' ? event.subject : said}`;
  countFailure(state, 'command', message, { op: event.op, seq: event.seq });
  // Where the status ends the operation too, it is one failure.
  if (state.steps.has(event.op)) state.counted.add(event.op);
}

// ---- groups

const GROUPS_MAX = 200;
const SAID_UNITS_MAX = 160;

function countFailure(
  state: PostMortem,
  what: string,
  message: string,
  where: { readonly op: OpPath; readonly seq: Seq },
  known?: FailureCause,
): void {
  const cause = known ?? causeOf(message);
  tally(state.failures, [cause, what], { cause, what, message, ...where });
}

/** One entry for all that is alike; what comes beyond `GROUPS_MAX` different ones is not kept apart. */
function tally<Group extends { count: number }>(
  groups: Map<string, Group>,
  id: readonly (string | undefined)[],
  first: Omit<Group, 'count'>,
): void {
  const name = JSON.stringify(id);
  const known = groups.get(name);
  if (known !== undefined) known.count += 1;
  else if (groups.size < GROUPS_MAX) groups.set(name, { ...first, count: 1 } as unknown as Group);
}

function beginningOf(result: Payload): string {
  return 'inline' in result && typeof result.inline === 'string' ? result.inline.trim().slice(0, SAID_UNITS_MAX) : '';
}

// ---- what it would cost

function rateOf(state: PostMortem, fn: string): Rate {
  let rate = state.rates.get(fn);
  if (rate === undefined) state.rates.set(fn, (rate = { calls: 0, elapsedMs: 0, priced: 0, costUsd: 0 }));
  return rate;
}
