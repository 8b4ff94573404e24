/** A pipeline shows its progress as scripts do, and asks who answers on standard input. calls.md 14.6, graph-pipelines.md 13.1. */
import { expect, it } from 'vitest';
import { callCli } from '../../support/in-process/call-cli.js';
import { inShell, projectFolder } from '../../support/cli.js';

const files = {
  'p.dot': `digraph p {
  start [shape=Mdiamond]
  exit [shape=Msquare]
  a [prompt="one"]
  gate [shape=hexagon, label="Open the sluice?"]
  b [prompt="two"]
  c [prompt="three"]
  start -> a -> gate
  gate -> b [label="[O] Open"]
  gate -> c [label="[K] Keep shut"]
  b -> exit
  c -> exit
}
`,
};

it('prints each question that standard input answers, and nothing of it for --yes', async () => {
  const cwd = await projectFolder(files);
  const { status, stderr } = await inShell('echo K | "$@" run p.dot --backend simulated --ask stdin', cwd);
  expect(status).toBe(0);
  expect(stderr).toContain('q1: Open the sluice? [O] Open, [K] Keep shut\nq1 answered by stdin: "K"\n');
  const { stderr: alone } = await callCli(['run', 'p.dot', '--backend', 'simulated', '--yes'], { cwd });
  expect(alone).not.toContain('q1: Open the sluice?');
});

it('shows its progress as objects, or not at all', async () => {
  const cwd = await projectFolder(files);
  const { stderr } = await callCli(['run', 'p.dot', '--backend', 'simulated', '--yes', '--progress', 'json'], { cwd });
  const objects = stderr.split('\n').filter((line) => line.startsWith('{'));
  expect(JSON.parse(objects.at(-1) ?? '')).toMatchObject({ type: 'progress', executed: 2, failed: 0, inFlight: 0 });
  const { stderr: none } = await callCli(['run', 'p.dot', '--backend', 'simulated', '--yes', '--progress=none'], { cwd });
  expect(none).not.toContain('{"type":"progress"');
  const { status, stderr: refused } = await callCli(['run', 'p.dot', '--progress', 'loud'], { cwd });
  expect(status).toBe(1);
  expect(refused).toContain('--progress');
});
