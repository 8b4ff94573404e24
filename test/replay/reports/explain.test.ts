import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Fact } from '../../../journal/event.js';
import { openMemoryStore } from '../../../journal/storage/memory-store.js';
import { opPath, seqOf, workflowOf, type Fingerprint } from '../../../journal/ids.js';
import { definitions } from '../../../replay/memo/definitions.js';
import { explanation, type ExplainedCall } from '../../../replay/reports/explain/explain.js';
import type { ForkSource } from '../../../replay/memo/overlay.js';
import { explainRun } from '../../../replay/reports/explain/explain-run.js';
import { memo } from '../../../replay/memo/memo.js';
import { fold, type Entry } from '../../../replay/fold/projection.js';
import { anyRuns } from '../../support/any-run.js';
import { call, entries, FINGERPRINT, finished, JOB, callKeyOf, run, runRef, started } from '../../support/written-runs.js';

const OTHER = `sha256:${'e'.repeat(64)}` as Fingerprint;
const FIRST = runRef(1).run;
const SECOND = runRef(2).run;

/** Explains the calls of the second of two runs. */
function explained(first: readonly Entry[], second: readonly Entry[], lenders: readonly ForkSource[] = []): readonly ExplainedCall[] {
  return fold(explanation(SECOND, lenders), [...first, ...second]).calls;
}

const secondRun = (...facts: readonly Fact[][]): Entry[] => run(runRef(2), ...facts);
const ebbAgain = secondRun(call('main/ask#0', 'ebb'));
const misses = (first: readonly Entry[], second: readonly Entry[] = ebbAgain): unknown => explained(first, second).map(({ miss }) => miss);

function withFlags(flags: Partial<Fact & { type: 'run.started' }>, ...facts: readonly Fact[][]): Entry[] {
  return entries(runRef(2), [{ ...(started(runRef(2)) as Fact & { type: 'run.started' }), ...flags }, ...facts.flat(), finished()]);
}

it('leaves out a failed attempt of a stage that the next attempt makes again, and keeps the last one', () => {
  const at = (attempt: number): string => `main/a#0/try#${attempt}/model#0`;
  const again: Fact = {
    type: 'retry.scheduled',
    op: opPath('main/a#0'),
    node: 'a',
    visit: 0,
    attempt: 1,
    delayMs: 1,
    reason: 'no',
    cause: 'error',
  };
  const first = call(at(1), 'x1', { outcome: 'failed' });
  const calls = (last: 'completed' | 'failed') => explained([], secondRun(first, [again], call(at(2), 'x2', { outcome: last })));
  expect(calls('completed')).toMatchObject([{ op: at(2), outcome: 'executed' }]);
  expect(calls('failed')).toMatchObject([{ op: at(2), outcome: 'failed' }]);
  expect(explained([], secondRun(first))).toMatchObject([{ op: at(1), outcome: 'failed' }]);
});

describe('why a call was executed', () => {
  it('says that no run had made the call', () => {
    expect(misses(run(runRef(1), call('main/ask#0', 'flow')))).toEqual([{ why: 'new' }]);
  });

  it.each([
    ['of an earlier run was removed', runRef(0), [{ why: 'collected', run: runRef(0).run, seq: 1 }]],
    ['of this run, reused by one that went on beside it, was not there', runRef(2), [{ why: 'new' }]],
    ['of a later run was not there', runRef(3), [{ why: 'new' }]],
  ])('says of a call of which only a reuse is recorded that its result %s', (_, from, expected) => {
    const reuse = call('main/ask#0', 'ebb', { outcome: 'reused' }).map((fact): Fact =>
      fact.type === 'call.reused' ? { ...fact, from: { run: from.run, seq: seqOf(1) } } : fact,
    );
    expect(misses(run(runRef(1), reuse))).toEqual(expected);
  });

  it('names the selector that invalidated its result, and the run', () => {
    const dropped: Fact = { type: 'memo.invalidated', selector: '@ask', keys: [callKeyOf('ebb')] };
    expect(misses(run(runRef(1), call('main/ask#0', 'ebb')), secondRun([dropped], call('main/ask#0', 'ebb')))).toEqual([
      { why: 'invalidated', selector: '@ask', run: SECOND, seq: 1 },
    ]);
  });

  it.each(['fresh', 'clean'] as const)('says that %s removed its result', (reason) => {
    const second = secondRun([{ type: 'memo.reset', reason }], call('main/ask#0', 'ebb'));
    expect(misses(run(runRef(1), call('main/ask#0', 'ebb')), second)).toEqual([{ why: 'reset', by: reason, run: SECOND, seq: 1 }]);
  });

  it('says how it failed before, and that a result was not usable', () => {
    expect(misses(run(runRef(1), call('main/ask#0', 'ebb', { outcome: 'failed' })))).toEqual([
      { why: 'failed', message: 'no', denied: false, run: FIRST, seq: 3 },
    ]);
    expect(misses(run(runRef(1), call('main/ask#0', 'ebb', { outcome: 'unusable' })))).toEqual([
      { why: 'unusable', message: 'its command ended with status 1', run: FIRST, seq: 3 },
    ]);
  });

  it('separates a run that crashed from a line that is lost', () => {
    const killed = call('main/ask#0', 'ebb', { outcome: 'killed' });
    expect(misses(entries(runRef(1), [started(runRef(1)), ...killed]))).toEqual([{ why: 'interrupted', run: FIRST, seq: 2 }]);
    expect(misses(run(runRef(1), killed))).toEqual([{ why: 'damaged', run: FIRST, seq: 2 }]);
  });

  it('says that a result was too old, or of a scope that was not complete', () => {
    const first = run(runRef(1), call('main/ask#0', 'ebb'));
    const aged: Fact = { type: 'checkpoint.reached', name: 'weather', ttlMs: 0 };
    expect(misses(first, secondRun([aged], call('main/ask#0', 'ebb')))).toMatchObject([{ why: 'expired', ttlMs: 0, run: FIRST }]);
    const conditional: Fact = { type: 'checkpoint.reached', name: 'survey', conditional: true };
    expect(misses(first, secondRun([conditional], call('main/ask#0', 'ebb')))).toEqual([{ why: 'incomplete', checkpoint: 'survey' }]);
  });

  it('says that the mode reuses nothing of earlier runs', () => {
    const first = run(runRef(1), call('main/ask#0', 'ebb'));
    const manual = withFlags({ header: 'manual', flags: {} }, call('main/ask#0', 'ebb'));
    expect(misses(first, manual)).toEqual([{ why: 'manual', run: FIRST, seq: 3 }]);
  });

  it('says what changed where changed definitions execute', () => {
    const defined = (fingerprint: Fingerprint, digest: string): Fact => ({
      type: 'definition.recorded',
      fn: 'ask',
      fingerprint,
      parts: [{ kind: 'variable', name: 'model', digest, preview: `"${digest}"` }],
    });
    const first = run(runRef(1), [defined(OTHER, 'sonnet')], asked(OTHER));
    const second = withFlags({ flags: { checkpoint: true, changed: 'ask' } }, [defined(FINGERPRINT, 'opus')], call('main/ask#0', 'ebb'));
    expect(misses(first, second)).toEqual([
      {
        why: 'edited',
        changed: 'ask',
        run: FIRST,
        seq: 4,
        changes: [{ kind: 'variable', name: 'model', how: 'changed', was: 'sonnet', is: 'opus' }],
      },
    ]);
  });

  it('tells a result that can’t be read from one of a run beside it that was not there yet', () => {
    const minute = ({ event, ...more }: Entry): Entry => ({ ...more, event: { ...event, ts: event.ts.replace(/T(\d\d):00/, 'T$1:01') } });
    const first = run(runRef(1), call('main/ask#0', 'ebb'));
    expect(misses(first, ebbAgain.map(minute))).toEqual([{ why: 'damaged', run: FIRST, seq: 3 }]);
    expect(misses(first)).toEqual([{ why: 'later', run: FIRST, seq: 3 }]);
  });

  it('says of a call inside a stage or an agent what became of its own result, though an equal call beside it was executed first', () => {
    const rejected: Fact = {
      type: 'result.rejected',
      key: callKeyOf('ebb'),
      from: { run: FIRST, seq: seqOf(7) },
      op: opPath('main/x#0'),
      reason: 'off topic',
    };
    for (const around of ['main/work#0/try#1/model#0', 'main/agent~1f2e3d4c#0']) {
      const both = [call(`${around}/ask#0`, 'ebb'), call(`${around}/ask#1`, 'ebb')] as const;
      const second = [...run(runRef(2), [rejected]), ...run(runRef(3), ...both)];
      const calls = fold(explanation(runRef(3).run, []), [...run(runRef(1), ...both), ...second]).calls;
      const rejection = { why: 'rejected', reason: 'off topic', run: SECOND, seq: 1 };
      expect(calls.map(({ miss }) => miss)).toMatchObject([rejection, rejection]);
      const anew = fold(explanation(SECOND, []), [...run(runRef(1), both[0]), ...secondRun(...both)]).calls;
      expect(anew.map(({ miss }) => miss)).toEqual([
        { why: 'inside', run: FIRST, seq: 3 },
        { why: 'inside', run: SECOND, seq: 3 },
      ]);
    }
  });

  it('names the declared files that were not as the call had left them', () => {
    const again = call('main/ask#0', 'ebb').map((fact) => (fact.type === 'call.started' ? { ...fact, outdated: ['out/a'] } : fact));
    expect(misses(run(runRef(1), call('main/ask#0', 'ebb')), secondRun(again))).toEqual([
      { why: 'outputs', files: ['out/a'], run: FIRST, seq: 3 },
    ]);
  });

  it('names the files that the call had written and that are gone', () => {
    const again = call('main/ask#0', 'ebb').map((fact) => (fact.type === 'call.started' ? { ...fact, gone: ['out/a'] } : fact));
    expect(misses(run(runRef(1), call('main/ask#0', 'ebb')), secondRun(again))).toEqual([
      { why: 'file gone', files: ['out/a'], run: FIRST, seq: 3 },
    ]);
  });

  it('names the selector that invalidated a forked result', () => {
    const source = runRef(1, workflowOf('collect.mld'));
    const lent = run(source, call('main/ask#0', 'ebb'));
    const lender = { workflow: source.workflow, memo: fold(memo, lent), definitions: fold(definitions, lent) };
    const refused: Fact = { type: 'memo.invalidated', selector: '@ask', keys: [callKeyOf('ebb')], borrowed: true };
    const [entry] = explained(run(runRef(1)), secondRun([refused], call('main/ask#0', 'ebb')), [lender]);
    expect(entry?.miss).toEqual({ why: 'refused', selector: '@ask', run: SECOND, seq: 1 });
  });
});

describe('a call that was not executed', () => {
  const upstream = opPath('main/ask#0');
  const failed: Fact[] = [
    { type: 'call.failed', key: callKeyOf('sum', 'sum'), op: opPath('main/sum#0'), fn: 'sum', message: 'no', class: 'upstream', elapsedMs: 0, upstream: [upstream] }, // prettier-ignore
  ];

  it('names the calls whose failures are in its arguments', () => {
    const second = run(runRef(2), call('main/ask#0', 'ebb', { outcome: 'failed' }), failed);
    expect(explained([], second)).toMatchObject([
      { fn: 'ask', outcome: 'failed', miss: { why: 'new' } },
      { fn: 'sum', op: 'main/sum#0', outcome: 'not-executed', miss: { why: 'upstream', upstream: [upstream], run: runRef(2).run } },
    ]);
  });

  it('is the reason for which a later run executes it', () => {
    const first = run(runRef(1), failed);
    expect(explained(first, run(runRef(2), call('main/sum#0', 'sum', { fn: 'sum' })))).toMatchObject([
      { outcome: 'executed', miss: { why: 'upstream', run: runRef(1).run } },
    ]);
  });
});

describe('a call that was reused', () => {
  const served = (fingerprint: Fingerprint): Fact[] =>
    call('main/ask#0', 'ebb', { outcome: 'reused' }).map((fact) =>
      fact.type === 'call.reused' ? { ...fact, from: { run: FIRST, seq: seqOf(3) }, fingerprint } : fact,
    );

  it('says from where, and whether its function was edited since', () => {
    const first = run(runRef(1), call('main/ask#0', 'ebb'));
    expect(explained(first, secondRun(served(FINGERPRINT)))).toMatchObject([
      { outcome: 'reused', preview: 'ebb', hit: { from: { run: FIRST, seq: 3 }, edited: false, changes: [] } },
    ]);
    expect(explained(first, secondRun(served(OTHER)))).toMatchObject([{ hit: { edited: true, changes: [] } }]);
  });
});

describe('a call that a worker executed', () => {
  it('is named by the arguments that the run of the worker has', async () => {
    const store = openMemoryStore();
    const write = async (number: number, facts: readonly Fact[]): Promise<void> => {
      const journal = await store.create(runRef(number));
      for (const fact of [started(runRef(number)), ...facts, finished()]) await journal.append(fact);
      await journal.close();
    };
    const from = { run: runRef(2).run, seq: seqOf(3) };
    const offered = call('main/ask#0', 'ebb', { outcome: 'reused' }).map((fact) =>
      fact.type === 'call.reused' ? { ...fact, from, worker: 'w1', workerHost: 'quay' } : fact,
    );
    await write(1, offered);
    await write(2, call('main/ask#0', 'ebb'));
    const [file] = await store.runs(JOB);
    const { calls } = await explainRun(store, file!, { onDefect: () => expect.unreachable() });
    expect(calls).toMatchObject([{ preview: 'ebb', hit: { worker: 'w1' } }]);
  });
});

describe('the explanation of any history', () => {
  it('has a line for every call, and for each exactly one reason', () => {
    fc.assert(
      fc.property(anyRuns, (runs) => {
        const target = runs.at(-1);
        if (target === undefined) return;
        const ref = runRef(runs.length);
        const { calls } = fold(explanation(ref.run, []), runs.flat());
        const count = (type: string): number => target.filter(({ event }) => event.type === type).length;
        expect(calls).toHaveLength(count('call.started') - count('call.withdrawn') + count('call.reused'));
        for (const { hit, miss } of calls) expect([hit, miss].filter((reason) => reason !== undefined)).toHaveLength(1);
      }),
    );
  });
});

describe('a new call', () => {
  async function explainedRuns(...runs: readonly (readonly Fact[])[]) {
    const store = openMemoryStore();
    for (const [number, facts] of runs.entries()) {
      const journal = await store.create(runRef(number + 1));
      for (const fact of [started(runRef(number + 1)), ...facts, finished()]) await journal.append(fact);
      await journal.close();
    }
    const file = (await store.runs(JOB)).at(-1)!;
    return (await explainRun(store, file, { onDefect: () => undefined })).calls;
  }

  it('is compared with the earlier call at its place, unless that one is still made', async () => {
    const calls = await explainedRuns(
      [...call('main/ask#0', 'read docs/a.md'), ...call('main/ask#1', 'read docs/b.md')],
      [...call('main/ask#0', 'read docs/c.md'), ...call('main/ask#1', 'read docs/a.md')],
    );
    expect(calls[0]?.resembles).toEqual({
      key: callKeyOf('read docs/b.md'),
      preview: 'read docs/b.md',
      differences: [{ where: 'argument 1', was: 'read docs/b.md', is: 'read docs/c.md' }],
    });
    expect(calls[1]?.resembles).toBeUndefined();
  });

  it('resembles nothing where nothing is alike', async () => {
    const calls = await explainedRuns(call('main/ask#0', 'ebb'), call('main/ask#7', 'a quite different question'));
    expect(calls.map(({ miss, resembles }) => ({ miss, resembles }))).toEqual([{ miss: { why: 'new' }, resembles: undefined }]);
  });
});

function asked(fingerprint: Fingerprint): Fact[] {
  return call('main/ask#0', 'ebb').map((fact) => (fact.type === 'call.started' ? { ...fact, fingerprint } : fact));
}
