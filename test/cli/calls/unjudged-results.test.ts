/** A result that guards judge is paid for before they begin: the next run has them judge it, and executes nothing again. calls.md 17.4. */
import fs from 'node:fs';
import path from 'node:path';
import { globSync } from 'tinyglobby';
import { expect, it } from 'vitest';
import type { JournalEvent } from '../../../journal/event.js';
import { callCli } from '../../support/in-process/call-cli.js';
import { projectFolder } from '../../support/cli.js';

const DRAFT =
  'exe llm @draft(n) = node { require("fs").appendFileSync("drafts", n); mlld.usage({ model: "m", inputTokens: 1, costUsd: 2 }); return "D:" + n } with { maxCost: 2usd }\n';
/** Says what the file `verdict` holds; `quota` and `crash` are failures. */
const JUDGE = `exe llm @judge(t) = node {
  const verdict = require("fs").readFileSync("verdict", "utf8");
  if (verdict === "quota") mlld.fail("quota", "used up");
  if (verdict === "crash") throw new Error("broken");
  return verdict;
} with { lane: "judge" }
`;
const CHECK = `guard @check after @draft = when [
  @judge(@output) == "no" => deny "bad"
  @judge(@output) == "other" => allow "another"
  @judge(@output) == "again" => retry "once more"
  * => allow
]
`;
const LOOP = 'for @n in ["a", "b"] [ show @draft(@n) ]\n';

async function project(script = CHECK + DRAFT + JUDGE + LOOP, more: { readonly [file: string]: string } = {}) {
  const cwd = await projectFolder({ 'job.mld': script, verdict: 'quota', ...more });
  const json = async (...words: string[]): Promise<unknown> => JSON.parse((await callCli([...words, '--json'], { cwd })).stdout);
  return {
    cwd,
    run: (...flags: string[]) => callCli(['job.mld', ...flags], { cwd }),
    judgeAs: (verdict: string) => fs.writeFileSync(path.join(cwd, 'verdict'), verdict),
    drafts: () => fs.readFileSync(path.join(cwd, 'drafts'), 'utf8'),
    journal: (...words: string[]) => callCli(['journal', ...words], { cwd }),
    json,
    runs: () => globSync('.mlld/journal/*/runs/*.ndjson', { cwd, dot: true, absolute: true }).sort(),
  };
}

function events(file: string): JournalEvent[] {
  const lines = fs.readFileSync(file, 'utf8').trim().split('\n');
  return lines.map((line) => JSON.parse(line) as JournalEvent);
}

/** Cuts the journal behind the first event of the type, as a kill does. */
function killAfter(file: string, type: string): void {
  const lines = fs.readFileSync(file, 'utf8').split('\n');
  const end = lines.findIndex((line) => line.includes(`"type":"${type}"`));
  fs.writeFileSync(file, lines.slice(0, end + 1).join('\n') + '\n');
}

it('is judged by the run behind a pause, and not paid for again', async () => {
  const { run, judgeAs, drafts, json, journal, runs } = await project();
  const paused = await run('--checkpoint');
  expect(paused).toMatchObject({ status: 5 });
  expect(paused.stderr).toContain('1 call: 1 failed (quota), $2.00');
  expect(events(runs()[0]!).map(({ type }) => type)).toContain('result.received');
  expect(await json('journal', 'list')).toMatchObject([{ status: 'paused', executed: 0, failed: 1, costUsd: 2, unpriced: 0 }]);
  expect(await json('journal', 'postmortem', 'latest')).toMatchObject({
    resume: {
      unresolved: [
        { fn: 'draft', why: 'unjudged' },
        { fn: 'judge', why: 'failed' },
      ],
    },
  });
  expect(await json('job.mld', '--resume', '--plan')).toMatchObject({
    functions: [{ fn: 'draft', unresolved: 1, unjudged: 1, examples: [{ why: 'unjudged' }] }, { fn: 'judge' }],
    estimate: { functions: [{ fn: 'judge' }, { fn: 'draft', calls: 1 }] },
  });
  judgeAs('yes');
  expect(await run('--resume')).toMatchObject({ status: 0, stdout: 'D:a\nD:b\n' });
  expect(drafts()).toBe('ab');
  expect(await json('journal', 'list')).toMatchObject([{ executed: 4, costUsd: 2, unpriced: 2 }, {}]);
  expect((await journal('explain', 'latest', 'main/for#0[0]/draft#0')).stdout).toContain('its result had come back in run');
  expect(await journal('replay', 'latest')).toMatchObject({ status: 0, stdout: 'D:a\nD:b\n' });
  expect(await journal('verify', 'latest')).toMatchObject({ status: 0 });
  expect((await run('--resume')).stderr).toContain('2 calls: 2 reused, saved $4.00');
});

it('is judged by the run behind a kill, whose cost is known', async () => {
  const { run, judgeAs, drafts, json, runs } = await project();
  judgeAs('yes');
  await run('--checkpoint');
  killAfter(runs()[0]!, 'result.received');
  expect(await json('journal', 'list')).toMatchObject([{ status: 'crashed', executed: 0, costUsd: 2, unpriced: 0 }]);
  expect(await run('--resume')).toMatchObject({ status: 0, stdout: 'D:a\nD:b\n' });
  expect(drafts()).toBe('abb'); // the first run had paid for `b` behind the cut
});

it('is judged again where the call that a guard makes failed', async () => {
  const { run, judgeAs, drafts } = await project();
  judgeAs('crash');
  expect(await run('--checkpoint')).toMatchObject({ status: 1 });
  judgeAs('yes');
  expect(await run('--resume', 'failed')).toMatchObject({ status: 0, stdout: 'D:a\nD:b\n' });
  expect(drafts()).toBe('ab');
});

it('is gone once it was denied, and the call is executed again', async () => {
  const { run, judgeAs, drafts } = await project();
  await run('--checkpoint');
  judgeAs('no');
  expect(await run('--resume')).toMatchObject({ status: 1 });
  expect(drafts()).toBe('a');
  expect(await run('--resume')).toMatchObject({ status: 1 });
  expect(drafts()).toBe('aa');
});

it('is what the guards make of it, also for later runs', async () => {
  const { run, judgeAs, drafts } = await project();
  await run('--checkpoint');
  judgeAs('other');
  expect(await run('--resume')).toMatchObject({ status: 0, stdout: 'another\nanother\n' });
  expect((await run('--resume')).stdout).toBe('another\nanother\n');
  expect(drafts()).toBe('ab');
});

it('is the first of the executions that a guard requests', async () => {
  const { run, judgeAs, drafts } = await project(CHECK + DRAFT + JUDGE + 'show @draft("a")\n');
  await run('--checkpoint');
  judgeAs('again');
  expect(await run('--resume')).toMatchObject({ status: 1 });
  expect(drafts()).toBe('aaa'); // three executions, the first of them in the run before
});

it.each([['--fresh'], ['--resume', '@draft'], ['--resume', 'main/for#0[0]/draft#0']])('is not taken with %s %s', async (...flags) => {
  const { run, judgeAs, drafts } = await project();
  await run('--checkpoint');
  judgeAs('yes');
  expect(await run('--checkpoint', ...flags)).toMatchObject({ status: 0 });
  expect(drafts()).toBe('aab');
});

it('is not taken where it does not fit the schema that its function has now', async () => {
  const { cwd, run, judgeAs, drafts } = await project();
  await run('--checkpoint');
  judgeAs('yes');
  const edited = CHECK + DRAFT.replace('"D:" + n', 'n.length').replace('with {', 'with { schema: { "type": "integer" },') + JUDGE + LOOP;
  fs.writeFileSync(path.join(cwd, 'job.mld'), edited);
  expect(await run('--resume')).toMatchObject({ status: 0, stdout: '1\n1\n' });
  expect(drafts()).toBe('aab');
});

it('needs no room in the budget that was spent for it', async () => {
  const more = JUDGE.replace('lane: "judge"', 'lane: "judge", maxCost: 1usd');
  const { run, drafts } = await project(CHECK + DRAFT + more + LOOP, { verdict: 'yes' });
  expect(await run('--checkpoint', '--budget', '2usd')).toMatchObject({ status: 5 });
  expect(await run('--resume', '--budget', '2usd')).toMatchObject({ status: 5, stdout: 'D:a\n' });
  expect(drafts()).toBe('ab');
  expect(await run('--resume', '--budget', '2usd')).toMatchObject({ status: 0, stdout: 'D:a\nD:b\n' });
  expect(drafts()).toBe('ab');
});

it('brings back the files that its call wrote, and keeps them with the result', async () => {
  const script =
    'guard @check after @write = when [ @judge(@output) == "no" => deny "bad" \n * => allow ]\n' +
    'exe llm @write(file) = node { require("fs").writeFileSync(file, "text"); require("fs").appendFileSync("drafts", "w"); return "done" }\n' +
    `${JUDGE}show @write("notes.md")\n`;
  const { cwd, run, judgeAs, drafts } = await project(script);
  await run('--checkpoint');
  const notes = path.join(cwd, 'notes.md');
  fs.rmSync(notes);
  judgeAs('yes');
  expect(await run('--resume')).toMatchObject({ status: 0 });
  expect(fs.readFileSync(notes, 'utf8')).toBe('text');
  fs.rmSync(notes);
  expect(await run('--resume')).toMatchObject({ status: 0 });
  expect(fs.readFileSync(notes, 'utf8')).toBe('text');
  expect(drafts()).toBe('w');
});

it('keeps its run from being collected', async () => {
  const { run, judgeAs, drafts, journal, runs } = await project();
  await run('--checkpoint');
  const [first] = runs();
  await run('--checkpoint');
  await journal('gc', '--keep', '1');
  expect(runs()).toContain(first);
  judgeAs('yes');
  await run('--resume');
  expect(drafts()).toBe('ab');
});

it('records nothing more for calls that no guard judges', async () => {
  const { run, judgeAs, runs } = await project(CHECK.replace('@draft', '@other') + DRAFT + JUDGE + LOOP);
  judgeAs('yes');
  await run('--checkpoint');
  expect(events(runs()[0]!).map(({ type }) => type)).not.toContain('result.received');
});

it('is judged by the definition that it was made with, whatever results of its call there were before', async () => {
  const { cwd, run, judgeAs, drafts } = await project(CHECK + DRAFT + JUDGE + 'show @draft("a")\n', { verdict: 'yes' });
  const edit = (from: string, to: string): void => {
    const file = path.join(cwd, 'job.mld');
    fs.writeFileSync(file, fs.readFileSync(file, 'utf8').replace(from, to));
  };
  await run('--checkpoint');
  edit('"D:"', '"E:"');
  judgeAs('quota');
  for (const status of [5, 5, 5]) expect(await run('--resume', '--changed', 'ask')).toMatchObject({ status });
  expect(drafts()).toBe('aa');
  edit('"E:"', '"D:"'); // what waits is of the edited function
  judgeAs('yes');
  expect(await run('--resume', '@draft', '--changed', 'ask')).toMatchObject({ status: 0, stdout: 'D:a\n' });
  expect(drafts()).toBe('aaa');
});

it('waits also where the guard behind it was edited since', async () => {
  const { cwd, run, judgeAs, drafts } = await project();
  await run('--checkpoint');
  fs.writeFileSync(path.join(cwd, 'job.mld'), CHECK.replace('"bad"', '"worse"') + DRAFT + JUDGE + LOOP);
  judgeAs('yes');
  expect(await run('--resume', '--changed', 'ask')).toMatchObject({ status: 0, stdout: 'D:a\nD:b\n' });
  expect(drafts()).toBe('ab');
});

it('says how many attempts it had taken, also in a replay', async () => {
  const draft = `exe llm @draft(n) = node {
  const fs = require("fs");
  fs.appendFileSync("drafts", n);
  if (fs.readFileSync("drafts", "utf8").length === 1) mlld.fail("crash", "not yet");
  return "D:" + n;
} with { retries: { "crash": 1 } }
`;
  const check = 'guard @check after @draft = when [\n  @judge(@output) == "yes" => allow `@mx.call.attempts @mx.call.try`\n]\n';
  const { run, judgeAs, drafts, journal } = await project(check + draft + JUDGE + 'show @draft("a")\n', {
    'mlld-config.json': '{ "calls": { "backoff": { "first": "1ms", "max": "1ms" } } }',
  });
  expect(await run('--checkpoint')).toMatchObject({ status: 5 });
  judgeAs('yes');
  expect(await run('--resume')).toMatchObject({ status: 0, stdout: '2 2\n' });
  expect(drafts()).toBe('aa');
  expect(await journal('replay', 'latest')).toMatchObject({ status: 0, stdout: '2 2\n' });
  expect(await journal('verify', 'latest')).toMatchObject({ status: 0 });
});

it('is kept for the replay of the run that judged it, and saves what it had cost', async () => {
  const { run, judgeAs, journal, runs } = await project();
  await run('--checkpoint');
  judgeAs('yes');
  await run('--resume');
  await run('--resume');
  const [first, judging] = runs();
  await journal('gc', '--keep', '2');
  expect(runs()).toContain(first);
  expect(await journal('replay', path.basename(judging!, '.ndjson'))).toMatchObject({ status: 0, stdout: 'D:a\nD:b\n' });
  await journal('redact', path.basename(first!, '.ndjson'), '--all', '--reason', 'test');
  expect((await run('--resume')).stderr).toContain('2 calls: 2 reused, saved $4.00');
});

it('is replayed with the declared outputs that were put back', async () => {
  const script =
    CHECK +
    DRAFT.replace('append', 'writeFileSync("out-" + n + ".txt", n); require("fs").append').replace(
      'with {',
      'with { writes: ["out-@n\\.txt"],',
    );
  const { cwd, run, judgeAs, journal, drafts } = await project(`${script}${JUDGE}show @draft("a")\n`);
  await run('--checkpoint');
  expect((await journal('replay', 'latest')).stderr).not.toContain('warning');
  fs.rmSync(path.join(cwd, 'out-a.txt'));
  judgeAs('yes');
  expect(await run('--resume')).toMatchObject({ status: 0 });
  expect(fs.readFileSync(path.join(cwd, 'out-a.txt'), 'utf8')).toBe('a');
  const replayed = await journal('replay', 'latest');
  expect(replayed).toMatchObject({ status: 0 });
  expect(replayed.stderr).not.toContain('warning');
  expect(drafts()).toBe('a');
});

it('is planned for as the run takes it', async () => {
  const { cwd, run, json, judgeAs, drafts } = await project(CHECK + DRAFT + JUDGE + 'show @draft("a")\n');
  await run('--checkpoint');
  const edited = CHECK + DRAFT.replace('with {', 'with { schema: { "type": "integer" },') + JUDGE + 'show @draft("a")\n';
  fs.writeFileSync(path.join(cwd, 'job.mld'), edited);
  const plan = () => json('job.mld', '--resume', '--plan') as Promise<{ functions: { fn: string; unjudged: number }[] }>;
  expect((await plan()).functions.find(({ fn }) => fn === 'draft')).toMatchObject({ unresolved: 1, unjudged: 0 });
  judgeAs('yes');
  fs.writeFileSync(path.join(cwd, 'job.mld'), edited.replace('"D:" + n', 'n.length'));
  expect(await run('--resume')).toMatchObject({ status: 0, stdout: '1\n' });
  expect(drafts()).toBe('aa');
});

it('costs nothing while it is judged, also in a run that is killed then', async () => {
  const { run, judgeAs, json, runs } = await project(CHECK + DRAFT + JUDGE + 'show @draft("a")\n');
  await run('--checkpoint');
  judgeAs('yes');
  await run('--resume');
  killAfter(runs()[1]!, 'call.started');
  expect(await json('journal', 'list')).toMatchObject([{ status: 'crashed', attempts: 0, unpriced: 0 }, {}]);
});

it('waits on where a guard before the call denies that', async () => {
  const gate =
    'guard @gate before @draft = when [ @gated() == "no" => deny "later" \n * => allow ]\nexe @gated() = node { return require("fs").readFileSync("gate", "utf8") }\n';
  const { cwd, run, judgeAs, drafts } = await project(`${gate}${CHECK}${DRAFT}${JUDGE}show @draft("a")\n`, { gate: 'yes' });
  await run('--checkpoint');
  judgeAs('yes');
  fs.writeFileSync(path.join(cwd, 'gate'), 'no');
  expect(await run('--resume')).toMatchObject({ status: 1 });
  fs.writeFileSync(path.join(cwd, 'gate'), 'yes');
  expect(await run('--resume')).toMatchObject({ status: 0, stdout: 'D:a\n' });
  expect(drafts()).toBe('a');
});

it('is not taken for what guards before the call replaced otherwise', async () => {
  const gate =
    'guard @gate before @draft = when [ * => allow @sent() ]\nexe @sent() = node { return require("fs").readFileSync("sent", "utf8") }\n';
  const { cwd, run, judgeAs, drafts } = await project(`${gate}${CHECK}${DRAFT}${JUDGE}show @draft("a")\n`, { sent: 'x' });
  await run('--checkpoint');
  judgeAs('yes');
  fs.writeFileSync(path.join(cwd, 'sent'), 'y');
  expect(await run('--resume')).toMatchObject({ status: 0, stdout: 'D:y\n' });
  expect(drafts()).toBe('xy');
});

it('is judged by the guards of the module that answers the stages of a pipeline', async () => {
  const library = `exe @model(p) = node { require("fs").appendFileSync("drafts", "x"); mlld.usage({ model: "m", costUsd: 2 }); return "R:" + p }
${JUDGE}guard @check after llm = when [
  @mx.op.name == "judge" => allow
  @judge(@output) == "no" => deny "bad"
  * => allow
]
export { @model }
`;
  const graph = 'digraph job { start [shape=Mdiamond]; end [shape=Msquare]; work [prompt="w"]; start -> work; work -> end; }\n';
  const { cwd, drafts, judgeAs } = await project('show "unused"\n', { 'lib.mld': library, 'job.dot': graph });
  const pipeline = (...flags: string[]) => callCli(['run', 'job.dot', '--backend', 'exe:lib.mld#model', ...flags], { cwd });
  expect(await pipeline('--checkpoint')).toMatchObject({ status: 5 }); // the guard of the very first call asks the judge
  judgeAs('no');
  const denied = await pipeline('--resume');
  expect(denied.status).toBe(1);
  expect(denied.stderr).toContain('bad');
  expect(drafts()).toBe('x');
});

it('names a declared output that is missing once, though it is looked for before and after the guards', async () => {
  const { run } = await project(
    'exe llm @draw(n) = sh { echo ok } with { writes: [`@root/c\\.txt`] }\nguard after @seen for op:exe = when [ * => allow ]\nshow @draw("c")\n',
  );
  const { stderr, status } = await run('--checkpoint');
  expect(status, stderr).toBe(0);
  expect(stderr).toMatch(/^warning: c\.txt was declared as an output and can't be recorded: \S+c\.txt does not exist$/m);
});
