/** The post-mortem of a pipeline whose server died names a command that resumes the run. */
import { afterEach, expect, it } from 'vitest';
import { runCli } from '../support/cli.js';
import { pipeline } from '../support/pipeline-run.js';
import { serve, type Served } from '../support/served.js';

const STEPS = pipeline('a [prompt="a"]; b [prompt="b"]; start -> a -> b -> exit', 'backend="cmd:sleep 0.3; echo reply"');

let served: Served | undefined;
afterEach(async () => void (await served?.end('SIGKILL')));

it('names the command and the request', async () => {
  served = await serve();
  const id = await served.send(STEPS);
  await served.until(`/pipelines/${id}`, ({ current_node: node }: { current_node: string }) => node === 'b');
  const cwd = served.folder;
  await served.end('SIGKILL');
  const { stdout } = await runCli(['journal', 'postmortem'], { cwd });
  expect(stdout).toContain(`POST /pipelines/${id}/resume`);
  const command = /^ +mlld (run \S+\.dot --resume --ask remote)$/m.exec(stdout.replaceAll(/ +#.*$/gm, ''))?.[1] as string;
  expect(await runCli(command.split(' '), { cwd })).toMatchObject({ status: 0, stdout: 'g: completed\n' });
  const after = await runCli(['journal', 'postmortem'], { cwd });
  expect(after.stdout).toBe('Every recorded run completed, or was resumed to its end since.\n');
});
