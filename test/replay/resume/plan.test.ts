import { describe, expect, it } from 'vitest';
import type { Fact } from '../../../journal/event.js';
import { opPath, workflowOf, type Fingerprint } from '../../../journal/ids.js';
import { latestRun } from '../../../replay/resume/latest-run.js';
import type { CurrentDefinition } from '../../../replay/resume/decide-reuse.js';
import { planRun, type PlanFacts } from '../../../replay/resume/plan.js';
import { fold, type Entry } from '../../../replay/fold/projection.js';
import type { StoredResult } from '../../../replay/memo/stored-result.js';
import { index } from '../../../replay/memo/snapshot.js';
import { call, entries, FINGERPRINT, finished, inside, callKeyOf, run, runRef, started } from '../../support/written-runs.js';

const EMPTY = new Set<never>();
const LATER_MS = Date.parse('2026-01-02T00:00:00.000Z');

const facts = (last: readonly Entry[], details: Partial<PlanFacts> = {}): PlanFacts => ({
  before: fold(index, last),
  forks: [],
  invalidatedKeys: EMPTY,
  invalidatedForkedKeys: EMPTY,
  flags: { checkpoint: true },
  outdated: new Map(),
  header: undefined,
  scopes: new Map(),
  nowMs: LATER_MS,
  latest: fold(latestRun, last),
  current: new Map(),
  ...details,
});

const checkpoint = (options: Partial<Fact & { type: 'checkpoint.reached' }>): Fact[] => [
  { type: 'checkpoint.reached', name: 'weather', ...options },
];
const closed = (complete: boolean): Fact[] => [{ type: 'checkpoint.closed', name: 'weather', complete }];
const twoAnswers = run(runRef(1), call('main/ask#0', 'ebb'), checkpoint({ ttlMs: 1000 }), call('main/ask#1', 'flow'));

describe('a plan', () => {
  it('knows no time, and not a time of 0, of functions without a result', () => {
    const failed = run(runRef(1), call('main/ask#0', 'ebb', { outcome: 'failed' }));
    expect(planRun(facts(failed)).estimate).toMatchObject({ calls: 1, durationMs: null, callsMs: null, untimed: 1 });
    const reused = run(runRef(1), call('main/ask#0', 'ebb'));
    expect(planRun(facts(reused)).estimate).toMatchObject({ calls: 0, durationMs: 0, callsMs: 0, untimed: 0 });
  });

  it('counts the calls that the last run did not execute because of others, under their functions', () => {
    const upstream: Fact[] = [
      {
        type: 'call.failed',
        key: callKeyOf('marker'),
        op: opPath('main/conclude#0'),
        fn: 'conclude',
        message: 'not executed',
        elapsedMs: 0,
        class: 'upstream',
        evidence: 'none',
        upstream: [opPath('main/ask#1')],
      },
    ];
    const failed = run(runRef(1), call('main/ask#0', 'ebb'), call('main/ask#1', 'flow', { outcome: 'failed' }), upstream);
    expect(planRun(facts(failed))).toMatchObject({
      usable: 1,
      unresolved: 1,
      notExecuted: 1,
      functions: [
        { fn: 'ask', usable: 1, unresolved: 1, notExecuted: 0 },
        { fn: 'conclude', usable: 0, unresolved: 0, notExecuted: 1 },
      ],
      estimate: { calls: 2, unpriced: 2, untimed: 1, durationMs: expect.any(Number) as number },
      executes: [{ fn: 'ask' }, { fn: 'conclude' }],
    });
  });

  it('is a part of the calls where the last run can’t tell what follows', () => {
    const isPart = (last: readonly Entry[], details: Partial<PlanFacts> = {}): boolean | undefined =>
      planRun(facts(last, details)).estimate?.isPart;
    const two = [call('main/ask#0', 'ebb'), call('main/ask#1', 'flow')];
    const whole = run(runRef(1), ...two);
    const again = (text: string): Partial<PlanFacts> => ({ invalidatedKeys: new Set([callKeyOf(text)]) });
    expect(isPart(whole)).toBe(false);
    expect(isPart(whole, again('flow'))).toBe(false);
    expect(isPart(whole, again('ebb'))).toBe(true);
    expect(isPart(run(runRef(1), ...two, call('main/ask#2', 'slack', { outcome: 'failed' })))).toBe(true);
    expect(isPart(entries(runRef(1), [started(runRef(1)), ...two.flat(), finished('paused')]))).toBe(true);
    expect(isPart(entries(runRef(1), [started(runRef(1)), ...two.flat()]))).toBe(true);
  });

  it('takes no less time than the gap of a lane leaves between the starts', () => {
    const paced = ['a', 'b', 'c'].map((text, n) =>
      call(`main/ask#${n}`, text).map((fact): Fact => (fact.type === 'call.started' ? { ...fact, lane: 'claude' } : fact)),
    );
    const gap: Fact = { type: 'lane.changed', lane: 'claude', limit: 4, gapMs: 2000, why: 'rejected' };
    const again = { invalidatedKeys: new Set(['a', 'b', 'c'].map((text) => callKeyOf(text))) };
    expect(planRun(facts(run(runRef(1), [gap], ...paced), again)).estimate).toMatchObject({ durationMs: 4000, callsMs: 15 });
  });

  it('knows what the options of a checkpoint and the mode keep from being reused', () => {
    expect(planRun(facts(twoAnswers)).functions).toMatchObject([
      { usable: 2, again: 1, reasons: { expired: 1 }, examples: [{ preview: 'flow' }] },
    ]);
    expect(planRun(facts(twoAnswers, { flags: { resume: '' } })).again).toBe(0);
    expect(planRun(facts(twoAnswers, { header: 'manual' })).functions).toMatchObject([{ again: 2, reasons: { manual: 2 } }]);
    const conditional = (complete: boolean) =>
      run(runRef(1), checkpoint({ conditional: true }), call('main/ask#0', 'ebb'), closed(complete));
    expect(planRun(facts(conditional(false))).functions).toMatchObject([{ again: 1, reasons: { incomplete: 1 } }]);
    expect(planRun(facts(conditional(true))).again).toBe(0);
    const now = (scope: object) => ({ scopes: new Map([['weather', { name: 'weather', ...scope }]]) });
    expect(planRun(facts(twoAnswers, now({}))).again).toBe(0);
    expect(planRun(facts(conditional(true), now({ ttlMs: 0 }))).functions).toMatchObject([{ reasons: { expired: 1 } }]);
    expect(planRun(facts(run(runRef(1), checkpoint({}), call('main/ask#0', 'ebb')), now({ complete: true }))).functions).toMatchObject([
      { reasons: { incomplete: 1 } },
    ]);
  });

  it('counts what was invalidated, and what the last run left without a result', () => {
    const last = run(runRef(1), call('main/ask#0', 'ebb'), call('main/ask#1', 'flow', { outcome: 'failed' }));
    const plan = planRun(facts(last, { invalidatedKeys: new Set([callKeyOf('ebb')]) }));
    expect(plan).toMatchObject({ usable: 1, again: 1, unresolved: 1, estimate: { calls: 2, durationMs: 10, callsMs: 10 } });
    expect(plan.functions[0]?.examples.map(({ why }) => why)).toEqual(['invalidated', 'unresolved']);
  });

  it('counts the calls that started after a result which will be new: their arguments may change', () => {
    const before = call('main/ask#0', 'before');
    const first = call('main/group#0[0]/ask#0', 'first');
    const beside = call('main/group#0[1]/ask#0', 'beside');
    const sideBySide = [...first.slice(0, 2), ...beside.slice(0, 2), ...first.slice(2), ...beside.slice(2)];
    const last = run(runRef(1), before, sideBySide, call('main/ask#1', 'behind'), call('main/ask#2', 'before', { outcome: 'reused' }));
    const planned = (...dropped: string[]) => planRun(facts(last, { invalidatedKeys: new Set(dropped.map((text) => callKeyOf(text))) }));
    expect(planned()).toMatchObject({ again: 0, later: 0 });
    expect(planned('behind')).toMatchObject({ again: 1, later: 1 }); // a call that was made before, and is made once more behind it
    expect(planned('first')).toMatchObject({ again: 1, later: 2, functions: [{ later: 2 }] });
    expect(planned('before')).toMatchObject({ again: 1, later: 3 });
    expect(planned('beside', 'behind', 'before', 'first')).toMatchObject({ again: 4, later: 0 });
  });

  it('knows every place of a call that was made several times', () => {
    const item = (n: number, ask: Parameters<typeof call>[2], use: Parameters<typeof call>[2]): Fact[] => {
      const path = `main/for#0[${n}]`;
      const calls = [...call(`${path}/ask#0`, 'same', ask), ...call(`${path}/use#0`, 'made of it', { fn: 'use', ...use })];
      return inside(path, { kind: 'for:iteration' }, calls);
    };
    const reused = { outcome: 'reused' } as const;
    const [one, two] = [item(0, {}, {}), item(1, reused, reused)];
    const loop = inside('main/for#0', { kind: 'for', total: 2 }, [
      ...one.slice(0, 1),
      ...two.slice(0, 1),
      ...one.slice(1),
      ...two.slice(1),
    ]);
    const again = { invalidatedKeys: new Set([callKeyOf('same')]) };
    const estimate = (...made: Fact[][]) => planRun(facts(run(runRef(1), ...made), again)).estimate;
    expect(estimate(loop)).toMatchObject({ calls: 1, isPart: true });
    const elsewhere = inside('main/for#0', { kind: 'for', total: 2 }, [
      ...one.slice(0, 1),
      ...two.slice(0, 1),
      ...call('main/for#0[0]/ask#0', 'same'),
      ...one.slice(-1),
      ...two.slice(-1),
    ]);
    expect(estimate(elsewhere)).toMatchObject({ isPart: false });
    const behind = [call('main/ask#0', 'same', reused), call('main/use#0', 'other', { fn: 'use' })];
    expect(estimate(elsewhere, ...behind)).toMatchObject({ calls: 1, isPart: true });
  });

  it('takes no iteration that ran beside others for one that came after them', () => {
    const item = (n: number): Fact[] => {
      const path = `main/for#0[${n}]`;
      return inside(path, { kind: 'for:iteration' }, call(`${path}/ask#0`, `item ${n}`));
    };
    const [one, two, three] = [item(0), item(1), item(2)];
    const parallel = [...one.slice(0, 1), ...two.slice(0, 1), ...one.slice(1), ...two.slice(1), ...three];
    const planned = (items: readonly Fact[], dropped: string) => {
      const last = run(runRef(1), inside('main/for#0', { kind: 'for', total: 3 }, items), call('main/ask#0', 'behind'));
      return planRun(facts(last, { invalidatedKeys: new Set([callKeyOf(dropped)]) })).later;
    };
    expect(planned(parallel, 'item 0')).toBe(1); // the call behind the loop
    expect(planned([...one, ...two, ...three], 'item 0')).toBe(3);
    expect(planned(parallel, 'behind')).toBe(0);
  });

  it('takes the forked result first, and the script’s own where that one is invalidated', () => {
    const lent = fold(index, run(runRef(1, workflowOf('collect.mld')), call('main/ask#0', 'ebb'), call('main/ask#1', 'neap')));
    const forks = [{ workflow: workflowOf('collect.mld'), memo: lent.memo, definitions: lent.definitions }];
    const alone = run(runRef(1), call('main/ask#0', 'ebb'));
    expect(planRun(facts(alone, { forks }))).toMatchObject({ usable: 1, again: 0, unused: 1 });
    expect(planRun(facts([], { forks }))).toMatchObject({ usable: 2, again: 0, unused: 0 });
    const own = run(runRef(1), call('main/ask#0', 'ebb'), call('main/ask#1', 'neap', { outcome: 'reused' }));
    expect(planRun(facts(own, { forks }))).toMatchObject({ usable: 2, again: 0 });
    const droppedBorrowed = new Set([callKeyOf('ebb'), callKeyOf('neap')]);
    expect(planRun(facts(own, { forks, invalidatedForkedKeys: droppedBorrowed }))).toMatchObject({ usable: 2, again: 1 });
    expect(planRun(facts(own, { forks, flags: { fresh: true } }))).toMatchObject({ usable: 2, again: 0 });
  });

  it('separates an edited definition from one that is not known', () => {
    const parts = (model: string, extra = 'same') => [
      { kind: 'body', name: 'ask', digest: extra } as const,
      { kind: 'variable', name: 'model', digest: model, preview: `"${model}"` } as const,
    ];
    const defined: Fact[] = [{ type: 'definition.recorded', fn: 'ask', fingerprint: FINGERPRINT, parts: parts('sonnet') }];
    const last = run(runRef(1), defined, call('main/ask#0', 'ebb'));
    const now = (details: Partial<CurrentDefinition>): Map<string, CurrentDefinition[]> =>
      new Map([
        [
          'ask',
          [
            {
              fingerprint: 'another' as Fingerprint,
              parts: parts('opus'),
              unknown: [],
              guardsByLabel: [],
              forwards: false,
              writes: false,
              ...details,
            },
          ],
        ],
      ]);
    expect(planRun(facts(last, { current: now({}) })).functions).toMatchObject([
      { stale: 1, changes: [{ name: 'model', was: 'sonnet', is: 'opus' }] },
    ]);
    expect(planRun(facts(last, { current: now({ unknown: ['model'] }) })).functions).toMatchObject([
      { stale: 0, changes: [], unknown: ['model'] },
    ]);
    expect(planRun(facts(last, { current: now({ parts: parts('opus', 'edited'), unknown: ['model'] }) })).functions).toMatchObject([
      { stale: 1, changes: [{ kind: 'body' }] },
    ]);
    expect(planRun(facts(last, { current: now({ fingerprint: FINGERPRINT }) })).functions).toMatchObject([{ stale: 0, changes: [] }]);
    expect(planRun(facts(last, { current: now({}), flags: { checkpoint: true, changed: 'ask' } })).functions).toMatchObject([
      { again: 1, reasons: { edited: 1 } },
    ]);
    const forwards = { forwards: true };
    expect(planRun(facts(last, { current: now(forwards) }))).toMatchObject({ usable: 1, again: 0, forwarded: 1, estimate: { calls: 1 } });
    expect(planRun(facts(last, { current: now(forwards) })).functions).toMatchObject([{ stale: 0, forwarded: 1 }]);
    expect(planRun(facts(last, { current: now({ ...forwards, fingerprint: FINGERPRINT }) }))).toMatchObject({ forwarded: 0 });
    expect(planRun(facts(last)).functions).toMatchObject([{ declared: false }]);
  });

  const costing = (path: string, text: string, costUsd: number, fn = 'ask'): Fact[] =>
    call(path, text, { fn }).map((fact) => (fact.type === 'call.completed' ? { ...fact, usage: { costUsd } } : fact));

  it('prices what is executed by the costs of results, and names functions without one', () => {
    const costs = [0.1, 0.2, 0.3, 0.4, 2.5];
    const priced = costs.map((usd, number) => costing(`main/ask#${number}`, `${number}`, usd));
    const failed = [call('main/ask#9', 'flow', { outcome: 'failed' }), call('main/free#0', 'flow', { fn: 'free', outcome: 'failed' })];
    const plan = planRun(facts(run(runRef(1), ...priced, ...failed), { invalidatedKeys: new Set([callKeyOf('0')]) }));
    expect(plan.executes).toEqual([{ fn: 'ask', usd: 0.1 }, { fn: 'ask' }, { fn: 'free' }]);
    expect(plan.estimate).toMatchObject({ calls: 3, costUsd: 0.8, p95Usd: 5, unpriced: 1 });
    expect(plan.estimate?.functions).toEqual([
      { fn: 'ask', calls: 2, medianUsd: 0.3, p95Usd: 2.5, meanUsd: 0.4, meanAttempts: 1 },
      { fn: 'free', calls: 1, medianUsd: null, p95Usd: null, meanUsd: null, meanAttempts: 1 },
    ]);
    expect(plan.savedUsd).toBeCloseTo(3.4); // all but the invalidated one
  });

  it('expects a call to cost again what it had cost, however the others were', () => {
    const priced = ['a', 'b', 'c'].map((text, number) => costing(`main/ask#${number}`, text, number === 2 ? 2.5 : 0.01));
    const plan = planRun(facts(run(runRef(1), ...priced), { invalidatedKeys: new Set([callKeyOf('c')]) }));
    expect(plan.estimate).toMatchObject({ calls: 1, costUsd: 2.5, p95Usd: 2.5 });
    expect(plan.estimate?.functions).toMatchObject([{ medianUsd: 2.5, p95Usd: 2.5, meanUsd: 2.5 }]);
  });

  it('knows no price that nothing in the journal has, and takes that of earlier runs where the last one has none', () => {
    const last = run(runRef(1), call('main/ask#0', 'ebb', { outcome: 'failed' }));
    expect(planRun(facts(last))).toMatchObject({ savedUsd: null, estimate: { calls: 1, costUsd: null, p95Usd: null, unpriced: 1 } });
    const earlierCosts = new Map([['ask', [0.25, 0.5]]]);
    expect(planRun(facts(last, { earlierCosts })).estimate).toMatchObject({ costUsd: 0.375, p95Usd: 0.5, unpriced: 0 });
  });

  it('counts the attempts of a result that failed before', () => {
    const [begin, begun, ended] = costing('main/ask#0', 'ebb', 0.5) as [Fact, Fact, Fact];
    const retried = begun.type === 'call.started' ? [begun, { ...begun, try: 2 }] : [];
    const failed: Fact = {
      type: 'call.failed',
      key: callKeyOf('ebb'),
      op: opPath('main/ask#0'),
      message: 'no',
      elapsedMs: 1,
      retryInMs: 1,
      class: 'network',
      usage: { costUsd: 0.25 },
    };
    const last = run(runRef(1), [begin, retried[0] as Fact, failed, retried[1] as Fact, ended]);
    expect(planRun(facts(last, { flags: { checkpoint: true, fresh: true } })).estimate).toMatchObject({ calls: 1, costUsd: 0.75 });
  });

  it('executes again what does not fit an option of now', () => {
    const { memo } = fold(index, twoAnswers);
    const [first, second] = [...memo.entries.values()].flatMap(({ result }) => result ?? []);
    const before = { ...fold(index, twoAnswers), memo };
    const unfit = new Map<StoredResult, 'schema' | 'reply'>();
    if (first && second) unfit.set(first, 'schema').set(second, 'reply');
    const plan = planRun(facts(twoAnswers, { before, unfit, flags: { resume: '' } }));
    expect(plan).toMatchObject({ usable: 2, again: 2, functions: [{ reasons: { schema: 1, reply: 1 } }] });
  });
});
