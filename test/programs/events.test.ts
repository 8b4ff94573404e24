/** The members of a program's context record what they do, and a resumed run takes it from there. workflows-js.md 11 and 15. */
import { expect, it } from 'vitest';
import {
  openMemoryStore,
  workflow,
  type Context,
  type JournalEvent,
  type JournalStore,
  type RunRef,
  type RunSettings,
} from '../../src/api/index.js';

interface Recorded {
  readonly store: JournalStore;
  readonly run: (
    body: (ctx: Context) => Promise<unknown>,
    settings?: RunSettings,
  ) => Promise<{ result: unknown; error: unknown; status: string }>;
  readonly events: () => Promise<readonly JournalEvent[]>;
}

function recorded(): Recorded {
  const store = openMemoryStore();
  let ref: RunRef | undefined;
  return {
    store,
    async run(body, settings = {}) {
      const { result, error, status, journal } = await workflow('job', async (ctx) => (await body(ctx)) as null).run(null, {
        store,
        backend: 'simulated',
        ...settings,
      });
      ref = journal;
      return { result, error, status };
    },
    async events() {
      const found: JournalEvent[] = [];
      if (ref) await store.scan(ref, (event) => void found.push(event));
      return found;
    },
  };
}

const lines = (events: readonly JournalEvent[]): readonly string[] =>
  events.flatMap((event) => {
    const op = 'op' in event ? event.op.replaceAll(/~[0-9a-f]{8}/g, '') : '';
    if (event.type === 'op.started') return [`${op} ${event.kind}${event.total === undefined ? '' : ` of ${event.total}`} begins`];
    if (event.type === 'call.started') return [`${op} @${event.fn} started`];
    if (event.type === 'call.completed' || event.type === 'call.failed' || event.type === 'call.reused') return [`${op} ${event.type}`];
    return event.type === 'checkpoint.reached' ? [`checkpoint ${event.name}`] : [];
  });

it.each<[string, (ctx: Context) => Promise<unknown>, readonly string[]]>([
  [
    'llm',
    (ctx) => ctx.llm('rank', ['ebb'], async () => 3),
    ['main/llm#0 llm begins', 'main/llm#0 @rank started', 'main/llm#0 call.completed'],
  ],
  [
    'step',
    (ctx) => ctx.step('post', [], async () => {}),
    ['main/step#0 step begins', 'main/step#0 @post started', 'main/step#0 call.completed'],
  ],
  ['agent', (ctx) => ctx.agent('Look.'), ['main/agent#0 agent begins', 'main/agent#0 @agent started', 'main/agent#0 call.completed']],
  ['sleep', (ctx) => ctx.sleep(1), ['main/sleep#0 sleep begins', 'main/sleep#0 @timer.sleep started', 'main/sleep#0 call.completed']],
  ['checkpoint', (ctx) => ctx.checkpoint('looked'), ['checkpoint looked']],
  [
    'parallel',
    (ctx) => ctx.parallel(['a', 'b'], (item) => ctx.llm('rank', [item], async () => 1), { limit: 1 }),
    ['a', 'b'].reduce<string[]>(
      (all, _, index) => [
        ...all,
        `main/parallel#0[${index}] parallel:iteration begins`,
        `main/parallel#0[${index}]/llm#0 llm begins`,
        `main/parallel#0[${index}]/llm#0 @rank started`,
        `main/parallel#0[${index}]/llm#0 call.completed`,
      ],
      ['main/parallel#0 parallel of 2 begins'],
    ),
  ],
])('%s leaves its events', async (_name, body, expected) => {
  const { run, events } = recorded();
  expect((await run(body)).status).toBe('completed');
  expect(lines(await events())).toEqual(expected);
});

it('records input, clock and seed at the start', async () => {
  const { run, events } = recorded();
  await run(async () => undefined);
  const [started] = await events();
  expect(started).toMatchObject({ type: 'run.started', workflow: 'job', payload: null });
  expect(started).toHaveProperty('clock');
  expect(started).toHaveProperty('seed');
});

it('takes everything from the record when it is resumed, clock and chance included', async () => {
  const { run, events } = recorded();
  const counts = { asked: 0 };
  const body = async (ctx: Context): Promise<unknown> => {
    const votes = await Promise.all([1, 2, 3].map(() => ctx.llm('vote', ['the same'], async () => ++counts.asked)));
    const found = await ctx.parallel(['n', 's'], async (berth) => [
      await ctx.llm('look', [berth], async () => ++counts.asked),
      ctx.random(),
    ]);
    await ctx.sleep(5);
    const id = await ctx.step('publish', [found], async () => [++counts.asked, ctx.key]);
    return { votes, found, id, at: ctx.now(), uuid: ctx.uuid(), random: ctx.random() };
  };
  const first = await run(body);
  const second = await run(body, { resume: true });
  expect(second).toEqual(first);
  expect(first.result).toMatchObject({
    uuid: expect.stringMatching(/^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/),
  });
  expect(counts.asked).toBe(6);
  expect((await events()).filter(({ type }) => type === 'call.started')).toEqual([]);
  await run(body);
  expect(counts.asked).toBe(12); // a plain run asks anew
});

it('finds results wherever the program asks', async () => {
  const { run } = recorded();
  let asked = 0;
  const rank = (ctx: Context, word: string): Promise<string> => ctx.llm('rank', [word], async () => `${word} ${++asked}`);
  await run(async (ctx) => [await rank(ctx, 'a'), await rank(ctx, 'b'), await rank(ctx, 'c')]);
  const moved = await run(async (ctx) => ctx.parallel(['c', 'x', 'a', 'b'], (word) => rank(ctx, word)), { resume: true });
  expect(moved.result).toEqual(['c 3', 'x 4', 'a 1', 'b 2']);
});

it('executes again what a target selects, and what follows from it', async () => {
  const { run } = recorded();
  const asked: string[] = [];
  let count = 0;
  const body = async (ctx: Context): Promise<unknown> => {
    const call = (name: string, ...args: string[]): Promise<string> =>
      ctx.llm(name, args, async () => {
        asked.push(name);
        return `${name}${++count}`;
      });
    const looked = await call('look', 'north');
    await ctx.checkpoint('looked');
    return [await call('rank', looked), await call('other', 'x')];
  };
  await run(body);
  asked.length = 0;
  await run(body, { resume: '@look' });
  expect(asked).toEqual(['look', 'rank']);
  asked.length = 0;
  await run(body, { resume: 'looked' });
  expect(asked).toEqual(['rank', 'other']);
  asked.length = 0;
  await run(body, { resume: '@agent("Look")' }).catch((error: unknown) => expect(error).toMatchObject({ code: 'RESUME_PREFIX' }));
  expect(asked).toEqual([]);
  await run(body, { fresh: true });
  expect(asked).toEqual(['look', 'rank', 'other']);
});

it('identifies a call by its key, where it has one', async () => {
  const { run } = recorded();
  let asked = 0;
  const call = (ctx: Context, at: number): Promise<number> => ctx.llm('rank', [{ at }], async () => ++asked, { key: ['the tide'] });
  await run(async (ctx) => call(ctx, 1));
  expect((await run(async (ctx) => call(ctx, 2), { resume: true })).result).toBe(1);
});

it('executes again under another version or body, where it is asked to', async () => {
  const { run } = recorded();
  let asked = 0;
  const body = async (ctx: Context): Promise<unknown> => ctx.llm('rank', [], async () => ++asked);
  await run(body, { version: '1' });
  expect((await run(body, { resume: true, version: '2' })).result).toBe(1);
  expect((await run(body, { resume: true, changed: 'ask', version: '2' })).result).toBe(2);
  expect((await run(body, { resume: true, changed: 'ask', version: '2' })).result).toBe(2);
});

it('takes results of another workflow', async () => {
  const { run, store } = recorded();
  let asked = 0;
  const body = async (ctx: Context): Promise<number> => ctx.llm('rank', ['x'], async () => ++asked);
  await run(body);
  const other = workflow('other', async (ctx) => body(ctx));
  expect(await other.run(null, { store, fork: 'job' })).toMatchObject({ result: 1, totals: { executed: 0, reused: 1 } });
  expect(await other.run(null, { store })).toMatchObject({ result: 2 });
});

it('plans what a run would reuse', async () => {
  const { run, store } = recorded();
  const body = async (ctx: Context): Promise<null> => {
    await ctx.llm('look', ['north'], async () => 1);
    await ctx.checkpoint('looked');
    await ctx.llm('rank', ['faults of the north'], async () => 1, { label: 'rank:north' });
    return null;
  };
  await run(body);
  const job = workflow('job', async (ctx) => body(ctx));
  expect(await job.plan(null, { store })).toMatchObject({ workflow: 'job', reused: 2, toExecute: [] });
  expect(await job.plan(null, { store, resume: 'looked' })).toMatchObject({
    reused: 1,
    toExecute: [{ label: 'rank:north', prompt: 'faults of the north' }],
  });
});

it('reports to the record what a call used', async () => {
  const { store } = recorded();
  const job = workflow('job', async (ctx) =>
    ctx.llm('rank', [], async () => {
      ctx.usage({ outputTokens: 7, costUsd: 0.25 });
      return 1;
    }),
  );
  expect(await job.run(null, { store })).toMatchObject({ totals: { executed: 1, costUsd: 0.25, outputTokens: 7 } });
  expect(await job.run(null, { store, resume: true })).toMatchObject({ totals: { reused: 1, savedUsd: 0.25 } });
});

it('gives a program copies of what is recorded', async () => {
  const { run } = recorded();
  const shared = { list: [1] };
  const body = async (ctx: Context): Promise<unknown> => {
    const one = await ctx.llm('make', [], async () => shared);
    one.list.push(2);
    return [one, shared];
  };
  expect((await run(body)).result).toEqual([{ list: [1, 2] }, { list: [1] }]);
  expect((await run(body, { resume: true })).result).toEqual([{ list: [1, 2] }, { list: [1] }]);
});

it('seals the result of a secret call, and does not write it anywhere else', async () => {
  const { run, events } = recorded();
  const word = 'hunter2-';
  await run(async (ctx) => {
    const token = await ctx.llm('login', ['harbour'], async () => word.repeat(3), { secret: true });
    ctx.log(token);
    return ctx.llm('use', [token], async () => 'ok');
  });
  expect(JSON.stringify(await events())).not.toContain('hunter2');
});

it('keeps the places of two runs in one process apart', async () => {
  const { store } = recorded();
  const inner = workflow(
    'inner',
    async (ctx, word: string) => [ctx.random(), await ctx.llm('say', [word], async () => word)] as [number, string],
  );
  const outer = workflow('outer', async (ctx) => {
    const { result = [0, ''] } = await inner.run('ebb', { store });
    return [result[1], await ctx.llm('say', ['flood'], async () => 'flood')];
  });
  expect(await outer.run(null, { store })).toMatchObject({ result: ['ebb', 'flood'], totals: { executed: 1 } });
});
