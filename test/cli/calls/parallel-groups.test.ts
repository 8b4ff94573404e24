/** Several parallel groups in one place: each call has a path of its own. control.md 20, calls.md 15. */
import { expect, it } from 'vitest';
import { callCli } from '../../support/in-process/call-cli.js';
import { projectFolder } from '../../support/cli.js';

const JOB = `exe llm @ask(x) = js { return "A:" + x }
exe @a(x) = @ask(\`a @x\`)
exe @b(x) = @ask(\`b @x\`)
exe @join(list) = @list.join(" ")
exe @twice(x) = [
  let @first = @x | @a || @b | @join
  => \`@first!\` | @a || @b | @join
]
show "one" | @a || @b | @join
show "two" | @a || @b | @join
show @twice("three")
`;

it('have paths of their own, which replay, reject and resume take', async () => {
  const cwd = await projectFolder({ 'job.mld': JOB });
  const mlld = (...argv: string[]) => callCli(argv, { cwd });
  expect(await mlld('job.mld', '--checkpoint')).toMatchObject({ status: 0 });
  const { stdout } = await mlld('journal', 'explain', 'job', '--json');
  const { calls } = JSON.parse(stdout) as { readonly calls: readonly { readonly op: string }[] };
  const paths = calls.map(({ op }) => op);
  expect(new Set(paths).size).toBe(8);
  expect(paths).toEqual(expect.arrayContaining(['main[g0]/a#0/ask#0', 'main[p1][g1]/b#0/ask#0', 'main/twice#0[p1][g0]/a#0/ask#0']));
  expect(await mlld('journal', 'replay', 'job')).toMatchObject({ status: 0 });
  expect((await mlld('journal', 'reject', 'latest', 'main[p1][g0]/a#0/ask#0')).stdout).toContain('@ask(a two)');
  expect((await mlld('job.mld', '--checkpoint')).stderr).toContain('8 calls: 7 reused, 1 executed');
  expect((await mlld('job.mld', '--resume', 'main[g0]/a#0/ask#0')).stderr).toContain('8 calls: 7 reused, 1 executed');
});
