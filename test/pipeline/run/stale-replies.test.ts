import { expect, it } from 'vitest';
import { callCli } from '../../support/in-process/call-cli.js';
import { projectFolder } from '../../support/cli.js';

/** Runs the pipeline with one backend, then reuses its replies with another. Returns the folder, and what the second run says of them. */
async function reused(body: string): Promise<{ readonly cwd: string; readonly notices: readonly string[] }> {
  const cwd = await projectFolder({ 'g.dot': `digraph g { start [shape=Mdiamond]; end [shape=Msquare]; ${body} }` });
  await callCli(['run', 'g.dot', '--checkpoint', '--backend', 'cmd:cat'], { cwd });
  const { stderr } = await callCli(['run', 'g.dot', '--checkpoint', '--backend', 'cmd:tac'], { cwd });
  return { cwd, notices: stderr.split('\n').filter((line) => line.startsWith('@')) };
}

it('names the node from which a reply of another backend is executed again, and what was done before it is kept', async () => {
  const { cwd, notices } = await reused(
    `before [shape=parallelogram, tool_command="echo ran >> count.txt"]; fan [shape=component]; a [prompt="p"]; b [prompt="q"]
     m [shape=tripleoctagon]; last [prompt="l"]; start -> before -> fan; fan -> a -> m; fan -> b -> m; m -> last -> end`,
  );
  const reason = 'reused from before its definition was edited (@backend was cmd:cat, is cmd:tac)';
  expect(notices).toEqual([
    `@g.a: 1 result ${reason}; --resume fan runs it again`,
    `@g.b: 1 result ${reason}; --resume fan runs it again`,
    `@g.last: 1 result ${reason}; --resume last runs it again`,
  ]);
  const again = await callCli(['run', 'g.dot', '--checkpoint', '--resume', 'fan', '--backend', 'cmd:tac'], { cwd });
  expect(again.stderr).toContain('3 calls: 3 executed');
  expect(again.stderr).not.toContain('before ended');
});

it('advises a run without --checkpoint where no node can be named for all of them', async () => {
  const { notices } = await reused(
    `a [prompt="p"]; t [shape=parallelogram, tool_command="test $MLLD_VISIT = 1"]
     start -> a -> t; t -> end [condition="outcome=success"]; t -> a [condition="outcome=fail"]`,
  );
  expect(notices).toEqual([expect.stringContaining('2 results reused')]);
  expect(notices[0]).toContain('; a run without --checkpoint runs them again');
});
