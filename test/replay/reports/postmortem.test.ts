import { describe, expect, it } from 'vitest';
import type { Fact } from '../../../journal/event.js';
import { opPath, type CallKey } from '../../../journal/ids.js';
import { causeOf } from '../../../replay/reports/postmortem/failure-cause.js';
import { causeChain, inFlight } from '../../../replay/reports/postmortem/in-flight-operations.js';
import { postMortem, type PostMortem } from '../../../replay/reports/postmortem/postmortem.js';
import { fold } from '../../../replay/fold/projection.js';
import { aheadInLoops, estimateResume } from '../../../replay/reports/postmortem/resume-estimate.js';
import { renderPostMortem } from '../../../cli/render/reports/postmortem.js';
import { styleFor } from '../../../cli/render/style.js';
import { openMemoryStore } from '../../../journal/storage/memory-store.js';
import { postMortemOf } from '../../../replay/reports/postmortem/postmortem-run.js';
import { call, callKeyOf, entries, finished, JOB, loop, runRef, started } from '../../support/written-runs.js';

const REF = runRef(1);
const stateOf = (...facts: readonly Fact[][]): PostMortem => fold(postMortem, entries(REF, [started(REF), ...facts.flat()]));
const begin = (op: string, more: Partial<Fact & { type: 'op.started' }> = {}): Fact => ({
  type: 'op.started',
  kind: 'exe',
  ...more,
  op: opPath(op),
});
const fail = (op: string, message: string): Fact => ({ type: 'op.finished', op: opPath(op), outcome: 'failed', message });
const ok = (op: string): Fact => ({ type: 'op.finished', op: opPath(op), outcome: 'ok' });
const failing = (op: string, text: string, message: string): Fact[] =>
  call(op, text, { outcome: 'failed' }).map((fact): Fact =>
    fact.type === 'call.failed' || fact.type === 'op.finished' ? { ...fact, message } : fact,
  );
const paths = (state: PostMortem): readonly string[] => causeChain(state).map(({ op }) => op);

describe('POSTMORTEM-5: a pause', () => {
  const PAUSED = 'The run was paused';
  const iteration = (n: number): Fact => begin(`main/for#0[${n}]`, { kind: 'for:iteration' });
  const whole = (n: number): Fact[] => [iteration(n), ...call(`main/for#0[${n}]/ask#0`, `item ${n}`), ok(`main/for#0[${n}]`)];
  const waiting = (n: number): Fact[] => [iteration(n), begin(`main/for#0[${n}]/ask#0`), fail(`main/for#0[${n}]/ask#0`, PAUSED)];
  const stopped = (n: number): Fact[] => [...waiting(n), fail(`main/for#0[${n}]`, PAUSED)];
  const refused = (n: number): Fact[] => [
    iteration(n),
    ...failing(`main/for#0[${n}]/ask#0`, `item ${n}`, PAUSED),
    fail(`main/for#0[${n}]`, PAUSED),
  ];

  it('is no failure of what waited, and leaves it to be called', () => {
    const state = stateOf([begin('main/for#0', { kind: 'for', total: 10 })], whole(0), whole(1), stopped(2), stopped(3), [
      fail('main/for#0', PAUSED),
      finished('paused'),
    ]);
    expect([...state.failures.values()]).toEqual([]);
    expect(estimateResume(state, undefined)).toMatchObject({ reused: 2, unresolved: [], notStarted: 8 });
  });

  it('is no failure of a stage that waits for its next attempt, and none of a branch that it called off', () => {
    const tried = 'main/fan#0[0]/a#0/try#1/model#0';
    const busy: Fact[] = [
      begin('main/fan#0[0]', { kind: 'branch' }),
      begin('main/fan#0[0]/a#0', { kind: 'node' }),
      begin('main/fan#0[0]/a#0/try#1', { kind: 'attempt' }),
      ...failing(tried, 'a', 'overloaded'),
      fail('main/fan#0[0]/a#0/try#1', 'overloaded'),
    ];
    const again: Fact = {
      type: 'retry.scheduled',
      op: opPath('main/fan#0[0]/a#0'),
      node: 'a',
      visit: 1,
      attempt: 1,
      cause: 'error',
      reason: 'overloaded',
      delayMs: 200,
    };
    const end = [fail('main/fan#0[0]/a#0', PAUSED), fail('main/fan#0[0]', 'the branch was cancelled'), finished('paused')];
    expect([...stateOf(busy, end).failures.values()]).toMatchObject([{ cause: 'overloaded', count: 1 }]);
    expect([...stateOf(busy, [again], end).failures.values()]).toEqual([]);
  });

  it('counts the rest of an iteration once where a loop inside it was paused', () => {
    const rows = (n: number, cells: number, end: (cell: string) => Fact[]): Fact[] => [
      begin(`main/for#0[${n}]`, { kind: 'for:iteration' }),
      begin(`main/for#0[${n}]/for#0`, { kind: 'for', total: 4 }),
      ...Array.from({ length: cells }, (_, m) => `main/for#0[${n}]/for#0[${m}]`).flatMap((cell, m) => [
        begin(cell, { kind: 'for:iteration' }),
        ...call(`${cell}/ask#0`, `cell ${n} ${m}`),
        ok(cell),
      ]),
      ...end(`main/for#0[${n}]/for#0[${cells}]`),
    ];
    const whole = (n: number): Fact[] => rows(n, 4, () => [ok(`main/for#0[${n}]/for#0`), ok(`main/for#0[${n}]`)]);
    const half = rows(2, 2, (cell) => [
      begin(cell, { kind: 'for:iteration' }),
      begin(`${cell}/ask#0`),
      ...[`${cell}/ask#0`, cell, 'main/for#0[2]/for#0', 'main/for#0[2]'].map((op) => fail(op, PAUSED)),
    ]);
    const state = stateOf([begin('main/for#0', { kind: 'for', total: 5 })], whole(0), whole(1), half, [
      fail('main/for#0', PAUSED),
      finished('paused'),
    ]);
    expect(estimateResume(state, undefined)).toMatchObject({ reused: 10, notStarted: 10 });
  });

  it('takes what some iterations make for no measure of others that call another function', () => {
    const path = (n: number) => `main/for#0[${n}]`;
    // Each of these makes three calls of one function, those behind them one call of another, whose lane was stopped.
    const long = (n: number): Fact[] => [
      iteration(n),
      ...['one', 'two', 'three'].flatMap((text, m) => call(`${path(n)}/read#${m}`, `${text} ${n}`, { fn: 'read' })),
      ok(path(n)),
    ];
    const short = (n: number): Fact[] => [
      iteration(n),
      ...call(`${path(n)}/look#0`, `look ${n}`, { fn: 'look' }),
      { ...begin(`${path(n)}/ask#0`), labels: ['llm'] } as Fact,
      fail(`${path(n)}/ask#0`, PAUSED),
      fail(path(n), PAUSED),
    ];
    const all = [0, 1, 2, 3].flatMap(long).concat([4, 5, 6].flatMap(short));
    const state = stateOf([begin('main/for#0', { kind: 'for', total: 7 })], all, [fail('main/for#0', PAUSED), finished('paused')]);
    expect(Object.fromEntries([...aheadInLoops(state)].filter(([, calls]) => calls > 0))).toEqual({ ask: 3 });
    expect(estimateResume(state, undefined)).toMatchObject({ reused: 15, notStarted: 3 });
  });

  // Each iteration calls `grade` and then `second`; one is whole, and three are cut in their first call.
  const SIGNAL = 'interrupted: SIGINT';
  const graded = (n: number): Fact[] => call(`main/for#0[${n}]/grade#0`, `item ${n}`, { fn: 'grade' });
  const both = [iteration(0), ...graded(0), ...call('main/for#0[0]/second#0', 'item 0', { fn: 'second' }), ok('main/for#0[0]')];
  const cut = (n: number): Fact[] => [
    ...[iteration(n), ...failing(`main/for#0[${n}]/grade#0`, `item ${n}`, SIGNAL)].map((fact) =>
      'fn' in fact ? { ...fact, fn: 'grade' } : fact,
    ),
    fail(`main/for#0[${n}]`, SIGNAL),
  ];
  const opened = (n: number): Fact[] => [iteration(n), ...graded(n)];

  it.each([
    ['that Ctrl-C ended', [...[1, 2, 3].flatMap(cut), fail('main/for#0', SIGNAL), finished('interrupted')]],
    ['that were open when the process was killed', [1, 2, 3].flatMap(opened)],
  ])('is no measure of what an iteration makes, and nor are those %s', (_, end) => {
    const state = stateOf([begin('main/for#0', { kind: 'for', total: 10 })], both, end);
    expect(Object.fromEntries(aheadInLoops(state))).toEqual({ grade: 6, second: 9 });
  });

  it('measures iterations that reused a result by those that executed the function: a reused call makes no calls inside it', () => {
    const path = (n: number) => `main/for#0[${n}]`;
    const reused = (n: number): Fact[] => [
      iteration(n),
      ...call(`${path(n)}/judge#0`, `item ${n}`, { fn: 'judge', outcome: 'reused' }),
      ok(path(n)),
    ];
    const judge = call(`${path(4)}/judge#0`, 'item 4', { fn: 'judge' });
    const grade = call(`${path(4)}/judge#0/grade#0`, 'item 4', { fn: 'grade' });
    const executed = [iteration(4), ...judge.slice(0, 2), ...grade, ...judge.slice(2), ok(path(4))];
    const state = stateOf([begin('main/for#0', { kind: 'for', total: 10 })], [0, 1, 2, 3].flatMap(reused), executed, stopped(5));
    expect(Object.fromEntries(aheadInLoops(state))).toMatchObject({ judge: 5, grade: 5 });
  });

  it('leaves all elements where the first one met it', () => {
    const state = stateOf([begin('main/for#0', { kind: 'for', total: 10 })], refused(0), [fail('main/for#0', PAUSED), finished('paused')]);
    expect(estimateResume(state, undefined)).toMatchObject({ reused: 0, unresolved: [{ why: 'failed' }], notStarted: 9 });
  });
});

describe('the chain of a post-mortem', () => {
  it('goes down to the call that failed', () => {
    const state = stateOf(
      [begin('main/for#0', { kind: 'for', total: 2 }), begin('main/for#0[0]', { kind: 'for:iteration' })],
      failing('main/for#0[0]/ask#0', 'ebb', '429'),
      [fail('main/for#0[0]', '429'), fail('main/for#0', '429'), finished('failed')],
    );
    expect(paths(state)).toEqual(['main/for#0', 'main/for#0[0]', 'main/for#0[0]/ask#0']);
  });

  it('leaves out what failed and was dealt with', () => {
    const state = stateOf([begin('main/try#0')], failing('main/try#0/ask#0', 'ebb', 'no'), [
      ok('main/try#0'),
      begin('main/run#0', { kind: 'run' }),
      fail('main/run#0', 'out of reach'),
      finished('failed'),
    ]);
    expect(paths(state)).toEqual(['main/run#0']);
    expect([...state.failures.values()].map(({ what, count }) => [what, count])).toEqual([
      ['ask', 1],
      ['run', 1],
    ]);
  });

  it('follows the one of several failures side by side that rose', () => {
    const state = stateOf(
      [begin('main/for#0', { kind: 'for' })],
      failing('main/for#0/ask#0', 'ebb', 'first'),
      failing('main/for#0/ask#1', 'flow', 'second'),
      [fail('main/for#0', 'first'), finished('failed')],
    );
    expect(paths(state)).toEqual(['main/for#0', 'main/for#0/ask#0']);
  });

  it('is what is in flight where a run crashed', () => {
    const state = stateOf([begin('main/survey#0')], call('main/survey#0/ask#0', 'ebb', { outcome: 'killed' }));
    expect(paths(state)).toEqual(['main/survey#0', 'main/survey#0/ask#0']);
    expect(inFlight(state).map(({ op, call }) => [op, call?.preview])).toEqual([['main/survey#0/ask#0', 'ebb']]);
  });

  it('leaves out calls that had ended, but for what is in flight behind them', () => {
    const ended = (op: string, text: string): Fact[] => call(op, text).slice(0, -1);
    const iteration = (n: number): Fact => begin(`main/for#0[${n}]`, { kind: 'for:iteration' });
    const killed = (...hooks: Fact[]): PostMortem =>
      stateOf(
        [begin('main/for#0', { kind: 'for', total: 3 }), iteration(0), iteration(1), iteration(2)],
        call('main/for#0[0]/ask#0', 'ebb', { outcome: 'killed' }),
        ended('main/for#0[1]/ask#0', 'flow'),
        call('main/for#0[2]/ask#0', 'slack', { outcome: 'reused' }).slice(0, -1),
        hooks,
      );
    const shown = (state: PostMortem): readonly string[] => inFlight(state).map(({ op }) => op);
    expect(shown(killed())).toEqual(['main/for#0[0]/ask#0', 'main/for#0[1]', 'main/for#0[2]']);
    const hook = 'main/for#0[1]/ask#0/hook:after#0/note#0';
    expect(shown(killed(begin(hook)))).toEqual(['main/for#0[0]/ask#0', 'main/for#0[2]', hook]);
  });

  it('is empty for a run that completed', () => {
    expect(paths(stateOf(failing('main/ask#0', 'ebb', 'no'), [finished()]))).toEqual([]);
  });
});

describe('a call between two attempts', () => {
  const [begin0, begun, failed] = call('main/ask#0', 'ebb', { outcome: 'failed' });
  const held = { ...(failed as Fact), class: 'overloaded', retryInMs: 1000 } as Fact;

  it('waits, and is not in flight', async () => {
    const store = openMemoryStore();
    const journal = await store.create(REF);
    for (const fact of [started(REF), begin0!, begun!, held]) await journal.append(fact);
    await journal.close();
    const [file] = await store.runs(JOB);
    const report = await postMortemOf(store, file!, { nowMs: 0, onDefect: () => expect.unreachable() });
    expect(report).toMatchObject({ inFlight: [{ what: '@ask', waits: true }], resume: { unresolved: [{ why: 'waiting' }] } });
    const again = stateOf([begin0!, begun!, held, { ...(begun as Fact), try: 2 } as Fact]);
    expect(inFlight(again).map(({ call: each }) => each?.waits)).toEqual([false]);
    expect(estimateResume(again, undefined).unresolved).toMatchObject([{ why: 'in-flight' }]);
  });

  it('waits on where the run ends, also as a call for one inside it', () => {
    const waited = { ...(failed as Fact), waited: true } as Fact;
    expect(estimateResume(stateOf([begin0!, begun!, waited]), undefined).unresolved).toMatchObject([{ why: 'waiting' }]);
  });
});

describe('a call that was offered to workers', () => {
  const offer = (op: string, text: string): Fact[] => [
    begin(op, { labels: ['llm'], name: 'ask' }),
    { type: 'call.offered', key: callKeyOf(text), op: opPath(op), fn: 'ask' },
  ];

  it('is in flight for no less than no time, also where the clock of who looks is behind', async () => {
    const store = openMemoryStore();
    const journal = await store.create(REF);
    for (const fact of [started(REF), ...call('main/ask#0', 'ebb', { outcome: 'killed' })]) await journal.append(fact);
    const [file] = await store.runs(JOB);
    const report = await postMortemOf(store, file!, { nowMs: 0, onDefect: () => expect.unreachable() });
    expect(report).toMatchObject({ status: 'running', inFlight: [{ what: '@ask', durationMs: 0 }] });
    await journal.close();
  });

  it('is in flight at the worker that had begun it, and else only offered', async () => {
    const store = openMemoryStore();
    const write = async (number: number, facts: readonly Fact[]): Promise<void> => {
      const journal = await store.create(runRef(number));
      for (const fact of facts) await journal.append(fact);
      await journal.close();
    };
    await write(1, [started(REF), ...offer('main/ask#0', 'ebb'), ...offer('main/ask#1', 'flow')]);
    const worker = { for: REF.run, name: 'w1' };
    await write(2, [started(runRef(2)), ...call('main/ask#0', 'ebb', { outcome: 'killed' }), { ...finished(), worker } as Fact]);
    const [file] = await store.runs(JOB);
    const report = await postMortemOf(store, file!, { nowMs: 0, onDefect: () => expect.unreachable() });
    expect(report.inFlight).toMatchObject([
      { what: '@ask', preview: 'ebb', offered: true, worker: 'w1' },
      { what: '@ask', offered: true },
    ]);
    expect(report.inFlight[1]).not.toHaveProperty('worker');
    expect(report.resume.unresolved.map(({ why }) => why)).toEqual(['in-flight', 'offered']);
    const text = renderPostMortem(report, styleFor(false));
    expect(text).toContain('@ask(ebb) offered to workers, which the worker w1 had begun  main/ask#0\n');
    expect(text).toContain('@ask offered to workers, which no worker had begun  main/ask#1\n');
  });

  it('is counted once where a pause ended it', () => {
    const iteration = (n: number): Fact[] => [
      begin(`main/for#0[${n}]`, { kind: 'for:iteration' }),
      ...offer(`main/for#0[${n}]/ask#0`, `item ${n}`),
      ...[`main/for#0[${n}]/ask#0`, `main/for#0[${n}]`].map((op) => fail(op, 'The run was paused')),
    ];
    const state = stateOf([begin('main/for#0', { kind: 'for', total: 2 })], iteration(0), iteration(1), [
      fail('main/for#0', 'The run was paused'),
      finished('paused'),
    ]);
    expect(estimateResume(state, undefined)).toMatchObject({ unresolved: [{ why: 'offered' }, { why: 'offered' }], notStarted: 0 });
  });
});

describe('a call that failed without a class', () => {
  it('has the one that other reports count it in', () => {
    const [group] = stateOf(failing('main/ask#0', 'ebb', 'the guard around it broke')).failures.values();
    expect(group).toMatchObject({ cause: 'crash', count: 1 });
  });
});

describe('the estimate of a resume', () => {
  it('reuses what has a result, executes what has none, and counts the rest of loops in flight', () => {
    const items = ['a', 'b', 'c', 'd', 'e'];
    const open = loop('main/for#0', items, (item, path) => call(`${path}/ask#0`, item)).slice(0, 1 + 2 * 6);
    const state = stateOf(
      open,
      [begin('main/for#0[2]', { kind: 'for:iteration' })],
      call('main/for#0[2]/ask#0', 'c', { outcome: 'killed' }),
    );
    expect(estimateResume(state, undefined)).toEqual({
      reused: 2,
      kept: 2,
      unresolved: [{ fn: 'ask', preview: 'c', why: 'in-flight' }],
      notStarted: 2,
      isPart: true,
      durationMs: 15,
      callsMs: 15,
      costUsd: undefined,
      unpriced: 0,
    });
    expect(estimateResume(state, 10).notStarted).toBe(7);
  });

  it('counts nothing as not started of a run that reached its end, however many calls another one had made', () => {
    const state = stateOf(call('main/ask#0', 'a'), call('main/ask#1', 'b', { outcome: 'failed' }), [finished()]);
    expect(estimateResume(state, 10)).toMatchObject({ reused: 1, unresolved: [{ preview: 'b' }], notStarted: 0 });
  });

  it('counts a result that came later, and not one that can’t be reused', () => {
    const state = stateOf(
      failing('main/ask#0', 'ebb', 'no'),
      call('main/ask#1', 'ebb'),
      call('main/ask#2', 'flow', { outcome: 'unusable' }),
    );
    expect(estimateResume(state, undefined)).toMatchObject({ reused: 1, unresolved: [{ preview: 'flow', why: 'unusable' }] });
  });

  it('counts no call inside one whose result is reused, and gives no price to what only makes calls', () => {
    const around = (op: string, key: string, outcome: 'completed' | 'killed', ...inner: readonly Fact[][]): Fact[] => {
      const facts = call(op, key, { outcome }).map((fact): Fact => (fact.type === 'call.completed' ? { ...fact, onlyCalls: true } : fact));
      const at = facts.findIndex(({ type }) => type === 'call.started') + 1;
      return [...facts.slice(0, at), ...inner.flat(), ...facts.slice(at)].map((fact): Fact =>
        fact.type === 'call.started' && fact.op === op ? { ...fact, fn: 'wrap' } : fact,
      );
    };
    const paid = call('main/wrap#0/ask#0', 'ebb').map((fact): Fact =>
      fact.type === 'call.completed' ? { ...fact, usage: { costUsd: 0.5 } } : fact,
    );
    const caught = call('main/wrap#0/ask#1', 'flow', { outcome: 'failed' });
    const whole = around('main/wrap#0', 'w1', 'completed', paid, caught);
    const begun = around('main/wrap#1', 'w2', 'killed');
    expect(estimateResume(stateOf(whole, begun), undefined)).toMatchObject({
      reused: 1,
      kept: 2,
      unresolved: [{ fn: 'wrap', why: 'in-flight' }],
      costUsd: undefined,
      unpriced: 1,
    });
    const further = around('main/wrap#1', 'w2', 'killed', call('main/wrap#1/ask#0', 'slack', { outcome: 'killed' }));
    expect(estimateResume(stateOf(whole, further), undefined)).toMatchObject({
      unresolved: [{ fn: 'wrap' }, { fn: 'ask' }],
      costUsd: 0.5,
      unpriced: 0,
    });
  });

  it('is a part where a run did not reach its end, or a call without a result may lead to others', () => {
    const asked = [call('main/ask#0', 'ebb'), call('main/ask#1', 'flow', { outcome: 'failed' })];
    expect(estimateResume(stateOf(...asked, [finished()]), undefined)).toMatchObject({ unresolved: [{ why: 'failed' }], isPart: true });
    expect(estimateResume(stateOf(...asked, [finished()]), 2)).toMatchObject({ notStarted: 0, isPart: true });
    expect(estimateResume(stateOf(...asked, [finished('failed')]), 4)).toMatchObject({ notStarted: 2, isPart: true });
    expect(estimateResume(stateOf(call('main/ask#0', 'ebb'), [finished()]), undefined)).toMatchObject({ unresolved: [], isPart: false });
  });

  it('executes the calls around failed ones where the resume invalidates their results', () => {
    const [begin, begun, ...end] = call('main/wrap#0', 'w', { fn: 'wrap' }) as [Fact, Fact, ...Fact[]];
    const inner = [call('main/wrap#0/ask#0', 'ebb'), call('main/wrap#0/ask#1', 'flow', { outcome: 'failed' })].flat();
    const state = stateOf([begin, begun, ...inner, ...end, finished()]);
    expect(estimateResume(state, undefined)).toMatchObject({ reused: 1, kept: 2, unresolved: [] });
    const now = { has: (key: CallKey) => state.resolved.has(key), judging: () => undefined, elsewhere: 0, costs: new Map<string, never>() };
    expect(estimateResume(state, undefined, { ...now, invalidates: new Set([callKeyOf('w', 'wrap')]) })).toMatchObject({
      reused: 1,
      kept: 2,
      unresolved: [{ why: 'failed' }, { fn: 'wrap', why: 'invalidated' }],
    });
  });

  it('takes the cost of the coming calls from that of the earlier ones', () => {
    const paid = call('main/ask#0', 'ebb').map((fact): Fact =>
      fact.type === 'call.completed' ? { ...fact, usage: { costUsd: 0.5 } } : fact,
    );
    expect(estimateResume(stateOf(paid, call('main/ask#1', 'flow', { outcome: 'killed' })), 4).costUsd).toBe(1.5);
  });

  it('takes no less time than the gap of a lane leaves between the starts', () => {
    const paced = call('main/ask#0', 'ebb').map((fact): Fact => (fact.type === 'call.started' ? { ...fact, lane: 'claude' } : fact));
    const gap: Fact = { type: 'lane.changed', lane: 'claude', limit: 4, gapMs: 2000, why: 'rejected' };
    const killed = [1, 2, 3, 4].map((n) => call(`main/ask#${n}`, `item ${n}`, { outcome: 'killed' }));
    expect(estimateResume(stateOf([gap], paced, ...killed), undefined)).toMatchObject({ durationMs: 6000, callsMs: 20 });
  });

  it('makes up no cost of a function whose results reported none', () => {
    const paid = call('main/ask#0', 'ebb').map((fact): Fact =>
      fact.type === 'call.completed' ? { ...fact, usage: { costUsd: 0.5 } } : fact,
    );
    const other = [call('main/note#0', 'calm'), call('main/note#1', 'flow', { outcome: 'killed' })].map((facts) =>
      facts.map((fact): Fact => (fact.type === 'call.started' ? { ...fact, fn: 'note' } : fact)),
    );
    expect(estimateResume(stateOf(paid, ...other), undefined)).toMatchObject({ costUsd: undefined, unpriced: 1 });
  });
  it('takes the cost of a function that this run did not execute from its recorded results, and never from other functions', () => {
    const paid = call('main/ask#0', 'ebb').map((fact): Fact =>
      fact.type === 'call.completed' ? { ...fact, usage: { costUsd: 0.5 } } : fact,
    );
    const [again, never] = [call('main/ask#1', 'flow', { outcome: 'failed' }), call('main/note#0', 'calm', { outcome: 'failed' })];
    const state = stateOf(
      paid,
      again,
      never.map((fact): Fact => (fact.type === 'call.started' ? { ...fact, fn: 'note' } : fact)),
    );
    expect(estimateResume(state, undefined)).toMatchObject({ costUsd: 0.5, unpriced: 1 });
    const costs = new Map([['note', [0.1, 0.2, 0.9]]]);
    const now = { has: (key: CallKey) => state.resolved.has(key), judging: () => undefined, elsewhere: 0, costs };
    expect(estimateResume(state, undefined, now)).toMatchObject({ costUsd: 0.9, unpriced: 0 });
  });
});

const command = (op: string): Fact => ({
  type: 'effect.performed',
  op: opPath(op),
  kind: 'command.run',
  subject: 'make tide',
  request: 'sha256:0',
  result: { inline: { exitCode: 2, stderr: 'no water' } },
});

it('counts a command that a call ran with the call, and one of the script by itself', () => {
  const asked = call('main/ask#0', 'ebb', { outcome: 'unusable' });
  const state = stateOf(
    [...asked.slice(0, 2), command('main/ask#0'), ...asked.slice(2)],
    [begin('main/run#0', { kind: 'run' }), command('main/run#0'), ok('main/run#0')],
  );
  expect([...state.failures.values()].map(({ cause, what, message }) => [cause, what, message])).toEqual([
    ['exit-status', 'ask', expect.stringContaining('ended with status 1')],
    ['exit-status', 'command', 'ended with status 2: no water'],
  ]);
});

it.each(['failed', 'completed'] as const)('counts a command deeper inside a call once, also where the call %s', (outcome) => {
  const asked = call('main/ask#0', 'ebb', { outcome });
  const inner = [begin('main/ask#0/claude#0'), command('main/ask#0/claude#0'), ok('main/ask#0/claude#0')];
  const state = stateOf([...asked.slice(0, 2), ...inner, ...asked.slice(2)]);
  expect([...state.failures.values()].map(({ what, count }) => [what, count])).toEqual([[outcome === 'failed' ? 'ask' : 'command', 1]]);
});

it.each([
  ['HTTP 429: slow down', 'rate-limit'],
  ['its command ended with status 7: Too Many Requests', 'rate-limit'],
  ['The run timed out after 500 ms', 'timeout'],
  ['Unexpected token < in JSON at position 0', 'bad-reply'],
  ['its command ended with status 2', 'exit-status'],
  ["Cannot read properties of undefined (reading 'x')", 'code'],
  ['require is not a function', 'code'],
  ['the pier is closed', 'other'],
] as const)('takes "%s" for %s', (message, cause) => {
  expect(causeOf(message)).toBe(cause);
});
