/** A failed call of a branch stays unresolved for the run that goes on inside of the parallel node around it. calls.md 17.3. */
import fs from 'node:fs';
import path from 'node:path';
import { expect, it } from 'vitest';
import { callCli } from '../../support/in-process/call-cli.js';
import { projectFolder } from '../../support/cli.js';

const MODEL = `exe llm @model(prompt, node, context) = node {
  const isUp = require("fs").existsSync("up");
  if (prompt.includes("part 1") && !isUp) throw new Error("down");
  if (isUp) return "done";
  await new Promise((resolve) => setTimeout(resolve, 200));
  mlld.fail("quota", "used up");
}
export { @model }
`;
const GRAPH = `digraph g {
  graph [backend="exe:m.mld#model"]
  start [shape=Mdiamond]; exit [shape=Msquare]
  par [shape=component]; fan [shape=tripleoctagon]; start -> par; fan -> exit
  s0 [prompt="part 0"]; par -> s0 -> fan
  s1 [prompt="part 1"]; par -> s1 -> fan
}
`;

// The function of the backend is a call of its own.
it('counts where a pause came in another branch, until a run with --checkpoint makes it again', async () => {
  const cwd = await projectFolder({ 'm.mld': MODEL, 'p.dot': GRAPH });
  const run = (...flags: string[]) => callCli(['run', 'p.dot', ...flags], { cwd });
  const latest = async (): Promise<unknown> => JSON.parse((await callCli(['journal', 'list', '--json'], { cwd })).stdout)[0];
  expect((await run()).status).toBe(5);
  fs.writeFileSync(path.join(cwd, 'up'), '');
  const resumed = await run('--resume');
  expect(resumed.status, resumed.stderr).toBe(4);
  expect(resumed.stderr).toContain('2 calls of the runs that this one continues have no result');
  expect(await latest()).toMatchObject({ status: 'incomplete', unresolvedBefore: 2 });
  expect((await run('--checkpoint')).status).toBe(0);
  expect(await latest()).toMatchObject({ unresolved: 0, unresolvedBefore: 0 });
});

const HALVES = `exe llm @half(q) = sh { if test "$q" = ill && ! test -e up; then echo '{"fail":{"class":"content","message":"no"}}' >> $MLLD_CALL_REPORT; fi; echo "$q"; echo "half $q" >> log }
exe llm @other(q) = sh { sleep 0.3; if ! test -e up; then echo '{"fail":{"class":"quota","message":"used up"}}' >> $MLLD_CALL_REPORT; fi; echo "$q"; echo "other $q" >> log }
exe llm @model(prompt, node, context) = when [
  @node.id == "s0" => @whole()
  * => @other("ill")
]
exe @whole() = [
  let @all = for parallel(2) @q in ["well", "ill"] => @half(@q)
  => for @each in @all when !@each.mx.failed => @each
]
export { @model }
`;

it.each([
  ['of a branch that ended well', GRAPH],
  ['of a finished stage in a branch that goes on', GRAPH.replace('s0 -> fan', 's0 -> s2 -> fan\n  s2 [prompt="behind"]')],
])('counts where a stage %s was made without it', async (_, graph) => {
  const cwd = await projectFolder({ 'm.mld': HALVES, 'p.dot': graph });
  const run = (...flags: string[]) => callCli(['run', 'p.dot', ...flags], { cwd });
  const latest = async (): Promise<unknown> => JSON.parse((await callCli(['journal', 'list', '--json'], { cwd })).stdout)[0];
  expect((await run()).status).toBe(5);
  fs.writeFileSync(path.join(cwd, 'up'), '');
  fs.writeFileSync(path.join(cwd, 'log'), '');
  const resumed = await run('--resume');
  expect(resumed.status, resumed.stderr).toBe(4);
  expect(await latest()).toMatchObject({ status: 'incomplete', unresolvedBefore: 1 });
  expect(fs.readFileSync(path.join(cwd, 'log'), 'utf8')).not.toContain('half');
});

it('names the node from which a stage is executed again whose function went on without a call inside it', async () => {
  const graph =
    'digraph g { graph [backend="exe:m.mld#model"]; start [shape=Mdiamond]; exit [shape=Msquare]; s0 [prompt="x"]; start -> s0 -> exit }';
  const cwd = await projectFolder({ 'm.mld': HALVES, 'p.dot': graph });
  const run = (...flags: string[]) => callCli(['run', 'p.dot', ...flags], { cwd });
  const hint = /^ {2}1 call inside the result of a stage has none: mlld run p\.dot .*--resume NODE executes a stage again/m;
  const first = await run();
  expect(first).toMatchObject({ status: 4, stderr: expect.stringMatching(hint) });
  expect(first.stderr).not.toContain('next:');
  expect(await run('--resume')).toMatchObject({ status: 4, stderr: expect.stringMatching(hint) });
  const report = (await callCli(['journal', 'postmortem'], { cwd })).stdout;
  expect(report).toContain('p.dot reached its end, but calls of it have no result');
  expect(report).toMatch(/mlld run p\.dot --resume s0 +# execute from there on, where a function went on without a call inside it/);
  fs.writeFileSync(path.join(cwd, 'up'), '');
  expect(await run('--resume', 'failed')).toMatchObject({ status: 1, stderr: expect.stringContaining('a run with --checkpoint executes') });
  const again = await run('--checkpoint');
  expect(again.status).toBe(4);
  expect(again.stderr).toMatch(hint);
  expect(again.stderr).not.toContain('next:');
  expect(await run('--resume')).toMatchObject({ status: 4, stderr: expect.stringMatching(hint) });
  expect((await run('--resume', 's0')).status).toBe(0);
});
