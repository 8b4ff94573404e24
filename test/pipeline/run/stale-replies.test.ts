import { expect, it } from 'vitest';
import { projectFolder, runCli } from '../../support/cli.js';

it('names a remedy that a pipeline has where a reply of another backend is reused', async () => {
  const cwd = await projectFolder({
    'g.dot': 'digraph g { start [shape=Mdiamond]; a [shape=box, prompt="p"]; end [shape=Msquare]; start -> a; a -> end }',
  });
  await runCli(['run', 'g.dot', '--checkpoint', '--backend', 'cmd:cat'], { cwd });
  const { stderr } = await runCli(['run', 'g.dot', '--checkpoint', '--backend', 'cmd:rev'], { cwd });
  expect(stderr).toContain('(@backend was cmd:cat, is cmd:rev); a run without --checkpoint runs it again\n');
  expect((await runCli(['run', 'g.dot', '--backend', 'cmd:rev'], { cwd })).stderr).toContain('1 call: 1 executed');
});
