/** `--resume` with a target that can't be used: what the user reads. */
import { beforeAll, describe, expect, it } from 'vitest';
import { callCli } from '../../support/in-process/call-cli.js';
import { projectFolder, type CliResult } from '../../support/cli.js';

const SCRIPT = `exe llm @ask(q) = cmd { echo "answer to @q" }
show @ask("rock")
show @ask("tide one")
checkpoint "half way"
show @ask("tide two")
`;

let cwd: string;
const resume = (...target: string[]): Promise<CliResult> => callCli(['job.mld', '--resume', ...target], { cwd });

beforeAll(async () => {
  cwd = await projectFolder({ 'job.mld': SCRIPT });
  await callCli(['job.mld', '--checkpoint'], { cwd });
});

describe('a target that is refused', () => {
  it.each([['--resume', ''], ['--resume='], ['--resume', '@'], ['--resume', ' ']])(
    'is malformed as %j %j, and says what could be named',
    async (...flags) => {
      const { status, stderr, stdout } = await callCli(['job.mld', ...flags], { cwd });
      expect({ status, stdout }).toEqual({ status: 1, stdout: '' });
      expect(stderr).toMatch(/can't read the target .*it could name:\n {2}@ask\n {2}"half way"\n {2}hint: a target is @fn/);
    },
  );

  it('has an index out of range, and says which there are', async () => {
    const { status, stderr } = await resume('@ask:7');
    expect(status).toBe(1);
    expect(stderr).toContain('no call site 7 for @ask:7: the latest run that called @ask has 3 call sites, numbers 0 to 2');
    expect(stderr).toContain('  @ask:2 at job.mld:5:');
  });

  it('has a prefix that matches at several call sites: the hint names the first of them, and that one works', async () => {
    const { status, stderr } = await resume('@ask("tide")');
    expect(status).toBe(1);
    const [, hinted = ''] = /hint: pick a call site: --resume '([^\n]*)'\n/.exec(stderr) ?? [];
    expect(hinted).toBe('@ask:1("tide")');
    expect((await resume(hinted)).stderr).toContain('1 of 3 calls will run again');
  });

  it('leaves no run behind', async () => {
    const { stdout: before } = await callCli(['journal', 'list', '--json'], { cwd });
    await resume('');
    expect((await callCli(['journal', 'list', '--json'], { cwd })).stdout).toBe(before);
  });
});
