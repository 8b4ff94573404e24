/** A program runs again with the recorded results and nothing else; what reads the clock by itself diverges there. workflows-js.md 15. */
import { expect, it } from 'vitest';
import { openMemoryStore, workflow, type Context } from '../../src/api/index.js';

it('calls no body, waits for no sleep, and returns the same', async () => {
  const store = openMemoryStore();
  let asked = 0;
  const program = workflow('job', async (ctx, input: { readonly berths: readonly string[] }) => {
    const votes = await Promise.all([1, 2].map(() => ctx.llm('vote', ['same'], async () => ++asked)));
    const found = await ctx.parallel(input.berths, (berth) => ctx.llm('look', [berth, ctx.random()], async () => `${berth}${++asked}`));
    await ctx.checkpoint('looked');
    await ctx.sleep(5);
    const failed = await ctx.step('post', [], () => Promise.reject(new Error(`no ${++asked}`))).catch(() => 'refused');
    ctx.log(found, votes, failed);
    return ctx.agent(`Write up ${found.join()} at ${ctx.now() > 0}`);
  });
  const { journal } = await program.run({ berths: ['n', 's'] }, { store, backend: 'simulated' });
  expect(asked).toBe(5);
  expect(await program.replay(journal?.run ?? '', { store })).toMatchObject({ verdict: 'same', status: 'completed', divergences: [] });
  const again = await program.run({ berths: ['n', 's'] }, { store, backend: 'simulated', resume: true });
  expect(asked).toBe(6); // the refused step
  expect(await program.replay('latest', { store })).toMatchObject({ ref: again.journal, verdict: 'same' });
  expect(asked).toBe(6);
});

it('diverges at the first call that was not recorded', async () => {
  const store = openMemoryStore();
  let version = 1;
  const program = workflow('job', async (ctx: Context) => {
    await ctx.llm('look', ['north'], async () => 1);
    await ctx.llm('rank', [`at ${version}`], async () => 1);
    return ctx.llm('write', [], async () => 'done');
  });
  const { journal } = await program.run(null, { store });
  version = 2; // as Date.now() would be
  const { verdict, divergences } = await program.replay(journal?.run ?? '', { store });
  expect(verdict).toBe('diverged');
  expect(divergences).toMatchObject([
    {
      reason: 'new',
      kind: 'call',
      op: expect.stringMatching(/^main\/llm~[0-9a-f]{8}#0$/),
      actual: { subject: '@rank', request: ['at 2'] },
      expected: { subject: '@rank', request: ['at 1'] },
    },
  ]);
});

it('says that a run ended otherwise', async () => {
  const store = openMemoryStore();
  let fails = true;
  const program = workflow('job', async (ctx: Context) => {
    await ctx.llm('look', [], async () => 1);
    if (fails) throw new Error('no tide');
    return null;
  });
  const { journal } = await program.run(null, { store });
  expect(await program.replay(journal?.run ?? '', { store })).toMatchObject({ verdict: 'same', status: 'failed' });
  fails = false;
  expect(await program.replay(journal?.run ?? '', { store })).toMatchObject({ verdict: 'diverged', divergences: [{ reason: 'ending' }] });
});
