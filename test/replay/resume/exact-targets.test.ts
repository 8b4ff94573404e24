/** `--resume '@fn(= "text")'`, `--resume PATH` and `--resume failed` (calls.md 15). */
import { beforeEach, describe, expect, it } from 'vitest';
import type { Fact } from '../../../journal/event.js';
import { openMemoryStore } from '../../../journal/storage/memory-store.js';
import type { JournalStore } from '../../../journal/store.js';
import { loadWorkflow } from '../../../replay/memo/load.js';
import type { Invalidation } from '../../../replay/resume/invalidation.js';
import { resolveTarget } from '../../../replay/resume/resolve-target.js';
import { parseSelector } from '../../../replay/resume/selector.js';
import { call, callKeyOf, finished, inside, JOB, loop, runRef, started } from '../../support/written-runs.js';

let store: JournalStore;
beforeEach(() => (store = openMemoryStore()));

async function record(number: number, ...facts: readonly Fact[][]): Promise<void> {
  const journal = await store.create(runRef(number));
  for (const fact of [started(runRef(number)), ...facts.flat(), finished()]) await journal.append(fact);
  await journal.close();
}

async function resolve(target: string): Promise<Invalidation> {
  const onDefect = ({ message }: { readonly message: string }): void => expect.unreachable(message);
  const prior = await loadWorkflow(store, JOB, { onDefect });
  return resolveTarget(store, parseSelector(target), {
    prior,
    forks: [],
    declarations: { declares: () => false, knownFunctions: [] },
    onDefect,
  });
}

const each = (...items: string[]): Fact[] => loop('main/for#0', items, (item, at) => call(`${at}/ask#0`, item));

describe('--resume @fn(= "text")', () => {
  it('selects the calls with exactly this argument, and nothing that begins like it or comes after', async () => {
    await record(1, each('Entry 1', 'Entry 13', 'Entry 137', 'Entry 2'));
    expect(await resolve('@ask(= "Entry 13")')).toEqual({ keys: [callKeyOf('Entry 13')], forkedKeys: [] });
    expect(await resolve("@ask(='Entry 1')")).toEqual({ keys: [callKeyOf('Entry 1')], forkedKeys: [] });
  });

  it('covers results of older runs, and with a number only one call site', async () => {
    await record(1, call('main/ask#0', 'old'));
    await record(2, call('main/ask#0', 'ebb', { site: 'a' }), call('main/ask#1', 'flow', { site: 'b' }));
    expect((await resolve('@ask(= "old")')).keys).toEqual([callKeyOf('old')]);
    expect((await resolve('@ask:1(= "flow")')).keys).toEqual([callKeyOf('flow')]);
    await expect(resolve('@ask:1(= "ebb")')).rejects.toMatchObject({ code: 'RESUME_EXACT' });
  });

  it('compares the whole of a text that is longer than a preview', async () => {
    const [left, right] = [`${'x'.repeat(300)} left`, `${'x'.repeat(300)} right`];
    await record(1, each(left, right));
    expect((await resolve(`@ask(= "${right}")`)).keys).toEqual([callKeyOf(right)]);
    await expect(resolve(`@ask(= "${'x'.repeat(256)}")`)).rejects.toMatchObject({ code: 'RESUME_EXACT' });
  });

  it('selects the calls for one item of a loop in an ordinary function', async () => {
    const survey = loop('main/survey#0/for#0', ['docs', 'docs/a', 'tests'], (item, at) => call(`${at}/ask#0`, `read ${item}`));
    await record(1, inside('main/survey#0', { kind: 'exe', name: 'survey', site: 's' }, survey));
    expect((await resolve('@survey(= "docs")')).keys).toEqual([callKeyOf('read docs')]);
  });

  it('names the three nearest texts when there is none', async () => {
    await record(1, each('Entry 1', 'Entry 13', 'fog', 'Entry 137'));
    await expect(resolve('@ask(= "Entry 3")')).rejects.toMatchObject({
      code: 'RESUME_EXACT',
      message: expect.stringContaining('@ask(= "Entry 3")'),
      candidates: ['"Entry 13"', '"Entry 1"', '"Entry 137"'],
    });
  });

  it('says that a call without a result is executed in any case', async () => {
    await record(1, call('main/ask#0', 'ebb', { outcome: 'failed' }));
    expect(await resolve('@ask(= "ebb")')).toMatchObject({ keys: [], notice: expect.stringContaining('@ask(= "ebb")') });
  });
});

describe('--resume PATH', () => {
  it('selects the call at the path, and all calls inside a path above calls', async () => {
    await record(
      1,
      loop('main/for#0', ['a', 'b'], (item, at) => [...call(`${at}/ask#0`, item), ...call(`${at}/sum#0`, item, { fn: 'sum' })]),
    );
    expect((await resolve('main/for#0[1]/ask#0')).keys).toEqual([callKeyOf('b')]);
    expect((await resolve('main/for#0[1]')).keys).toEqual([callKeyOf('b'), callKeyOf('b', 'sum')]);
    expect((await resolve('main/for#0')).keys.length).toBe(4);
  });

  it('takes the latest run that made a call there', async () => {
    await record(1, each('a', 'b'));
    await record(2, each('c'));
    expect((await resolve('main/for#0[0]/ask#0')).keys).toEqual([callKeyOf('c')]);
    expect((await resolve('main/for#0[1]/ask#0')).keys).toEqual([callKeyOf('b')]);
  });

  it('names the first call inside a call that the latest run had reused', async () => {
    const outer = call('main/for#0[0]/outer#0', 'a', { fn: 'outer' });
    const within = [...call('main/for#0[0]/outer#0/ask#0', 'a'), ...call('main/for#0[0]/outer#0/sum#0', 'a', { fn: 'sum' })];
    await record(
      1,
      loop('main/for#0', ['a'], () => [...outer.slice(0, 2), ...within, ...outer.slice(2)]),
    );
    expect((await resolve('main/for#0[0]')).inside).toBeUndefined();
    await record(
      2,
      loop('main/for#0', ['a'], (item, at) => call(`${at}/outer#0`, item, { fn: 'outer', outcome: 'reused' })),
    );
    const again = await resolve('main/for#0[0]');
    expect(again.keys).toEqual([callKeyOf('a', 'outer')]);
    expect(again.inside).toEqual({ count: 2, first: 'main/for#0[0]/outer#0/ask#0' });
    expect((await resolve('main/for#0[0]/outer#0/ask#0')).inside).toBeUndefined();
  });

  it('names the nearest path when no run has it', async () => {
    await record(1, each('a', 'b'));
    await expect(resolve('main/for#0[7]/ask#0')).rejects.toMatchObject({
      code: 'RESUME_PATH',
      message: expect.stringContaining('main/for#0[7]/ask#0'),
      candidates: ['main/for#0[0]/ask#0'],
    });
  });

  it('is an error where the operations made no call', async () => {
    await record(1, inside('main/show#0', { kind: 'show' }, []));
    await expect(resolve('main/show#0')).rejects.toMatchObject({ code: 'RESUME_PATH', message: expect.stringContaining('made a call') });
  });

  it('is the name of a checkpoint in quotes', async () => {
    await record(1, [{ type: 'checkpoint.reached', name: 'main/x#0' }], each('a'));
    expect((await resolve('"main/x#0"')).keys).toEqual([callKeyOf('a')]);
  });
});

describe('--resume failed', () => {
  it('invalidates nothing', async () => {
    await record(1, each('a'), call('main/ask#0', 'b', { outcome: 'failed' }));
    expect(await resolve('failed')).toEqual({ keys: [], forkedKeys: [] });
  });

  it('is ambiguous where the prior run reached a checkpoint of this name, which is meant in quotes', async () => {
    await record(1, [{ type: 'checkpoint.reached', name: 'failed' }], each('a'));
    await expect(resolve('failed')).rejects.toMatchObject({ code: 'RESUME_AMBIGUOUS', message: expect.stringContaining('failed') });
    expect((await resolve('"failed"')).keys).toEqual([callKeyOf('a')]);
  });

  it('says so where no run is recorded', async () => {
    expect(await resolve('failed')).toMatchObject({ keys: [], notice: expect.stringContaining('no recorded run') });
  });
});
