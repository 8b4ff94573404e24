import { describe, expect, it } from 'vitest';
import type { Fact, FactOf, Json } from '../../../journal/event.js';
import { sha256 } from '../../../journal/canonical.js';
import { opPath, seqOf, type EventRef, type Fingerprint } from '../../../journal/ids.js';
import { usableEntry, memo, usable, type Memo } from '../../../replay/memo/memo.js';
import { unjudgedCalls } from '../../../replay/memo/overlay.js';
import { calledLately } from '../../../replay/resume/predict-calls.js';
import { fold, type Entry } from '../../../replay/fold/projection.js';
import { call, entries, inside, loop, callKeyOf, run, runRef, started } from '../../support/written-runs.js';

const usableTexts = (history: readonly Entry[]): (string | undefined)[] =>
  [...usable(fold(memo, history))].map(([, { preview }]) => preview);
const invalidated = (texts: readonly string[], borrowed = false): Fact => ({
  type: 'memo.invalidated',
  selector: '@ask',
  keys: texts.map((text) => callKeyOf(text)),
  ...(borrowed && { borrowed }),
});

describe('memo', () => {
  it('knows where a result is stored and which call returned it', () => {
    const ref = runRef(1);
    const state = fold(memo, run(ref, call('main/ask#0', { berth: 4, port: 'Oban' }, { site: 'job.mld:3:6', declared: 'job.mld:1:5' })));
    expect(usableEntry(state, callKeyOf({ berth: 4, port: 'Oban' }))).toMatchObject({
      fn: 'ask',
      site: 'job.mld:3:6',
      declared: 'job.mld:1:5',
      preview: '{"berth":4,"port":"Oban"}',
      inside: [],
      result: { ref, seq: 3, position: { offset: 300, bytes: 99 }, elapsedMs: 5, endedMs: Date.parse('2026-01-01T00:00:03.000Z') },
    });
  });

  it.each<[Json, string]>([
    ['as it is, two\nlines', 'as it is, two\nlines'],
    [12, '12'],
    [null, 'null'],
    [{ b: [1, 'x"', { z: true, y: null }], 10: 'ten', 9: 'nine' }, '{"10":"ten","9":"nine","b":[1,"x\\"",{"y":null,"z":true}]}'],
    ['x'.repeat(300), 'x'.repeat(256)],
    [['x'.repeat(300), 'never looked at'], `["${'x'.repeat(254)}`],
    [Array.from({ length: 1000 }, (_, n) => n), JSON.stringify(Array.from({ length: 1000 }, (_, n) => n)).slice(0, 256)],
  ])('previews the first argument %j', (argument, preview) => {
    expect(usableEntry(fold(memo, run(runRef(1), call('main/ask#0', argument))), callKeyOf(argument))?.preview).toBe(preview);
  });

  it.each(['failed', 'unusable', 'killed', 'reused'] as const)('has no result of a call that was %s', (outcome) => {
    expect(usableTexts(run(runRef(1), call('main/ask#0', 'ebb', { outcome })))).toEqual([]);
  });

  it('knows a call that waited for a worker when its run was stopped as one that the next run makes', () => {
    const offered: Fact = { type: 'call.offered', key: callKeyOf('ebb'), op: opPath('main/ask#0'), fn: 'ask', site: 'job.mld:3:6' };
    const state = fold(memo, run(runRef(1), [offered]));
    expect([...calledLately(state)]).toEqual([callKeyOf('ebb')]);
    expect(state.entries.get(callKeyOf('ebb'))).toMatchObject({ fn: 'ask', site: 'job.mld:3:6', result: undefined });
    const executed = fold(memo, run(runRef(2), call('main/ask#0', 'ebb')), state);
    expect(usableEntry(executed, callKeyOf('ebb'))).toMatchObject({ preview: 'ebb', result: { ref: runRef(2) } });
  });

  it('has the result that waits for guards where a salvage run has it', () => {
    const sealed = fold(memo, run(runRef(1), call('main/ask#0', 'ebb', { outcome: 'killed' })));
    const [, begun, completed] = call('main/ask#0', 'ebb') as [Fact, FactOf<'call.started'>, FactOf<'call.completed'>];
    const salvaging: Fact[] = [
      { ...started(runRef(1)), salvages: runRef(1).run } as Fact,
      { ...begun, begun: { run: runRef(1).run, seq: seqOf(2) } },
      { ...completed, type: 'result.received' },
    ];
    const [waiting] = unjudgedCalls(fold(memo, run(runRef(2), salvaging), sealed));
    expect(waiting).toMatchObject([callKeyOf('ebb'), { preview: 'ebb', result: { ref: runRef(2) } }]);
  });

  it('shows a call that was offered to workers, and failed at one, by its argument', () => {
    const offered: Fact = { type: 'call.offered', key: callKeyOf('ebb'), op: opPath('main/ask#0'), fn: 'ask' };
    const state = fold(memo, run(runRef(1), [offered, ...call('main/ask#0', 'ebb', { outcome: 'failed' })]));
    expect(state.entries.get(callKeyOf('ebb'))).toMatchObject({ preview: 'ebb', result: undefined });
  });

  it('keeps the result of a model when the call is simulated, and replaces a simulated one', () => {
    const defined = (backend: string): Fact => ({
      type: 'definition.recorded',
      fn: 'ask',
      fingerprint: backend as Fingerprint,
      parts: [{ kind: 'variable', name: 'backend', digest: sha256(backend) }],
    });
    const by = (backend: string, outcome: 'completed' | 'received' = 'completed'): Fact[] => [
      defined(backend),
      ...call('main/ask#0', 'ebb').flatMap((fact): Fact[] => {
        if (fact.type === 'call.started') return [{ ...fact, fingerprint: backend as Fingerprint }];
        if (outcome === 'completed') return [fact];
        return fact.type === 'call.completed' ? [{ ...fact, type: 'result.received' }] : [];
      }),
    ];
    const after = (...calls: Fact[][]): Memo =>
      fold(
        memo,
        calls.flatMap((facts, index) => run(runRef(index + 1), facts)),
      );
    const usedRun = (state: Memo): unknown => usableEntry(state, callKeyOf('ebb'))?.result.ref;
    expect(usedRun(after(by('claude'), by('simulated')))).toEqual(runRef(1));
    expect(usedRun(after(by('simulated'), by('simulated')))).toEqual(runRef(2));
    expect(usedRun(after(by('simulated'), by('claude')))).toEqual(runRef(2));
    // Older programs recorded no parts.
    expect(usedRun(after(call('main/ask#0', 'ebb'), by('simulated')))).toEqual(runRef(1));
    expect([...unjudgedCalls(after(by('claude', 'received'), by('simulated', 'received')))]).toMatchObject([
      [callKeyOf('ebb'), { fingerprint: 'claude', result: { ref: runRef(1) } }],
    ]);
    const waiting = after(by('claude', 'received'), by('simulated'));
    expect([usedRun(waiting), [...unjudgedCalls(waiting)].length]).toEqual([undefined, 1]);
  });

  it('keeps an earlier result when a second execution fails', () => {
    const history = [...run(runRef(1), call('main/ask#0', 'ebb')), ...run(runRef(2), call('main/ask#0', 'ebb', { outcome: 'failed' }))];
    expect(usableEntry(fold(memo, history), callKeyOf('ebb'))?.result.ref).toEqual(runRef(1));
  });

  it('has the later of two results', () => {
    const history = [...run(runRef(1), call('main/ask#0', 'ebb')), ...run(runRef(2), call('main/ask#0', 'ebb'))];
    expect(usableEntry(fold(memo, history), callKeyOf('ebb'))?.result.ref).toEqual(runRef(2));
  });

  it('lists a call that was invalidated and executed again where it was first made', () => {
    const first = run(runRef(1), call('main/ask#0', 'one'), call('main/ask#1', 'two'), call('main/ask#2', 'three'));
    const dropped = run(runRef(2), [invalidated(['one', 'two'])]);
    expect(usableTexts([...first, ...dropped])).toEqual(['three']);
    expect(usableTexts([...first, ...dropped, ...run(runRef(3), call('main/ask#0', 'one'))])).toEqual(['one', 'three']);
  });

  it('lists an outer call before the calls inside it', () => {
    const [begin, asked, ...end] = call('main/plan#0', 'outer', { fn: 'plan' }) as [Fact, Fact, ...Fact[]];
    expect(usableTexts(run(runRef(1), [begin, asked], call('main/plan#0/ask#0', 'inner'), end))).toEqual(['outer', 'inner']);
  });

  it('forgets everything on fresh, and the run before on clean', () => {
    const reset = (reason: 'fresh' | 'clean'): Entry[] => [
      ...run(runRef(1), call('main/ask#0', 'ebb'), [invalidated(['slack'], true)]),
      ...run(runRef(2), [{ type: 'memo.reset', reason }], call('main/ask#0', 'flow')),
    ];
    for (const reason of ['fresh', 'clean'] as const) {
      expect(usableTexts(reset(reason))).toEqual(['flow']);
      expect(fold(memo, reset(reason)).refused.size).toBe(0);
    }
    expect(fold(memo, reset('fresh')).cleanedBy).toBeUndefined();
    expect(fold(memo, reset('clean')).cleanedBy).toEqual(runRef(2));
  });

  it('keeps forked results invalidated until --fresh, whatever is executed since', () => {
    const history = [...run(runRef(1), [invalidated(['ebb'], true)]), ...run(runRef(2), call('main/ask#0', 'ebb'))];
    expect([...fold(memo, history).refused]).toEqual([callKeyOf('ebb')]);
    expect(usableTexts(history)).toEqual(['ebb']);
  });

  it('invalidates what a concurrent run had recorded by then, the last event included', () => {
    const early = run(runRef(1), call('main/ask#0', 'ebb')); // its result is event 3
    const during = (seq: number) => [{ run: runRef(1).run, seq: seqOf(seq) }];
    const drops = (seq: number): Fact[] => [
      { type: 'memo.reset', reason: 'fresh', during: during(seq) },
      { type: 'memo.invalidated', selector: '@ask', keys: [callKeyOf('ebb')], during: during(seq) },
    ];
    for (const drop of drops(3)) expect(usableTexts([...early, ...run(runRef(2), [drop])])).toEqual([]);
    for (const drop of drops(2)) expect(usableTexts([...early, ...run(runRef(2), [drop])])).toEqual(['ebb']);
  });

  it('forgets with a clean what had outlasted the one before', () => {
    const clean = (during: readonly EventRef[]): Fact[] => [{ type: 'memo.reset', reason: 'clean', during }];
    const first = [...run(runRef(1)), ...run(runRef(2), clean([{ run: runRef(1).run, seq: seqOf(0) }]))];
    expect([...fold(memo, first).outlasting]).toEqual([runRef(1).run]);
    expect([...fold(memo, [...first, ...run(runRef(3), clean([]))]).outlasting]).toEqual([]);
  });

  it('has neither a result that was redacted nor the one that it had replaced', () => {
    const redacted = call('main/ask#0', 'ebb').map((fact) =>
      fact.type === 'call.completed' ? { ...fact, result: { redacted: 'asked by customer' } } : fact,
    );
    expect(usableTexts([...run(runRef(1), call('main/ask#0', 'ebb')), ...run(runRef(2), redacted)])).toEqual([]);
  });

  it('remembers the ordinary functions around a call, over all runs', () => {
    const survey = (name: string, outcome?: 'reused'): Fact[] =>
      inside(
        `main/${name}#0`,
        { kind: 'exe', name },
        loop(`main/${name}#0/for#0`, ['ebb'], (item, at) => call(`${at}/ask#0`, item, outcome && { outcome })),
      );
    const history = [...run(runRef(1), survey('survey')), ...run(runRef(2), survey('audit', 'reused'))];
    expect(usableEntry(fold(memo, history), callKeyOf('ebb'))?.inside).toEqual(['audit', 'survey']);
  });

  it('does not count an llm function among the functions around a call', () => {
    const [begin, asked, ...end] = call('main/plan#0', 'outer', { fn: 'plan' }) as [Fact, Fact, ...Fact[]];
    const state = fold(
      memo,
      run(runRef(1), [begin], call('main/plan#0/ask#0', 'forwarded'), [asked], call('main/plan#0/ask#1', 'inner'), end),
    );
    expect([...usable(state)].map(([, question]) => question.inside)).toEqual([[], [], []]);
  });

  it('keeps a paid result whose call.started can’t be read', () => {
    const ref = runRef(1);
    const history = entries(ref, [started(ref), ...call('main/ask#0', 'ebb')]).filter(({ event }) => event.type !== 'call.started');
    expect(usableEntry(fold(memo, history), callKeyOf('ebb'))).toMatchObject({ fn: '', result: { ref } });
  });

  it('forgets the calls that a killed run had in flight when the next run begins', () => {
    const crashed = entries(runRef(1), [started(runRef(1)), ...call('main/ask#0', 'ebb', { outcome: 'killed' })]);
    expect(fold(memo, crashed).pending.size).toBe(1);
    expect(fold(memo, [...crashed, ...entries(runRef(2), [started(runRef(2))])]).pending.size).toBe(0);
  });

  it('records under which checkpoint a call was made', () => {
    const history = run(
      runRef(1),
      call('main/ask#0', 'one'),
      [{ type: 'checkpoint.reached', name: 'survey' }],
      call('main/ask#1', 'two'),
      [{ type: 'checkpoint.closed', name: 'survey', complete: true }],
      call('main/ask#2', 'three'),
    );
    expect([...usable(fold(memo, history))].map(([, { scope }]) => scope)).toEqual([undefined, 'survey', undefined]);
  });

  it('counts an llm function as called once its call has started, not when the run died before', () => {
    const begun: Fact = { type: 'op.started', op: opPath('main/ask#0'), kind: 'exe', name: 'ask', labels: ['llm'] };
    const history = [...run(runRef(1), call('main/ask#0', 'ebb')), ...entries(runRef(2), [started(runRef(2)), begun])];
    expect(fold(memo, history).called.get('ask')).toEqual(runRef(1));
  });

  it('remembers which function made the call of a forked result', () => {
    const survey = { kind: 'exe', name: 'survey' };
    const state = fold(memo, run(runRef(1), inside('main/survey#0', survey, call('main/survey#0/ask#0', 'ebb', { outcome: 'reused' }))));
    expect(state.entries.get(callKeyOf('ebb'))).toMatchObject({ fn: 'ask', inside: ['survey'], result: undefined });
  });

  it('remembers which function repeated a call that failed', () => {
    const again = inside('main/survey#0', { kind: 'exe', name: 'survey' }, call('main/survey#0/ask#0', 'ebb', { outcome: 'failed' }));
    const state = fold(memo, [...run(runRef(1), call('main/ask#0', 'ebb')), ...run(runRef(2), again)]);
    expect(state.entries.get(callKeyOf('ebb'))?.inside).toEqual(['survey']);
  });
});
