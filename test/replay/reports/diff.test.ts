import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Fact } from '../../../journal/event.js';
import type { FailureClass } from '../../../journal/facts/call-event.js';
import { openMemoryStore } from '../../../journal/storage/memory-store.js';
import { seqOf, type BlobId, type Fingerprint } from '../../../journal/ids.js';
import { diffRuns, forkPointOf, type RunDiff } from '../../../replay/reports/diff/diff-run.js';
import { anyFacts } from '../../support/any-run.js';
import { call, finished, JOB, loop, runRef, started } from '../../support/written-runs.js';

const onDefect = (): never => expect.unreachable();

async function storeWith(left: readonly Fact[], right: readonly Fact[]) {
  const store = openMemoryStore();
  for (const [number, facts] of [left, right].entries()) {
    const journal = await store.create(runRef(number + 1));
    for (const fact of facts) await journal.append({ ...fact });
    await journal.close();
  }
  const [first, second] = await store.runs(JOB);
  return { store, left: first!, right: second! };
}

async function diffOf(left: readonly Fact[], right: readonly Fact[]): Promise<RunDiff> {
  const runs = await storeWith(left, right);
  return diffRuns(runs.store, runs.left, runs.right, { onDefect });
}

const whole = (...facts: readonly Fact[][]): Fact[] => [started(runRef(1)), ...facts.flat(), finished()];
const survey = (...items: readonly string[]): Fact[] => loop('main/for#0', items, (item, path) => call(`${path}/ask#0`, item));
const edited = (facts: readonly Fact[]): Fact[] =>
  facts.map((fact): Fact => (fact.type === 'call.started' ? { ...fact, fingerprint: `sha256:${'e'.repeat(64)}` as Fingerprint } : fact));
const answering = (text: string, facts: readonly Fact[]): Fact[] =>
  facts.map((fact): Fact => (fact.type === 'call.completed' ? { ...fact, result: { inline: text } } : fact));
const previews = (calls: readonly { readonly preview: string | undefined }[]) => calls.map(({ preview }) => preview);

describe('the diff of two runs', () => {
  it('says that a module has another version, which has another path', async () => {
    const reading = (version: string): Fact[] => {
      const blob = `sha256:${version.repeat(64)}` as BlobId;
      const module = { name: '@a/b', version, sha256: version.repeat(64) };
      return [{ type: 'source.loaded', path: `.mlld/modules/${module.sha256}/b.mld`, blob, role: 'module', module }];
    };
    const { sources } = await diffOf(whole(reading('1')), whole(reading('2')));
    expect(sources).toMatchObject([{ path: '@a/b', versions: ['1', '2'] }]);
    expect((await diffOf(whole(reading('1')), whole(reading('1')))).sources).toEqual([]);
  });

  const failing = (cause: FailureClass, tried: Partial<Fact & { type: 'call.failed' }> = {}): Fact[] =>
    call('main/ask#0', 'ebb', { outcome: 'failed' }).map((fact): Fact =>
      fact.type === 'call.failed' ? { ...fact, class: cause, evidence: 'envelope', ...tried } : fact,
    );
  /** The same call after an attempt that failed and was paid for. */
  const retried = (facts: readonly Fact[]): Fact[] =>
    facts.flatMap((fact): Fact[] => {
      if (fact.type !== 'call.started') return [fact];
      const { key, op } = fact;
      const failed = { type: 'call.failed', key, op, message: 'busy', class: 'overloaded', elapsedMs: 3, retryInMs: 500 } as const;
      return [
        fact,
        { ...failed, usage: { costUsd: 2 } },
        { ...fact, try: 2, lane: 'claude', waitedMs: 500, reserved: { usd: 1, basis: 'history' } },
      ];
    });

  it('says incomplete of a run that reached its end with an unresolved call, as a list does', async () => {
    const { left, right } = await diffOf(whole(failing('content')), whole(call('main/ask#0', 'ebb')));
    expect([left.status, right.status]).toEqual(['incomplete', 'completed']);
  });

  it('takes no number of attempts, wait, lane or cost for a difference', async () => {
    const lane: Fact = { type: 'lane.changed', lane: 'claude', limit: 3, why: 'rejected' };
    for (const facts of [call('main/ask#0', 'ebb'), failing('network')]) {
      const diff = await diffOf(whole(facts), whole([lane], retried(facts)));
      expect(diff).toMatchObject({ same: true, calls: { same: 1, changed: [] }, right: { costUsd: 2 } });
    }
    expect(await diffOf(whole(failing('crash')), whole(failing('crash', { message: 'other words', evidence: 'exit' })))).toMatchObject({
      same: true,
    });
  });

  it('takes the class of a failure for a part of the outcome', async () => {
    const { same, calls } = await diffOf(whole(failing('crash')), whole(failing('quota')));
    expect(same).toBe(false);
    expect(calls.changed).toMatchObject([{ changes: ['outcome'], left: { outcome: 'failed', class: 'crash' }, right: { class: 'quota' } }]);
    const upstream = await diffOf(whole(call('main/ask#0', 'ebb')), whole(failing('upstream')));
    expect(upstream.calls.changed).toMatchObject([{ changes: ['outcome'], left: { class: null }, right: { outcome: 'not-executed' } }]);
  });

  it('is empty for a run and itself', async () => {
    await fc.assert(
      fc.asyncProperty(anyFacts, async (facts) => {
        const { store, left } = await storeWith(facts, facts);
        const { same, calls, sources, output, files } = await diffRuns(store, left, left, { onDefect });
        expect({ sources, output, files }).toEqual({ sources: [], output: { same: true, lines: [] }, files: [] });
        expect(calls).toMatchObject({ moved: 0, changed: [], onlyLeft: [], onlyRight: [] });
        expect(same).toBe(true);
      }),
      { numRuns: 50 },
    );
  });

  it('names a reused call by the start of it that was withdrawn, whichever run is the left one', async () => {
    const begun = call('main/ask#0', 'ebb', { outcome: 'killed' });
    const start = begun.find((fact) => fact.type === 'call.started')!;
    const { key, op, fn } = start;
    const from = runRef(0).run;
    const reused: Fact[] = [
      ...begun,
      { type: 'call.withdrawn', key, op, to: from },
      { type: 'call.reused', key, op, fn, from: { run: from, seq: seqOf(1) } },
      { type: 'op.finished', op, outcome: 'reused' },
    ];
    const fresh: Fact[] = [{ type: 'memo.reset', reason: 'fresh' }];
    expect(previews((await diffOf(whole(reused), whole(fresh))).calls.onlyLeft)).toEqual(['ebb']);
    expect(previews((await diffOf(whole(fresh), whole(reused))).calls.onlyRight)).toEqual(['ebb']);
  });

  it('is symmetric', async () => {
    await fc.assert(
      fc.asyncProperty(anyFacts, anyFacts, async (one, other) => {
        const [there, back] = [await diffOf(one, other), await diffOf(other, one)];
        expect(back.same).toBe(there.same);
        expect(back.calls.same).toBe(there.calls.same);
        expect(back.calls.moved).toBe(there.calls.moved);
        expect(back.calls.onlyLeft).toEqual(there.calls.onlyRight);
        expect(back.calls.onlyRight).toEqual(there.calls.onlyLeft);
        const sides = (diff: RunDiff, isMirrored: boolean) =>
          diff.calls.changed
            .map(({ left, right, changes }) => JSON.stringify([isMirrored ? [right, left] : [left, right], changes]))
            .sort();
        expect(sides(back, true)).toEqual(sides(there, false));
      }),
      { numRuns: 100 },
    );
  });

  it('finds an inserted item, and takes those behind it for the same', async () => {
    const { same, calls } = await diffOf(whole(survey('ebb', 'flow')), whole(survey('spring', 'ebb', 'flow')));
    expect(same).toBe(false);
    expect(calls).toMatchObject({ same: 2, moved: 2, changed: [], onlyLeft: [] });
    expect(previews(calls.onlyRight)).toEqual(['spring']);
  });

  it('takes a reordered loop for the same calls at other places', async () => {
    const { calls } = await diffOf(whole(survey('ebb', 'flow', 'neap')), whole(survey('neap', 'flow', 'ebb')));
    expect(calls).toMatchObject({ same: 3, moved: 2, changed: [], onlyLeft: [], onlyRight: [] });
  });

  it('shows how arguments changed, also behind an inserted item', async () => {
    const { calls } = await diffOf(whole(survey('the tide at noon')), whole(survey('neap', 'the tide at midnight')));
    expect(previews(calls.onlyRight)).toEqual(['neap']);
    expect(calls.changed).toMatchObject([
      { changes: ['arguments', 'result'], arguments: [{ number: 1, lines: ['@ line 1', '-the tide at noon', '+the tide at midnight'] }] },
    ]);
    expect(calls.changed[0]?.words).toEqual([
      { where: 'argument 1', was: 'the tide at noon', is: 'the tide at midnight' },
      { where: 'result', was: 'A:"the tide at noon"', is: 'A:"the tide at midnight"' },
    ]);
  });

  it('separates an edited definition from another result', async () => {
    const before = call('main/ask#0', 'ebb');
    expect((await diffOf(whole(before), whole(edited(before)))).calls.changed).toMatchObject([{ changes: ['definition'] }]);
    expect((await diffOf(whole(before), whole(answering('late', before)))).calls.changed).toMatchObject([
      { changes: ['result'], result: ['@ line 1', '-A:"ebb"', '+late'] },
    ]);
    expect((await diffOf(whole(before), whole(call('main/ask#0', 'ebb', { outcome: 'failed' })))).calls.changed).toMatchObject([
      { changes: ['outcome'] },
    ]);
  });

  it('sees no difference between a result and the same result reused', async () => {
    const before = whole(call('main/ask#0', 'ebb'));
    const seq = before.findIndex(({ type }) => type === 'call.completed');
    const served = call('main/ask#0', 'ebb', { outcome: 'reused' }).map((fact): Fact =>
      fact.type === 'call.reused' ? { ...fact, from: { run: runRef(1).run, seq: seq as never } } : fact,
    );
    expect(await diffOf(before, whole(served))).toMatchObject({ same: true, left: { executed: 1 }, right: { reused: 1 } });
  });

  it('compares how the runs ended', async () => {
    expect(await diffOf(whole(), [started(runRef(1)), finished('failed')])).toMatchObject({
      same: false,
      left: { status: 'completed' },
      right: { status: 'failed' },
    });
  });
});

describe('the fork point of two runs', () => {
  it('is where they stop making the same calls', async () => {
    const runs = await storeWith(whole(survey('ebb', 'flow', 'neap')), whole(survey('ebb', 'flow', 'spring')));
    expect(await forkPointOf(runs.store, runs.left, runs.right, { onDefect })).toMatchObject({
      common: 2,
      last: { preview: 'flow' },
      nextLeft: { preview: 'neap' },
      nextRight: { preview: 'spring' },
    });
  });
});
