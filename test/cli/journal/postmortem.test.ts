import fs from 'node:fs/promises';
import path from 'node:path';
import { globSync } from 'tinyglobby';
import { describe, expect, it } from 'vitest';
import { callCli } from '../../support/in-process/call-cli.js';
import { projectFolder, resultOf, startCli } from '../../support/cli.js';
import { recordCrash, recordRun } from '../../support/recorded-project.js';
import { call } from '../../support/written-runs.js';
import type { PostMortemReport } from '../../../src/api/reports/postmortem.js';
import type { RunPlan } from '../../../src/session/script/plan-script.js';

const SCRIPT = `exe llm @ask(text) = js { if (text === "slack") throw new Error("429 rate limit"); return "A:" + text; }
checkpoint "begun"
var @r = for @t in ["ebb", "flow", "slack"] => @ask(@t)
show @r
`;

describe('mlld journal postmortem', () => {
  it('leads from a failed run to its cause and the command that goes on', async () => {
    const cwd = await projectFolder({ 'llm/run/tide.mld': SCRIPT });
    const failed = await callCli(['run', 'tide', '--checkpoint', '--place', 'the pier'], { cwd });
    expect(failed.status).toBe(1);
    expect(failed.stderr.split('\n').slice(-4)).toEqual([
      '  2 results kept; failed: 1 x crash; last checkpoint "begun"',
      expect.stringMatching(/^ {2}look at it: mlld journal postmortem \d{8}-\S+$/),
      expect.stringMatching(/^3 calls: 2 executed, 1 failed \(crash\), .*; next: mlld run tide --place 'the pier' --resume failed$/),
      '',
    ]);
    const { stdout, status } = await callCli(['journal', 'postmortem'], { cwd });
    expect(status).toBe(0);
    expect(stdout).toContain('tide failed');
    expect(stdout).toMatch(/at llm\/run\/tide\.mld:1:\d+ {2}exe llm @ask/);
    expect(stdout).toMatch(/for#0\[2\] with slack\n\s+@ask {2}llm\/run\/tide\.mld:3:\d+ {2}var @r = for/);
    expect(stdout).toContain('1 x crash in ask: 429 rate limit');
    expect(stdout).toContain('Resuming reuses 2 results and makes at least 1 call:');
    expect(stdout).toContain("mlld run tide --place 'the pier' --resume begun ");
    // The same as the summary of the run said, whatever error the failed call had.
    expect(/To continue\n +(.*?) +#/.exec(stdout)?.[1]).toBe("mlld run tide --place 'the pier' --resume failed");
  });

  it('counts what the command executes that it prints, also where a call went on without one inside it', async () => {
    const script = (task: string): string =>
      `exe llm @ask(t) = js { ${task} return "A:" + t }\nexe @count(xs) = js { return xs.filter((x) => typeof x === "string").length }\n` +
      'exe llm @outer(t) = [\n  let @rs = for parallel(3) @i in ["a", "b", "c"] => @ask(`@t @i`)\n  => @count(@rs)\n]\nshow @outer("o")\n';
    const cwd = await projectFolder({ 'llm/run/job.mld': script('if (t !== "o a") throw new Error("no");') });
    expect((await callCli(['run', 'job'], { cwd })).status).toBe(4);
    const { stdout } = await callCli(['journal', 'postmortem'], { cwd });
    expect(stdout).toContain('Resuming reuses 1 result and makes at least 3 calls:\n  3 again (2 failed, 1 invalidated)\n');
    expect(stdout).toContain('  more calls may follow: those that no run has made yet are not counted\n');
    expect(stdout).toContain('  mlld run job --resume failed ');
    const report = JSON.parse((await callCli(['journal', 'postmortem', '--json'], { cwd })).stdout) as PostMortemReport;
    expect(report.resume).toMatchObject({ target: 'failed', reused: 1, kept: 2, notStarted: 0, isPart: true });
    const plan = JSON.parse((await callCli(['run', 'job', '--resume', 'failed', '--plan', '--json'], { cwd })).stdout) as RunPlan;
    expect(plan.estimate).toMatchObject({ calls: report.resume.unresolved.length, isPart: true });
    await fs.writeFile(path.join(cwd, 'llm/run/job.mld'), script(''));
    expect((await callCli(['run', 'job', '--resume', 'failed'], { cwd })).stderr).toContain('4 calls: 1 reused, 3 executed');
  });

  it('names the command of the summary where a function failed that the call uses', async () => {
    const cwd = await projectFolder({
      'job.mld': 'exe @deep(x) = js { throw new Error("boom") }\nexe llm @ask(x) = [\n  => @deep(@x)\n]\nshow @ask(1)\n',
    });
    const { stderr } = await callCli(['job.mld', '--checkpoint'], { cwd });
    const { stdout } = await callCli(['journal', 'postmortem'], { cwd });
    const named = /To continue\n +(.*?) +#/.exec(stdout)?.[1];
    expect(named).toBe('mlld job.mld --resume failed');
    expect(stderr).toContain(`; next: ${named}\n`);
  });

  it.each([
    ['failed', [], `--resume '"failed"'`],
    ['@odd', ['--resume', 'failed'], `--resume '"@odd"'`],
    ['main/for#0', ['--resume', 'failed'], `--resume '"main/for#0"'`],
    ['-v', ['--resume', 'failed'], `--resume '"-v"'`],
    [`it's "so"`, ['--resume', 'failed'], `--resume 'it'\\''s "so"'`],
  ])('names the checkpoint %s so that the command continues from it', async (name, [...first], command) => {
    const script = SCRIPT.replace('"begun"', `\`${name.replaceAll('@', String.raw`\@`)}\``);
    const cwd = await projectFolder({ 'llm/run/tide.mld': script });
    await callCli(['run', 'tide', '--checkpoint'], { cwd });
    const { stdout } = await callCli(['journal', 'postmortem'], { cwd });
    expect(stdout).toMatch(new RegExp(`To continue\n +mlld run tide ${first.length > 0 ? first.join(' ') : '--resume'} +#`));
    expect(stdout).toContain(`mlld run tide ${command} `);
  });

  it('reads a journal whose last line was cut off', async () => {
    const cwd = await projectFolder();
    await recordRun(cwd, 1, call('main/ask#0', 'ebb'));
    const { run } = await recordCrash(cwd, 2, call('main/ask#0', 'flow', { outcome: 'killed' }));
    const [file = ''] = globSync(`.mlld/journal/*/runs/${run}.ndjson`, { cwd, dot: true });
    await fs.appendFile(path.join(cwd, file), '{"v":1,"seq":3,"ty');
    const { stdout } = await callCli(['journal', 'postmortem', '--json'], { cwd });
    expect(JSON.parse(stdout)).toMatchObject({
      run,
      status: 'crashed',
      torn: true,
      inFlight: [{ op: 'main/ask#0', what: '@ask', preview: 'flow' }],
      resume: { reused: 0, unresolved: [{ fn: 'ask', preview: 'flow', why: 'in-flight' }] },
    });
  });

  it('says so when nothing failed', async () => {
    const cwd = await projectFolder();
    await recordRun(cwd, 1, call('main/ask#0', 'ebb'));
    expect(await callCli(['journal', 'postmortem'], { cwd })).toMatchObject({
      stdout: 'Every recorded run completed, or was resumed to its end since.\n',
      status: 0,
    });
  });

  it('tells of a pipeline node by node: retries, branches, the gate, and where a resume goes on', async () => {
    const cwd = await projectFolder({
      'leak.dot': `digraph leak { start [shape=Mdiamond]; exit [shape=Msquare]; fan [shape=component]; a [prompt="A"]; b [prompt="B"]; meet [shape=tripleoctagon]
        pump [shape=parallelogram, tool_command="echo no pump >&2; exit 3", max_retries=1, retry_delay="1ms", goal_gate=true]
        start -> fan; fan -> a -> meet; fan -> b -> meet; meet -> pump; pump -> exit [condition="outcome=fail"]; pump -> exit }`,
    });
    const failed = await callCli(['run', 'leak.dot', '--yes', '--backend', 'simulated'], { cwd });
    expect(failed.stderr).toContain('; next: mlld run leak.dot --yes --backend simulated --resume\n');
    const { stdout } = await callCli(['journal', 'postmortem'], { cwd });
    expect(stdout).toMatch(/Nodes\n {2}start success, \S+\n {2}fan success, \S+\n {4}a success, \S+\n {4}b success/);
    expect(stdout).toMatch(/\n {2}pump fail, 2 attempts, \S+: the command ended with status 3: no pump\n/);
    expect(stdout).toContain('The goal gate pump is not met');
    expect(stdout).toContain('Resuming continues at pump; the 3 visits before it are kept.');
    expect(stdout).toContain('mlld run leak.dot --yes --backend simulated --resume ');
    expect(stdout).not.toContain('--plan');
    const { pipeline } = JSON.parse((await callCli(['journal', 'postmortem', '--json'], { cwd })).stdout);
    expect(pipeline).toMatchObject({ unmetGate: 'pump', questions: [], resume: { node: 'pump', place: 'at' } });
    // The prediction comes true.
    const resumed = await callCli(['run', 'leak.dot', '--yes', '--resume'], { cwd });
    expect(resumed.stderr.match(/^(\w+) ended/m)?.[1]).toBe('pump');
  });

  it('shows a pipeline that waits for an answer from elsewhere, and how to answer', async () => {
    const cwd = await projectFolder({
      'lock.dot': `digraph lock { start [shape=Mdiamond]; exit [shape=Msquare]; go [shape=hexagon, label="Open?"]
        start -> go; go -> exit [label="[Y] Yes"]; go -> start2 [label="[N] No"]; start2 [prompt="x"]; start2 -> exit }`,
    });
    const child = startCli(['run', 'lock.dot', '--ask', 'remote'], { cwd });
    const result = resultOf(child);
    let stdout = '';
    while (!stdout.includes('go asks')) ({ stdout } = await callCli(['journal', 'postmortem', 'lock.dot'], { cwd }));
    expect(stdout).toMatch(/lock\.dot is still running/);
    expect(stdout).toMatch(/go running, .*\ngo asks \(q1, for \S+\): Open\? \[Y\] Yes \/ \[N\] No\n/);
    const answer = /mlld answer (\S+) Y --question q1 +# answer \[Y\] Yes\n {2}mlld answer \S+ N --question q1/.exec(stdout);
    const waits = /go has waited \S+ for an answer to q1: Open\? \[Y\] Yes, \[N\] No\n +answer it: mlld answer \S+ Y\|N\n$/;
    for (const looked of [['list'], ['show', 'lock.dot']]) expect((await callCli(['journal', ...looked], { cwd })).stdout).toMatch(waits);
    const [listed] = JSON.parse((await callCli(['journal', 'list', '--json'], { cwd })).stdout) as [{ questions: object[] }];
    expect(listed.questions).toMatchObject([{ id: 'q1', node: 'go', text: 'Open?', answerable: true }]);
    await callCli(['answer', answer?.[1] as string, 'Y', '--question', 'q1'], { cwd });
    expect((await result).status).toBe(0);
    expect((await callCli(['journal', 'list'], { cwd })).stdout).not.toContain('waited');
  });
});
