/** The module of hooks and guards of a workflow script. workflows-js.md 7. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';

import { runScript, type ScriptRun } from './run-script.js';

const SCRIPT = `export const meta = { name: 'job', description: 'x' }
return [await agent('one', { label: 'look:north' }), await agent('two')]
`;

let root: string;
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'mlld-workflow-'));
  writeFileSync(join(root, 'job.js'), SCRIPT);
});
afterEach(() => rmSync(root, { recursive: true, force: true }));

async function run(hooks: string, resume?: string): Promise<ScriptRun> {
  writeFileSync(join(root, 'hooks.mld'), hooks);
  const cache = resume === undefined ? {} : { resume };
  return runScript(root, { backend: 'simulated', cache, agent: { hooks: 'hooks.mld' } });
}

it.each([
  ['op:exe', ['one', 'two']],
  ['op:agent', ['one', 'two']],
  ['llm', ['one', 'two']],
  ['@agent', ['one', 'two']],
  ['look', ['one']],
  ['op:look', ['one']],
  ['op:show', []],
])('runs a hook for %s before the agents that it matches, executed or reused', async (filter, prompts) => {
  const hooks = `hook @h before ${filter} = [ show \`saw @input[0]\` ]\n`;
  const saw = ({ result }: ScriptRun): readonly string[] => [...result.matchAll(/^saw (.*)$/gm)].map(([, prompt = '']) => prompt);
  expect(saw(await run(hooks))).toEqual(prompts);
  const again = await run(hooks, '');
  expect({ saw: saw(again), reused: again.report.calls?.reused }).toEqual({ saw: prompts, reused: 2 });
});

it.each(['op:exe', 'op:agent', 'llm', '@agent'])('asks a guard for %s about each agent', async (filter) => {
  const { result, report } = await run(`guard @g before ${filter} = when [\n  @input[0] == "two" => deny "not two"\n  * => allow\n]\n`);
  expect(JSON.parse(result)).toEqual(['[Simulated] Response for agent: look:north', null]);
  expect(report.agents?.failed).toEqual([{ name: 'two', reason: expect.stringContaining('not two') as string }]);
});

it('finds the result of a prompt that a hook had changed, wherever it is asked again', async () => {
  const hooks = 'hook @h before @agent = [ => [`changed @input[0]`, @input[1]] ]\n';
  expect((await run(hooks)).report.calls).toMatchObject({ executed: 2, reused: 0 });
  writeFileSync(
    join(root, 'job.js'),
    SCRIPT.replace('return [', "return [await agent('three'), ...await parallel([() => agent('two')]), "),
  );
  expect((await run(hooks, '')).report.calls).toMatchObject({ executed: 2, reused: 2 });
});
