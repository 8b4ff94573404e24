import fs from 'node:fs/promises';
import path from 'node:path';
import { globSync } from 'tinyglobby';
import { describe, expect, it } from 'vitest';
import { projectFolder, runCli } from '../support/cli.js';
import { recordCrash, recordRun } from '../support/recorded-project.js';
import { ask } from '../support/run-script.js';

const SCRIPT = `exe llm @ask(text) = js { if (text === "slack") throw new Error("429 rate limit"); return "A:" + text; }
checkpoint "begun"
var @r = for @t in ["ebb", "flow", "slack"] => @ask(@t)
show @r
`;

describe('mlld journal postmortem', () => {
  it('leads from a failed run to its cause and the command that goes on', async () => {
    const cwd = await projectFolder({ 'llm/run/tide.mld': SCRIPT });
    const failed = await runCli(['run', 'tide', '--checkpoint', '--place', 'the pier'], { cwd });
    expect(failed.status).toBe(1);
    expect(failed.stderr.split('\n').slice(-4)).toEqual([
      '  2 answers kept; failed: 1 x rate limit; last checkpoint "begun"',
      "  resume: mlld run tide --place 'the pier' --resume",
      expect.stringMatching(/^ {2}look at it: mlld journal postmortem \d{8}-\S+$/),
      '',
    ]);
    const { stdout, status } = await runCli(['journal', 'postmortem'], { cwd });
    expect(status).toBe(0);
    expect(stdout).toContain('tide failed');
    expect(stdout).toMatch(/at llm\/run\/tide\.mld:1:\d+ {2}exe llm @ask/);
    expect(stdout).toMatch(/for#0\[2\] with slack\n\s+@ask {2}llm\/run\/tide\.mld:3:\d+ {2}var @r = for/);
    expect(stdout).toContain('1 x rate limit in ask: 429 rate limit');
    expect(stdout).toContain('A resume would be served 2 and ask 1:');
    expect(stdout).toContain("mlld run tide --place 'the pier' --resume begun ");
  });

  it('reads a journal whose last line was cut off', async () => {
    const cwd = await projectFolder();
    await recordRun(cwd, 1, ask('main/ask#0', 'ebb'));
    const { run } = await recordCrash(cwd, 2, ask('main/ask#0', 'flow', { outcome: 'killed' }));
    const [file = ''] = globSync(`.mlld/journal/*/runs/${run}.ndjson`, { cwd, dot: true });
    await fs.appendFile(path.join(cwd, file), '{"v":1,"seq":3,"ty');
    const { stdout } = await runCli(['journal', 'postmortem', '--json'], { cwd });
    expect(JSON.parse(stdout)).toMatchObject({
      run,
      status: 'crashed',
      torn: true,
      inFlight: [{ op: 'main/ask#0', what: '@ask', preview: 'flow' }],
      resume: { served: 0, again: [{ fn: 'ask', preview: 'flow', why: 'in-flight' }] },
    });
  });

  it('says so when nothing failed', async () => {
    const cwd = await projectFolder();
    await recordRun(cwd, 1, ask('main/ask#0', 'ebb'));
    expect(await runCli(['journal', 'postmortem'], { cwd })).toMatchObject({ stdout: 'Every recorded run completed.\n', status: 0 });
  });
});
