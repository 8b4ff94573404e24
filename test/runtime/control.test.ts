/** Ends of statements, deadlines, yields and pauses. */
import { describe, expect, it } from 'vitest';
import { Return, Signal, valueIn } from '../../src/runtime/completion.js';
import { CooperativeYield } from '../../src/runtime/cooperative-yield.js';
import { Denial, denialContext, denialObject, type DenialFacts } from '../../src/runtime/denial.js';
import { GuardRetry } from '../../src/runtime/guard-retry.js';
import { BodyDeadline, bodyTimedOut } from '../../src/runtime/body-deadline.js';

it('the value of an outcome is the value, or the one that a control word carries', () => {
  expect(valueIn('high')).toBe('high');
  expect(valueIn(new Signal('done', 'high', true))).toBe('high');
  expect(valueIn(new Signal('done', null, false))).toBeUndefined();
  expect(new Return('x').hasValue).toBe(true);
});

describe('a loop that never waits', () => {
  const steps = (yields: CooperativeYield, count: number, deadline?: BodyDeadline): Promise<void> | undefined => {
    let last: Promise<void> | undefined;
    for (let i = 0; i < count; i++) last = yields.step(deadline);
    return last;
  };

  it('yields in one of 256 steps', async () => {
    const yields = new CooperativeYield(new AbortController().signal);
    expect(steps(yields, 255)).toBeUndefined();
    const yielded = yields.step(undefined);
    expect(yielded).toBeInstanceOf(Promise);
    await yielded;
    expect(yields.step(undefined)).toBeUndefined();
  });

  it('yields in all iterations of a parallel loop once it does in one', async () => {
    const yields = new CooperativeYield(new AbortController().signal);
    const first = steps(yields, 256);
    const second = yields.step(undefined);
    expect(second).toBeInstanceOf(Promise);
    await Promise.all([first, second]);
    expect(yields.step(undefined)).toBeUndefined();
  });

  it('gives a joining iteration the deadline of its own hook', async () => {
    const yields = new CooperativeYield(new AbortController().signal);
    const first = steps(yields, 256);
    await expect(yields.step(new BodyDeadline(() => 0))).rejects.toThrow(bodyTimedOut().message);
    await expect(first).resolves.toBeUndefined();
  });

  it('ends with the run', async () => {
    await expect(steps(new CooperativeYield(AbortSignal.abort()), 256)).rejects.toMatchObject({ code: 'INTERRUPTED' });
  });

  it('ends with the hook that it runs in', async () => {
    const over = new BodyDeadline(() => 0);
    await expect(steps(new CooperativeYield(new AbortController().signal), 256, over)).rejects.toThrow(bodyTimedOut().message);
  });
});

describe('the deadline of a hook', () => {
  it('is over when its time is, or when it expires', () => {
    let left = 5;
    const deadline = new BodyDeadline(() => left);
    expect(deadline.isOver).toBe(false);
    left = 0;
    expect(deadline.isOver).toBe(true);
    const expired = new BodyDeadline(() => 5);
    expired.expire();
    expect(expired.isOver).toBe(true);
  });

  it('aborts its signal, also one that is made after it', () => {
    const early = new BodyDeadline(() => 5);
    const { signal } = early;
    expect(signal.aborted).toBe(false);
    early.expire();
    expect(signal.aborted).toBe(true);
    const late = new BodyDeadline(() => 5);
    late.expire();
    expect(late.signal.aborted).toBe(true);
  });
});

describe('a denial', () => {
  const facts: DenialFacts = {
    guardName: null,
    guardFilter: 'data:pii',
    timing: 'before',
    decision: 'deny',
    reason: 'no',
    reasons: ['no', 'never'],
    tries: [{ attempt: 1, decision: 'retry', hint: 'shorter' }],
    hints: [],
    trace: [],
    args: [],
  };

  it('names its guard, or the filter of an unnamed one', () => {
    expect(new Denial({ ...facts, guardName: '@watch' }).message).toBe('Guard @watch denied the operation: no');
    expect(new Denial(facts).message).toBe('Guard data:pii denied the operation: no');
  });

  it('is seen by scripts with all its reasons', () => {
    expect(denialContext({ ...facts, guardName: '@watch' })).toMatchObject({
      denied: true,
      name: 'watch',
      reasons: ['no', 'never'],
      try: 2,
      filter: 'data:pii',
    });
    expect(denialObject(facts)).toEqual({ denied: true, decision: 'deny', reason: 'no', guardName: null, guardFilter: 'data:pii' });
  });
});

it('a retry of a guard carries its hint', () => {
  expect(new GuardRetry('after', 'shorter')).toMatchObject({
    name: 'GuardRetry',
    hint: 'shorter',
    message: 'a guard requested another attempt: shorter',
  });
});
