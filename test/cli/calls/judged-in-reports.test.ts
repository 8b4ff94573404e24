/** A result that guards judge in a later run than the one that paid for it: what reports say about it. calls.md 17.4. */
import fs from 'node:fs';
import path from 'node:path';
import { globSync } from 'tinyglobby';
import { expect, it } from 'vitest';
import { callCli } from '../../support/in-process/call-cli.js';
import { projectFolder } from '../../support/cli.js';

/** The judge says what the file `verdict` holds; `quota` is a failure. */
const GUARDED = `guard @check after @draft = when [
  @judge(@output) == "no" => deny "bad"
  * => allow
]
exe llm @draft(n) = node { mlld.usage({ model: "m", inputTokens: 1, costUsd: 2 }); return "D:" + n }
exe llm @judge(t) = node {
  const verdict = require("fs").readFileSync("verdict", "utf8");
  if (verdict === "quota") mlld.fail("quota", "used up");
  return verdict;
} with { lane: "judge" }
`;

async function project(script: string, more: { readonly [file: string]: string } = {}) {
  const cwd = await projectFolder({ 'job.mld': script, verdict: 'quota', ...more });
  return {
    cwd,
    run: (...flags: string[]) => callCli(['job.mld', ...flags], { cwd }),
    judgeAs: (verdict: string) => fs.writeFileSync(path.join(cwd, 'verdict'), verdict),
    journal: (...words: string[]) => callCli(['journal', ...words], { cwd }),
    json: async (...words: string[]): Promise<unknown> => JSON.parse((await callCli([...words, '--json'], { cwd })).stdout),
    runs: () => globSync('.mlld/journal/*/runs/*.ndjson', { cwd, dot: true, absolute: true }).sort(),
  };
}

/** Returns the cells of the row of an operation, by column. */
function rowOf(csv: string, op: string): { readonly [column: string]: string } | undefined {
  const [columns, ...rows] = csv
    .trim()
    .split('\r\n')
    .map((line) => line.split(','));
  const row = rows.find((cells) => cells.includes(op));
  return row && Object.fromEntries((columns ?? []).map((column, index) => [column, row[index] ?? '']));
}

/** Cuts the journal behind the first event of the type, as a kill does. */
function killAfter(file: string, type: string): void {
  const lines = fs.readFileSync(file, 'utf8').split('\n');
  const end = lines.findIndex((line) => line.includes(`"type":"${type}"`));
  fs.writeFileSync(file, lines.slice(0, end + 1).join('\n') + '\n');
}

it('is no attempt of the run that judges it, in no report', async () => {
  const { run, judgeAs, json, journal, runs } = await project(GUARDED + 'show @draft("a")\n');
  await run('--checkpoint');
  judgeAs('yes');
  await run('--resume');
  const call = 'main/draft#0';
  const [first, judging] = runs().map((file) => path.basename(file, '.ndjson'));
  expect(await json('journal', 'list')).toMatchObject([{ executed: 2, attempts: 1, retries: 0, unpriced: 1 }, {}]);
  expect(await json('journal', 'stats')).toMatchObject({ functions: [{ fn: 'judge' }, { fn: 'draft', executed: 1, attempts: 1 }] });
  const audit = (await json('journal', 'audit', 'latest')) as { entries: { op?: string; entry: string }[] };
  const entry = audit.entries.find(({ op, entry: kind }) => op === call && kind === 'call');
  expect(audit).toMatchObject({ totals: { executed: 2, attempts: 1, unpriced: 1 } });
  expect(entry).toMatchObject({ outcome: 'executed', received: { run: first } });
  expect(entry).not.toHaveProperty('try');
  expect(entry).not.toHaveProperty('costUsd');
  expect(await json('journal', 'cat', 'latest', call)).toMatchObject({ outcome: 'answered', received: { run: first }, attempts: [] });
  const cat = (await journal('cat', 'latest', call)).stdout;
  expect(cat).toContain(`its guards judged the result that event 7 of run ${first} has`);
  expect(cat).not.toContain('attempt 1');
  expect(rowOf((await journal('export', judging!, '--format', 'csv')).stdout, call)).toMatchObject({ attempts: '0', unpriced: '0' });
  const attempts = (await journal('export', judging!, '--format', 'csv', '--attempts')).stdout;
  expect(rowOf(attempts, call)).toBeUndefined();
  expect(rowOf(attempts, `${call}/guard:check#0/judge#0`)).toMatchObject({ try: '1' });
});

it('has the cost that it came back with in the figures of its function', async () => {
  const { run, judgeAs, json } = await project(GUARDED + 'show @draft("a")\n');
  await run('--checkpoint');
  judgeAs('yes');
  await run('--resume');
  expect(await json('journal', 'stats')).toMatchObject({ functions: [{ fn: 'judge' }, { fn: 'draft', medianResultUsd: 2 }] });
});

it('tells, while it waits, what the next calls of its function will cost', async () => {
  const { run, json } = await project(GUARDED + 'for @n in ["a", "b"] [ show @draft(@n) ]\n');
  await run('--checkpoint');
  expect(await json('job.mld', '--resume', '--plan')).toMatchObject({
    estimate: { costUsd: 2, unpriced: 2, functions: [{ fn: 'judge' }, { fn: 'draft', calls: 1, medianUsd: 2 }] },
  });
  expect((await run('--resume', '--plan')).stdout).toContain('\n2 calls have no result yet; about 2 more were not started yet');
  expect(await json('journal', 'postmortem', 'latest')).toMatchObject({ resume: { costUsd: 2, unpriced: 2 } });
});

it('has its cost in the tables of a run that was killed while it was judged', async () => {
  const { run, json, journal, runs } = await project(GUARDED + 'show @draft("a")\n');
  await run('--checkpoint');
  killAfter(runs()[0]!, 'result.received');
  expect(rowOf((await journal('export', 'latest', '--format', 'csv')).stdout, 'main/draft#0')).toMatchObject({
    costUsd: '2',
    unpriced: '0',
  });
  expect(await json('journal', 'audit', 'latest')).toMatchObject({ totals: { attempts: 1, costUsd: 2, unpriced: 0 } });
});

it('is named apart by the post-mortem of a run that was killed while it judged it, and has no price', async () => {
  const { run, json, runs } = await project(GUARDED + 'show @draft("a")\n');
  await run('--checkpoint');
  await run('--resume');
  killAfter(runs()[1]!, 'call.started');
  expect(await json('journal', 'postmortem', 'latest')).toMatchObject({
    inFlight: [{ what: '@draft', unjudged: true }],
    resume: { unresolved: [{ fn: 'draft', why: 'unjudged' }], unpriced: 0 },
  });
});

it('is not executed for a resume, and nothing inside it: the post-mortem counts what its guards do', async () => {
  const outer = 'exe llm @outer(n) = [ => @draft(@n) ]\n';
  const { run, journal, json } = await project(`${GUARDED.replace('after @draft', 'after @outer')}${outer}show @outer("a")\n`);
  await run('--checkpoint');
  expect(await json('journal', 'postmortem', 'latest')).toMatchObject({
    resume: {
      reused: 0,
      unresolved: [
        { fn: 'outer', why: 'unjudged' },
        { fn: 'judge', why: 'failed' },
      ],
    },
  });
  expect((await journal('postmortem', 'latest')).stdout).toContain(
    'Resuming reuses 0 results, has guards judge 1 received result, and makes at least 1 call:\n  1 again (1 failed)\n',
  );
});

it('is judged again for an execution that the guards requested and that failed, and that has its price', async () => {
  const again = GUARDED.replace('=> deny "bad"', '=> retry "again"').replace('const verdict', 'mlld.usage({ costUsd: 1 }); const verdict');
  const broken = again.replace('mlld.usage(', 'if (require("fs").existsSync("paid")) mlld.fail("quota", "used up"); mlld.usage(');
  const once = broken.replace('return "D:" + n', 'require("fs").writeFileSync("paid", ""); return "D:" + n');
  const { run, judgeAs, json } = await project(once + 'show @draft("a")\n');
  judgeAs('no');
  expect(await run('--checkpoint')).toMatchObject({ status: 5 });
  const [plan, report] = [await json('job.mld', '--resume', '--plan'), await json('journal', 'postmortem', 'latest')];
  expect(plan).toMatchObject({ estimate: { calls: 1, costUsd: 2 } });
  expect(report).toMatchObject({
    resume: {
      unresolved: [
        { fn: 'draft', why: 'unjudged' },
        { fn: 'draft', why: 'failed' },
      ],
      costUsd: 2,
    },
  });
});

it('is named with the reason where no guard can judge it any more', async () => {
  const { cwd, run, judgeAs, json, journal } = await project(GUARDED + 'show @draft("a")\n');
  await run('--checkpoint');
  const edited = GUARDED.replace('return "D:" + n }', 'return n.length } with { schema: { "type": "integer" } }');
  fs.writeFileSync(path.join(cwd, 'job.mld'), edited + 'show @draft("a")\n');
  judgeAs('yes');
  expect(await json('job.mld', '--resume', '--plan')).toMatchObject({
    functions: [{ fn: 'draft', unresolved: 1, unjudged: 0, passedOver: { schema: 1 }, examples: [{ why: 'schema' }] }, { fn: 'judge' }],
  });
  expect((await callCli(['job.mld', '--resume', '--plan'], { cwd })).stdout).toContain(
    '@draft: 0 reused, 1 without a result (1 of them received, and passed over: they do not fit the schema)\n',
  );
  expect(await run('--resume')).toMatchObject({ status: 0, stdout: '1\n' });
  expect((await journal('explain', 'latest', 'main/draft#0')).stdout).toContain('schema');
  expect(await json('journal', 'explain', 'latest')).toMatchObject({ calls: [{ fn: 'draft', miss: { why: 'schema' } }, { fn: 'judge' }] });
});

it.each([
  ['edited', ['--resume', '--changed', 'ask']],
  ['reset', ['--fresh']],
  ['off', []],
  ['invalidated', ['--resume', '@draft']],
])('has the reason %s in the explanation of the run that did not take it', async (why, flags) => {
  const script = GUARDED + 'show @draft("a")\n';
  const { cwd, judgeAs, json } = await project(script, { 'llm/run/task.mld': script });
  await callCli(['run', 'task', '--checkpoint'], { cwd });
  fs.writeFileSync(path.join(cwd, 'llm/run/task.mld'), script.replace('"D:"', '"E:"'));
  judgeAs('yes');
  expect(await callCli(['run', 'task', ...flags], { cwd })).toMatchObject({ status: 0, stdout: 'E:a\n' });
  expect(await json('journal', 'explain', 'latest')).toMatchObject({ calls: [{ fn: 'draft', outcome: 'executed', miss: { why } }, {}] });
});

it('has the reason of its redaction, whether its run was paused or killed, and none in a run that had judged it before', async () => {
  for (const isKilled of [false, true]) {
    const { run, judgeAs, json, journal, runs } = await project(GUARDED + 'show @draft("a")\n');
    await run('--checkpoint');
    await run('--resume'); // judges it, and pauses as well
    if (isKilled) runs().forEach((file, at) => killAfter(file, at === 0 ? 'result.received' : 'call.started'));
    const [first, second] = runs().map((file) => path.basename(file, '.ndjson'));
    expect(await journal('redact', first!, '--op', 'main/draft#0', '--reason', 'private')).toMatchObject({ status: 0 });
    judgeAs('yes');
    expect(await run('--resume')).toMatchObject({ status: 0, stdout: 'D:a\n' });
    expect(await json('journal', 'explain', 'latest')).toMatchObject({
      calls: [{ fn: 'draft', miss: { why: 'redacted', reason: 'private', run: first } }, {}],
    });
    const { calls } = (await json('journal', 'explain', second!)) as { readonly calls: readonly unknown[] };
    expect(calls[0]).toMatchObject({ fn: 'draft', miss: { why: 'unjudged', run: first } });
  }
});

it('has the reason of its rejection with a call inside', async () => {
  const outer = 'exe llm @outer(n) = [ => @draft(@n) ]\n';
  const { run, judgeAs, json, journal } = await project(`${GUARDED.replace('after @draft', 'after @outer')}${outer}show @outer("a")\n`);
  await run('--checkpoint');
  expect(await journal('reject', 'latest', 'main/outer#0/draft#0', '--reason', 'thin')).toMatchObject({ status: 0 });
  judgeAs('yes');
  await run('--resume');
  const miss = { why: 'rejected', reason: 'thin' };
  expect(await json('journal', 'explain', 'latest')).toMatchObject({ calls: [{ fn: 'outer', miss }, { fn: 'draft', miss }, {}] });
});

it('is named with the file that is gone, without which no guard judges it', async () => {
  const files = { 'mlld-config.json': '{ "calls": { "files": { "eachMiB": 0.00001 } } }' }; // too little for its content to be kept
  const write = 'exe llm @write(file) = node { require("fs").writeFileSync(file, "text, and more of it"); return "done" }\n';
  const script = GUARDED.replace(/exe llm @draft.*\n/, write).replace('@draft', '@write') + 'show @write("notes.md")\n';
  const { cwd, run, judgeAs, json } = await project(script, files);
  await run('--checkpoint');
  fs.rmSync(path.join(cwd, 'notes.md'));
  judgeAs('yes');
  expect(await json('job.mld', '--resume', '--plan')).toMatchObject({
    functions: [{ fn: 'write', unjudged: 0, passedOver: { 'file gone': 1 } }, { fn: 'judge' }],
  });
  await run('--resume');
  expect(await json('journal', 'explain', 'latest')).toMatchObject({
    calls: [{ fn: 'write', miss: { why: 'file gone', files: ['notes.md'] } }, { fn: 'judge' }],
  });
});

it('is named in the plan of a pipeline, but where a target takes it away', async () => {
  const guarded = GUARDED.replaceAll('@draft(n)', '@draft(n, options)') + 'export { @draft }\n';
  const graph = 'digraph job { start [shape=Mdiamond]; end [shape=Msquare]; work [prompt="w"]; start -> work; work -> end; }\n';
  const { cwd, judgeAs, journal } = await project('show "unused"\n', { 'lib.mld': guarded, 'job.dot': graph });
  const pipeline = (...flags: string[]) => callCli(['run', 'job.dot', '--backend', 'exe:lib.mld#draft', ...flags], { cwd });
  const replyIn = async (...flags: string[]): Promise<unknown> => {
    const { nodes } = JSON.parse((await pipeline(...flags, '--plan', '--json')).stdout) as { readonly nodes: readonly { node: string }[] };
    return nodes.find(({ node }) => node === 'work');
  };
  expect(await pipeline('--checkpoint')).toMatchObject({ status: 5 });
  expect(await replyIn('--resume')).toMatchObject({ reply: 'received' });
  expect((await pipeline('--resume', '--plan')).stdout).toContain('work  codergen, reply was received, its guards judge it\n');
  expect(await replyIn('--resume', 'work')).toMatchObject({ reply: 'executed' });
  judgeAs('yes');
  expect(await pipeline('--resume', 'work')).toMatchObject({ status: 0 });
  expect((await journal('show', 'latest')).stdout).toContain('for $2; guards judge it'); // paid for again, as with any result
});
