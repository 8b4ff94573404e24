/** Hooks of a module that a backend calls are hooks of the pipeline's run. instrumentation.md 5.11. */
import { expect, it } from 'vitest';
import { callCli } from '../../support/in-process/call-cli.js';
import { projectFolder } from '../../support/cli.js';

it('a pipeline says at its end how often a hook failed again', async () => {
  const cwd = await projectFolder({
    'p.dot': `digraph p {
  start [shape=Mdiamond]
  exit [shape=Msquare]
  a [prompt="one"]
  b [prompt="two"]
  c [prompt="three"]
  start -> a -> b -> c -> exit
}
`,
    'm.mld': `hook @count after @model = [ bail "no counter" ]
exe llm @model(prompt) = js { return "fine" }
`,
  });
  const { status, stderr } = await callCli(['run', 'p.dot', '--backend', 'exe:m.mld#model'], { cwd });
  expect(status).toBe(0);
  const lines = [...stderr.matchAll(/^warning: (?:(\d+) (?:more )?times: |once more: )?hook @count: no counter$/gm)];
  expect(lines.reduce((sum, [, times = '1']) => sum + Number(times), 0)).toBe(3); // a slow machine makes two lines of it
  expect(lines.length).toBeLessThan(3);
});
