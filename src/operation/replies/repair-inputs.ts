/** Tells the next attempt why the last result was refused. calls.md 8.4. */
import type { Attempt } from '../../calls/attempt.js';
import { repairNote } from '../../calls/schema/repair-note.js';
import type { LlmCall } from '../../runtime/calls/llm-call.js';
import { textOf } from '../../values/text.js';
import { annotate, dataOf, metadataOf, type Value } from '../../values/value.js';

/** Adds the note to the arguments, unless the function wants none, or its body says so itself. */
export function withProblem(
  inputs: readonly Value[],
  attempt: Pick<Attempt, 'view' | 'options'> | undefined,
  { mentionsProblem }: Pick<LlmCall, 'mentionsProblem'>,
): readonly Value[] {
  const problem = attempt?.view.problem;
  if (!problem || attempt.options.repair === false || mentionsProblem?.()) return inputs;
  return withNote(inputs, repairNote(problem));
}

/** Puts a note behind the first argument that is a text. Arguments without one are returned as they are. The text keeps its labels. */
export function withNote(inputs: readonly Value[], note: string): readonly Value[] {
  const at = inputs.findIndex((input) => typeof dataOf(input) === 'string');
  const input = inputs[at];
  if (input === undefined) return inputs;
  const { labels, sources } = metadataOf(input) ?? {};
  const noted = annotate(`${textOf(input)}${note}`, { ...(labels && { labels }), ...(sources && { sources }) });
  return inputs.with(at, noted);
}
