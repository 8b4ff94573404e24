/**
 * The labels and source markers of an answer. Those of its arguments and its function follow from the call that is served; the rest is
 * recorded, so that a served answer has what a fresh one has. checkpoint-resume.md 5.5.
 *
 * C1  One function gives served answers their labels, and fresh ones, recorded or not: what the script sees can't differ, nor its order.
 * C2  What a guard took away stays away; a label that only this call's arguments bring stays on.
 */
import type { FactOf } from '../../journal/event.js';
import { Signal, valueIn, type Outcome } from './completion.js';
import { annotate, Annotated, flow, labelsOf, NO_LABELS, sourcesOf, union, type Value } from '../values/value.js';
import type { LlmFacts } from './operation.js';
import { SECRET } from './secret-registry.js';

/** What a result has beyond arguments and function, and what it lacks of them. */
export interface ResultLabels {
  readonly labels: readonly string[];
  readonly sources: readonly string[];
  readonly removed: readonly string[];
}

export const NO_RESULT_LABELS: ResultLabels = { labels: NO_LABELS, sources: NO_LABELS, removed: NO_LABELS };

/** `sealed`: whatever the result says of itself, it may not be read where it is served, unless a guard has taken just that away. */
export function labelsOfResult(result: Outcome, inputs: readonly Value[], llm: LlmFacts, sealed: boolean): ResultLabels {
  const value = valueIn(result);
  const known = inputs.reduce((all: readonly string[], input) => union(all, labelsOf(input)), llm.labels);
  const own = labelsOf(value);
  const removed = known === own || value === undefined ? NO_LABELS : known.filter((label) => !own.includes(label));
  const whole = sealed && !removed.includes(SECRET) ? union(own, [SECRET]) : own;
  const labels = whole === known ? NO_LABELS : whole.filter((label) => !known.includes(label));
  const sources = sourcesOf(value).filter(
    (source) => !llm.sources.includes(source) && !inputs.some((input) => sourcesOf(input).includes(source)),
  );
  return labels.length + sources.length + removed.length === 0 ? NO_RESULT_LABELS : { labels, sources, removed };
}

/** C1 */
export function withResultLabels(result: Outcome, inputs: readonly Value[], llm: LlmFacts, carried: ResultLabels): Outcome {
  if (!(result instanceof Signal)) return labelled(result, inputs, llm, carried);
  return result.given ? new Signal(result.word, labelled(result.value, inputs, llm, carried), true) : result;
}

function labelled(value: Value, inputs: readonly Value[], llm: LlmFacts, { labels, sources, removed }: ResultLabels): Value {
  const full = flow(bareOf(value, labels, sources), inputs, llm.labels, llm.sources);
  if (removed.length === 0 || !(full instanceof Annotated)) return full;
  return full.withNote({ ...full.note, labels: full.note.labels.filter((label) => !removed.includes(label)) }); // C2
}

function bareOf(value: Value, labels: readonly string[], sources: readonly string[]): Value {
  if (!(value instanceof Annotated)) return annotate(value, { labels, sources });
  const { note } = value;
  return note.labels === labels && note.sources === sources ? value : value.withNote({ ...note, labels, sources });
}

/** As `call.completed` has it; a journal of before knew of labels that were added to sealed results, and of nothing else. */
export function recordedResultLabels({
  labels,
  sources,
  removed,
}: Pick<FactOf<'call.completed'>, 'labels' | 'sources' | 'removed'>): ResultLabels {
  if (labels === undefined && sources === undefined && removed === undefined) return NO_RESULT_LABELS;
  return { labels: labels ?? NO_LABELS, sources: sources ?? NO_LABELS, removed: removed ?? NO_LABELS };
}

/** The members of `call.completed`. */
export function membersOf({ labels, sources, removed }: ResultLabels): Partial<ResultLabels> {
  return {
    ...(labels.length > 0 && { labels }),
    ...(sources.length > 0 && { sources }),
    ...(removed.length > 0 && { removed }),
  };
}
