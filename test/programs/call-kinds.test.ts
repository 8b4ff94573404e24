/** Calls of several kinds that have the same name and arguments keep their own results. workflows-js.md 6.2. */
import { expect, it } from 'vitest';
import { openMemoryStore, workflow, type Context, type DurableWorkflow, type RunSettings } from '../../src/api/index.js';

type Kind = 'agent' | 'llm' | 'step';

/** Makes the call `agent("ask", {})` of a kind. */
const call = async (ctx: Context, kind: Kind, executed: Kind[]): Promise<unknown> => {
  if (kind === 'agent') return ctx.agent('ask');
  const body = async (): Promise<string> => {
    executed.push(kind);
    return `of ${kind}`;
  };
  return kind === 'llm' ? ctx.llm('agent', ['ask', {}], body) : ctx.step('agent', ['ask', {}], body);
};

function program(name: string, kinds: readonly Kind[], executed: Kind[]): DurableWorkflow<null, string[]> {
  return workflow<null, string[]>(name, async (ctx) => {
    const results: string[] = [];
    for (const kind of kinds) results.push(String(await call(ctx, kind, executed).catch(() => 'failed')));
    return results;
  });
}

const FAILS = 'cmd:exit 1';
const ANSWERS = 'cmd:echo of agent';

async function run(
  kinds: readonly Kind[],
  settings: RunSettings,
  name = 'job',
): Promise<{ result: unknown; executed: Kind[]; reused: number }> {
  const executed: Kind[] = [];
  const report = await program(name, kinds, executed).run(null, { resume: true, ...settings });
  expect(report.status).not.toBe('failed');
  return { result: report.result, executed, reused: report.totals.reused };
}

it('gives an agent that failed no result of an llm call of the same key', async () => {
  const store = openMemoryStore();
  expect(await run(['agent', 'llm'], { store, backend: FAILS })).toMatchObject({ result: ['failed', 'of llm'] });
  const resumed = { result: ['of agent', 'of llm'], executed: [] };
  expect(await run(['agent', 'llm'], { store, backend: ANSWERS })).toEqual({ ...resumed, reused: 1 });
  expect(await run(['agent', 'llm'], { store, backend: FAILS })).toEqual({ ...resumed, reused: 2 });
  expect(await run(['llm', 'agent'], { store, backend: FAILS })).toEqual({ result: ['of llm', 'of agent'], executed: [], reused: 2 });
});

it('reuses no result behind an edit that makes a call another kind, and finds each again', async () => {
  const store = openMemoryStore();
  const settings = { store, backend: ANSWERS };
  expect(await run(['agent'], settings)).toEqual({ result: ['of agent'], executed: [], reused: 0 });
  expect(await run(['llm'], settings)).toEqual({ result: ['of llm'], executed: ['llm'], reused: 0 });
  expect(await run(['step'], settings)).toEqual({ result: ['of step'], executed: ['step'], reused: 0 });
  const found = await run(['llm', 'step', 'agent'], { store, backend: FAILS });
  expect(found).toEqual({ result: ['of llm', 'of step', 'of agent'], executed: [], reused: 3 });
});

it('keeps the kinds apart where a fork source numbers the same calls in another order, with it and without it', async () => {
  const store = openMemoryStore();
  await run(['step', 'agent'], { store, backend: ANSWERS });
  await run(['agent', 'step'], { store, backend: ANSWERS }, 'source');
  for (const settings of [{ fork: 'source' }, {}, { fork: 'source', resume: true }]) {
    const again = await run(['step', 'agent'], { store, backend: FAILS, ...settings });
    expect({ settings, ...again }).toEqual({ settings, result: ['of step', 'of agent'], executed: [], reused: 2 });
  }
});

it('reuses of a fork source what the same kind recorded', async () => {
  const store = openMemoryStore();
  await run(['llm'], { store }, 'source');
  await run(['agent'], { store, backend: ANSWERS });
  const forked = { store, backend: FAILS, fork: 'source' };
  expect(await run(['llm'], forked)).toEqual({ result: ['of llm'], executed: [], reused: 1 });
  expect(await run(['step'], forked)).toEqual({ result: ['of step'], executed: ['step'], reused: 0 });
});

it('reuses all results of a fork source, each at its place, where the runs of its own had numbered the samples in another order', async () => {
  const store = openMemoryStore();
  const vote = async (name: string, late: number | undefined, settings: RunSettings): Promise<unknown> => {
    const program = workflow(name, async (ctx) =>
      ctx.parallel([0, 1, 2], async (place) => {
        if (place === late) await ctx.llm('wait', [], async () => null);
        const result = ctx.llm('vote', [], async () => {
          if (place === late) throw new Error('it fails');
          return `${name} ${place}`;
        });
        return result.catch(() => null);
      }),
    );
    const { result, totals } = await program.run(null, { store, ...settings });
    return { result, executed: totals.executed };
  };
  await vote('source', undefined, { parallel: 3 });
  await vote('job', 0, { parallel: 3 });
  const forked = { result: ['source 0', 'source 1', 'source 2'], executed: 0 };
  expect(await vote('job', undefined, { fork: 'source', parallel: 3 })).toEqual(forked);
  expect(await vote('job', undefined, { fork: 'source', resume: true })).toEqual(forked);
});

/** Two places make the same call. Those of `late` begin later, which numbers the samples; those of `failing` fail. */
async function votes(
  name: string,
  { late, failing = [] }: { readonly late: number; readonly failing?: readonly number[] },
  settings: RunSettings,
): Promise<{ readonly result: unknown; readonly executed: readonly number[] }> {
  const executed: number[] = [];
  const program = workflow(name, async (ctx) =>
    ctx.parallel([0, 1], async (place) => {
      if (place === late) await ctx.llm('wait', [], async () => null);
      const body = async (): Promise<string> => {
        executed.push(place);
        if (failing.includes(place)) throw new Error('it fails');
        return `${name} ${place}`;
      };
      return ctx.llm('vote', [], body).catch(() => null);
    }),
  );
  const { result } = await program.run(null, { parallel: 2, ...settings });
  return { result, executed };
}

it('reuses the result of a fork source before an own one that had another number at the same place', async () => {
  const store = openMemoryStore();
  await votes('source', { late: 1, failing: [0] }, { store });
  await votes('job', { late: 0, failing: [0] }, { store });
  const forked = await votes('job', { late: 1 }, { store, fork: 'source', resume: true });
  expect(forked).toEqual({ result: ['job 0', 'source 1'], executed: [0] });
});

it('leaves a result to its place where the other place failed, also behind a run that ended before either', async () => {
  const store = openMemoryStore();
  const first = await votes('job', { late: 1, failing: [0] }, { store });
  expect(first).toEqual({ result: [null, 'job 1'], executed: [0, 1] });
  const stopped = workflow('job', async () => Promise.reject(new Error('it stops')));
  expect(await stopped.run(null, { store, resume: true })).toMatchObject({ status: 'failed' });
  expect(await votes('job', { late: 1, failing: [0] }, { store, resume: true })).toEqual({ result: [null, 'job 1'], executed: [0] });
});
