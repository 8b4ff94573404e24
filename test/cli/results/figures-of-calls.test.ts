/** Holds what the reports print about attempts, costs and failures of calls, as text, JSON and CSV. */
import { beforeAll, describe, expect, it } from 'vitest';
import { callCli } from '../../support/in-process/call-cli.js';
import { projectFolder } from '../../support/cli.js';

/** The first attempt of `b` is turned away, `c` is refused, and `@free` reports nothing. */
const SCRIPT = `
exe llm @ask(q) = node {
  const fs = require("fs");
  if (q === "b" && !fs.existsSync("tried")) { fs.writeFileSync("tried", ""); mlld.usage({ model: "oracle-2", inputTokens: 3, costUsd: 0.25 }); mlld.fail("network", "cut off"); }
  if (q === "c") mlld.fail("content", "no");
  mlld.usage({ model: "oracle-2", inputTokens: 10, outputTokens: 5, costUsd: 0.5 });
  return "R:" + q;
}
exe llm @free(q) = js { return q }
exe llm @sum(all) = js { return all }
var @r = for parallel(1) @q in ["a", "b", "c"] => @ask(@q)
show @free("x")
var @s = for parallel(1) @n in [1] => @sum(@r)
`;
const QUOTA = `
exe llm @ask(q) = js { mlld.fail("quota", "used up", { resetsAt: 4071006245 }) } with { lane: "oracle" }
show @ask("a")
`;

let cwd: string;
beforeAll(async () => {
  cwd = await projectFolder({
    'mlld-config.json': '{ "calls": { "backoff": { "first": "1ms", "max": "2ms" } } }',
    'llm/run/job.mld': SCRIPT,
    'llm/run/quota.mld': QUOTA,
  });
  await callCli(['run', 'job', '--checkpoint', '--budget', '9usd'], { cwd });
  await callCli(['run', 'quota', '--checkpoint'], { cwd });
});

const journal = async (...argv: string[]): Promise<string> => (await callCli(['journal', ...argv], { cwd })).stdout;

describe('the figures of a run with attempts', () => {
  it('are printed for each attempt by the audit, with a dash for what is not known', async () => {
    const text = await journal('audit', 'job');
    expect(text).toContain('@ask(a) executed: ');
    expect(text).toMatch(
      /@ask\(b\) failed: network, .*cut off.*, model oracle-2, 3 tokens in, - out, cost \$0\.25 \(reported\), another attempt after/,
    );
    expect(text).toMatch(/@ask\(b\) executed: attempt 2, .*model oracle-2, 10 tokens in, 5 out, cost \$0\.50 \(reported\)/);
    expect(text).toMatch(/@ask\(c\) failed: content, .*model -, - tokens in, - out, cost -/);
    expect(text).toMatch(/@free\(x\) executed: .*model -, - tokens in, - out, cost -/);
    expect(text).toMatch(/in 5 attempts \(1 of them retries\), 23 tokens in, 10 out, cost \$1\.25 \+ 2 unpriced/);
  });

  it('are null in JSON and empty in CSV where they are not known', async () => {
    const { entries } = JSON.parse(await journal('audit', 'job', '--json')) as { entries: { entry: string; fn?: string }[] };
    const calls = entries.filter(({ entry }) => entry === 'call');
    const unknown = { model: null, inputTokens: null, outputTokens: null, costUsd: null };
    expect(calls).toMatchObject([
      { fn: 'ask', try: 1, outcome: 'executed', model: 'oracle-2', costUsd: 0.5, costSource: 'told' },
      { fn: 'ask', try: 1, outcome: 'failed', class: 'network', costUsd: 0.25, outputTokens: null },
      { fn: 'ask', try: 2, outcome: 'executed' },
      { fn: 'ask', outcome: 'failed', class: 'content', ...unknown },
      { fn: 'free', outcome: 'executed', ...unknown },
      { fn: 'sum', outcome: 'not-executed', class: 'upstream' },
    ]);
    expect(calls.at(-1)).not.toHaveProperty('costUsd');
    const [head = '', ...rows] = (await journal('audit', 'job', '--csv')).split('\n').map((line) => line.split(','));
    const cell = (row: readonly string[] | undefined, column: string): string | undefined => row?.[(head as string[]).indexOf(column)];
    const attempts = rows.filter((row) => cell(row, 'entry') === 'call');
    const columns = ['try', 'outcome', 'class', 'model', 'costUsd', 'costSource'];
    expect(attempts.map((row) => columns.map((column) => cell(row, column)).join(' '))).toEqual([
      '1 executed  oracle-2 0.5 told',
      '1 failed network oracle-2 0.25 told',
      '2 executed  oracle-2 0.5 told',
      '1 failed content   ',
      '1 executed    ',
      ' not-executed upstream   ',
    ]);
  });

  it('are in the statistics, with the price of a result and the classes of failures', async () => {
    const text = await journal('stats', 'job');
    expect(text).toContain('; cost $1.25 + 2 unpriced, saved -\n');
    expect(text).toMatch(/FUNCTION +ATTEMPTS +RETRIES +TOKENS IN +OUT +A RESULT +95% +SAVED\n@ask +4 +1 +23 +10 +\$0\.50 +\$0\.75 +-\n/);
    expect(text).toMatch(/\n@free +1 +0 +- +- +- +- +-\n/);
    expect(text).toContain('@ask failed: 1 content\n');
  });

  it('are explained for a call that was not executed', async () => {
    const text = await journal('explain', 'job');
    expect(text).toContain('5 calls, 0 reused, 3 executed, 1 failed, 1 not executed');
    expect(text).toMatch(/@sum\(\) not executed: an argument needs what failed in main\/for#0\[2\]\/ask#0\n/);
  });

  it('say in a postmortem what paused the run, until when, and how its lanes were', async () => {
    const text = await journal('postmortem', 'quota');
    expect(text).toContain('quota was paused');
    expect(text).toMatch(/Paused in the lane oracle: quota used up; resets 2099-01-02 03:04:05Z\n {2}.*used up\n\nLanes\n/);
    expect(text).toMatch(/Lanes\n {2}oracle: .*stopped: quota used up\n/);
    expect(text).toContain('mlld run quota --resume');
    expect(JSON.parse(await journal('postmortem', 'quota', '--json'))).toMatchObject({
      status: 'paused',
      pause: { class: 'quota', lane: 'oracle', resetsAt: '2099-01-02T03:04:05.000Z' },
      lanes: [{ lane: 'oracle', stopped: 'quota' }],
      unsettled: null,
    });
    expect(JSON.parse(await journal('postmortem', 'job', '--json'))).toMatchObject({ pause: null, unsettled: null });
  });

  it('leave a lane that only grew out of a postmortem, and keep it in its JSON', async () => {
    expect(await journal('postmortem', 'job')).not.toContain('Lanes');
    expect(JSON.parse(await journal('postmortem', 'job', '--json'))).toHaveProperty('lanes[0].limit');
  });
});
