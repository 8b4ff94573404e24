/** Asking the world on behalf of an operation: the answer is a fact of the run. */
import type { Answer, Ask, Question } from '../world/world.js';
import type { Frame } from '../language/frame.js';
import { recordEffect } from './effect-facts.js';

/** Asks, and records what was answered (or why it was not). */
export async function askWorld<Q extends Question>(frame: Frame, question: Q, request: Ask<Q>): Promise<Answer<Q>> {
  const { world, recorder, monotonicMs } = frame.run;
  if (!recorder.on) return world.ask(question, request);
  const startedMs = monotonicMs();
  try {
    const answer = await world.ask(question, request);
    await recordEffect(frame, question, request, { answer, elapsedMs: monotonicMs() - startedMs });
    return answer;
  } catch (error) {
    await recordEffect(frame, question, request, { error, elapsedMs: monotonicMs() - startedMs });
    throw error;
  }
}
