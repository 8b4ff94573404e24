/**
 * Executes the body of a call, as often as its failures allow: each execution is an attempt. calls.md 2, 3 and 6.
 *
 * ATTEMPT-1 An attempt starts only when its lane and the budget let it; `call.started` is with the kernel before its body runs.
 * ATTEMPT-2 Each attempt that fails leaves `call.failed`; where another one follows, with `retryInMs`. The end of the last attempt is
 *    recorded by `execute-call.ts`, which also sees what the guards made of it.
 * ATTEMPT-3 An error that ends the run, a guard's decision, and the failure of a call inside end the call: no attempt follows them.
 * ATTEMPT-4 A failure that stops its lane leaves the call waiting, because the run must not go on as if the call had failed.
 * ATTEMPT-5 The place and the reservation of the last attempt are free once its end is handed to the journal, so that no start is recorded
 *    before the end that let it happen. With hooks or guards they are free before these run, because they may make calls of their own.
 * ATTEMPT-6 A call whose claim may have been lost while its start was recorded is claimed again; where another run has it by then, the
 *    attempt gives back its place and its reservation, and the call waits for what that run makes of it (`own-claim.ts`).
 * ATTEMPT-7 No attempt follows a reply that fits the schema only without its envelope: the model can't do anything about that.
 */
import type { Usage } from '../../../journal/event.js';
import { isTurnedAway } from '../../../journal/facts/turned-away.js';
import { Attempt, type AttemptView } from '../../calls/attempt.js';
import { addAttempt } from '../../calls/usage.js';
import { CountedTime } from '../../calls/counted-time.js';
import { BodyReport } from '../../calls/body-report.js';
import { attemptsFor, backoffMs, waitsForLane } from '../../calls/attempts-left.js';
import { isUnknown, uncountedBy, type Cost, type Reservation } from '../../calls/budget/budget.js';
import type { SharedBudgetGate } from '../../calls/budget/shared-gate.js';
import type { Started } from '../../calls/dispatch/ports.js';
import type { StartRequest } from '../../calls/dispatch/lane.js';
import type { Failure } from '../../calls/failure.js';
import type { CallOptions, ReplyPlace } from '../../calls/options.js';
import { BodyDeadline } from '../../runtime/body-deadline.js';
import type { CallRuntime } from '../../runtime/calls/call-runtime.js';
import type { LostClaim } from '../../runtime/calls/claimed-call.js';
import type { Outcome } from '../../runtime/completion.js';
import type { Frame } from '../../runtime/frame.js';
import type { Body } from '../../runtime/ports.js';
import type { Value } from '../../values/value.js';
import type { AttemptParts, AttemptRecord, CallProgress } from './call-progress.js';
import { inBody } from './in-body.js';
import { judge, type Judgement } from './judge-attempt.js';
import type { CacheableCall } from '../cacheable-call.js';
import { replayCall } from './replayed-call.js';
import { withProblem } from '../replies/repair-inputs.js';
import { callError, factsOfFailure, failedFacts } from './failed-attempt.js';

/** Wraps the body of a call, for the guards around it. */
export function inAttempts(call: CacheableCall, options: CallOptions, progress: CallProgress, record: AttemptRecord | undefined) {
  return (body: Body): Body =>
    (frame, inputs) => {
      const recorded = call.run.replayed?.call(call.op.path);
      const parts: AttemptParts = { call, options, progress, record, body, frame, inputs };
      return recorded ? replayCall(recorded, parts) : new Attempts(parts).run();
    };
}

/**
 * Its functions are methods (test/readable.test.ts): V8 allocates a function that is assigned to a member
 * (`this.warn = () => …`) among the old objects, where it keeps all that it refers to until all memory is collected.
 */
class Attempts {
  private readonly calls: CallRuntime | undefined;
  private view: AttemptView;
  /** Its reservation is settled already. */
  private abandoned: Started | undefined;

  private readonly call: CacheableCall;
  private readonly options: CallOptions;
  private readonly progress: CallProgress;
  private readonly record: AttemptRecord | undefined;
  private readonly body: Body;
  private readonly frame: Frame;
  private readonly inputs: readonly Value[];

  constructor({ call, options, progress, record, body, frame, inputs }: AttemptParts) {
    this.call = call;
    this.options = options;
    this.progress = progress;
    this.record = record;
    this.body = body;
    this.frame = frame;
    this.inputs = inputs;
    this.calls = call.run.calls;
    const { lane, model } = options;
    this.view = { try: 1, ...(lane === undefined ? {} : { lane }), ...(model === undefined ? {} : { model }) };
  }

  async run(): Promise<Outcome> {
    for (;;) {
      const starting = this.calls?.dispatcher.start(this.request());
      const admitted = starting instanceof Promise ? await this.waitFor(starting) : starting; // ATTEMPT-1
      const gate = this.calls?.sharedBudgets;
      const started = gate && admitted ? await this.waitFor(this.reserve(gate, admitted)) : admitted;
      let judged: Judgement | 'not begun';
      try {
        judged = await this.runOnce(started);
      } catch (error) {
        this.finishLast(started);
        throw error;
      }
      if (judged === 'not begun') continue;
      if (judged.kind === 'failed') {
        const passedOn = await this.failed(judged, started);
        if (passedOn) return passedOn.value;
        continue;
      }
      this.finishLast(started);
      if (judged.kind === 'completed') return judged.value;
      throw judged.error;
    }
  }

  /** Frees the place of the attempt, settles what it had reserved, and teaches its lane. */
  private finish(started: Started | undefined, failure?: Failure): void {
    if (!started || this.abandoned === started) return;
    const { usage, attempt } = this.progress;
    this.calls?.dispatcher.finish(started, {
      cost: costOf(usage, usage === undefined && isFreeAttempt(attempt, failure)),
      ...(failure ? { failure } : {}),
      ...(attempt?.headers ? { headers: attempt.headers } : {}),
    });
  }

  /** ATTEMPT-5 */
  private finishLast(started: Started | undefined, failure?: Failure): void {
    const finish = (): void => this.finish(started, failure);
    if (this.call.run.interceptors.active) finish();
    else this.progress.endsWhenRecorded(finish);
  }

  /** Resolves when the shared budgets hold back what the attempt may cost; else waits for the pause of the run. */
  private async reserve(gate: SharedBudgetGate, admitted: Started): Promise<Started> {
    const { record, view, call, frame } = this;
    const isInner = frame.attempt !== undefined;
    const warnOnce = (message: string): void => this.warnOnce('shared budget', message);
    const begun = await gate.admit(admitted, { key: record?.key, try: view.try, fn: call.llm.fn, isInner, warnOnce });
    if (begun) return begun;
    this.calls?.dispatcher.abandon(admitted);
    return this.calls?.dispatcher.refuse(this.request()) ?? admitted;
  }

  /** The time in a queue counts neither for this call nor for those around it. calls.md 6.5. */
  private waitFor<T>(waiting: Promise<T>): Promise<T> {
    return this.frame.attempt?.time?.waitFor(waiting) ?? waiting;
  }

  private request(): StartRequest {
    const { op, llm } = this.call;
    const { lane = `@${llm.fn}`, maxCost } = this.options;
    return { op: op.path, fn: llm.fn, lane, isRetry: this.view.try > 1 && !this.isRejectedAgain(), ...(maxCost ? { maxCost } : {}) };
  }

  /** Such a call lets the others go first, so that what they get tells whether the lane or the call is to blame. calls.md 12.2. */
  private isRejectedAgain(): boolean {
    const last = this.progress.classes.slice(-2);
    return last.length === 2 && last.every((each) => waitsForLane(each));
  }

  /** Gives `not begun` when the lane was stopped after it had let the attempt go: the attempt then waits in the lane again. */
  private async runOnce(started: Started | undefined): Promise<Judgement | 'not begun'> {
    const { call, progress, calls, record, options } = this;
    const { monotonicMs } = call.run;
    const attempt = new Attempt(call.op.path, this.view, options, this.frame.stack, calls?.nowMs ?? NO_CLOCK, calls?.sessions);
    attempt.report = new BodyReport(attempt, calls?.reportFiles, (topic, message) => this.warnOnce(topic, message));
    attempt.outer = call.operation.repeat?.first ?? this.frame.attempt;
    attempt.countsIn = call.countsIn;
    attempt.isRequested = call.operation.repeat !== undefined;
    attempt.begins();
    attempt.costsInside = progress.attempt?.costsInside;
    progress.attempt = attempt;
    progress.usage = undefined;
    let isStopped = false;
    const mayBegin = (): boolean => !(isStopped = started !== undefined && calls?.dispatcher.mayBegin(started) === false);
    const seq = await record?.started(this.view, started, mayBegin);
    if (started && isStopped) {
      calls?.dispatcher.abandon(started);
      return 'not begun';
    }
    const confirming = seq === undefined ? undefined : record?.claim?.confirm(); // ATTEMPT-6
    const lost = confirming && (await this.waitFor(confirming));
    if (lost) {
      await this.giveUp(started, lost);
      return 'not begun';
    }
    if (seq !== undefined) attempt.traceparent = call.run.trace?.attempt(call.op.path, seq);
    if (calls?.dispatcher.stoppedBy?.class === 'journal') {
      if (started) calls.dispatcher.abandon(started); // the journal was lost by this very append
      this.abandoned = started;
      record?.claim?.withdraw(this.view, undefined); // it counted when it was handed over, and what was kept of it may be recorded yet
      return { kind: 'ended', error: await this.waitFor(calls.dispatcher.refuse(this.request())) };
    }
    progress.isStarted = true;
    progress.isOpen = true;
    progress.tries = this.view.try;
    progress.startedMs = monotonicMs();
    const judged = await this.execute(attempt);
    const failure = judged.kind === 'failed' ? judged.failure : undefined;
    if (started && failure) calls?.dispatcher.judged(started, failure);
    if (attempt.reply?.truncated && judged.kind === 'completed') {
      this.warnOnce('truncated', 'a reply was cut at its limit of tokens; the result is what came until then');
    }
    attempt.report.close(); // a body that goes on after its time is over
    progress.elapsedMs = Math.round((monotonicMs() - progress.startedMs) * 1000) / 1000;
    const pricing = calls?.price(attempt.usages, options.model);
    const usage = pricing instanceof Promise ? await pricing : pricing;
    progress.usage = usage;
    const isFree = isFreeAttempt(attempt, failure);
    const cost = costOf(usage, isFree);
    if (started) calls?.dispatcher.priced(started, cost);
    if (judged.kind !== 'ended') this.warnOfNoCost(cost, usage?.model, started?.reserved);
    if (calls) call.run.usage.attemptEnded(usage, isFree);
    if (usage) progress.callUsage = addAttempt(progress.callUsage, usage);
    if (attempt.outer && record?.key !== undefined && usage?.costUsd !== undefined) {
      attempt.outer.paidInside(usage.costUsd, judged.kind === 'completed' ? record.key : undefined);
    }
    return judged;
  }

  /** ATTEMPT-6 */
  private async giveUp(started: Started | undefined, { to }: LostClaim): Promise<void> {
    const { calls, record, view } = this;
    record?.claim?.withdraw(view, to);
    this.abandoned = started;
    if (started) {
      calls?.dispatcher.abandon(started);
      await calls?.sharedBudgets?.release({ key: record?.key, try: view.try });
    }
    if (to !== undefined && record?.claim) await this.waitFor(record.claim.regain());
  }

  private warnOnce(topic: string, message: string): void {
    const { run, llm } = this.call;
    if (this.calls?.isFirst(`${topic} @${llm.fn}`)) run.warn(`@${llm.fn}: ${message}`);
  }

  /** With a strict budget the dispatcher stops instead. calls.md 13.4. */
  private warnOfNoCost(cost: Cost | undefined, model: string | undefined, reserved: Reservation | undefined): void {
    const { budget, budgetStrict } = this.calls?.settings ?? {};
    if (!budget || budgetStrict) return;
    const [first, second] = uncountedBy(budget, cost);
    if (!first) return;
    const kind = second || cost === undefined ? '' : first === 'usd' ? ' in dollars' : ' in tokens';
    const price = model === undefined ? 'the option model gives it a price' : `"prices" in mlld-config.json can say what ${model} costs`;
    const remedy = kind === ' in dollars' ? `${price}, ` : '';
    const isAlone = reserved !== undefined && isUnknown(reserved); // BUDGET-3
    const pace = isAlone ? ', and one runs at a time until a cost is known (the option maxCost lets more run)' : '';
    this.warnOnce(
      `no cost${kind}`,
      `an attempt reported no cost${kind}, so it counts as 0 for the budget${pace}; ${remedy}--budget-strict pauses the run instead`,
    );
  }

  /** ATTEMPT-7 */
  private warnOfWholeReply(adapter: string): void {
    this.warnOnce(
      'whole reply',
      `the schema was held against the whole reply of ${adapter}, whose result would have fit; reply: "${adapter}" takes the result out of it`,
    );
  }

  private execute(attempt: Attempt): Promise<Judgement> {
    const { options, calls, frame } = this;
    const limitMs = calls?.settings.forced?.timeoutMs ?? options.timeoutMs ?? calls?.settings.timeoutMs;
    const inside: Frame = { ...inBody(frame), attempt, op: attempt.view.try === 1 ? frame.op : frame.op.again() };
    const inputs = withProblem(this.inputs, attempt, this.call.llm);
    const work = (around: Frame): Promise<Judgement> =>
      judge(
        attempt,
        this.call.llm,
        () => this.body(around, inputs),
        () => this.placeOf(around),
      );
    const around = frame.attempt?.time;
    if (limitMs === undefined && !around) return work(inside);
    const time = CountedTime.begin(this.call.run.monotonicMs, limitMs ?? Number.POSITIVE_INFINITY, around);
    attempt.time = time;
    return (limitMs === undefined ? work(inside) : withinLimit(limitMs, time, inside, work)).finally(() => time.close());
  }

  private placeOf({ op, deadline }: Pick<Frame, 'op' | 'deadline'>): ReplyPlace {
    return { op, deadline, isRecorded: false, warn: (topic, message) => this.warnOnce(topic, message) };
  }

  /** Resolves when another attempt is due, or with what the call gives instead; throws the failure of the call. */
  private async failed(
    judged: Extract<Judgement, { kind: 'failed' }>,
    started: Started | undefined,
  ): Promise<{ readonly value: Value } | undefined> {
    const { calls, call, progress, options, record } = this;
    const { failure } = judged;
    const tried = this.view.try;
    progress.failure = failure;
    progress.classes.push(failure.class);
    // An attempt that brought no reply says nothing about the last one: what that broke is still to be repaired. calls.md 8.4.
    progress.problem = judged.problem ?? (failure.class === 'bad-reply' ? undefined : this.view.problem);
    const facts = factsOfFailure(failure, { call, inputs: this.inputs, attempts: tried, classes: progress.classes });
    const lane = started?.lane ?? '';
    const isHeld = calls?.dispatcher.stopsLane(failure) === true;
    const isHopeless = judged.wholeReplyOf !== undefined; // ATTEMPT-7
    const hasAnother = isHeld || (!isHopeless && calls !== undefined && tried < attemptsFor(failure.class, options, calls.settings));
    if (judged.wholeReplyOf !== undefined) this.warnOfWholeReply(judged.wholeReplyOf);
    if (!calls || !hasAnother) {
      this.finishLast(started, failure);
      progress.isPassedOn = options.onFailure === 'value' && judged.printed !== undefined;
      if (progress.isPassedOn) return { value: judged.printed };
      throw callError({ ...judged, place: progress.attempt?.place }, facts);
    }
    const mayStart = calls.dispatcher.mayTryAgain(lane, failure);
    const isUpToLane = isHeld || (waitsForLane(failure.class) && !(started && calls.dispatcher.rejectsOnly(started)));
    const waitMs = isUpToLane ? 0 : backoffMs(failure.class, tried, calls.settings.backoff, calls.random);
    const waits = !isHeld && !mayStart && !calls.dispatcher.mayTryAgain(lane); // something else has stopped the lane: calls.md 14.3
    await record?.failed({
      ...failedFacts(failure, progress, call.run.secrets),
      ...(mayStart ? { retryInMs: Math.max(waitMs, failure.retryAfterMs ?? 0) } : {}),
      ...(waits && { waited: true as const }),
    });
    progress.isOpen = false;
    this.finish(started, failure);
    // Only now, when the lane knows of the failure: the other items of the loop must not start in a lane that it stops. calls.md 3.2.
    if (failure.class !== 'crash') this.frame.context.release?.();
    if (!calls.dispatcher.mayTryAgain(lane)) await this.waitFor(calls.dispatcher.refuse(this.request())); // ATTEMPT-4
    if (waitMs > 0) await calls.dispatcher.sleep(waitMs);
    const { lane: laneName, model } = this.view;
    this.view = {
      try: tried + 1,
      class: failure.class,
      ...(progress.problem ? { problem: progress.problem } : {}),
      ...(laneName === undefined ? {} : { lane: laneName }),
      ...(model === undefined ? {} : { model }),
    };
    return undefined;
  }
}

/** Ends the work when the time of its attempt is over. */
async function withinLimit(
  limitMs: number,
  time: CountedTime,
  inside: Frame,
  work: (around: Frame) => Promise<Judgement>,
): Promise<Judgement> {
  const deadline = new BodyDeadline(() => time.leftMs(), inside.deadline);
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<undefined>((resolve) => {
    time.watch(() => {
      deadline.expire();
      // A program that is called off needs a moment to end; its process is gone when the attempt is over.
      timer = setTimeout(() => resolve(undefined), ENDING_MS);
    });
  });
  const judged = await Promise.race([work({ ...inside, deadline }), late]);
  clearTimeout(timer);
  if (judged && !deadline.isOwnOver) return judged;
  return { kind: 'failed', failure: { class: 'timeout', evidence: 'clock', message: `no result within ${limitMs / 1000} s` } };
}

/** A replay repeats no wait, so that no time is needed. */
const NO_CLOCK = (): number => 0;

/** Longer than a program has between TERM and KILL. */
const ENDING_MS = 2500;

function costOf(usage: Usage | undefined, isFree: boolean): Cost | undefined {
  if (usage === undefined) return isFree ? { usd: 0, tokens: 0 } : undefined;
  const { costUsd, inputTokens, outputTokens } = usage;
  const tokens = inputTokens === undefined && outputTokens === undefined ? undefined : (inputTokens ?? 0) + (outputTokens ?? 0);
  return { ...(costUsd === undefined ? {} : { usd: costUsd }), ...(tokens === undefined ? {} : { tokens }) };
}

/** Attempts that a provider turned away without a usage cost nothing, and neither do those that only make calls. calls.md 10.5. */
function isFreeAttempt(attempt: Attempt | undefined, failure: Failure | undefined): boolean {
  return attempt?.onlyCalls === true || (failure !== undefined && isTurnedAway(failure.class));
}
