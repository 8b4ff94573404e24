/** A budget that is a number limits the output tokens of all model calls of a program. workflows-js.md 3.1 and 15. */
import { expect, it } from 'vitest';
import { openMemoryStore, workflow, type Context, type RunSettings } from '../../src/api/index.js';

const asking: readonly [string, (ctx: Context, index: number, ask: () => void) => Promise<unknown>][] = [
  [
    'calls that tell their tokens',
    (ctx, index, ask) =>
      ctx.llm('chart', [index], async () => {
        ask();
        ctx.usage({ outputTokens: 10 });
        return 'bay';
      }),
  ],
  [
    'calls that tell nothing, by their length',
    (ctx, index, ask) =>
      ctx.llm('chart', [index], async () => {
        ask();
        return 'x'.repeat(40);
      }),
  ],
];

it.each(asking)('ends %s, reused ones included', async (_, make) => {
  let asked = 0;
  const program = workflow('job', async (ctx) => {
    for (let index = 0; index < 9; index++) await make(ctx, index, () => void asked++);
    return null;
  });
  const store = openMemoryStore();
  const run = (settings: RunSettings) => program.run(null, { store, resume: true, ...settings });
  const spent = {
    status: 'failed',
    error: { code: 'BUDGET', message: expect.stringContaining('the budget of 25 output tokens is spent: 30') },
  };
  expect(await run({ budget: 25 })).toMatchObject(spent);
  expect(asked).toBe(3);
  expect(await run({ budget: 25 })).toMatchObject(spent);
  expect(asked).toBe(3);
  expect(await run({})).toMatchObject({ status: 'completed', totals: { executed: 6, reused: 3 } });
  expect(await run({ budget: 25 })).toMatchObject({ status: 'completed', totals: { executed: 0, reused: 9 } });
});

it('lets a step happen, which asks no model', async () => {
  const program = workflow('job', async (ctx) => {
    await ctx.llm('chart', [], async () => 'x'.repeat(400));
    return ctx.step('post', [], async () => 'posted');
  });
  expect(await program.run(null, { store: openMemoryStore(), budget: 25 })).toMatchObject({ status: 'completed', result: 'posted' });
});

it('ends agents of a program with the same error', async () => {
  const program = workflow('job', async (ctx) => [await ctx.agent('one'), await ctx.agent('two')]);
  expect(await program.run(null, { store: openMemoryStore(), budget: 3, backend: 'cmd:echo twelve letters' })).toMatchObject({
    status: 'failed',
    error: { code: 'BUDGET', message: 'the budget of 3 output tokens is spent: 4 are used, as an estimate' },
  });
});
