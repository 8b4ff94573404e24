/** `--workers` for what offers no calls is an error, and no input of a script. team-store.md 7.2. */
import { expect, it } from 'vitest';
import { projectFolder, runCli } from '../../support/cli.js';

const FILES = {
  'mlld-config.json': '{}',
  'a.dot': 'digraph g { start [shape=Mdiamond]; done [shape=Msquare]; start -> done }\n',
  'w.js': "export const meta = { name: 'w', description: 'shows its input' }\nreturn args\n",
};

it.each([
  [['run', 'a.dot', '--workers'], 'a pipeline executes its stages itself'],
  [['a.dot', '--workers=@ask'], 'a pipeline executes its stages itself'],
  [['run', 'w.js', '--workers'], 'a workflow script or program executes its agents, calls and steps itself'],
  [['run', 'w.js', '--backend', 'simulated', '--workers', '@agent'], 'input of that name goes behind --'],
])('is refused for %j', async (words, why) => {
  const { status, stdout, stderr } = await runCli(words, { cwd: await projectFolder(FILES) });
  expect({ status, stdout, stderr }).toMatchObject({ status: 1, stdout: '', stderr: expect.stringContaining(why) });
  expect(stderr).toContain('workers take llm calls of .mld scripts');
});

it('is input of a workflow script behind --', async () => {
  const words = ['run', 'w.js', '--backend', 'simulated', '--', '--workers', '3'];
  expect(await runCli(words, { cwd: await projectFolder(FILES) })).toMatchObject({ status: 0, stdout: '{\n  "workers": "3"\n}\n' });
});
