/** Edges are selected in five steps, with other rules after a failure. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { parseCondition } from '../../../grammar/parse-dot.js';
import type { StageStatus } from '../../../journal/facts/pipeline-event.js';
import { outcomeOf } from '../../../src/pipeline/model/outcome.js';
import type { SelectableEdge } from '../../../src/pipeline/model/compiled-pipeline.js';
import { selectAfterFailure, selectEdge } from '../../../src/pipeline/walk/select-edge.js';

const edge = (to: string, { label = '', when, weight = 0 }: { label?: string; when?: string; weight?: number } = {}): SelectableEdge => ({
  to,
  label,
  weight,
  condition: when === undefined ? undefined : parseCondition(when),
});
const facts = (status: StageStatus, parts: Parameters<typeof outcomeOf>[1] = {}, context = {}) => ({
  routing: outcomeOf(status, parts),
  context,
});

describe('the five steps', () => {
  it.each<[string, readonly SelectableEdge[], ReturnType<typeof facts>, string | undefined]>([
    [
      'a condition beats all',
      [edge('a', { weight: 9 }), edge('b', { when: 'outcome=success', weight: -1 })],
      facts('success'),
      'b condition',
    ],
    [
      'of two conditions the heavier',
      [edge('a', { when: 'outcome=success' }), edge('b', { when: 'outcome!=fail', weight: 1 })],
      facts('success'),
      'b condition',
    ],
    [
      'of two equal conditions the smaller id',
      [edge('b', { when: 'outcome=success' }), edge('a', { when: 'outcome=success' })],
      facts('success'),
      'a condition',
    ],
    [
      'a false condition is never taken',
      [edge('a', { when: 'outcome=fail', label: 'go' })],
      facts('success', { preferred_label: 'go', suggested_next_ids: ['a'] }),
      undefined,
    ],
    [
      'the preferred label',
      [edge('a', { weight: 9 }), edge('b', { label: '[G] Go' })],
      facts('success', { preferred_label: 'go' }),
      'b label',
    ],
    [
      'the first suggestion that there is',
      [edge('a'), edge('b')],
      facts('success', { suggested_next_ids: ['x', 'b', 'a'] }),
      'b suggested',
    ],
    ['the heaviest', [edge('a'), edge('b', { weight: 2 })], facts('success'), 'b weight'],
    ['of equals the smallest id by code units', [edge('b9'), edge('b10'), edge('B')], facts('success'), 'B lexical'],
    ['a partial success routes like a success', [edge('a', { when: 'outcome=success' })], facts('partial_success'), 'a condition'],
    [
      'unless something else was said of it',
      [edge('a', { when: 'outcome=success' }), edge('b', { when: 'outcome=partial_success' })],
      facts('partial_success'),
      'b condition',
    ],
  ])('%s', (_, edges, given, expected) => {
    const chosen = selectEdge(edges, given);
    expect(chosen && `${chosen.edge.to} ${chosen.via}`).toBe(expected);
  });

  it('takes of two edges to one target the one written first', () => {
    const first = edge('a', { label: 'one' });
    expect(selectEdge([first, edge('a', { label: 'two' })], facts('success'))?.edge).toBe(first);
  });
});

describe('after a failure', () => {
  const never = () => false;
  it('follows no plain edge', () => {
    expect(selectAfterFailure([edge('a', { weight: 5 })], facts('fail'), never)).toBeUndefined();
  });
  it('follows a plain edge into a conditional node', () => {
    const chosen = selectAfterFailure([edge('a', { weight: 5 }), edge('d')], facts('fail'), ({ to }) => to === 'd');
    expect(chosen).toMatchObject({ edge: { to: 'd' }, via: 'weight' });
  });
  it.each([
    ['label', { preferred_label: 'mend' }],
    ['suggested', { suggested_next_ids: ['a'] }],
  ])('follows what the stage named by %s', (via, parts) => {
    expect(selectAfterFailure([edge('a', { label: 'Mend' })], facts('fail', parts), never)).toMatchObject({ edge: { to: 'a' }, via });
  });
});

it('never depends on the order of edges but among equals', () => {
  const anyEdge = fc.record({
    to: fc.constantFrom('a', 'b', 'c', 'd'),
    weight: fc.integer({ min: -2, max: 2 }),
    when: fc.option(fc.constantFrom('outcome=success', 'outcome=fail'), { nil: undefined }),
  });
  fc.assert(
    fc.property(fc.uniqueArray(anyEdge, { selector: ({ to }) => to }), (drawn) => {
      const edges = drawn.map(({ to, weight, when }) => edge(to, { weight, ...(when === undefined ? {} : { when }) }));
      const pick = (list: readonly SelectableEdge[]): string | undefined => selectEdge(list, facts('success'))?.edge.to;
      expect(pick(edges.toReversed())).toBe(pick(edges));
    }),
  );
});
