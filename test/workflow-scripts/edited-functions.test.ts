/** An agent whose backend is a function tells that the function was edited, and --changed asks it again. workflows-js.md 6.3. */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { projectFolder } from '../support/cli.js';
import { runScript } from './run-script.js';

const JOB = "export const meta = { name: 'job', description: 'x' }\nreturn await parallel(['p', 'q'].map((each) => () => agent(each)))\n";
const ASK = `
exe @prefix(text) = \`please: @text\`
exe llm @ask(prompt, options) = [
  let @said = @prefix(@prompt)
  => sh { echo paid >> paid.txt; echo "$prompt" }
]
guard @short before op:sh = when [ @input.length > 1000 => deny "too long"; * => allow ]
export { @ask }
`;
const agent = { backend: 'exe:ask.mld#ask' };

async function project(): Promise<{ root: string; paid: () => number }> {
  const root = await projectFolder({ 'job.js': JOB, 'ask.mld': ASK });
  return { root, paid: () => readFileSync(join(root, 'paid.txt'), 'utf8').split('\n').length - 1 };
}

it.each([
  ['the function', ASK.replace('echo "$prompt"', 'echo "new $prompt"'), '@ask was edited'],
  ['a function that it calls', ASK.replace('please', 'kindly'), '@prefix was edited'],
  ['a guard of its module', ASK.replace('1000', '2000'), 'guard @short was changed'],
])('after an edit of %s', { timeout: 30_000 }, async (_what, edited, said) => {
  const { root, paid } = await project();
  expect((await runScript(root, { backend: agent.backend })).report.status).toBe('completed');
  expect(paid()).toBe(2);
  writeFileSync(join(root, 'ask.mld'), edited);
  const { stderr } = await runScript(root, { backend: agent.backend, cache: { resume: '' } });
  expect(stderr).toContain('@agent: 2 results reused from before ');
  expect(stderr).toContain(said);
  expect(paid()).toBe(2);
  const again = await runScript(root, { backend: agent.backend, cache: { resume: '', changed: 'ask' } });
  expect(again.stderr).not.toContain('reused from before');
  expect(paid()).toBe(4);
});

it('reuses in silence what was made with the same function', { timeout: 30_000 }, async () => {
  const { root, paid } = await project();
  await runScript(root, { backend: agent.backend });
  const { stderr } = await runScript(root, { backend: agent.backend, cache: { resume: '', changed: 'ask' } });
  expect(stderr).not.toContain('reused from before');
  expect(paid()).toBe(2);
});
