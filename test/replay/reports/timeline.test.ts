import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { opPath } from '../../../journal/ids.js';
import { fold } from '../../../replay/fold/projection.js';
import { reportData } from '../../../replay/reports/timeline/report.js';
import { callsOf, timeline, type Timeline } from '../../../replay/reports/timeline/timeline.js';
import { anyRun } from '../../support/any-run.js';
import { call, entries, inside, loop, run, runRef, started } from '../../support/written-runs.js';

describe('the timeline', () => {
  it('has a span for every operation, inside the one around it, with its calls', () => {
    const items = loop('main/for#0', ['ebb', 'flow'], (item, at) => call(`${at}/ask#0`, item));
    const state = fold(timeline, run(runRef(1), items));
    expect(state.spans.map(({ op, parent }) => [op, parent?.op])).toEqual([
      ['main/for#0', undefined],
      ['main/for#0[0]', 'main/for#0'],
      ['main/for#0[0]/ask#0', 'main/for#0[0]'],
      ['main/for#0[1]', 'main/for#0'],
      ['main/for#0[1]/ask#0', 'main/for#0[1]'],
    ]);
    expect([...callsOf(state)].map(({ call }) => [call.fn, call.preview, call.outcome, call.durationMs])).toEqual([
      ['ask', 'ebb', 'executed', 5],
      ['ask', 'flow', 'executed', 5],
    ]);
    expect(state).toMatchObject({ name: 'job', status: 'completed' });
  });

  it('leaves no attempt out of the sums by model, also of what the end of the run cut off', () => {
    const facts = [...call('main/ask#0', 'ebb'), ...call('main/ask#1', 'flow', { outcome: 'killed' })];
    const report = reportData(runRef(1), fold(timeline, entries(runRef(1), [started(runRef(1)), ...facts])), 'crashed');
    expect(report.models.reduce((sum, { attempts }) => sum + attempts, 0)).toBe(report.total.attempts);
    expect(report.total.attempts).toBe(2);
  });

  it('separates reused, failed and unfinished calls, and names the phase they belong to', () => {
    const state = fold(
      timeline,
      entries(runRef(1), [
        started(runRef(1)),
        ...call('main/ask#0', 'ebb', { outcome: 'reused' }),
        { type: 'checkpoint.reached', name: 'collected' },
        ...call('main/ask#1', 'flow', { outcome: 'failed' }),
        ...call('main/ask#2', 'slack', { outcome: 'killed' }),
      ]),
    );
    expect(state.spans.map(({ phase, outcome, calls }) => [phase, outcome, calls[0]?.outcome])).toEqual([
      [undefined, 'reused', 'reused'],
      ['collected', 'failed', 'failed'],
      ['collected', undefined, 'unfinished'],
    ]);
    expect(state.status).toBeUndefined();
  });

  it('keeps commands, guards and hooks with the operation that they happened to', () => {
    const guarded = inside('main/run#0', { kind: 'run' }, [
      { type: 'effect.performed', op: opPath('main/run#0'), kind: 'shell', subject: 'ls', request: 'x' },
    ]);
    const state = fold(timeline, run(runRef(1), guarded));
    expect(state.spans[0]?.moments).toMatchObject([{ event: { kind: 'shell', subject: 'ls' } }]);
  });

  it('reads any beginning of a run, and folds in two parts as at once', () => {
    const plain = (state: Timeline): unknown => ({ ...state, byPath: undefined });
    fc.assert(
      fc.property(anyRun, fc.nat(), (events, n) => {
        const cut = n % (events.length + 1);
        const earlier = fold(timeline, events.slice(0, cut));
        expect(plain(fold(timeline, events.slice(cut), earlier))).toEqual(plain(fold(timeline, events)));
      }),
    );
  });
});
