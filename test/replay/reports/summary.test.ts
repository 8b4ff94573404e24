import { describe, expect, it } from 'vitest';
import type { Fact } from '../../../journal/event.js';
import { opPath } from '../../../journal/ids.js';
import { fold } from '../../../replay/fold/projection.js';
import { reportRun, summary } from '../../../replay/reports/summary/summary.js';
import { call, entries, finished, inside, run, runRef, started } from '../../support/written-runs.js';

const REF = runRef(0);
const AT = (seconds: number): number => Date.parse('2026-01-01T00:00:00.000Z') + seconds * 1000;

describe('run summary', () => {
  it('counts what was executed, reused and failed, and what it cost', () => {
    const paid = call('main/ask#0', 'ebb').map((fact): Fact =>
      fact.type === 'call.completed' ? { ...fact, usage: { inputTokens: 10, outputTokens: 20, costUsd: 0.5 } } : fact,
    );
    const again = call('main/ask#1', 'flow').map((fact): Fact =>
      fact.type === 'call.completed' ? { ...fact, usage: { outputTokens: 1, costUsd: 0.25 } } : fact,
    );
    const history = run(
      REF,
      paid,
      again,
      call('main/ask#2', 'ebb', { outcome: 'reused' }),
      call('main/ask#3', 'x', { outcome: 'failed' }),
      [{ type: 'checkpoint.reached', name: 'done' }],
    );
    expect(reportRun(fold(summary, history), REF, 'finished', 0)).toMatchObject({
      workflow: 'job.mld',
      name: 'job',
      status: 'completed',
      executed: 2,
      reused: 1,
      failed: 1,
      callsMs: 11,
      inputTokens: 10,
      outputTokens: 21,
      costUsd: 0.75,
      checkpoints: ['done'],
      inFlight: [],
      loops: [],
      startedMs: AT(0),
      endedMs: AT(history.length - 1),
      durationMs: (history.length - 1) * 1000,
    });
  });

  it('counts the failed call of a stage as accepted when the walk leads on from it', () => {
    const op = opPath('main/pump#0');
    const history = run(REF, call('main/pump#0/try#1/model#0', 'ebb', { outcome: 'failed' }), [
      { type: 'node.finished', op, node: 'pump', visit: 0, status: 'fail', attempts: 1, elapsedMs: 1 } as Fact,
      { type: 'edge.selected', op: opPath('main'), from: 'pump', to: 'b', via: 'condition' },
    ]);
    expect(reportRun(fold(summary, history), REF, 'finished', 0)).toMatchObject({ failed: 1, accepted: 1, unresolved: 0 });
  });

  it('does not claim that calls without a price were free', () => {
    const { inputTokens, outputTokens, costUsd } = fold(summary, run(REF, call('main/ask#0', 'ebb')));
    expect({ inputTokens, outputTokens, costUsd }).toEqual({ inputTokens: null, outputTokens: null, costUsd: null });
  });

  it.each([
    ['running', 'running', AT(60), 60_000],
    ['crashed', 'crashed', AT(60), 2000],
  ] as const)('tells a run without an end that is %s', (liveness, status, nowMs, durationMs) => {
    const open = fold(summary, entries(REF, [started(REF), ...call('main/ask#0', 'ebb', { outcome: 'killed' })]));
    expect(reportRun(open, REF, liveness, nowMs)).toMatchObject({
      status,
      durationMs,
      inFlight: [{ op: 'main/ask#0', fn: 'ask', preview: 'ebb', durationMs: durationMs - 2000 }],
    });
  });

  it('never took less than no time, also where the clock of who looks is an hour behind', () => {
    const open = fold(summary, entries(REF, [started(REF), ...call('main/ask#0', 'ebb', { outcome: 'killed' })]));
    expect(reportRun(open, REF, 'running', AT(-3600))).toMatchObject({ durationMs: 0, inFlight: [{ durationMs: 0 }] });
  });

  it.each([
    ['running', 1],
    ['crashed', 0],
  ] as const)('has the questions that people have not answered, for a run that is %s', (liveness, count) => {
    const ask = (id: string): Fact => ({
      type: 'question.asked',
      op: opPath('main/gate#0/try#1'),
      id,
      node: 'gate',
      text: 'Open the gate?',
      kind: 'multiple_choice',
      options: [{ key: 'O', label: '[O] Open', target: 'done' }],
    });
    const answered: Fact = {
      type: 'question.answered',
      op: opPath('main/gate#0/try#1'),
      id: 'q1',
      node: 'gate',
      answer: 'O',
      by: 'remote',
    };
    const state = fold(summary, entries(REF, [started(REF), ask('q1'), answered, ask('q2')]));
    const { questions } = reportRun(state, REF, liveness, AT(63));
    const options = [{ key: 'O', label: '[O] Open' }];
    const waiting = { id: 'q2', node: 'gate', text: 'Open the gate?', options, asked: expect.any(String), waitedMs: 60_000 };
    expect(questions).toEqual([waiting].slice(0, count));
  });

  it('says why a run failed', () => {
    const error = { code: 'BAIL', message: 'the pier is closed' };
    const failed = fold(summary, entries(REF, [started(REF), { ...finished('failed'), error } as Fact]));
    expect(reportRun(failed, REF, 'finished', 0)).toMatchObject({ status: 'failed', error });
  });

  it('says how far loops in flight are', () => {
    const iteration = (index: number): Fact[] => inside(`main/for#0[${index}]`, { kind: 'for:iteration', item: 'x' }, []);
    const begin: Fact = { type: 'op.started', op: opPath('main/for#0'), kind: 'for', total: 3 };
    const half = entries(REF, [started(REF), begin, ...iteration(0), ...iteration(2)]);
    expect(reportRun(fold(summary, half), REF, 'running', 0).loops).toEqual([{ op: 'main/for#0', done: 2, total: 3 }]);
    expect(
      fold(summary, run(REF, [begin], iteration(0), [{ type: 'op.finished', op: opPath('main/for#0'), outcome: 'ok' }])).loops.size,
    ).toBe(0);
  });

  it('says which lanes are held or stopped, until they change again', () => {
    const heldUntil = '2026-01-01T00:01:00.000Z';
    const held: Fact = { type: 'lane.changed', lane: 'claude', limit: 4, heldUntil, why: 'rejected' };
    const grown: Fact = { type: 'lane.changed', lane: 'claude', limit: 5, why: 'grew' };
    const stopped: Fact = { type: 'dispatch.stopped', class: 'quota', lane: 'claude', resetsAt: heldUntil, message: 'used up' };
    const resumed: Fact = { type: 'dispatch.resumed', lane: 'claude' };
    const holdsAfter = (...facts: Fact[]): unknown[] => [...fold(summary, entries(REF, [started(REF), ...facts])).holds.values()];
    expect(holdsAfter(held)).toEqual([{ lane: 'claude', untilMs: AT(60) }]);
    expect(holdsAfter(held, grown)).toEqual([]);
    expect(holdsAfter(held, stopped, grown)).toEqual([{ lane: 'claude', stopped: 'quota', untilMs: AT(60) }]);
    expect(holdsAfter(stopped, resumed)).toEqual([]);
    expect(holdsAfter({ type: 'dispatch.stopped', class: 'budget', message: 'reached' })).toEqual([{ lane: '', stopped: 'budget' }]);
  });
});
