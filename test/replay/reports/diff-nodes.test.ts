/** The walks of two pipelines side by side. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Fact } from '../../../journal/event.js';
import { opPath } from '../../../journal/ids.js';
import { areNodesSame, diffNodes, forkOfNodes, type NodesDiff } from '../../../replay/reports/diff/diff-nodes.js';
import { nodeVisits, type NodeVisits } from '../../../replay/pipeline/node-visits.js';
import { fold } from '../../../replay/fold/projection.js';
import { entries, runRef, started } from '../../support/written-runs.js';

type Ended = 'success' | 'partial_success' | 'fail' | undefined;
interface Step {
  readonly node: string;
  readonly status: Ended;
  readonly retries: number;
  readonly found: string;
}

const OUTCOME = { preferred_label: '', suggested_next_ids: [], notes: '' };

/** A walk through these nodes, each visit a step; the gate is the node `gate`. */
function walk(steps: readonly Step[]): NodeVisits {
  const visits = new Map<string, number>();
  const facts: Fact[] = [];
  for (const [index, { node, status, retries, found }] of steps.entries()) {
    const visit = visits.get(node) ?? 0;
    visits.set(node, visit + 1);
    const at = { op: opPath(`main/${node}#${visit}`), node, visit };
    facts.push({ type: 'node.started', ...at, handler: 'tool' });
    for (let attempt = 1; attempt <= retries; attempt++)
      facts.push({ type: 'retry.scheduled', ...at, attempt, delayMs: 1, reason: 'no', cause: 'error' });
    if (status === undefined) continue;
    const outcome = { ...OUTCOME, status, failure_reason: status === 'fail' ? found : '', context_updates: { found } };
    facts.push({ type: 'node.finished', ...at, status, outcome, attempts: retries + 1, elapsedMs: 1 });
    const next = steps[index + 1];
    if (next) facts.push({ type: 'edge.selected', op: opPath('main'), from: node, to: next.node, via: 'weight' });
    if (node === 'gate')
      facts.push({
        type: 'gate.checked',
        op: opPath('main'),
        satisfied: status !== 'fail',
        gates: { gate: status === 'fail' ? 'unsatisfied' : 'satisfied' },
      });
  }
  return fold(nodeVisits, entries(runRef(1), [started(runRef(1)), ...facts]));
}

const anyStep: fc.Arbitrary<Step> = fc.record({
  node: fc.constantFrom('plan', 'work', 'gate'),
  status: fc.constantFrom<Ended>('success', 'partial_success', 'fail', undefined),
  retries: fc.nat(2),
  found: fc.constantFrom('ebb', 'flow'),
});
const anyWalk = fc.array(anyStep, { maxLength: 6 }).map(walk);

describe('the difference of two walks', () => {
  it('is nothing between a walk and itself', () => {
    fc.assert(
      fc.property(anyWalk, (one) => {
        const diff = diffNodes(one, one);
        expect(areNodesSame(diff)).toBe(true);
        expect(diff.same).toBe(one.visits.size);
      }),
    );
  });

  it('is the same from the other side, mirrored', () => {
    const mirrored = ({ same, changed, onlyLeft, onlyRight, inputs, unmet }: NodesDiff): NodesDiff => ({
      same,
      changed: changed.map(({ left, right, changes, context }) => ({
        left: right,
        right: left,
        changes,
        context: context.map((change) => ({ key: change.key, left: change.right, right: change.left })),
      })),
      onlyLeft: onlyRight,
      onlyRight: onlyLeft,
      inputs: inputs.map((change) => ({ key: change.key, left: change.right, right: change.left })),
      unmet: { left: unmet.right, right: unmet.left },
    });
    const byPlace = (diff: NodesDiff): NodesDiff => ({
      ...diff,
      changed: [...diff.changed].sort((a, b) => (a.left.op < b.left.op ? -1 : 1)),
    });
    fc.assert(
      fc.property(anyWalk, anyWalk, (one, other) => {
        expect(byPlace(diffNodes(other, one))).toEqual(byPlace(mirrored(diffNodes(one, other))));
      }),
    );
  });

  it('says what became of each node: status, attempts, context, way, gate', () => {
    const plan: Step = { node: 'plan', status: 'success', retries: 0, found: 'ebb' };
    const gate: Step = { node: 'gate', status: 'fail', retries: 1, found: 'flow' };
    const diff = diffNodes(walk([plan, gate]), walk([plan, { ...gate, status: 'success', retries: 0, found: 'ebb' }, plan]));
    expect(diff.changed).toMatchObject([
      {
        left: { node: 'gate', status: 'fail', attempts: 2, to: null },
        right: { status: 'success', attempts: 1, to: 'plan' },
        changes: ['status', 'attempts', 'context', 'way'],
        context: [{ key: 'found', left: 'flow', right: 'ebb' }],
      },
    ]);
    expect(diff).toMatchObject({ same: 1, onlyLeft: [], onlyRight: [{ node: 'plan', visit: 1 }], unmet: { left: ['gate'], right: [] } });
  });
});

describe('the point at which two walks part', () => {
  const plan: Step = { node: 'plan', status: 'success', retries: 0, found: 'ebb' };
  const work: Step = { node: 'work', status: 'success', retries: 0, found: 'flow' };

  it('is nowhere between a walk and itself', () => {
    fc.assert(
      fc.property(anyWalk, (one) => {
        expect(forkOfNodes(one, one)).toMatchObject({ common: one.visits.size, nextLeft: null, nextRight: null, changed: null });
      }),
    );
  });

  it('is the same from the other side, and there where the difference is', () => {
    fc.assert(
      fc.property(anyWalk, anyWalk, (one, other) => {
        const [fork, back] = [forkOfNodes(one, other), forkOfNodes(other, one)];
        expect(back).toMatchObject({ common: fork.common, last: fork.last, nextLeft: fork.nextRight, nextRight: fork.nextLeft });
        const isOver = fork.nextLeft === null && fork.nextRight === null;
        // The order counts as well: the same visits in another order are another walk.
        const isSame = areNodesSame(diffNodes(one, other)) && [...one.visits.keys()].join() === [...other.visits.keys()].join();
        if (isSame) expect(isOver).toBe(true);
        if (isOver) expect(diffNodes(one, other)).toMatchObject({ changed: [], onlyLeft: [], onlyRight: [] });
      }),
    );
  });

  it('is a visit that came out otherwise, a way that was taken otherwise, or the end of one', () => {
    expect(forkOfNodes(walk([plan, work]), walk([plan, { ...work, status: 'fail' }]))).toMatchObject({
      common: 1,
      last: { node: 'plan' },
      changed: { left: { node: 'work', status: 'success' }, right: { status: 'fail' }, changes: ['status'] },
    });
    expect(forkOfNodes(walk([plan, plan]), walk([plan, work]))).toMatchObject({
      common: 0,
      changed: { changes: ['way'], left: { to: 'plan' }, right: { to: 'work' } },
    });
    expect(forkOfNodes(walk([plan]), walk([plan, work]))).toMatchObject({ common: 0, changed: { changes: ['way'] } });
  });

  it('takes branches side by side in their order, whoever was first', () => {
    const branches = (order: readonly string[]): NodeVisits => {
      const facts = ['fan#0', ...order].map((place): Fact => ({
        type: 'node.started',
        op: opPath(`main/${place}`),
        node: place,
        visit: 0,
        handler: 'tool',
      }));
      return fold(nodeVisits, entries(runRef(1), [started(runRef(1)), ...facts]));
    };
    const [one, other] = [branches(['fan#0[0]/a#0', 'fan#0[1]/b#0']), branches(['fan#0[1]/b#0', 'fan#0[0]/a#0'])];
    expect(forkOfNodes(one, other)).toMatchObject({ common: 3, nextLeft: null, nextRight: null });
    expect(forkOfNodes(other, one)).toMatchObject({ common: 3, nextLeft: null, nextRight: null });
  });

  it('is the beginning when they were started with other inputs', () => {
    const withDepth = (depth: string): NodeVisits => ({ ...walk([plan]), inputs: { depth } });
    expect(forkOfNodes(withDepth('1 m'), withDepth('2 m'))).toMatchObject({
      common: 0,
      inputs: [{ key: 'depth', left: '1 m', right: '2 m' }],
    });
    // A run that resumed the first one goes on with its inputs, and does not record them.
    const first: NodeVisits = { ...walk([plan]), inputs: { 'graph.goal': 'chart', depth: '1 m' } };
    expect(diffNodes(first, walk([plan])).inputs).toEqual([]);
  });
});
