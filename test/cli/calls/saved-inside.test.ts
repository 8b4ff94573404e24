/** A reused result saves what the calls inside its call had cost, which are not made then. calls.md 10.6. */
import fs from 'node:fs';
import path from 'node:path';
import { globSync } from 'tinyglobby';
import { expect, it } from 'vitest';
import { CHAIN_SEED, encode } from '../../../journal/codec.js';
import type { Fact, JournalEvent } from '../../../journal/event.js';
import { callCli } from '../../support/in-process/call-cli.js';
import { projectFolder } from '../../support/cli.js';

const INNER = 'exe llm @inner(q) = js { mlld.usage({ costUsd: 0.25 }); return "I:" + q }\n';
const OUTER = 'exe llm @outer(q) = [\n  let @a = @inner(@q)\n  => `O:@a`\n]\n';
const LOOP = 'for @q in ["a", "b"] [ show @outer(@q) ]\n';

async function project(script: string) {
  const cwd = await projectFolder({ 'job.mld': script });
  const json = async (...words: string[]): Promise<unknown> => JSON.parse((await callCli([...words, '--json'], { cwd })).stdout);
  return {
    cwd,
    run: (...flags: string[]) => callCli(['job.mld', ...flags], { cwd }),
    journal: (...words: string[]) => callCli(['journal', ...words], { cwd }),
    json,
    plan: (...flags: string[]) => json('job.mld', ...flags, '--plan'),
    /** Lists the latest run. */
    figures: async (): Promise<unknown> => ((await json('journal', 'list')) as readonly unknown[])[0],
    runs: () => globSync('.mlld/journal/*/runs/*.ndjson', { cwd, dot: true }).sort(),
  };
}

function events(cwd: string, run: string): JournalEvent[] {
  const lines = fs.readFileSync(path.join(cwd, run), 'utf8').trim().split('\n');
  return lines.map((line) => JSON.parse(line) as JournalEvent);
}

/** Returns, by function, the costs inside of its calls as the run recorded them. */
function insideOf(cwd: string, run: string): { readonly [fn: string]: readonly (number | undefined)[] } {
  const all = events(cwd, run);
  const fnAt = new Map(all.flatMap((event) => (event.type === 'call.started' ? [[event.op, event.fn] as const] : [])));
  const found: { [fn: string]: (number | undefined)[] } = {};
  for (const event of all) if (event.type === 'call.completed') (found[fnAt.get(event.op) ?? ''] ??= []).push(event.insideUsd);
  return found;
}

it('is said by the summary, list, plan, stats and audit', async () => {
  const { run, journal, json, plan, figures } = await project(INNER + OUTER + LOOP);
  await run('--checkpoint');
  expect(await figures()).toMatchObject({ executed: 4, costUsd: 0.5, savedUsd: null });
  expect(await plan('--resume')).toMatchObject({ savedUsd: 0.5, estimate: { calls: 0 } });
  expect((await run('--resume')).stderr).toContain('2 calls: 2 reused, saved $0.50');
  expect(await figures()).toMatchObject({ executed: 0, reused: 2, costUsd: null, savedUsd: 0.5 });
  expect(await json('journal', 'audit', 'latest')).toMatchObject({ totals: { savedUsd: 0.5 } });
  expect((await journal('audit', 'latest')).stdout).toContain('saved $0.25');
  expect(await json('journal', 'stats', 'job')).toMatchObject({
    functions: expect.arrayContaining([
      expect.objectContaining({ fn: 'outer', costUsd: null, savedUsd: 0.5, medianResultUsd: null }),
      expect.objectContaining({ fn: 'inner', costUsd: 0.5, savedUsd: null, medianResultUsd: 0.25 }),
    ]) as unknown,
  });
});

it('counts nothing twice where the outer call is executed again and the one inside is reused', async () => {
  const { cwd, run, plan, figures, runs } = await project(INNER + OUTER + LOOP);
  await run('--checkpoint');
  expect(await plan('--resume', '@outer')).toMatchObject({ savedUsd: 0.5, estimate: { calls: 2 } });
  expect((await run('--resume', '@outer')).stderr).toContain('4 calls: 2 reused, 2 executed, $0.00, saved $0.50');
  expect(insideOf(cwd, runs().at(-1) as string)).toEqual({ outer: [0.25, 0.25] });
  await run('--resume');
  expect(await figures()).toMatchObject({ reused: 2, savedUsd: 0.5 });
});

it('estimates by what each function costs itself', async () => {
  const own = OUTER.replace('=> `O:@a`', 'let @b = @paid(@a)\n  => @b');
  const { run, plan } = await project(`${INNER}exe @paid(a) = js { mlld.usage({ costUsd: 1 }); return a }\n${own}${LOOP}`);
  await run('--checkpoint');
  expect(await plan('--resume')).toMatchObject({ savedUsd: 2.5 });
  expect(await plan('--fresh')).toMatchObject({
    savedUsd: null,
    estimate: {
      costUsd: 2.5,
      functions: [expect.objectContaining({ fn: 'outer', medianUsd: 1 }), expect.objectContaining({ medianUsd: 0.25 })],
    },
  });
});

it('reaches through calls at any depth, each with a cost of its own', async () => {
  const script = `${INNER}exe llm @middle(q) = [\n  let @a = @inner(@q)\n  let @b = @paid(@a)\n  => @b\n]
exe @paid(a) = js { mlld.usage({ costUsd: 0.1 }); return a }\nexe llm @top(q) = [\n  let @a = @middle(@q)\n  => @a\n]\nshow @top("x")\n`;
  const { cwd, run, plan, figures, runs } = await project(script);
  await run('--checkpoint');
  expect(insideOf(cwd, runs()[0] as string)).toEqual({ inner: [undefined], middle: [0.25], top: [0.35] });
  expect(await plan('--resume')).toMatchObject({ savedUsd: 0.35 });
  await run('--resume');
  expect(await figures()).toMatchObject({ reused: 1, savedUsd: 0.35 });
  await run('--resume', '@top');
  expect(await figures()).toMatchObject({ reused: 1, executed: 1, savedUsd: 0.35 });
  expect(insideOf(cwd, runs().at(-1) as string)).toEqual({ top: [0.35] });
});

const BROKEN = `exe @broken(q) = js { mlld.usage({ costUsd: 0.1 }); mlld.fail("network", "cut off") }
exe @fine(q) = js { mlld.usage({ costUsd: 0.25 }); return "I:" + q }\n`;
/** The first attempt costs $0.10 and fails. */
const FAILS_ONCE = `exe llm @inner(q) = when [ @mx.call.try == 1 => @broken(@q); * => @fine(@q) ] with { retries: 2 }\n`;

it('counts the failed attempt of a call inside', async () => {
  const { cwd, run, plan, figures, runs } = await project(`${BROKEN}${FAILS_ONCE}${OUTER}show @outer("a")\n`);
  await run('--checkpoint');
  expect(insideOf(cwd, runs()[0] as string)).toEqual({ inner: [undefined], outer: [0.35] });
  expect(await plan('--resume')).toMatchObject({ savedUsd: 0.35 });
  await run('--resume');
  expect(await figures()).toMatchObject({ reused: 1, savedUsd: 0.35 });
  await run('--resume', '@outer');
  expect(await figures()).toMatchObject({ executed: 1, reused: 1, savedUsd: 0.35 });
  expect(insideOf(cwd, runs().at(-1) as string)).toEqual({ outer: [0.35] });
});

it.each([
  ['is given the result of the attempt before', 'let @a = @inner(@q)\n  when @mx.call.try == 1 => @broken(@q)\n  => @a', 0.25],
  ['makes another call', 'let @a = @inner(@mx.call.try)\n  when @mx.call.try == 1 => @broken(@q)\n  => @a', 0.5],
  ['is given one result twice', 'when @mx.call.try == 1 => @broken(@q)\n  let @a = @inner(@q)\n  let @b = @inner(@q)\n  => @b', 0.25],
])('counts each result once where the second attempt %s', async (_, body, insideUsd) => {
  const script = `${INNER}${BROKEN}exe llm @outer(q) = [\n  ${body}\n] with { retries: 2 }\nshow @outer("a")\n`;
  const { cwd, run, json, figures, runs } = await project(script);
  await run('--checkpoint');
  expect(await figures()).toMatchObject({ costUsd: insideUsd + 0.1, retries: 1 });
  expect(insideOf(cwd, runs()[0] as string)['outer']).toEqual([insideUsd]);
  await run('--resume');
  expect(await figures()).toMatchObject({ reused: 1, costUsd: null, savedUsd: insideUsd + 0.1 });
  for (const n of ['1', '2']) expect(await json('journal', 'replay', `job@${n}`)).toMatchObject({ verdict: 'same' });
});

it.each([
  ['a call', 'ask', 'show @ask("a")', 0.75],
  ['a call inside another', 'ask', 'show @outer("a")', 0.75],
  ['a call with another inside', 'outer', 'show @outer("a")', 0.75],
])('contains the executions that a guard sent back: of %s', async (_, guarded, shown, savedUsd) => {
  const ask = 'exe llm @ask(q) = js { mlld.usage({ costUsd: 0.25 }); return "I:" + q }\n';
  const guard = `guard @again after op:exe = when [ @mx.op.name == "${guarded}" && @mx.guard.try < 3 => retry "again"; * => allow ]\n`;
  const { run, json, plan, figures } = await project(`${ask}${OUTER.replace('@inner', '@ask')}${guard}${shown}\n`);
  await run('--checkpoint');
  expect(await figures()).toMatchObject({ costUsd: 0.75 });
  expect(await plan('--resume')).toMatchObject({ savedUsd });
  await run('--resume');
  expect(await figures()).toMatchObject({ reused: 1, executed: 0, savedUsd });
  for (const n of ['1', '2']) expect(await json('journal', 'replay', `job@${n}`)).toMatchObject({ verdict: 'same' });
});

it('is unknown, not 0, where no call inside told its cost', async () => {
  const { cwd, run, figures, runs } = await project(`exe llm @inner(q) = js { return "I:" + q }\n${OUTER}${LOOP}`);
  await run('--checkpoint');
  expect(insideOf(cwd, runs()[0] as string)['outer']).toEqual([undefined, undefined]);
  await run('--resume');
  expect(await figures()).toMatchObject({ reused: 2, savedUsd: null });
});

it('holds for results of a fork', async () => {
  const { cwd, run, json } = await project(INNER + OUTER + LOOP);
  await run('--checkpoint');
  fs.writeFileSync(path.join(cwd, 'branch.mld'), INNER + OUTER + LOOP);
  expect(await json('branch.mld', '--fork', 'job', '--plan')).toMatchObject({ savedUsd: 0.5 });
  expect((await callCli(['branch.mld', '--fork', 'job'], { cwd })).stderr).toContain('2 calls: 2 reused, saved $0.50');
});

/** Takes the member out of each line, as a program of before had written it, and forgets what was folded from it. */
function recordOfBefore(cwd: string, run: string): void {
  let hash = CHAIN_SEED;
  const lines = events(cwd, run).map((event) => {
    const { v: _v, seq, ts, hash: _hash, ...fact } = event;
    const line = encode(withoutInside(fact as Fact), seq, ts, hash);
    hash = line.hash;
    return line.text;
  });
  fs.writeFileSync(path.join(cwd, run), lines.join(''));
}

function withoutInside(fact: Fact): Fact {
  if (fact.type !== 'call.completed') return fact;
  const { insideUsd: _insideUsd, ...rest } = fact;
  return rest;
}

it('replays records of before as the same, and their results save what they did', async () => {
  const shown = `${INNER}${OUTER}for @q in ["a", "b"] [ show \`@outer(@q) @mx.usage.savedUsd\` ]\n`;
  const { cwd, run, json, plan, figures, runs } = await project(shown);
  await run('--checkpoint');
  expect((await run('--resume')).stdout).toBe('O:I:a 0.25\nO:I:b 0.5\n');
  for (const n of ['1', '2']) expect(await json('journal', 'replay', `job@${n}`)).toMatchObject({ verdict: 'same', divergences: [] });
  const [first = '', second = ''] = runs();
  recordOfBefore(cwd, first);
  fs.rmSync(path.join(cwd, second));
  expect(await json('journal', 'replay', 'job@1')).toMatchObject({ verdict: 'same', divergences: [] });
  expect((await callCli(['journal', 'verify', 'job@1'], { cwd })).status).toBe(0);
  expect(await plan('--resume')).toMatchObject({ savedUsd: null });
  expect((await run('--resume')).stdout).toBe('O:I:a null\nO:I:b null\n');
  expect(await figures()).toMatchObject({ reused: 2, savedUsd: null });
  expect(await json('journal', 'replay', 'job@1')).toMatchObject({ verdict: 'same', divergences: [] });
});
