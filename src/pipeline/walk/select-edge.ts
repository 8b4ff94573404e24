/**
 * Selects the edge that a walk takes, from the outgoing edges in the order in which they are written. graph-pipelines.md 6.3, 6.5.
 *
 * EDGE-1 The first step that yields an edge decides: condition, label, suggested, weight, lexical.
 * EDGE-2 A conditional edge is taken for its condition only; a plain edge never competes with conditions.
 * EDGE-3 After a failure a plain edge is taken only where the stage named it, or where it leads into a conditional node.
 */
import type { EdgeVia } from '../../../journal/facts/pipeline-event.js';
import { holds, type ConditionScope } from '../model/condition.js';
import type { SelectableEdge } from '../model/compiled-pipeline.js';
import { normaliseLabel } from '../model/labels.js';
import type { Routing } from '../model/outcome.js';

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

/** @param intoConditional tells whether an edge leads into a node that reads outcomes */
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
    // A partial success routes like a success, unless a condition names it.
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

/** Returns the edge of the highest weight; among equals the one with the smallest target by code units, then the one written first. */
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
