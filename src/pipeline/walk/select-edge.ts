/**
 * Which edge a walk takes: a pure decision over the outgoing edges in the order in which they are written. graph-pipelines.md 6.3, 6.5.
 *
 * E1 The first step that yields an edge decides: condition, label, suggested, weight, lexical.
 * E2 A conditional edge is taken for its condition only; a plain edge never competes with conditions.
 * E3 After a failure plain edges are taken only where the stage named them, or into a conditional node.
 */
import type { Condition } from '../../../grammar/dot-ast.js';
import type { EdgeVia } from '../../../journal/pipeline-event.js';
import { holds, type ConditionScope } from '../model/condition.js';
import { normaliseLabel } from '../model/labels.js';
import type { Routing } from '../model/outcome.js';

/** What selection looks at. */
export interface SelectableEdge {
  readonly to: string;
  readonly label: string;
  /** Undefined: a plain edge. */
  readonly condition: Condition | undefined;
  readonly weight: number;
}

export interface EdgeSelection<E> {
  readonly edge: E;
  readonly via: EdgeVia;
}

export interface SelectionScope extends ConditionScope {
  readonly routing: Routing;
}

export function selectEdge<E extends SelectableEdge>(edges: readonly E[], facts: SelectionScope): EdgeSelection<E> | undefined {
  return byConditionOrName(edges, facts) ?? byWeight(edges.filter(isPlain));
}

/** `intoConditional` says which targets look at outcomes. */
export function selectAfterFailure<E extends SelectableEdge>(
  edges: readonly E[],
  facts: SelectionScope,
  intoConditional: (edge: E) => boolean,
): EdgeSelection<E> | undefined {
  return byConditionOrName(edges, facts) ?? byWeight(edges.filter((edge) => isPlain(edge) && intoConditional(edge)));
}

function byConditionOrName<E extends SelectableEdge>(edges: readonly E[], facts: SelectionScope): EdgeSelection<E> | undefined {
  const { routing } = facts;
  return (
    byCondition(edges, facts) ??
    // A partial success routes like a success where nothing was said of it in particular.
    (routing.status === 'partial_success' ? byCondition(edges, { ...facts, routing: { ...routing, status: 'success' } }) : undefined) ??
    byLabel(edges.filter(isPlain), routing.preferred_label) ??
    bySuggestion(edges.filter(isPlain), routing.suggested_next_ids)
  );
}

function byCondition<E extends SelectableEdge>(edges: readonly E[], facts: ConditionScope): EdgeSelection<E> | undefined {
  const edge = best(edges.filter(({ condition }) => condition !== undefined && holds(condition, facts)));
  return edge && { edge, via: 'condition' };
}

function byLabel<E extends SelectableEdge>(plain: readonly E[], preferred: string): EdgeSelection<E> | undefined {
  const wanted = normaliseLabel(preferred);
  const edge = wanted === '' ? undefined : plain.find(({ label }) => normaliseLabel(label) === wanted);
  return edge && { edge, via: 'label' };
}

function bySuggestion<E extends SelectableEdge>(plain: readonly E[], ids: readonly string[]): EdgeSelection<E> | undefined {
  for (const id of ids) {
    const edge = plain.find(({ to }) => to === id);
    if (edge) return { edge, via: 'suggested' };
  }
  return undefined;
}

function byWeight<E extends SelectableEdge>(plain: readonly E[]): EdgeSelection<E> | undefined {
  const edge = best(plain);
  if (!edge) return undefined;
  return { edge, via: plain.filter(({ weight }) => weight === edge.weight).length === 1 ? 'weight' : 'lexical' };
}

/** Highest weight, then smallest target by code units, then the one written first. */
function best<E extends SelectableEdge>(edges: readonly E[]): E | undefined {
  let found: E | undefined;
  for (const edge of edges) {
    if (!found || edge.weight > found.weight || (edge.weight === found.weight && edge.to < found.to)) found = edge;
  }
  return found;
}

function isPlain({ condition }: SelectableEdge): boolean {
  return condition === undefined;
}
