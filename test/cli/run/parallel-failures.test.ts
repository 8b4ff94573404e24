import { expect, it } from 'vitest';
import { callCli } from '../../support/in-process/call-cli.js';
import { projectFolder } from '../../support/cli.js';

it('says of a failed item of a parallel loop where, and by which calls', async () => {
  const cwd = await projectFolder({
    'lib.mld': 'exe @check(n) = [\n  if @n == 2 [ => @n.gone() ]\n  => @n\n]\nexport { @check }\n',
    'job.mld':
      'import { @check } from "./lib.mld"\nexe @outer(n) = [\n  => @check(@n)\n]\nvar @all = for parallel(2) @n in [1, 2, 3] => @outer(@n)\nshow @all.length\n',
  });
  const { stdout, stderr, status } = await callCli(['job.mld'], { cwd });
  expect({ stdout, status }).toEqual({ stdout: '3\n', status: 0 });
  expect(stderr).toMatch(/^warning: for parallel: item 1 failed: .*gone.* \(lib\.mld:2:\d+\)\n/);
  expect(stderr).toMatch(/\n {2}in @check \(job\.mld:3:\d+\)\n {2}in @outer \(job\.mld:5:\d+\)\n$/);
});
