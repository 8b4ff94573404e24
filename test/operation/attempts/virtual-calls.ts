/** Executes many calls at once in virtual time, on the real stages: cache, attempts, dispatcher, lanes and budget. */
import { vi } from 'vitest';

import type { Fact } from '../../../journal/event.js';
import type { Attempt } from '../../../src/calls/attempt.js';
import { Dispatcher } from '../../../src/calls/dispatch/dispatcher.js';
import type { LearnedPace } from '../../../src/calls/dispatch/ports.js';
import type { LaneSharing } from '../../../src/calls/lanes/lane-sharing.js';
import type { Headers } from '../../../src/calls/evidence/times.js';
import type { FailureClass } from '../../../src/calls/failure.js';
import { DEFAULT_CALL_SETTINGS, type CallOptions, type CallSettings } from '../../../src/calls/options.js';
import type { ReportedUsage } from '../../../src/calls/replies/reply.js';
import { callOrReuse } from '../../../src/operation/cache-stage.js';
import { AttemptFailed } from '../../../src/runtime/calls/call-failure.js';
import type { CallClaims } from '../../../src/runtime/calls/result-cache.js';
import type { RunState } from '../../../src/runtime/frame.js';
import { createCallRuntime } from '../../../src/session/script/call-runtime.js';
import { bareCall } from '../bare-call.js';
import { bareRun, type BareRun } from '../../support/bare-run.js';

/** Says what the provider does with one attempt. */
export interface PlannedAttempt {
  readonly ms: number;
  /** Absent for a result. */
  readonly class?: FailureClass;
  readonly usage?: ReportedUsage;
  readonly retryAfterMs?: number;
  /** The reset of an allowance. */
  readonly resetsInMs?: number;
  /** The reply has them; their names are in small letters. */
  readonly headers?: Headers;
}

export interface PlannedCall {
  readonly fn: string;
  readonly options?: CallOptions;
  /** Given the number of the attempt, from 1 on. */
  readonly attempt: (tried: number) => PlannedAttempt;
  /** Makes these calls in its body before its attempt goes on: one after the other, or all at once. */
  readonly inner?: readonly PlannedCall[];
  readonly isParallel?: true;
}

export interface VirtualRun {
  /** All facts, in their order. */
  readonly facts: readonly Fact[];
  /** The attempts that reached their body, in the order of their ends. */
  readonly ledger: readonly { readonly item: string; readonly usage: ReportedUsage | undefined }[];
  readonly results: number;
  readonly failed: number;
  readonly isPaused: boolean;
  /** The most attempts that did not wait for calls inside them, whenever one began. */
  readonly mostAtOnce: number;
  readonly elapsedMs: number;
  /** When the last result came. */
  readonly lastResultMs: number;
}

/** So many timers without a fact: processes that share a lane look at it again and again while calls wait for hours. */
const EVENTS_MAX = 200_000;
/** Milliseconds of real time in which no timer is set: the table of prices is loaded in between, for instance. */
const IDLE_MAX_MS = 20_000;
const realSetTimeout = setTimeout; // before a test takes the timers over

export interface RunOptions {
  readonly parallel?: number;
  readonly settings?: Partial<CallSettings>;
  readonly seed?: number;
  /** Left by an earlier run. */
  readonly learned?: LearnedPace;
  /** The process is killed then. The test removes the timers that it leaves. */
  readonly killAtMs?: number;
  /** Present where the run is one of several that share their lanes and their calls. */
  readonly team?: { readonly sharing: LaneSharing; readonly claims: CallClaims };
}

const NOTHING_LEARNED: LearnedPace = { lanes: new Map(), costs: new Map() };

/** `parallel` calls go on at once. Throws when calls wait for what never comes. Fake timers must be in use. */
export async function runCalls(
  calls: readonly PlannedCall[],
  { parallel = 20, settings = {}, seed = 1, learned = NOTHING_LEARNED, killAtMs = Number.POSITIVE_INFINITY, team }: RunOptions = {},
): Promise<VirtualRun> {
  const random = generator(seed);
  let isPaused = false;
  const parts = {
    settings: { ...DEFAULT_CALL_SETTINGS, ...settings },
    io: { stderr: () => undefined, monotonicMs: () => performance.now(), nowMs: () => Date.now() },
    pause: () => void (isPaused = true),
    signal: new AbortController().signal,
  };
  const dispatcher = new Dispatcher({ ...parts, ...parts.io, random });
  const bare = bareRun({ calls: { ...createCallRuntime(parts), dispatcher, random } });
  const { facts, frame } = bare;
  const cache = team ? { ...bare.run.cache, claims: team.claims } : bare.run.cache;
  const run: RunState = { ...bare.run, cache, monotonicMs: parts.io.monotonicMs };
  const beganMs = performance.now();
  dispatcher.open({ record: (fact) => void facts.push(fact), learn: async () => learned, sharing: team?.sharing });
  const ledger: { item: string; usage: ReportedUsage | undefined }[] = [];
  const going = { now: 0, most: 0 };
  let [next, results, failed, lastResultMs, isOver] = [0, 0, 0, 0, false];
  const worker = async (): Promise<void> => {
    for (let item = next++; item < calls.length && !isPaused; item = next++) {
      await execute({ run, frame }, calls[item] as PlannedCall, `item ${item}`, { ledger, going }).then(
        () => [results++, (lastResultMs = performance.now() - beganMs)],
        (error: { code?: string }) => error.code !== 'INTERRUPTED' && failed++,
      );
    }
  };
  void Promise.all(Array.from({ length: parallel }, worker)).then(() => (isOver = true));
  for (let [events, idle, recorded] = [0, 0, 0]; !isOver && performance.now() - beganMs < killAtMs;) {
    if (vi.getTimerCount() > 0) {
      idle = 0;
      await vi.advanceTimersToNextTimerAsync();
    } else await new Promise((resolve) => realSetTimeout(resolve, 1));
    if (facts.length > recorded) [events, recorded] = [0, facts.length];
    if (++events > EVENTS_MAX || ++idle > IDLE_MAX_MS) throw new Error('calls wait for what never comes');
  }
  return { facts, ledger, results, failed, isPaused, mostAtOnce: going.most, elapsedMs: performance.now() - beganMs, lastResultMs };
}

async function execute(
  { run, frame }: Pick<BareRun, 'run' | 'frame'>,
  planned: PlannedCall,
  item: string,
  counts: {
    readonly ledger: { item: string; usage: ReportedUsage | undefined }[];
    readonly going: { now: number; most: number };
  },
): Promise<void> {
  const { fn, options = {} } = planned;
  const op = frame.op.child(fn);
  const call = bareCall(run, op, { fn, inputs: [item], options: { lane: 'provider', ...options } });
  await callOrReuse(call, (_lookup, _own, around) =>
    around(async (inside) => {
      const attempt = inside.attempt as Attempt;
      const { ledger, going } = counts;
      going.most = Math.max(going.most, ++going.now);
      const { inner = [], isParallel } = planned;
      const made = inner.map((each, n) => () => execute({ run, frame: { ...inside, op } }, each, `${item}/${n}`, counts));
      going.now--;
      if (isParallel) await Promise.all(made.map((make) => make()));
      else for (const make of made) await make();
      going.now++;
      const { ms, class: failureClass, usage, retryAfterMs, resetsInMs, headers } = planned.attempt(attempt.view.try);
      await new Promise((resolve) => setTimeout(resolve, ms));
      going.now--;
      if (usage) attempt.reportUsage(usage);
      if (headers) attempt.reportHeaders(headers);
      ledger.push({ item, usage });
      if (failureClass === undefined) return `answer of ${item}`;
      const told = {
        ...(retryAfterMs === undefined ? {} : { retryAfterMs }),
        ...(resetsInMs === undefined ? {} : { resetsAtMs: Date.now() + resetsInMs - ms }),
      };
      throw new AttemptFailed({ class: failureClass, evidence: 'envelope', message: 'as planned', ...told });
    })(frame, [item]),
  );
}

function generator(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 2 ** 32;
  };
}
