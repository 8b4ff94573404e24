/** Equal calls side by side: one that failed leaves a marker in the value, whatever the others got. calls.md 14.1. */
import { expect, it } from 'vitest';
import { projectFolder } from '../../support/cli.js';
import { callCli } from '../../support/in-process/call-cli.js';

/** The first execution fails, in a class that does not end a loop whose first iteration it is. */
const VOTE = `exe llm @vote(question) = sh {
  if mkdir tried 2> /dev/null; then echo "rate limit" >&2; exit 3; fi
  echo yea
} with { retries: 0 }
`;

it.each([
  ['a loop', 'var @votes = for parallel @i in [1, 2] => @vote("same")\nshow @votes', 'main/for#0[0]/vote#0'],
  ['a group', 'exe @all(q) = || @vote(@q) || @vote(@q)\nshow @all("same")', 'main/all#0[g0]/vote#0'],
])('count each in %s', async (_, line, path) => {
  const cwd = await projectFolder({ 'job.mld': `${VOTE}${line}\n` });
  const mlld = (...argv: string[]) => callCli(argv, { cwd });
  const first = await mlld('job.mld', '--checkpoint');
  expect(first).toMatchObject({ status: 4, stdout: expect.stringContaining('rate limit: ') as string });
  expect(first.stderr).toContain('2 calls: 1 executed, 1 failed (rate limit)');
  expect((await mlld('journal', 'list')).stdout).toContain('incomplete (1)');
  const postMortem = JSON.parse((await mlld('journal', 'postmortem', 'job', '--json')).stdout) as object;
  expect(postMortem).toMatchObject({ failures: [{ count: 1, op: path }], resume: { reused: 1, unresolved: [] } });
  const failed = await mlld('job.mld', '--resume', 'failed');
  expect(failed).toMatchObject({ status: 0, stderr: expect.stringContaining('no call is without a result; 1 result is reused') as string });
  expect(failed.stderr).toContain('2 calls: 2 reused');
  expect((await mlld('journal', 'diff', 'job@2', 'job@1', '--json')).stdout).toContain(path);
});

it('count one that is made again later by what it got then', async () => {
  const cwd = await projectFolder({
    'job.mld': `${VOTE}exe @round(i) = for parallel @q in ["same"] => @vote(@q)\nvar @first = @round(1)\nshow @round(2)\n`,
  });
  const { status, stdout, stderr } = await callCli(['job.mld', '--checkpoint'], { cwd });
  expect({ status, stdout }).toMatchObject({ status: 0, stdout: expect.stringContaining('yea') as string });
  expect(stderr).toContain('1 call: 1 executed');
});
