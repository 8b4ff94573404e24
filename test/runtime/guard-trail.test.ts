/** The decisions of guards that an operation remembers. instrumentation.md 4.4 and 4.7. */
import { describe, expect, it } from 'vitest';
import { GuardTrail, type GuardDecision } from '../../src/runtime/guard-trail.js';

const allowed: GuardDecision = {
  guardName: 'tidy',
  guardFilter: 'data:raw',
  timing: 'before',
  decision: 'allow',
  reason: null,
  hint: null,
  replacement: 'kelp',
};
const retried: GuardDecision = { ...allowed, guardName: 'soft', decision: 'retry', hint: 'later', replacement: null };
const denied: GuardDecision = { ...allowed, guardName: null, decision: 'deny', reason: 'never', replacement: null };

function trailOf(...decisions: readonly GuardDecision[]): GuardTrail {
  const trail = new GuardTrail();
  decisions.forEach((decision) => trail.add(decision));
  return trail;
}

describe('the trail of guards', () => {
  it.each([
    ['null before a guard is looked at', trailOf(), null],
    ['allow', trailOf(allowed), 'allow'],
    ['retry, which beats allow', trailOf(retried, allowed), 'retry'],
    ['deny, which beats both', trailOf(denied, retried, allowed), 'deny'],
  ] as const)('decides %s', (_what, trail, decision) => {
    expect(trail.decision).toBe(decision);
  });

  it('lists reasons and hints, also the hints beside a denial', () => {
    const trail = trailOf(retried, denied);
    expect([trail.reasons, trail.hints]).toEqual([['never'], [{ guardName: 'soft', hint: 'later' }]]);
  });

  it('gives a trace that later decisions do not change', () => {
    const trail = trailOf(allowed);
    const { trace } = trail;
    trail.add(denied);
    expect([trace, trail.trace]).toEqual([[allowed], [allowed, denied]]);
  });

  it('reports each execution of the operation, and remembers replacements of its own only', () => {
    const begun: GuardTrail[] = [];
    const first = new GuardTrail((trail) => void begun.push(trail));
    first.addReplacing(7, 'before');
    const second = first.again();
    expect(begun).toEqual([first, second]);
    expect([first, second].map((trail) => trail.hasReplaced(7, 'before'))).toEqual([true, false]);
    expect(first.hasReplaced(7, 'after')).toBe(false);
  });
});
