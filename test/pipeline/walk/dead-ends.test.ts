/** A run that ended at a dead end: the stages that succeeded keep their results once the graph leads on. */
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { callCli } from '../../support/in-process/call-cli.js';
import { projectFolder } from '../../support/cli.js';

/** `slip` fails and `mend` handles it, which no edge leaves. */
const TEXT = `digraph walk {
  start [shape=Mdiamond]
  exit [shape=Msquare]
  slip [prompt="BREAK"]
  mend [prompt="mend"]
  start -> slip
  slip -> mend [condition="outcome=fail"]
  slip -> exit [condition="outcome=success"]
}
`;
const MODEL = 'echo call >> asked; case "$(cat)" in *BREAK*) exit 3;; esac; echo done\n';

async function deadEnd(): Promise<{
  readonly cwd: string;
  resume(...more: string[]): ReturnType<typeof callCli>;
  asked(): Promise<string>;
}> {
  const cwd = await projectFolder({ 'walk.dot': TEXT, 'model.sh': MODEL });
  const words = ['run', 'walk.dot', '--backend', 'cmd:sh model.sh'];
  const { stderr, status } = await callCli(words, { cwd });
  expect(stderr).toContain('no edge leads on from mend: the exit was not reached');
  expect(status).toBe(1);
  return {
    cwd,
    resume: (...more) => callCli([...words, '--resume', ...more], { cwd }),
    asked: () => readFile(join(cwd, 'asked'), 'utf8'),
  };
}

it('continues after the last node if the graph has an edge from it by now, and pays for nothing again', async () => {
  const { cwd, resume, asked } = await deadEnd();
  const before = await asked();
  await writeFile(join(cwd, 'walk.dot'), TEXT.replace(/\}\n$/, '  mend -> exit\n}\n'));
  const plan = await resume('--plan', '--json');
  expect(JSON.parse(plan.stdout)).toMatchObject({ resume: { place: 'behind' }, nodes: [{ node: 'exit' }] });
  expect(await resume()).toMatchObject({ stdout: 'walk: completed\n', status: 0 });
  expect(await asked()).toBe(before);
});

it('visits the last node again where no edge leads on still, not one that had failed before and was dealt with', async () => {
  const { cwd, resume } = await deadEnd();
  const { stdout } = await callCli(['journal', 'postmortem'], { cwd });
  expect(stdout).toContain('Resuming continues at mend; the 2 visits before it are kept.');
  const { stderr } = await resume();
  expect(stderr).toContain('mend ended success');
  expect(stderr).not.toContain('slip ended');
});
