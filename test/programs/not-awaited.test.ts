/** A program may await its calls later, or never: a failed one ends no process. workflows-js.md 15, PROGRAM-2 and 3. */
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { openMemoryStore, workflow, type Context, type RunSettings, type WorkflowReport } from '../../src/api/index.js';

const stray: unknown[] = [];
const onStray = (error: unknown): void => void stray.push(error);
let known: NodeJS.UnhandledRejectionListener[] = [];
beforeEach(() => {
  stray.length = 0;
  known = process.listeners('unhandledRejection');
  process.removeAllListeners('unhandledRejection').on('unhandledRejection', onStray);
});
afterEach(() => {
  process.removeAllListeners('unhandledRejection');
  for (const listener of known) process.on('unhandledRejection', listener);
});

const later = (ms = 20): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));
const torn = async (): Promise<null> => {
  throw new Error('torn');
};

async function run(body: (ctx: Context) => Promise<unknown>, settings: RunSettings = {}): Promise<WorkflowReport<null>> {
  const program = workflow('job', async (ctx) => (await body(ctx)) as null);
  const report = await program.run(null, { store: openMemoryStore(), backend: 'cmd:false', parallel: 4, ...settings });
  await later(); // Node tells of a rejection behind the microtasks
  return report;
}

describe('a failed call that nobody awaits yet', () => {
  it.each<[string, (ctx: Context) => Promise<unknown>]>([
    ['llm', (ctx) => ctx.llm('chart', [], torn)],
    ['step', (ctx) => ctx.step('post', [], torn)],
    ['agent', (ctx) => ctx.agent('Look.')],
    ['parallel', (ctx) => ctx.parallel([1, 2], () => ctx.llm('chart', [], torn))],
  ])('%s: lets the others end, and is thrown where it is awaited', async (_, failing) => {
    const { status, result, calls } = await run(async (ctx) => {
      const first = ctx.llm('slow', [], async () => {
        await later(300);
        return 'paid';
      });
      const second = failing(ctx);
      return [await first, await second.catch((error: Error) => error.message)];
    });
    expect(status).toBe('completed');
    expect(result).toEqual(['paid', expect.stringMatching(/torn|the agent "Look\." failed/)]);
    expect(calls?.unresolved).toBeGreaterThan(0);
    expect(stray).toEqual([]);
  });

  it('is counted where nobody awaits it ever', async () => {
    const { status, calls } = await run(async (ctx) => void ctx.llm('chart', [], torn));
    expect([status, calls?.failed, calls?.unresolved, stray]).toEqual(['completed', 1, 1, []]);
  });

  it('may be one that a stop of the run called off', async () => {
    const stop = new AbortController();
    const { status } = await run(
      async (ctx) => {
        void ctx.sleep('1h');
        void ctx.llm('slow', [], () => new Promise<null>(() => {}));
        setTimeout(() => stop.abort(), 5);
        await later();
        await later();
        void ctx.llm('late', [], async () => null);
        void ctx.checkpoint('late');
      },
      { signal: stop.signal },
    );
    await later();
    expect([status, stray]).toEqual(['interrupted', []]);
  });
});

it('says that a program is misused even where it does not await the call', async () => {
  await run(async (ctx) => void ctx.llm('', [], torn));
  expect(stray).toEqual([expect.objectContaining({ code: 'BAD_OPTION', message: 'ctx.llm(): the name must be a text that is not empty' })]);
});

it.each<[string, (ctx: Context) => Promise<unknown>]>([
  ['llm', (ctx) => ctx.llm('chart', [], async () => 1)],
  ['step', (ctx) => ctx.step('post', [], async () => 1)],
  ['agent', (ctx) => ctx.agent('Look.')],
  ['parallel', (ctx) => ctx.parallel([1], async () => 1)],
  ['checkpoint', (ctx) => ctx.checkpoint('over')],
  ['sleep', (ctx) => ctx.sleep(1)],
])('refuses ctx.%s after the end of the run', async (name, call) => {
  let kept: Context | undefined;
  await run(async (ctx) => void (kept = ctx));
  await expect(call(kept as Context)).rejects.toMatchObject({
    code: 'BAD_OPTION',
    message: `ctx.${name}() was called after the end of the program's run`,
    hint: 'await what the program begins before it returns',
  });
});
