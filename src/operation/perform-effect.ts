/** Performs the effects of an operation: their results are facts of the run. */
import type { Frame } from '../runtime/frame.js';
import { bodyTimedOut } from '../runtime/body-deadline.js';
import { concealed, isSecret } from '../runtime/secrets/secret-registry.js';
import { hasEndedWell, isModelProgram } from '../world/late-reply.js';
import type { EffectResult, EffectRequest, EffectOptions, EffectKind } from '../world/world.js';
import { LiveOutput } from './live-output.js';
import { canonicalRequest, recordEffect, type Involved } from './effect-facts.js';

const NOTHING: Involved = { values: [] };

/** Performs an effect and records its result or its error. `involved` are the values that went into the request. */
export async function performEffect<Q extends EffectKind>(
  frame: Frame,
  kind: Q,
  request: EffectRequest<Q>,
  involved: Involved = NOTHING,
): Promise<EffectResult<Q>> {
  const { world, recorder, monotonicMs, secrets, replayed, calls } = frame.run;
  const { attempt, deadline } = frame;
  const held = attempt ? undefined : calls?.dispatcher.held();
  if (held) await held; // DISPATCH-5
  if (deadline?.isOver) throw bodyTimedOut();
  const startedMs = recorder.on ? monotonicMs() : 0;
  const canonical = recorder.on && kind === 'code.run' ? beforeItChanges(request) : undefined;
  const live = kind === 'command.run' && recorder.on && !replayed ? watchOutput(frame, involved) : undefined;
  let result: EffectResult<Q>;
  calls?.dispatcher.began();
  try {
    result = await (replayed
      ? replayed.perform(frame, kind, request)
      : world.perform(kind, request, optionsFor(kind, frame, involved, live)));
    if (involved.hides) result = concealed(result, involved.hides);
    if (recorder.on) {
      const recording = record(frame, kind, request, { result, elapsedMs: monotonicMs() - startedMs, canonical }, involved);
      if (recording) await recording;
    }
  } catch (error) {
    if (frame.secret || involved.values.some(isSecret)) secrets.taint(error);
    if (recorder.on) await record(frame, kind, request, { error, elapsedMs: monotonicMs() - startedMs, canonical }, involved);
    throw error;
  } finally {
    live?.end();
    calls?.dispatcher.ended();
  }
  // The output that a command wrote until it was ended is not its result.
  if (deadline?.isOver && !isLateReply(frame, kind, request, result)) throw bodyTimedOut();
  return result;
}

/** A time limit wants no reply any more, but a run that is being ended does. calls.md 18. */
function isLateReply({ run, attempt }: Frame, kind: EffectKind, request: object, result: object): boolean {
  return run.signal.aborted && isModelProgram(kind, request, attempt?.report) && hasEndedWell(result);
}

/** Code may change the arrays and objects that it gets (`xs.sort()`), and a replay compares the request as it was before. */
function beforeItChanges(request: object): string | undefined {
  try {
    return canonicalRequest(request);
  } catch {
    return undefined; // said when the effect is recorded
  }
}

/** Returns undefined where nobody watches what commands write. */
function watchOutput({ run, op, secret }: Frame, { values }: Involved): WatchedOutput | undefined {
  if (!run.watchOutput) return undefined;
  const output = new LiveOutput(run.secrets, secret === true || values.some(isSecret));
  return { onOutput: (text, stream) => output.write(text, stream), end: run.watchOutput(op.path, output) };
}

interface WatchedOutput {
  readonly onOutput: NonNullable<EffectOptions['onOutput']>;
  readonly end: () => void;
}

function optionsFor(kind: EffectKind, frame: Frame, involved: Involved, live: WatchedOutput | undefined): EffectOptions | undefined {
  const { attempt, deadline } = frame;
  if (kind !== 'command.run' && kind !== 'code.run') return deadline;
  if (attempt) attempt.ranOwn = true;
  const { trace, recorder } = frame.run;
  const traceparent = attempt?.traceparent ?? trace?.operation(frame.op.path);
  const facts: EffectOptions = { ...(attempt?.report && { report: attempt.report }), ...(traceparent !== undefined && { traceparent }) };
  if (kind === 'command.run') {
    const onWait = (shortage: string): void => warnOfWait(frame, shortage);
    const options = recorder.on ? commandOptions(frame, involved) : deadline && { signal: deadline.signal };
    return { ...options, ...(live && { onOutput: live.onOutput }), ...facts, onWait };
  }
  return facts.report || traceparent !== undefined ? { ...facts, ...(deadline && { deadline }) } : deadline;
}

function warnOfWait({ run }: Frame, shortage: string): void {
  run.warn(
    `the system has no capacity for so many commands at once (${shortage}): some wait until others have ended; raise its limits (ulimit -n, ulimit -u), or run fewer at once`,
    'commands wait',
  );
}

/**
 * The process id of a command is recorded before it works, so that a resume finds processes that a killed run left behind. Output that is
 * too large for memory is written to the journal, but never in clear where secrets are known.
 */
function commandOptions({ run: { cache, recorder, secrets }, op, deadline, secret }: Frame, { values, hides }: Involved): EffectOptions {
  const { newBlob } = cache;
  const isDiscreet = secret === true || !secrets.isEmpty || hides?.isEmpty === false || values.some(isSecret);
  return {
    ...(deadline && { signal: deadline.signal }),
    ...(newBlob && !isDiscreet && { newFile: newBlob }),
    onStarted: (process) => recorder.append({ type: 'process.started', op: op.path, ...process }),
  };
}

/** Never fails: the effect has happened, also when the journal can't hold its request or its result. */
function record<Q extends EffectKind>(...args: Parameters<typeof recordEffect<Q>>): Promise<void> | undefined {
  const { run } = args[0];
  const kind = args[1];
  const warn = (error: unknown): void =>
    run.warn(
      `the journal can't hold the request or the result of ${kind}: ${(error as Error).message.slice(0, REASON_UNITS)}`,
      `unrecorded ${kind}`,
    );
  try {
    return recordEffect(...args)?.catch(warn);
  } catch (error) {
    warn(error);
    return undefined;
  }
}

const REASON_UNITS = 120;
