/** A program throws, and its run ends accordingly. workflows-js.md 15. */
import { describe, expect, it } from 'vitest';
import {
  AgentError,
  MlldError,
  openMemoryStore,
  workflow,
  type Context,
  type RunSettings,
  type WorkflowReport,
} from '../../src/api/index.js';

type Body = (ctx: Context) => Promise<unknown>;

function run(body: Body, settings: RunSettings = {}): Promise<WorkflowReport<null>> {
  const program = workflow('job', async (ctx) => (await body(ctx)) as null);
  return program.run(null, { store: openMemoryStore(), ...settings });
}

describe('misuse throws before anything is asked', () => {
  let asked = 0;
  const ask = async (): Promise<null> => {
    asked++;
    return null;
  };
  class Tide {
    readonly height = 3;
  }
  const circle: { me?: unknown } = {};
  circle.me = circle;
  const any = (value: unknown): never => value as never;

  it.each<[string, Body, string, string]>([
    ['a function in args', (ctx) => ctx.llm('rank', [any({ by: () => 1 })], ask), 'NOT_JSON', 'argument 1 of rank.by is a function'],
    ['NaN', (ctx) => ctx.llm('rank', [{ at: [1, Number.NaN] }], ask), 'NOT_JSON', 'argument 1 of rank.at[1] is NaN'],
    ['a bigint', (ctx) => ctx.step('post', [1, any(2n)], ask), 'NOT_JSON', 'argument 2 of post is a bigint'],
    ['undefined in a list', (ctx) => ctx.llm('rank', [any([undefined])], ask), 'NOT_JSON', 'argument 1 of rank[0] is undefined'],
    ['a class instance', (ctx) => ctx.llm('rank', [any(new Tide())], ask), 'NOT_JSON', 'an object of class Tide'],
    ['a date', (ctx) => ctx.llm('rank', [any(new Date(0))], ask), 'NOT_JSON', 'an object of class Date'],
    ['a cycle', (ctx) => ctx.llm('rank', [any(circle)], ask), 'NOT_JSON', 'argument 1 of rank.me is a part of itself'],
    ['a key that is no JSON', (ctx) => ctx.llm('rank', [], ask, { key: [any(Symbol('x'))] }), 'NOT_JSON', 'part 1 of the key is a symbol'],
    ['no name', (ctx) => ctx.llm(' ', [], ask), 'BAD_OPTION', 'ctx.llm(): the name'],
    ['the name of sleeps', (ctx) => ctx.llm('timer.sleep', ['1h'], ask), 'BAD_OPTION', 'timer.sleep is the name of'],
    ['no list', (ctx) => ctx.llm('rank', any('x'), ask), 'BAD_OPTION', 'must be a list'],
    ['no function', (ctx) => ctx.step('post', [], any('x')), 'BAD_OPTION', 'ctx.step(): post needs a function'],
    ['an unknown option', (ctx) => ctx.llm('rank', [], ask, any({ retry: 2 })), 'BAD_OPTION', 'unknown option retry'],
    ['a wrong option', (ctx) => ctx.llm('rank', [], ask, { retries: -1 }), 'BAD_OPTION', 'retries must be a whole number'],
    ['a checkpoint twice', async (ctx) => [await ctx.checkpoint('a'), await ctx.checkpoint('a')], 'CHECKPOINT_TWICE', 'registered twice'],
    ['a checkpoint in a branch', (ctx) => ctx.parallel([1], () => ctx.checkpoint('a')), 'CHECKPOINT_PLACE', 'inside of ctx.parallel()'],
    ['a checkpoint without a name', (ctx) => ctx.checkpoint(''), 'BAD_OPTION', 'the name must be a text'],
    ['a checkpoint with a wrong option', (ctx) => ctx.checkpoint('a', any({ resume: 'no' })), 'BAD_OPTION', 'resume must be one of auto'],
    ['a checkpoint with an unknown option', (ctx) => ctx.checkpoint('a', any({ ttl: 1 })), 'BAD_OPTION', 'unknown option ttl'],
    ['parallel with an unknown option', (ctx) => ctx.parallel([1], ask, any({ limits: 1 })), 'BAD_OPTION', 'unknown option limits'],
    ['no items', (ctx) => ctx.parallel(any({}), ask), 'BAD_OPTION', 'the items must be a list'],
    ['a limit of 0', (ctx) => ctx.parallel([1], ask, { limit: 0 }), 'BAD_OPTION', 'limit must be'],
    ['a time that is none', (ctx) => ctx.sleep('soon'), 'BAD_DURATION', 'Not a duration'],
    ['a date that is none', (ctx) => ctx.sleep(new Date(Number.NaN)), 'BAD_DURATION', 'Not a time'],
    ['usage outside of a call', async (ctx) => ctx.usage({ outputTokens: 1 }), 'BAD_OPTION', 'ctx.usage() belongs inside'],
    ['key outside of a call', async (ctx) => ctx.key, 'BAD_OPTION', 'ctx.key belongs inside'],
    ['an agent without a prompt', (ctx) => ctx.agent(''), 'BAD_OPTION', 'the prompt must be a text'],
    ['an agent without a backend', (ctx) => ctx.agent('Look.'), 'AGENT_BACKEND', 'no backend'],
    ['a result that is no JSON', async () => ({ at: new Map() }), 'NOT_JSON', 'the result of the program.at is an object of class Map'],
  ])('%s', async (_name, body, code, message) => {
    const { status, error } = await run(body);
    expect(status).toBe('failed');
    expect(error).toBeInstanceOf(MlldError);
    expect(error).toMatchObject({ code, message: expect.stringContaining(message) });
    expect(asked).toBe(0);
  });

  it.each<[string, unknown]>([
    ['resume', 7],
    ['fork', [1]],
    ['fork', 7],
    ['record', 'no'],
    ['budget', {}],
    ['budget', 'much'],
    ['parallel', 0],
    ['parallel', 1.5],
    ['chekpoint', true],
    ['backend', 'oracle'],
    ['changed', 'all'],
    ['project', '/no/such/folder'],
  ])('the setting %s: %j', async (name, value) => {
    await expect(run(ask, { [name]: value })).rejects.toBeInstanceOf(MlldError);
    expect(asked).toBe(0);
  });

  it('settings that exclude each other, a name that is none, an input that is none', async () => {
    await expect(run(ask, { fresh: true, resume: true })).rejects.toMatchObject({ code: 'BAD_OPTION' });
    await expect(run(ask, { record: false, resume: true })).rejects.toMatchObject({ code: 'BAD_OPTION' });
    for (const name of ['', '../x', '/etc', 'a//b', '.hidden']) expect(() => workflow(name, ask)).toThrow('is no name');
    await expect(workflow('job', ask).run(any({ by: () => 1 }))).rejects.toMatchObject({ code: 'NOT_JSON' });
    expect(asked).toBe(0);
  });
});

it('throws an error of a body as it is, and records that the call failed', async () => {
  const thrown = Object.assign(new Error('no tide'), { mine: 1 });
  const seen: unknown[] = [];
  const { status, error, totals } = await run(async (ctx) => {
    await ctx.llm('rank', [], async () => Promise.reject(thrown)).catch((each: unknown) => seen.push(each));
    await ctx.step('post', [], () => {
      throw 'a text';
    });
  });
  expect(seen).toEqual([thrown]);
  expect(error).toMatchObject({ code: 'WORKFLOW_FAILED', message: 'a text', cause: 'a text' }); // a report has an Error
  expect({ status, failed: totals.failed }).toEqual({ status: 'failed', failed: 2 });
});

it('does not count what failed as done', async () => {
  const store = openMemoryStore();
  let tries = 0;
  const body: Body = (ctx) =>
    ctx.step('post', ['x'], async () => {
      if (++tries === 1) throw new Error('refused');
      return tries;
    });
  expect((await run(body, { store })).status).toBe('failed');
  expect(await run(body, { store, resume: true })).toMatchObject({ status: 'completed', result: 2 });
  expect(await run(body, { store, resume: true })).toMatchObject({ result: 2, totals: { reused: 1 } });
});

it('repeats a body as often as it is told, under one key', async () => {
  const keys: string[] = [];
  const { result, totals } = await run((ctx) =>
    ctx.llm(
      'rank',
      [],
      async () => {
        if (keys.push(ctx.key) < 3) throw new Error('not yet');
        return keys.length;
      },
      { retries: 2 },
    ),
  );
  expect(result).toBe(3);
  expect(new Set(keys).size).toBe(1);
  expect(totals).toMatchObject({ executed: 1, attempts: 3, retries: 2 });
});

it('repeats no deed unasked', async () => {
  let tries = 0;
  const refused = Object.assign(new Error('slow down'), { status: 429 });
  const { error } = await run((ctx) => ctx.step('post', [], async () => Promise.reject(++tries && refused)));
  expect(error).toBe(refused);
  expect(tries).toBe(1);
});

it('ends an attempt at its time limit, whether its body listens or not', async () => {
  let signal: AbortSignal | undefined;
  const { error, totals } = await run((ctx) =>
    ctx.llm('rank', [], () => ((signal = ctx.signal), new Promise<never>(() => {})), { timeoutMs: 10, retries: 0 }),
  );
  expect(error).toMatchObject({ code: 'CALL_FAILED', message: expect.stringContaining('timeout') });
  expect(signal?.aborted).toBe(true);
  expect(totals.failed).toBe(1);
});

it('waits for what the others paid for, then throws the first error by place', async () => {
  const store = openMemoryStore();
  const done: number[] = [];
  const body: Body = (ctx) =>
    ctx.parallel([0, 1, 2, 3], (item) =>
      ctx.llm('rank', [item], async () => {
        if (item === 2) throw new Error('two');
        await new Promise((resolve) => setTimeout(resolve, 5 * (4 - item)));
        if (item === 1) throw new Error('one');
        done.push(item);
        return item;
      }),
    );
  const { error } = await run(body, { store, parallel: 4 });
  expect(error).toMatchObject({ message: 'one' });
  expect(done.toSorted((one, other) => one - other)).toEqual([0, 3]);
  expect((await run(body, { store, resume: true, parallel: 4 })).totals.reused).toBe(2);
});

it('records calls that a program does not wait for', async () => {
  const store = openMemoryStore();
  const slow = (ctx: Context): Promise<number> => ctx.llm('slow', [], () => new Promise((resolve) => setTimeout(() => resolve(7), 20)));
  await run(
    async (ctx) => {
      void slow(ctx);
    },
    { store },
  );
  expect(await run(slow, { store, resume: true })).toMatchObject({ result: 7, totals: { executed: 0, reused: 1 } });
});

it('ends in order when it is called off, in a call, in a sleep, or waiting for nothing', async () => {
  for (const body of [
    (ctx: Context) => ctx.llm('rank', [], () => new Promise<never>(() => {})),
    (ctx: Context) => ctx.sleep('1h'),
    () => new Promise(() => {}),
  ]) {
    const controller = new AbortController();
    const ending = run(async (ctx) => (setTimeout(() => controller.abort(), 5), body(ctx)), { signal: controller.signal });
    expect(await ending).toMatchObject({ status: 'interrupted', error: { code: 'INTERRUPTED' } });
  }
  expect(await run(() => new Promise(() => {}), { timeoutMs: 5 })).toMatchObject({ status: 'timed-out', error: { code: 'TIMED_OUT' } });
});

it('pauses when a quota is used up, and continues without asking again', async () => {
  const store = openMemoryStore();
  const counts = { quota: true, asked: 0 };
  const body: Body = async (ctx) => {
    const first = await ctx.llm('rank', [1], async () => ++counts.asked);
    return [
      first,
      await ctx.llm('rank', [2], async () => {
        if (counts.quota) throw Object.assign(new Error('limit'), { status: 429, error: { type: 'insufficient_quota' } });
        return ++counts.asked;
      }),
    ];
  };
  expect(await run(body, { store })).toMatchObject({ status: 'paused' });
  counts.quota = false;
  expect(await run(body, { store, resume: true })).toMatchObject({ status: 'completed', result: [1, 2] });
});

it('throws for an agent that fails, with the class', async () => {
  const { error } = await run((ctx) => ctx.agent('Look.', { label: 'look:north' }), { backend: 'cmd:exit 3' });
  expect(error).toBeInstanceOf(AgentError);
  expect(error).toMatchObject({ class: 'crash', agent: 'look:north', code: 'CALL_FAILED' });
});

it('throws for an agent whose answers never fit', async () => {
  const schema = { type: 'object', required: ['faults'] };
  const { error } = await run((ctx) => ctx.agent('Look.', { schema }), { backend: 'cmd:echo nothing' });
  expect(error).toMatchObject({ class: 'bad-reply', message: expect.stringContaining('never fitted the schema') });
});

it('runs a call inside a call with one place', async () => {
  const { result } = await run((ctx) => ctx.step('post', [], async () => ctx.llm('rank', [], async () => ctx.agent('Look.'))), {
    parallel: 1,
    backend: 'simulated',
  });
  expect(result).toContain('[Simulated]');
});

it('ends a parallel whose item failed as failed', async () => {
  const store = openMemoryStore();
  const report = await run(
    async (ctx) => {
      const wait = ctx.parallel([1, 2], async (item) => {
        if (item === 2) throw new Error('no berth');
      });
      await wait.catch(() => undefined);
    },
    { store },
  );
  const ended: string[] = [];
  if (report.journal)
    await store.scan(report.journal, (event) => void (event.type === 'op.finished' && ended.push(`${event.op} ${event.outcome}`)), {
      onDefect: () => undefined,
    });
  expect(ended.filter((line) => line.includes('parallel'))).toContain('main/parallel#0 failed');
});
