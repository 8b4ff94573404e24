/** Values that a script labels secret don't enter the state of a pipeline, nor its journal in clear. */
import fs from 'node:fs';
import path from 'node:path';
import { expect, it } from 'vitest';
import { callCli } from '../../support/in-process/call-cli.js';
import { projectFolder } from '../../support/cli.js';

const CANARY = 'Canary-4711-deadbeef';
const PIPELINE = `digraph p {
  start [shape=Mdiamond]
  exit [shape=Msquare]
  a [prompt="say hello"]
  b [prompt="and again"]
  start -> a -> b -> exit
}
`;

function project(guard: string, answer: string): Promise<string> {
  return projectFolder({
    'p.dot': PIPELINE,
    'm.mld': `import { MLLD_TOKEN } from @input
var secret @token = @MLLD_TOKEN
exe @call(p, t) = sh { echo called >> calls.log; echo "${answer}" }
exe llm @model(prompt, node, context) = @call(@prompt, @token)
${guard}
`,
  });
}

function filesWith(folder: string, text: string): string[] {
  const files = fs
    .readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter((file) => fs.statSync(path.join(folder, file)).isFile());
  expect(files.length).toBeGreaterThan(5);
  return files.filter((file) => fs.readFileSync(path.join(folder, file), 'latin1').includes(text));
}

const run = (cwd: string, ...flags: string[]): ReturnType<typeof callCli> =>
  callCli(['run', 'p.dot', '--backend', 'exe:m.mld#model', ...flags], { cwd, env: { MLLD_TOKEN: CANARY } });

it('fails a stage whose reply is labelled secret, and keeps nothing of it', async () => {
  const cwd = await project('', 'the key is $t');
  const { status, stdout, stderr } = await run(cwd);
  expect(status).toBe(1);
  expect(stderr).toContain('the reply of @model is labelled secret');
  expect(stdout + stderr).not.toContain(CANARY);
  expect(filesWith(path.join(cwd, '.mlld'), CANARY)).toEqual([]);
});

it('continues with a reply whose label a privileged guard removed; the argument remains hidden', async () => {
  const cwd = await project('guard privileged after @model = when [ * => allow with { removeLabels: ["secret"] } ]', 'no key in here');
  expect(await run(cwd)).toMatchObject({ status: 0, stdout: 'p: completed\n' });
  expect(filesWith(path.join(cwd, '.mlld'), CANARY)).toEqual([]);
  expect(await run(cwd, '--checkpoint')).toMatchObject({ status: 0, stdout: 'p: completed\n' });
  expect(fs.readFileSync(path.join(cwd, 'calls.log'), 'utf8')).toBe('called\ncalled\n'); // the results are reused
  expect(filesWith(path.join(cwd, '.mlld', 'graph'), 'no key in here').some((file) => file.endsWith('response.md'))).toBe(true);
});
