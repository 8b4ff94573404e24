/** The time limit of a stage that passes between two calls of its function, or in a hook after one: it replays, and ends nothing else. */
import { expect, it } from 'vitest';
import { callCli } from '../support/in-process/call-cli.js';
import { projectFolder } from '../support/cli.js';

const CALLS = 'exe llm @inner(q) = js { return "I:" + q }\nexe @pause() = sh { sleep 1.2 }\n';
const HOOK = 'hook @slow after @inner = [ run @pause() ]\n';
const BOTH = 'exe @ask(prompt, node, context) = [\n  let @a = @inner("a")\n  let @b = @inner(@a)\n  => @b\n]\n';
const BUSY = BOTH.replace('  let @b', '  let @w = js { const end = Date.now() + 900; while (Date.now() < end); return 1 }\n  let @b');

const STAGE = `a [prompt="A", backend="exe:f.mld#ask", timeout="700ms", max_retries=0]; start -> a; a -> exit [condition="outcome=fail"]; a -> exit`;
const BRANCHES = `fan [shape=component, timeout="700ms"]; meet [shape=tripleoctagon]; a [prompt="A", backend="exe:f.mld#ask"]
  b [shape=parallelogram, tool_command="echo b"]; start -> fan; fan -> a -> meet; fan -> b -> meet; meet -> exit`;

const graph = (nodes: string): string => `digraph p { start [shape=Mdiamond]; exit [shape=Msquare]; ${nodes} }\n`;

it.each([
  ['of a stage, in a hook after a call', CALLS + HOOK + BOTH, STAGE],
  ['of a stage, between two calls', CALLS + BUSY, STAGE],
  ['of a parallel node, in a hook after a call', CALLS + HOOK + BOTH, BRANCHES],
])('replays a run in which the time was over %s', async (_, functions, nodes) => {
  const cwd = await projectFolder({ 'f.mld': functions, 'p.dot': graph(nodes) });
  const { stderr } = await callCli(['run', 'p.dot', '--checkpoint', '--allow-failures'], { cwd });
  expect(stderr).not.toContain('did not end within');
  const replayed = await callCli(['journal', 'replay', 'latest', '--json'], { cwd });
  expect(JSON.parse(replayed.stdout)).toMatchObject({ verdict: 'same', divergences: [] });
});

it('LIMIT-1: lets the hooks of a branch end that runs beside a stage whose time is over', async () => {
  const nodes = `fan [shape=component]; meet [shape=tripleoctagon]; a [prompt="A", backend="exe:f.mld#ask", timeout="600ms", max_retries=0]
    b [prompt="B", backend="exe:f.mld#ask"]; start -> fan; fan -> a -> meet; fan -> b -> meet; meet -> exit`;
  const cwd = await projectFolder({
    'f.mld': `${CALLS}hook @slow after @inner = [ run sh { sleep 1.2 } ]\nexe @ask(prompt, node, context) = [\n  let @a = @inner(@prompt)\n  => @a\n]\n`,
    'p.dot': graph(nodes),
  });
  await callCli(['run', 'p.dot', '--checkpoint', '--allow-failures'], { cwd });
  const { stdout } = await callCli(['journal', 'show', 'latest', '--json'], { cwd });
  expect(stdout).toContain('"hook.fired"');
  expect(stdout).not.toContain('HOOK_TIMEOUT');
});
