/** The count of calls: each once, by its last attempt and by what came after. calls.md 10.5, 10.6, 14.1. */
import { describe, expect, it } from 'vitest';
import type { Fact, FactOf, Usage } from '../../../journal/event.js';
import { numberOfExecution } from '../../../journal/facts/attempt-number.js';
import { opPath, seqOf } from '../../../journal/ids.js';
import { unpricedInFlight, emptyLedger, endRun, followCall, usualModel, type CallLedger } from '../../../replay/fold/calls/call-ledger.js';
import { recordedCounts } from '../../../replay/fold/recorded-counts.js';
import { callKeyOf, entries, FINGERPRINT, runRef } from '../../support/written-runs.js';

const start = (path: string, text: string, more: Partial<FactOf<'call.started'>> = {}): Fact => ({
  type: 'call.started',
  key: callKeyOf(text),
  op: opPath(path),
  fn: 'ask',
  lane: '@ask',
  args: { inline: [text] },
  fingerprint: FINGERPRINT,
  ...more,
});
const fail = (path: string, text: string, more: Partial<FactOf<'call.failed'>> = {}): Fact => ({
  type: 'call.failed',
  key: callKeyOf(text),
  op: opPath(path),
  message: 'no',
  elapsedMs: 2,
  class: 'overloaded',
  ...more,
});
const complete = (path: string, text: string, more: Partial<FactOf<'call.completed'>> = {}): Fact => ({
  type: 'call.completed',
  key: callKeyOf(text),
  op: opPath(path),
  result: { inline: 'A' },
  elapsedMs: 5,
  ...more,
});
const reuse = (path: string, text: string, savedUsd?: number, more: Partial<FactOf<'call.reused'>> = {}): Fact => ({
  type: 'call.reused',
  key: callKeyOf(text),
  op: opPath(path),
  fn: 'ask',
  from: { run: runRef(0).run, seq: seqOf(1) },
  ...(savedUsd !== undefined && { savedUsd }),
  ...more,
});
const usage = (costUsd: number, model = 'sonnet'): Usage => ({ model, inputTokens: 10, outputTokens: 2, costUsd });

function count(...facts: readonly Fact[]): CallLedger {
  const ledger = emptyLedger();
  for (const { event } of entries(runRef(1), facts)) followCall(ledger, event);
  return ledger;
}

describe('the count of calls', () => {
  it('counts a call once, and each of its attempts with what it had cost', () => {
    const { total, functions } = count(
      start('main/ask#0', 'ebb'),
      fail('main/ask#0', 'ebb', { retryInMs: 10, usage: usage(0.25) }),
      start('main/ask#0', 'ebb', { try: 2 }),
      fail('main/ask#0', 'ebb', { retryInMs: 0, class: 'rate-limit' }),
      start('main/ask#0', 'ebb', { try: 3 }),
      complete('main/ask#0', 'ebb', { try: 3, usage: usage(0.5) }),
    );
    expect(total).toMatchObject({ executed: 1, failed: 0, unresolved: 0, attempts: 3, retries: 2, callsMs: 9 });
    expect(total).toMatchObject({ costUsd: 0.75, inputTokens: 20, outputTokens: 4, unpriced: 0, savedUsd: null });
    expect(functions.get('ask')).toEqual(total);
  });

  it('counts a failed call once that is made again and fails again, by what it got last', () => {
    const { total } = count(
      start('main/ask#0', 'ebb'),
      fail('main/ask#0', 'ebb'),
      start('main/ask#1', 'ebb'),
      fail('main/ask#1', 'ebb', { accepted: true }),
    );
    expect(total).toMatchObject({ failed: 1, accepted: 1, unresolved: 0, attempts: 2, failedByClass: { overloaded: 1 } });
  });

  it('keeps a failed call inside another one that had a result without it, whatever an equal one elsewhere got', () => {
    const inside = (...then: readonly Fact[]) =>
      count(
        start('main/part#0', 'part'),
        start('main/part#0/ask#0', 'ebb'),
        fail('main/part#0/ask#0', 'ebb'),
        ...then,
        start('main/ask#0', 'ebb'),
        complete('main/ask#0', 'ebb'),
      ).total;
    const failed = fail('main/part#0', 'part');
    expect(inside(complete('main/part#0', 'part'))).toMatchObject({ executed: 2, failed: 1, unresolved: 1 });
    expect(inside()).toMatchObject({ executed: 1, failed: 1 });
    expect(inside(reuse('main/part#0/ask#1', 'ebb'), complete('main/part#0', 'part'))).toMatchObject({ failed: 0, reused: 1 });
    expect(inside(failed)).toMatchObject({ executed: 1, failed: 1 });
    expect(inside(failed, start('main/part#1', 'part'), complete('main/part#1', 'part'))).toMatchObject({ executed: 2, failed: 0 });
    const around = (end: Fact) =>
      count(
        start('main/whole#0', 'whole'),
        start('main/whole#0/part#0', 'part'),
        start('main/whole#0/part#0/ask#0', 'ebb'),
        fail('main/whole#0/part#0/ask#0', 'ebb'),
        fail('main/whole#0/part#0', 'part'),
        end,
        start('main/ask#0', 'ebb'),
        complete('main/ask#0', 'ebb'),
      ).total;
    expect(around(complete('main/whole#0', 'whole'))).toMatchObject({ executed: 2, failed: 2 });
    expect(around(fail('main/whole#0', 'whole'))).toMatchObject({ executed: 1, failed: 2 });
  });

  it('drops a failed call that is made again with a result', () => {
    const again = (first: string, then: string) =>
      count(start(first, 'ebb'), fail(first, 'ebb'), start(then, 'ebb'), complete(then, 'ebb')).total;
    expect(again('main/ask#0', 'main/ask#1')).toMatchObject({ executed: 1, failed: 0, unresolved: 0 });
    expect(again('main/loop#0/for#0[0]/ask#0', 'main/loop#1/for#0[0]/ask#0')).toMatchObject({ executed: 1, failed: 0 });
    expect(again('main/loop#0/for#0[0]/ask#0', 'main/loop#1/for#0[1]/ask#0')).toMatchObject({ executed: 1, failed: 0 });
    expect(again('main[g0]/ask#0', 'main[p1][g0]/ask#0')).toMatchObject({ executed: 1, failed: 0 });
    expect(again('main[p1][g0]/ask#0', 'main[p2][g0]/ask#0')).toMatchObject({ executed: 1, failed: 0 });
  });

  it.each([
    ['main/for#0[1]/ask#0', 'main/for#0[12]/ask#0'],
    ['main/for#0[w1][3]/ask#0', 'main/for#0[w2][9]/ask#0'],
    ['main/for#0[1]/for#0[0]/ask#0', 'main/for#0[2]/for#0[0]/ask#0'],
    ['main/vote#0[g0]/ask#0', 'main/vote#0[g1]/ask#0'],
    ['main[p1][g0]/ask#0', 'main[p1][g1]/ask#0'],
  ])('keeps a failed call beside an equal one that has a result: %s, %s', (failed, other) => {
    const calls = [start(failed, 'ebb'), fail(failed, 'ebb'), start(other, 'ebb'), complete(other, 'ebb')];
    expect(count(...calls).total).toMatchObject({ executed: 1, failed: 1, unresolved: 1 });
    expect(count(...calls, reuse(failed, 'ebb')).total).toMatchObject({ executed: 1, reused: 1, failed: 0, unresolved: 0 });
  });

  it('prints no digits that nobody was charged', () => {
    const calls = [1, 2, 3].flatMap((i) => [
      start(`main/ask#${i}`, `ebb ${i}`),
      complete(`main/ask#${i}`, `ebb ${i}`, { usage: usage(0.1) }),
      reuse(`main/flow#${i}`, `flow ${i}`, 0.1),
    ]);
    const { costUsd, savedUsd } = count(...calls).total;
    expect(JSON.stringify({ costUsd, savedUsd })).toBe('{"costUsd":0.3,"savedUsd":0.3}');
  });

  it('counts as failed what has no result at the end, by the class of the last attempt', () => {
    const failing = [
      start('main/ask#0', 'ebb'),
      fail('main/ask#0', 'ebb', { retryInMs: 1, class: 'rate-limit' }),
      start('main/ask#0', 'ebb', { try: 2 }),
      fail('main/ask#0', 'ebb', { try: 2, class: 'crash' }),
    ];
    expect(count(...failing).total).toMatchObject({ failed: 1, unresolved: 1, failedByClass: { crash: 1 }, attempts: 2, unpriced: 1 });
    const again = [start('main/ask#1', 'ebb'), complete('main/ask#1', 'ebb')];
    expect(count(...failing, ...again).total).toMatchObject({ executed: 1, failed: 0, unresolved: 0, failedByClass: {}, attempts: 3 });
    expect(count(...failing, reuse('main/ask#1', 'ebb')).total).toMatchObject({ reused: 1, failed: 0, unresolved: 0 });
  });

  it('counts accepted failures among the failed, and resolves them', () => {
    const marker = [start('main/ask#0', 'ebb'), fail('main/ask#0', 'ebb', { accepted: true })];
    expect(count(...marker).total).toMatchObject({ failed: 1, accepted: 1, unresolved: 0 });
    const value = [start('main/ask#0', 'ebb'), complete('main/ask#0', 'ebb', { class: 'crash', unusable: 'it failed', exitCode: 3 })];
    expect(count(...value).total).toMatchObject({ failed: 1, accepted: 1, unresolved: 0, failedByClass: { crash: 1 } });
  });

  it('counts denied calls and calls that were not executed apart, without an attempt', () => {
    const denied = { class: undefined, denied: true } as unknown as Partial<FactOf<'call.failed'>>;
    const { total, functions } = count(
      start('main/ask#0', 'ebb', { lane: undefined } as unknown as Partial<FactOf<'call.started'>>),
      fail('main/ask#0', 'ebb', denied),
      fail('main/judge#0', 'flow', { class: 'upstream', fn: 'judge' }),
    );
    expect(total).toMatchObject({ denied: 1, notExecuted: 1, failed: 0, unresolved: 1, attempts: 0, unpriced: 0, failedByClass: {} });
    expect(functions.get('judge')).toMatchObject({ notExecuted: 1 });
  });

  it('counts an attempt that a guard denied afterwards, with its cost', () => {
    const { total } = count(start('main/ask#0', 'ebb'), fail('main/ask#0', 'ebb', { denied: true, usage: usage(0.5) }));
    expect(total).toMatchObject({ denied: 1, attempts: 1, costUsd: 0.5, unpriced: 0 });
  });

  it.each(['rate-limit', 'overloaded', 'quota', 'auth'] as const)(
    'knows that an attempt of class %s without usage cost nothing',
    (each) => {
      const { total } = count(start('main/ask#0', 'ebb'), fail('main/ask#0', 'ebb', { class: each }));
      expect(total).toMatchObject({ unpriced: 0, costUsd: null });
    },
  );

  it.each(['crash', 'timeout', 'network', 'bad-reply', 'content'] as const)('does not know what an attempt of class %s cost', (each) => {
    expect(count(start('main/ask#0', 'ebb'), fail('main/ask#0', 'ebb', { class: each })).total.unpriced).toBe(1);
  });

  it('knows that an attempt that did nothing but make calls cost nothing itself', () => {
    const { total } = count(
      start('main/ask#0', 'ebb'),
      fail('main/ask#0', 'ebb', { class: 'crash', retryInMs: 1, onlyCalls: true }),
      start('main/ask#0', 'ebb', { try: 2 }),
      complete('main/ask#0', 'ebb', { onlyCalls: true }),
    );
    expect(total).toMatchObject({ executed: 1, attempts: 2, unpriced: 0, costUsd: null });
  });

  it('counts an attempt that is in flight when its run ends as unpriced', () => {
    const ledger = count(start('main/ask#0', 'ebb'), start('main/ask#1', 'flow'), fail('main/ask#1', 'flow', { retryInMs: 1000 }));
    expect(unpricedInFlight(ledger)).toBe(1);
    endRun(ledger);
    expect(ledger.total).toMatchObject({ attempts: 2, unpriced: 1, failed: 0, executed: 0 });
  });

  it('adds up what reused results had cost', () => {
    const { total } = count(reuse('main/ask#0', 'ebb', 0.5), reuse('main/ask#1', 'ebb', 0.25), reuse('main/ask#2', 'flow'));
    expect(total).toMatchObject({ reused: 3, savedUsd: 0.75, costUsd: null, attempts: 0 });
  });

  it('names the model that most attempts used', () => {
    const ledger = count(
      ...['a', 'b', 'c'].flatMap((text, place) => [
        start(`main/ask#${place}`, text),
        complete(`main/ask#${place}`, text, { usage: usage(1, place === 0 ? 'haiku' : 'sonnet') }),
      ]),
    );
    expect(usualModel(ledger)).toBe('sonnet');
    expect(usualModel(emptyLedger())).toBeNull();
  });

  it('counts by a group from the first event of a call on', () => {
    const ledger = emptyLedger();
    const group = emptyLedger().total;
    const [begin, end] = entries(runRef(1), [start('main/ask#0', 'ebb'), complete('main/ask#0', 'ebb')]);
    followCall(ledger, begin!.event, [group]);
    expect(followCall(ledger, end!.event)).toMatchObject({ fn: 'ask', outcome: 'executed', totalUsd: undefined });
    expect(group).toEqual(ledger.total);
  });

  it('reads the last line of a run, and not that of a program that counted otherwise', () => {
    expect(recordedCounts({ executed: 2, reused: 0, failed: 1, withoutResult: 0 })).toBeUndefined();
    expect(recordedCounts({ executed: 0, reused: 2, failed: 0, withoutResult: 0 })).toMatchObject({
      reused: 2,
      unresolved: 0,
      costUsd: null,
    });
    const totals = { executed: 2, reused: 0, failed: 1, withoutResult: 0, attempts: 5, unresolved: 1, model: 'sonnet' };
    expect(recordedCounts(totals)).toMatchObject({ executed: 2, failed: 1, attempts: 5, unresolved: 1, model: 'sonnet' });
  });

  it('counts what an attempt came to no longer when the next one begins', () => {
    const begun = [start('main/ask#0', 'x'), start('main/ask#0/part#0', 'p'), fail('main/ask#0/part#0', 'p')];
    const next = [fail('main/ask#0', 'x', { retryInMs: 0 }), start('main/ask#0', 'x', { try: 2 })];
    expect(count(...begun, ...next.slice(0, 1)).total).toMatchObject({ failed: 1 });
    expect(count(...begun, ...next, complete('main/ask#0', 'x')).total).toMatchObject({ executed: 1, failed: 0 });
  });

  it('counts once what a reused result was made without, however often it is reused', () => {
    const without = (path: string): Fact => reuse(path, 'x', undefined, { unresolvedInside: 2 });
    expect(count(without('main/ask#0'), without('main/ask#1')).unresolvedBefore).toBe(2);
    expect(count(without('main/for#0[0]/ask#0'), without('main/for#0[1]/ask#0')).unresolvedBefore).toBe(2);
  });
});

describe('the executions of a call that an after-guard requested', () => {
  const call = 'main/ask#0';
  const inside = (place: number): string => `${call}/ask#${place}`;
  const received = (path: string, text: string): Fact =>
    ({ ...complete(path, text, { usage: usage(0.25) }), type: 'result.received' }) as Fact;
  const first = [start(call, 'x'), received(call, 'x')];
  const again = (place: number): readonly Fact[] => {
    const path = inside(place);
    return [start(path, `x${place}`, { attempt: numberOfExecution(1, place + 2) }), received(path, `x${place}`)];
  };
  const sentBack = (place: number): Fact => fail(inside(place), `x${place}`, { denied: true, usage: usage(0.25) });

  it('are attempts of it, and it counts once, by how it ends', () => {
    const accepted = [complete(inside(1), 'x1', { usage: usage(0.25) }), complete(call, 'x', { usage: usage(0.25) })];
    const facts = [...first, ...again(0), sentBack(0), ...again(1)];
    const counts = { failed: 0, notExecuted: 0, attempts: 3, retries: 2, costUsd: 0.75, unpriced: 0 };
    expect(count(...facts).total).toMatchObject({ ...counts, executed: 0, denied: 0 });
    expect(count(...facts, ...accepted).total).toMatchObject({ ...counts, executed: 1, denied: 0 });
    const denied = [sentBack(1), fail(call, 'x', { denied: true, usage: usage(0.25) })];
    expect(count(...facts, ...denied).total).toMatchObject({ ...counts, executed: 0, denied: 1 });
  });

  it('fail with it, and count where it waits on when the run ends', () => {
    const failed = [...first, ...again(0).slice(0, 1), fail(inside(0), 'x0', { class: 'quota' })];
    const counts = { executed: 0, failed: 1, unresolved: 1, failedByClass: { quota: 1 }, attempts: 2, retries: 1, costUsd: 0.25 };
    expect(count(...failed).total).toMatchObject(counts);
    expect(count(...failed, fail(call, 'x', { class: undefined, waited: true } as never)).total).toMatchObject(counts);
    expect(count(...failed, fail(call, 'x', { class: 'quota' })).total).toMatchObject(counts);
  });

  it('replace the ones before them, with what failed inside these', () => {
    const part = (around: string, text: string): readonly Fact[] => [start(`${around}/part#0`, text), fail(`${around}/part#0`, text)];
    const accepted = [complete(inside(0), 'x0'), complete(call, 'x')];
    const begun = [start(call, 'x'), ...part(call, 'p'), received(call, 'x')];
    expect(count(...begun).total).toMatchObject({ failed: 1, unresolved: 1 });
    expect(count(...begun, ...again(0), ...accepted).total).toMatchObject({ executed: 1, failed: 0, unresolved: 0 });
    const [started, back] = again(0) as [Fact, Fact];
    const laterFailed = [...begun, started, ...part(inside(0), 'q'), back, ...accepted];
    expect(count(...laterFailed).total).toMatchObject({ executed: 1, failed: 1, unresolved: 1 });
    // The guards before an execution come before its start, and judge what it is sent.
    const guardFailed = [...begun, ...part(`${inside(0)}/guard:1#0`, 'g'), ...again(0), ...accepted];
    expect(count(...guardFailed).total).toMatchObject({ executed: 1, failed: 1, unresolved: 1 });
  });

  it('replace a result of an earlier run that was made without calls inside', () => {
    const judged = start(call, 'x', { received: { run: runRef(0).run, seq: seqOf(1) } });
    const without = { unresolvedInside: 2 };
    expect(count(judged, complete(call, 'x', without)).unresolvedBefore).toBe(2);
    const accepted = [complete(inside(0), 'x0'), complete(call, 'x')];
    expect(count(judged, ...again(0), ...accepted).unresolvedBefore).toBe(0);
    const inner = reuse(`${call}/part#0`, 'p', undefined, without);
    expect(count(start(call, 'x'), inner, received(call, 'x')).unresolvedBefore).toBe(2);
    expect(count(start(call, 'x'), inner, received(call, 'x'), ...again(0), ...accepted).unresolvedBefore).toBe(0);
    const elsewhere = [start(call, 'x'), reuse('main/part#0', 'p', undefined, without), inner, received(call, 'x')];
    expect(count(...elsewhere, ...again(0), ...accepted).unresolvedBefore).toBe(2);
  });

  it('may be reused, when the result that came first is judged once more', () => {
    const judged = start(call, 'x', { received: { run: runRef(0).run, seq: seqOf(1) } });
    const { total } = count(judged, reuse(inside(0), 'x0', 0.25), complete(call, 'x'));
    expect(total).toMatchObject({ executed: 1, reused: 0, attempts: 0, savedUsd: 0.25 });
  });

  it('are no calls that its body makes of its own function', () => {
    const recursive = [start(call, 'x'), start(inside(0), 'y'), complete(inside(0), 'y'), complete(call, 'x')];
    expect(count(...recursive).total).toMatchObject({ executed: 2, attempts: 2, retries: 0 });
    const number = { attempt: numberOfExecution(1, 2) };
    const deeper = `${inside(0)}/ask#0`;
    const within = [...again(0).slice(0, 1), start(deeper, 'z', number), complete(deeper, 'z'), complete(inside(0), 'x0')];
    expect(count(...first, ...within, complete(call, 'x')).total).toMatchObject({ executed: 2, attempts: 3, retries: 1 });
  });
});

describe('the attempts of a stage of a pipeline', () => {
  const at = (attempt: number): string => `main/a#0/try#${attempt}/model#0`;
  const again = (attempt: number, cause: 'asked' | 'error' = 'error'): Fact => ({
    type: 'retry.scheduled',
    op: opPath('main/a#0'),
    node: 'a',
    visit: 0,
    attempt,
    delayMs: 1,
    reason: 'no',
    cause,
  });

  it('are attempts of one call, where a failed one is made again', () => {
    const facts = [start(at(1), 'x1'), fail(at(1), 'x1'), again(1), start(at(2), 'x2'), fail(at(2), 'x2'), again(2), start(at(3), 'x3')];
    const counts = { executed: 1, failed: 0, unresolved: 0, attempts: 3, retries: 2, failedByClass: {} };
    expect(count(...facts, complete(at(3), 'x3')).total).toMatchObject(counts);
    const failed = { executed: 0, failed: 1, unresolved: 1, attempts: 3, retries: 2, failedByClass: { overloaded: 1 } };
    expect(count(...facts, fail(at(3), 'x3')).total).toMatchObject(failed);
  });

  it('include the calls inside that fail with it', () => {
    const inner = `${at(1)}/ask#0`;
    const facts = [start(at(1), 'x1'), start(inner, 'y'), fail(inner, 'y'), fail(at(1), 'x1'), again(1), start(at(2), 'x2')];
    expect(count(...facts, complete(at(2), 'x2')).total).toMatchObject({ executed: 1, failed: 0, attempts: 3, retries: 1 });
  });

  it('that the stage requested are further calls', () => {
    const facts = [start(at(1), 'x1'), complete(at(1), 'x1'), again(1, 'asked'), start(at(2), 'x2'), complete(at(2), 'x2')];
    expect(count(...facts).total).toMatchObject({ executed: 2, attempts: 2, retries: 0 });
  });

  it('are those of their own node, and of the latest retry', () => {
    const other = 'main/fan#0[1]/a#0/try#1/model#0';
    const facts = [start(other, 'o'), fail(other, 'o'), start(at(1), 'x1'), fail(at(1), 'x1'), again(1), start(at(2), 'x2')];
    const ledger = count(...facts, complete(at(2), 'x2'));
    expect(ledger.total).toMatchObject({ executed: 1, failed: 1, attempts: 3, retries: 1 });
  });

  it('have been resolved where their key has a result', () => {
    const facts = [start(at(1), 'x'), fail(at(1), 'x'), start('main/b#0', 'x'), complete('main/b#0', 'x'), again(1), start(at(2), 'x2')];
    expect(count(...facts, complete(at(2), 'x2')).total).toMatchObject({ executed: 2, failed: 0, unresolved: 0 });
  });
});

it('reads no counts of a pipeline in which retried stages were failed calls', () => {
  const totals = { executed: 1, reused: 0, failed: 1, attempts: 2, nodes: 3 };
  expect(recordedCounts(totals)).toBeUndefined();
  expect(recordedCounts({ ...totals, stageRetries: 0 })).toMatchObject({ executed: 1, failed: 1 });
});

describe('the calls of stages of a pipeline', () => {
  const visit = 'main/pump#0';
  const failing = (node = visit, walk = 'main'): readonly Fact[] => [
    start(`${node}/try#1/model#0`, node),
    { type: 'call.failed', key: callKeyOf(node), op: opPath(`${node}/try#1/model#0`), message: 'no', class: 'crash', elapsedMs: 1 },
    nodeEnd(node, 'fail'),
    ...(walk === '' ? [] : [edge(walk, node)]),
  ];
  const nodeOf = (op: string): string => op.slice(op.lastIndexOf('/') + 1, op.lastIndexOf('#'));
  const nodeEnd = (op: string, status: 'fail' | 'success'): Fact =>
    ({ type: 'node.finished', op: opPath(op), node: nodeOf(op), visit: 0, status, attempts: 1, elapsedMs: 1 }) as Fact;
  const edge = (walk: string, node: string): Fact => ({
    type: 'edge.selected',
    op: opPath(walk),
    from: nodeOf(node),
    to: 'b',
    via: 'condition',
  });
  const countsOf = (facts: readonly Fact[]) => {
    const ledger = emptyLedger();
    for (const { event } of entries(runRef(1), facts)) followCall(ledger, event);
    const { failed, accepted, unresolved, failedByClass } = ledger.total;
    return { failed, accepted, unresolved, failedByClass };
  };

  it('are accepted where the walk leaves the failed stage, in a branch too, and by a restart', () => {
    const accepted = { failed: 1, accepted: 1, unresolved: 0, failedByClass: { crash: 1 } };
    expect(countsOf(failing())).toEqual(accepted);
    expect(countsOf(failing('main/par#0/left[0]/pump#0', 'main/par#0/left[0]'))).toEqual(accepted);
    const restarted = { type: 'run.finished', status: 'restarted', node: 'pump', totals: { executed: 0, reused: 0, failed: 1 } } as Fact;
    expect(countsOf([...failing(visit, ''), restarted])).toEqual(accepted);
  });

  it('stay unresolved where nothing leads on, where another walk goes on, and where the stage did not fail', () => {
    const unresolved = { failed: 1, accepted: 0, unresolved: 1, failedByClass: { crash: 1 } };
    expect(countsOf(failing(visit, ''))).toEqual(unresolved);
    expect(countsOf(failing(visit, 'main/par#0/left[0]'))).toEqual(unresolved);
    const [started, failed, , left] = failing();
    expect(countsOf([started, failed, nodeEnd(visit, 'success'), left] as Fact[])).toEqual(unresolved);
  });

  it('count as executed where a later visit gets the result', () => {
    const again = 'main/pump#1/try#1/model#0';
    const completed = { type: 'call.completed', key: callKeyOf(visit), op: opPath(again), result: { inline: 'ok' }, elapsedMs: 1 } as Fact;
    expect(countsOf([...failing(), start(again, visit), completed])).toMatchObject({
      failed: 0,
      accepted: 0,
      unresolved: 0,
      failedByClass: {},
    });
  });
});
