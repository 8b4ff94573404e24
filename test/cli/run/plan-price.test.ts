import fs from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import type { RunPlan } from '../../../src/session/script/plan-script.js';
import { callCli } from '../../support/in-process/call-cli.js';
import { projectFolder } from '../../support/cli.js';

const PRICED = (fn: string, usd: string): string => `exe llm @${fn}(q) = js { mlld.usage({ costUsd: ${usd} }); return "R:" + q }\n`;
const ITEMS = '["a", "b", "c", "d", "e", "f"]';

async function project(script: string): Promise<{
  run: (...flags: string[]) => ReturnType<typeof callCli>;
  plan: (...flags: string[]) => Promise<RunPlan>;
  text: (...flags: string[]) => Promise<string>;
  write: (script: string) => void;
  journal: (...words: string[]) => Promise<unknown>;
}> {
  const cwd = await projectFolder({ 'llm/run/job.mld': script });
  const run = (...flags: string[]): ReturnType<typeof callCli> => callCli(['run', 'job', ...flags], { cwd });
  return {
    run,
    plan: async (...flags) => JSON.parse((await run(...flags, '--plan', '--json')).stdout) as RunPlan,
    text: async (...flags) => (await run(...flags, '--plan')).stdout,
    write: (changed) => fs.writeFileSync(path.join(cwd, 'llm/run/job.mld'), changed),
    journal: async (...words) => JSON.parse((await callCli(['journal', ...words, '--json'], { cwd })).stdout) as unknown,
  };
}

describe('the price in a plan', () => {
  it('is that of recorded results, with what is saved and the verdict of the budget', async () => {
    const { run, plan, text } = await project(
      `${PRICED('ask', 'q == "f" ? 1 : 0.5')}exe llm @free(q) = js { return q }\nfor @i in ${ITEMS} => show @ask(@i)\nshow @free("x")\n`,
    );
    expect(await plan('--budget', '1usd')).toMatchObject({ budget: { limits: { usd: 1 }, suffices: null, limit: null, after: null } });
    await run('--checkpoint');
    expect(await plan()).toMatchObject({ savedUsd: 3.5, budget: null, estimate: { calls: 0, costUsd: null } });
    expect(await plan('--resume', '@ask("e")')).toMatchObject({
      savedUsd: 2,
      estimate: { calls: 2, costUsd: 1.5, p95Usd: 2, unpriced: 0 },
    });
    expect(await plan('--resume', '@ask', '--budget', '2.5usd')).toMatchObject({
      budget: { limits: { usd: 2.5 }, suffices: false, limit: 'usd', after: 4 },
    });
    // The call that came after these may run again, too: its arguments may be made of their results.
    expect(await plan('--resume', '@ask', '--budget', '4usd')).toMatchObject({ budget: { suffices: null, limit: null, after: null } });
    expect(await plan('--resume', '@ask', '--budget', '5calls')).toMatchObject({ budget: { suffices: false, limit: 'calls', after: 5 } });
    const all = await text('--fresh', '--budget', '9usd');
    expect(all).toContain(', $3.50 + 1 unpriced\n  @ask: 6 calls, median $0.50, 95% at most $1.00\n  @free: 1 call, price unknown\n');
    expect(all).toContain('Budget 9usd: not known if it will do, because nothing is known of the cost of @free.\n');
    expect(await text('--resume', '@ask("e")', '--budget', '1usd')).toContain(
      '  the reused results save $2.00\n\nBudget 1usd: it will not do: the amount of money is reached after 1 of 2 calls.\n',
    );
  });

  it('is no reason to trust a budget that one of many calls had exceeded alone', async () => {
    const items = Array.from({ length: 30 }, (_, i) => (i === 29 ? 'huge' : `${i}`));
    const { run, text } = await project(`${PRICED('ask', 'q == "huge" ? 2.5 : 0.01')}for @i in ${JSON.stringify(items)} => show @ask(@i)
`);
    await run('--checkpoint');
    const shown = await text('--resume', '@ask(= "huge")', '--budget', '0.5usd');
    expect(shown).toContain('  @ask: 1 call, median $2.50, 95% at most $2.50\n');
    expect(shown).toContain('Budget 0.5usd: it will not do: the amount of money is reached after 1 of 1 call.\n');
  });

  it('is within a budget that it uses up, although a sum of tenths is a little more', async () => {
    const { run, text } = await project(`${PRICED('ask', '0.1')}for @i in ["a", "b", "c"] => show @ask(@i)\n`);
    await run('--checkpoint');
    expect(await text('--fresh', '--budget', '0.3usd')).toContain('Budget 0.3usd: it will do.\n');
    expect((await run('--fresh', '--budget', '0.3usd')).stderr).not.toContain('over by');
  });

  it('is the least where an edited function makes calls: it may make others now', async () => {
    const job = (text: string): string => `${PRICED('ask', '0.25')}exe llm @two(q) = [\n  => @ask(\`${text} @q\`)\n]\nshow @two("a")\n`;
    const { run, plan, write } = await project(job('first'));
    await run('--checkpoint');
    write(job('second'));
    const changed = await plan('--changed', 'ask', '--budget', '0.1usd');
    expect(changed).toMatchObject({ again: 1, estimate: { calls: 1, isPart: true }, budget: { suffices: null } });
  });

  it('is found in an earlier run where the last one has no result left', async () => {
    const { run, plan, write } = await project(`${PRICED('ask', '0.5')}show @ask("a")\n`);
    await run('--checkpoint');
    write('exe llm @ask(q) = js { throw new Error("no") }\nshow @ask("a")\n');
    expect((await run('--resume', '@ask')).status).toBe(1);
    expect(await plan('--resume')).toMatchObject({ unresolved: 1, estimate: { calls: 1, costUsd: 0.5 } });
  });

  it('counts as many attempts of a call as it took in the last run', async () => {
    const script =
      'exe llm @ask(q) = sh { if [ "$q" = b ] && mkdir late; then echo 503 >&2; exit 1; fi; echo "$q" } with { retries: { "overloaded": 1 } }\n' +
      'for @i in ["a", "b"] => show @ask(@i)\n';
    const { run, plan } = await project(script);
    await run('--checkpoint');
    expect(await plan('--resume', '@ask', '--budget', '2calls')).toMatchObject({
      budget: { suffices: false, limit: 'calls', after: 1 },
      estimate: { calls: 2, functions: [{ fn: 'ask', meanAttempts: 1.5 }] },
    });
    expect(await plan('--resume', '@ask', '--budget', '3calls')).toMatchObject({ budget: { suffices: true } });
  });

  it('counts the calls that a paused run had not started, and does not promise that a budget will do before a run reached its end', async () => {
    const { run, plan, text } = await project(`${PRICED('ask', '0.5')}for @i in ${ITEMS} => show @ask(@i)\nshow @ask("x")\n`);
    expect((await run('--checkpoint', '--budget', '1usd')).status).toBe(5);
    expect(await plan('--resume', '--budget', '1.5usd')).toMatchObject({
      estimate: { calls: 4, notStarted: 4, costUsd: 2 },
      budget: { suffices: false, after: 3, isWhole: false },
    });
    expect(await plan('--resume', '--budget', '9usd')).toMatchObject({ budget: { suffices: null, isWhole: false } });
    const shown = await text('--resume', '--budget', '9usd');
    expect(shown).toContain('; about 4 more were not started yet (estimated from the unfinished loops of the last run).\n');
    expect(shown).toContain('not known if it will do; no recorded run reached its end, so that more calls may follow these.\n');
    await run('--resume');
    expect(await plan('--resume', '@ask', '--budget', '9usd')).toMatchObject({
      estimate: { calls: 7, notStarted: 0 },
      budget: { suffices: true, isWhole: true },
    });
  });

  it('counts, as a post-mortem does, the calls of a complete run that one with --fresh had not come to', async () => {
    const { run, plan, text, journal } = await project(`${PRICED('ask', '0.5')}for @i in ${ITEMS} => show @ask(@i)\nshow @ask("x")\n`);
    await run('--checkpoint');
    const [complete] = (await journal('list')) as { readonly run: string }[];
    expect((await run('--fresh', '--budget', '1usd')).status).toBe(5);
    const expected = { calls: 5, notStarted: 5, notStartedAsIn: complete?.run, isPart: true, costUsd: 2.5 };
    expect(await plan('--resume')).toMatchObject({ estimate: expected });
    expect(await text('--resume')).toContain(
      `; about 5 more were not started yet (estimated if it makes as many calls as run ${complete?.run}).\n`,
    );
    const { resume } = (await journal('postmortem', 'latest')) as { readonly resume: object };
    expect(resume).toMatchObject({ unresolved: [], notStarted: 5, comparedWith: complete?.run, isPart: true, costUsd: 2.5 });
    expect((await run('--resume', '--budget', '0.5usd')).status).toBe(5);
    expect(await plan('--resume')).toMatchObject({ estimate: { calls: 4, notStarted: 4 } });
  });

  it('promises nothing where a repaired call leads to others, which a loop body had not reached', async () => {
    const { run, plan, text, write } = await project(
      `exe llm @review(q) = js { if (q === "c") throw new Error("no"); mlld.usage({ costUsd: 0.5 }); return "R:" + q }\n${PRICED('refine', '0.5')}` +
        'var @out = for parallel(3) @i in ["a", "b", "c"] [\n  let @r = @review(@i)\n  => @refine(@r)\n]\n',
    );
    expect((await run('--checkpoint')).status).toBe(4);
    const left = ['--resume', 'failed'];
    expect(await plan(...left, '--budget', '0.6usd')).toMatchObject({
      estimate: { calls: 1, isPart: true },
      budget: { suffices: null, limit: null, after: null, isWhole: true },
    });
    const shown = await text(...left, '--budget', '0.6usd');
    expect(shown).toMatch(/\nEstimate, if it makes the same calls as run \S+: at least 1 call, .*, \$0\.50\n/);
    expect(shown).toContain('\n  more calls may follow: those that no run has made yet are not counted\n');
    expect(shown).toContain('Budget 0.6usd: not known if it will do; more calls may follow these.\n');
    expect(await plan(...left, '--budget', '0.4usd')).toMatchObject({ budget: { suffices: false, limit: 'usd', after: 0 } });
    write(`${PRICED('review', '0.5')}${PRICED('refine', '0.5')}for @i in ["a", "b", "c"] => show @refine(@review(@i))\n`);
    expect((await run(...left, '--budget', '0.6usd')).status).toBe(5);
    await run('--resume');
    expect(await plan('--resume', '--budget', '0.6usd')).toMatchObject({
      estimate: { calls: 0, isPart: false },
      budget: { suffices: true },
    });
  });

  it('promises nothing where a result is executed again that later calls may be made of', async () => {
    const { run, plan, text, write } = await project(
      `${PRICED('ask', '0.5')}${PRICED('sum', '0.5')}var @r = for @i in ["a", "b"] => @ask(@i)\nshow @sum(@r.join(","))\n`,
    );
    await run('--checkpoint');
    const again = ['--resume', '@ask(= "b")', '--budget', '0.6usd'];
    expect(await plan(...again)).toMatchObject({
      later: 1,
      estimate: { calls: 1, isPart: true },
      budget: { suffices: null, isWhole: true },
    });
    expect(await text(...again)).toContain('Budget 0.6usd: not known if it will do; more calls may follow these.\n');
    expect(await plan('--resume', '@sum', '--budget', '0.6usd')).toMatchObject({ estimate: { isPart: false }, budget: { suffices: true } });
    write(
      `${PRICED('ask', '0.5').replace('"R:"', '"S:"')}${PRICED('sum', '0.5')}var @r = for @i in ["a", "b"] => @ask(@i)\nshow @sum(@r.join(","))\n`,
    );
    expect((await run(...again)).status).toBe(5);
    // The call that the budget stopped has arguments that no run has made: those of the run before have a result.
    const rest = await text('--resume', '--budget', '0.1usd');
    expect(rest).toMatch(/ and the run before it: 0 calls\n {2}more calls may follow: those that no run has made yet are not counted\n/);
    expect(rest).toContain('Budget 0.1usd: not known if it will do; more calls may follow these.\n');
  });

  it('counts calls that had waited when the first iteration was paused', async () => {
    const { run, plan } = await project(`${PRICED('ask', '0.5')}for @i in ["a", "b", "c"] => show @ask(@i)\n`);
    expect((await run('--checkpoint', '--budget', '1ktok,1usd')).status).toBe(5);
    expect((await run('--fresh', '--budget', '0.1usd')).status).toBe(5);
    expect(await plan('--resume', '--budget', '1usd')).toMatchObject({
      estimate: { calls: 3, notStarted: 3 },
      budget: { suffices: false },
    });
  });

  it('reserves what a function says it costs at most', async () => {
    const script = PRICED('ask', '0.5').replace(/\n$/, ' with { maxCost: 2 }\n');
    const { run, plan } = await project(`${script}for @i in ["a", "b", "c"] => show @ask(@i)\n`);
    await run('--checkpoint');
    expect(await plan('--resume', '@ask', '--budget', '2.6usd')).toMatchObject({ budget: { suffices: false, after: 2 } });
    expect(await plan('--resume', '@ask', '--budget', '3usd')).toMatchObject({ budget: { suffices: true } });
  });
});

describe('a plan of results that do not fit any more', () => {
  it('executes again what the schema or the reply option of now refuses, as the run does', async () => {
    const json = (options: string): string =>
      `exe llm @ask(q) = js { return JSON.stringify({ mark: q }) }${options}\nfor @i in [1, 7] => show @ask(@i)\n`;
    const { run, plan, text, write } = await project(json(''));
    await run('--checkpoint');
    const fits = ' with { schema: { "type": "object", "required": ["mark"] } }';
    write(json(fits));
    expect(await plan('--checkpoint')).toMatchObject({ usable: 2, again: 0 });
    write(json(fits.replace('}', ', "properties": { "mark": { "maximum": 6 } } }')));
    expect(await plan('--checkpoint')).toMatchObject({ usable: 2, again: 1, functions: [{ reasons: { schema: 1 } }] });
    expect(await text('--checkpoint')).toContain('1 again (they do not fit the schema)');
    write(json(' with { reply: "claude" }'));
    expect(await plan('--checkpoint')).toMatchObject({ again: 2, functions: [{ reasons: { reply: 2 } }] });
  });

  it('leaves to the run what depends on an argument', async () => {
    const script = (options: string): string => `exe llm @ask(q, kind) = js { return q }${options}\nshow @ask("a", "object")\n`;
    const { run, plan, write } = await project(script(''));
    await run('--checkpoint');
    write(script(' with { schema: { "type": @kind } }'));
    expect(await plan('--checkpoint')).toMatchObject({ usable: 1, again: 0 });
  });
});
