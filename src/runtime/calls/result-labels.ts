/**
 * The labels and source markers of a result. Those of the arguments and the function follow from the call that reuses it; the others are
 * recorded, so that a reused result has the labels of a fresh one. checkpoint-resume.md 5.5.
 *
 * LABEL-1  One function adds the labels to reused and to fresh results, recorded or not, so that neither labels nor their order can differ.
 * LABEL-2  A label that a guard removed is removed from a reused result too; a label that only this call's arguments have is not.
 */
import type { FactOf } from '../../../journal/event.js';
import { annotate, Annotated, flow, labelsOf, NO_LABELS, sourcesOf, union, type Value } from '../../values/value.js';
import { Signal, valueIn, type Outcome } from '../completion.js';
import type { LlmFacts } from '../operation.js';
import { SECRET } from '../secrets/secret-registry.js';

/** The labels and sources that a result has beyond those of arguments and function, and the labels of those that it lacks. */
export interface ResultLabels {
  readonly labels: readonly string[];
  readonly sources: readonly string[];
  readonly removed: readonly string[];
}

export const NO_RESULT_LABELS: ResultLabels = { labels: NO_LABELS, sources: NO_LABELS, removed: NO_LABELS };

/** `sealed`: the result is stored encrypted, so that it is secret where it is reused, unless a guard removed that very label. */
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

/** LABEL-1 */
export function withResultLabels(result: Outcome, inputs: readonly Value[], llm: LlmFacts, resultLabels: ResultLabels): Outcome {
  if (!(result instanceof Signal)) return labelled(result, inputs, llm, resultLabels);
  return result.hasValue ? new Signal(result.word, labelled(result.value, inputs, llm, resultLabels), true) : result;
}

function labelled(value: Value, inputs: readonly Value[], llm: LlmFacts, { labels, sources, removed }: ResultLabels): Value {
  const full = flow(bareOf(value, labels, sources), inputs, llm.labels, llm.sources);
  if (removed.length === 0 || !(full instanceof Annotated)) return full;
  return full.withMetadata({ ...full.metadata, labels: full.metadata.labels.filter((label) => !removed.includes(label)) }); // LABEL-2
}

function bareOf(value: Value, labels: readonly string[], sources: readonly string[]): Value {
  if (!(value instanceof Annotated)) return annotate(value, { labels, sources });
  const { metadata } = value;
  return metadata.labels === labels && metadata.sources === sources ? value : value.withMetadata({ ...metadata, labels, sources });
}

/** Reads them from a `call.completed`. Old journals have only the labels that were added to sealed results. */
export function recordedResultLabels({
  labels,
  sources,
  removed,
}: Pick<FactOf<'call.completed'>, 'labels' | 'sources' | 'removed'>): ResultLabels {
  if (labels === undefined && sources === undefined && removed === undefined) return NO_RESULT_LABELS;
  return { labels: labels ?? NO_LABELS, sources: sources ?? NO_LABELS, removed: removed ?? NO_LABELS };
}

/** Returns them as members of `call.completed`. */
export function membersOf({ labels, sources, removed }: ResultLabels): Partial<ResultLabels> {
  return {
    ...(labels.length > 0 && { labels }),
    ...(sources.length > 0 && { sources }),
    ...(removed.length > 0 && { removed }),
  };
}
