import { describe, expect, it } from 'vitest';
import type { Fact } from '../../../journal/event.js';
import { workflowOf, type Fingerprint } from '../../../journal/ids.js';
import { latestRun } from '../../../replay/resume/latest-run.js';
import { planRun, type CurrentDefinition, type PlanFacts } from '../../../replay/resume/plan.js';
import { fold, type Entry } from '../../../replay/fold/projection.js';
import { index } from '../../../replay/memo/snapshot.js';
import { call, FINGERPRINT, callKeyOf, run, runRef } from '../../support/written-runs.js';

const EMPTY = new Set<never>();
const LATER_MS = Date.parse('2026-01-02T00:00:00.000Z');

const facts = (last: readonly Entry[], details: Partial<PlanFacts> = {}): PlanFacts => ({
  before: fold(index, last),
  forks: [],
  invalidatedKeys: EMPTY,
  invalidatedForkedKeys: EMPTY,
  flags: { checkpoint: true },
  outdated: new Set(),
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

  it('estimates the cost where calls reported theirs', () => {
    const priced = call('main/ask#0', 'ebb').map((fact) => (fact.type === 'call.completed' ? { ...fact, usage: { costUsd: 0.5 } } : fact));
    const last = run(runRef(1), priced, call('main/ask#1', 'flow', { outcome: 'failed' }));
    expect(planRun(facts(last)).estimate).toEqual({ calls: 1, durationMs: 5, callsMs: 5, costUsd: 0.5 });
  });
});
