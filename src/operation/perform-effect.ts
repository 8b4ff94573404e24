/** Asking the world on behalf of an operation: the answer is a fact of the run. */
import type { EffectResult, EffectRequest, EffectOptions, EffectKind } from '../world/world.js';
import type { Frame } from '../runtime/frame.js';
import { recordEffect, type Involved } from './effect-facts.js';
import { timeIsOver } from '../runtime/hook-deadline.js';
import { concealed, isSecret } from '../runtime/secret-registry.js';

const NOTHING: Involved = { values: [] };

/** Asks, and records what was answered (or why it was not). `involved` are the values that went into the request. */
export async function performEffect<Q extends EffectKind>(
  frame: Frame,
  question: Q,
  request: EffectRequest<Q>,
  involved: Involved = NOTHING,
): Promise<EffectResult<Q>> {
  const { world, recorder, monotonicMs, secrets, replayed } = frame.run;
  const { deadline: ending } = frame;
  if (ending?.isOver) throw timeIsOver();
  const startedMs = recorder.on ? monotonicMs() : 0;
  let answer: EffectResult<Q>;
  try {
    answer = await (replayed
      ? replayed.perform(frame, question, request)
      : world.perform(question, request, question === 'command.run' && recorder.on ? besideCommand(frame, involved) : ending));
    if (involved.hides) answer = concealed(answer, involved.hides);
    if (recorder.on) {
      const keeping = keepEffect(frame, question, request, { answer, elapsedMs: monotonicMs() - startedMs }, involved);
      if (keeping) await keeping;
    }
  } catch (error) {
    if (frame.secret || involved.values.some(isSecret)) secrets.taint(error);
    if (recorder.on) await keepEffect(frame, question, request, { error, elapsedMs: monotonicMs() - startedMs }, involved);
    throw error;
  }
  if (ending?.isOver) throw timeIsOver(); // what a command wrote until it was ended is no answer
  return answer;
}

/**
 * A command leaves the number of its process before it works: whoever resumes a run that was killed finds it by that. The journal takes
 * output that is too large to be held, but nothing in clear where secrets are known.
 */
function besideCommand(
  { run: { cache: answers, recorder, secrets }, op, deadline: ending, secret }: Frame,
  { values, hides }: Involved,
): EffectOptions {
  const { newBlob } = answers;
  const isDiscreet = secret === true || !secrets.isEmpty || hides?.isEmpty === false || values.some(isSecret);
  return {
    ...(ending && { signal: ending.signal }),
    ...(newBlob && !isDiscreet && { newFile: newBlob }),
    onStarted: (process) => recorder.append({ type: 'process.started', op: op.path, ...process }),
  };
}

/** What has happened has happened: a request or an answer that the journal can't hold never fails the operation. */
function keepEffect<Q extends EffectKind>(...given: Parameters<typeof recordEffect<Q>>): Promise<void> | undefined {
  const [{ run }, question] = given;
  const tell = (error: unknown): void =>
    run.warn(`the journal can't hold what ${question} was asked or answered: ${(error as Error).message.slice(0, REASON_UNITS)}`);
  try {
    return recordEffect(...given)?.catch(tell);
  } catch (error) {
    tell(error);
    return undefined;
  }
}
const REASON_UNITS = 120;
