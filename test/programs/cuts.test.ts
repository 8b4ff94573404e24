/** A program that was killed between any two events asks nothing twice when it is run again. workflows-js.md 17. */
import { appendFileSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { workflow, type Context } from '../../src/api/index.js';

const CALLS = 30;
const HARBOURS = ['Dover', 'Ostend', 'Bergen', 'Gdansk', 'Porto', 'Brest'];

let folder: string;
beforeAll(() => (folder = realpathSync(mkdtempSync(path.join(tmpdir(), 'mlld-cuts-')))));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** Thirty calls of every kind, side by side and one after another, with the same question among them. */
async function work(ctx: Context, asked: string[]): Promise<string[]> {
  const ask = (name: string, ...args: string[]): Promise<string> =>
    ctx.llm(name, args, async () => {
      asked.push(`${name} ${args.join(' ')}`);
      return `${name} of ${args.join(' ')}`;
    });
  const looked = await ctx.parallel(HARBOURS, async (harbour) => {
    const found = await ask('look', harbour);
    const votes = await Promise.all([1, 2].map(() => ask('vote', 'the same'))); // identical: samples
    return [found, ...votes];
  });
  await ctx.checkpoint('looked');
  await ctx.sleep(1);
  const ranked: string[] = [];
  for (const [found = ''] of looked) ranked.push(await ask('rank', found, ctx.uuid(), String(ctx.now())));
  for (const harbour of HARBOURS.slice(0, 5)) {
    await ctx.step('post', [harbour, ctx.random()], async () => void asked.push(`post ${harbour}`));
  }
  return ranked;
}

interface Ran {
  readonly asked: readonly string[];
  readonly result: unknown;
  readonly executed: number;
}

async function run(project: string, resume: boolean): Promise<Ran> {
  const asked: string[] = [];
  const program = workflow('job', async (ctx) => work(ctx, asked));
  const { status, result, error, totals } = await program.run(null, { project, resume, parallel: 3 });
  expect({ status, error }).toEqual({ status: 'completed', error: undefined });
  return { asked, result, executed: totals.executed };
}

function projectAt(name: string): { readonly root: string; readonly runs: string } {
  const root = path.join(folder, name);
  const runs = path.join(root, '.mlld', 'journal', 'job', 'runs');
  mkdirSync(runs, { recursive: true });
  writeFileSync(path.join(root, 'mlld-config.json'), '{}');
  return { root, runs };
}

it('asks nothing twice, wherever the journal was cut', { timeout: 300_000 }, async () => {
  const whole = projectAt('whole');
  const first = await run(whole.root, false);
  expect(first.executed).toBe(CALLS);
  const [name = ''] = readdirSync(whole.runs).filter((file) => file.endsWith('.ndjson'));
  const lines = readFileSync(path.join(whole.runs, name), 'utf8').split('\n').slice(0, -1);
  expect(lines.length).toBeGreaterThan(4 * CALLS);
  for (let kept = 1; kept <= lines.length; kept++) {
    const { root, runs } = projectAt(`cut-${kept}`);
    writeFileSync(
      path.join(runs, name),
      lines
        .slice(0, kept)
        .map((line) => `${line}\n`)
        .join(''),
    );
    if (kept % 3 === 0) appendFileSync(path.join(runs, name), lines[kept]?.slice(0, 20) ?? ''); // a torn line behind it
    const recorded = lines.slice(0, kept).filter((line) => line.includes('"type":"call.completed"')).length;
    const second = await run(root, true);
    expect({ kept, executed: second.executed }).toEqual({ kept, executed: CALLS - recorded });
    const third = await run(root, true);
    expect({ kept, asked: third.asked, executed: third.executed, result: third.result }).toEqual({
      kept,
      asked: [],
      executed: 0,
      result: second.result,
    });
    rmSync(root, { recursive: true, force: true });
  }
});
