/**
 * Replays a call: executes the body of its last attempt again, and ends the call as the recorded run did. calls.md 17.
 *
 * REPLAYED-CALL-1 No attempt is repeated. Those that failed before the last one count, with what they and the calls inside them cost, at
 *    their place in the record.
 * REPLAYED-CALL-2 A failure is the recorded one, also where the body can't repeat it: a limit of time, or what code reported.
 * REPLAYED-CALL-3 A result that an adapter or a schema made of a reply is the recorded one: neither is applied a second time.
 */
import type { FactOf } from '../../../journal/event.js';
import { isTurnedAway } from '../../../journal/facts/turned-away.js';
import { Attempt, type AttemptView } from '../../calls/attempt.js';
import { BodyReport } from '../../calls/body-report.js';
import type { Failure } from '../../calls/failure.js';
import { addAttempt } from '../../calls/usage.js';
import { BodyDeadline } from '../../runtime/body-deadline.js';
import { Signal, type Outcome } from '../../runtime/completion.js';
import { endsTheRun } from '../../runtime/errors.js';
import type { Frame } from '../../runtime/frame.js';
import type { EndInside, ReplayedCall } from '../../runtime/ports.js';
import { annotate, Annotated, dataOf, metadataOf, NO_LABELS, NO_METADATA, union } from '../../values/value.js';
import { withoutUndefined } from '../../values/without-undefined.js';
import type { AttemptParts } from './call-progress.js';
import { decodeResult } from '../encode-result.js';
import { callError, factsOfFailure } from './failed-attempt.js';
import { inBody } from './in-body.js';
import { judge, type Judgement } from './judge-attempt.js';
import { withProblem } from '../replies/repair-inputs.js';

export async function replayCall(recorded: ReplayedCall, parts: AttemptParts): Promise<Outcome> {
  const { call, options, progress, record, frame } = parts;
  const { lane, model } = options;
  let view: AttemptView = { try: 1, ...(lane === undefined ? {} : { lane }), ...(model === undefined ? {} : { model }) };
  for (const [index, failed] of recorded.earlier.entries()) {
    const fact = await failed(); // REPLAYED-CALL-1
    for (const end of (await recorded.inside?.(index)) ?? []) countInside(parts, end);
    view = viewAfter(view, fact);
    count(parts, fact);
    if (fact.class !== undefined) progress.classes.push(fact.class);
    if (fact.class !== 'crash') frame.context.release?.();
  }
  if (!recorded.hasStarted) return recorded.waitForGood();
  const attempt = new Attempt(call.op.path, view, options, frame.stack, () => 0);
  attempt.report = new BodyReport(attempt, undefined, () => undefined); // nothing reports: no code is executed
  progress.attempt = attempt;
  await record?.started(view, undefined);
  progress.isStarted = true;
  progress.isOpen = true;
  progress.tries = view.try;
  const deadline = recorded.failed && new BodyDeadline(() => Number.POSITIVE_INFINITY, frame.deadline);
  const inside: Frame = { ...inBody(frame), attempt, ...(deadline && { deadline }) };
  const inputs = withProblem(parts.inputs, attempt, call.llm);
  const working = judge(attempt, call.llm, () => parts.body(inside, inputs));
  if (!recorded.failed) return completed(recorded, parts, await working);
  const ending = recorded.failed();
  const first = await Promise.race([working, ending.then(() => undefined)]);
  if (first?.kind === 'ended' && endsTheRun(first.error)) throw first.error;
  const fact = await ending;
  // Once the time of this call was over, the end of a call inside it doesn't matter.
  if (first?.kind === 'ended' && fact.evidence !== 'clock') throw first.error;
  deadline?.expire();
  if (recorded.waits) {
    count(parts, fact);
    if (fact.class !== 'crash') frame.context.release?.();
    return recorded.waitForGood();
  }
  return failed(parts, view, fact, first);
}

function viewAfter(view: AttemptView, fact: FactOf<'call.failed'>): AttemptView {
  const { class: failureClass, message, problem, retryInMs: _retryInMs } = fact;
  // Journals of before have the rules in the message only.
  const known = problem ?? (failureClass === 'bad-reply' ? [message] : undefined);
  const { lane, model } = view;
  return withoutUndefined<AttemptView>({ try: view.try + 1, class: failureClass, problem: known, lane, model });
}

function countInside({ call: { run } }: AttemptParts, { attempt, call, reused }: EndInside): void {
  if (attempt) run.usage.attemptEnded(attempt.usage, attempt.isFree);
  if (call) run.usage.callEnded(call);
  if (reused) run.usage.callReused(reused.savedUsd);
}

type RecordedCost = Pick<FactOf<'call.completed' | 'call.failed'>, 'usage' | 'class' | 'onlyCalls'>;

function count({ call: { run }, progress }: AttemptParts, { usage, class: failureClass, onlyCalls }: RecordedCost): void {
  run.usage.attemptEnded(usage, onlyCalls === true || isTurnedAway(failureClass));
  progress.usage = usage;
  if (usage) progress.callUsage = addAttempt(progress.callUsage, usage);
}

/** REPLAYED-CALL-2 */
function failed(parts: AttemptParts, { try: attempts }: AttemptView, fact: FactOf<'call.failed'>, judged: Judgement | undefined): never {
  const { call, progress, inputs } = parts;
  const found = judged?.kind === 'failed' ? judged : undefined;
  const { class: failureClass = 'crash', evidence = 'none', retryAfterMs, resetsAt, status } = fact;
  const isSame = found?.failure.class === failureClass && found.failure.evidence === evidence;
  const failure = withoutUndefined<Failure>({
    class: failureClass,
    evidence,
    message: isSame ? found.failure.message : fact.message,
    retryAfterMs,
    resetsAtMs: resetsAt === undefined ? undefined : Date.parse(resetsAt),
    status,
  });
  count(parts, { ...fact, class: failureClass });
  progress.failure = failure;
  progress.classes.push(failureClass);
  const facts = factsOfFailure(failure, { call, inputs, attempts, classes: progress.classes });
  // The recorded message has the words of the classes already.
  throw callError({ failure, error: found?.error, place: progress.attempt?.place }, isSame ? facts : { ...facts, message: fact.message });
}

async function completed(recorded: ReplayedCall, parts: AttemptParts, judged: Judgement): Promise<Outcome> {
  const end = await recorded.completed?.();
  const used = end?.fact ?? (await recorded.endedInside?.());
  if (used) count(parts, used);
  if (judged.kind === 'ended') throw judged.error;
  const { call, options, progress } = parts;
  if (!end) {
    if (judged.kind === 'completed') return judged.value;
    const { failure, error } = judged;
    progress.failure = failure;
    throw callError(
      { failure, error, place: progress.attempt?.place },
      factsOfFailure(failure, { call, inputs: parts.inputs, attempts: 1, classes: [] }),
    );
  }
  const { fact, result, isOther } = end;
  progress.isPassedOn = fact.class !== undefined;
  const made = judged.kind === 'completed' ? judged.value : judged.printed;
  const isMadeOfReply =
    isOther === true || options.reply !== undefined || options.schema !== undefined || (judged.kind === 'failed' && !progress.isPassedOn);
  if (!result || !isMadeOfReply || made instanceof Signal) return made;
  // REPLAYED-CALL-3
  const decoded = decodeResult(result, call.run.settings.projectRoot);
  if (decoded instanceof Signal) return decoded;
  const { text: _text, labels, sources, ...kept } = metadataOf(made) ?? NO_METADATA;
  return annotate(dataOf(decoded), {
    ...kept,
    ...(decoded instanceof Annotated && decoded.text !== undefined && { text: decoded.text }),
    // The record has those that an adapter added.
    labels: union(labels ?? NO_LABELS, fact.labels ?? NO_LABELS),
    sources: union(sources ?? NO_LABELS, fact.sources ?? NO_LABELS),
  });
}
