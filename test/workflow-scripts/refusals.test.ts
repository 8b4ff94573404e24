/** A refused call of a script names the place of the call, whether it is refused at once or later. workflows-js.md 3 and 13. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import type { MlldError } from '../../src/errors.js';
import { runScript } from './run-script.js';

let root = '';
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'mlld-refusals-'));
});
afterEach(() => rmSync(root, { recursive: true, force: true }));

async function failureOf(
  body: string,
  settings: Parameters<typeof runScript>[1] = {},
): Promise<{ readonly said: string; readonly place: string }> {
  writeFileSync(join(root, 'job.js'), `export const meta = { name: 'job', description: 'x' }\n${body}\n`);
  const { report } = await runScript(root, settings);
  const { message, location } = report.error as MlldError;
  const lines = (location?.text ?? '').slice(0, location?.at).split('\n');
  return { said: message, place: location ? `${lines.length}:${(lines.at(-1)?.length ?? 0) + 1}` : 'nowhere' };
}

it.each([
  ['an empty prompt', "const a = 1\n  await agent('')", '3:9', 'the prompt must be a text that is not empty'],
  ['a prompt that is no text', 'await agent(3)', '2:7', 'the prompt must be a text'],
  ['a model that is no text', "await agent('x', { model: 3 })", '2:7', 'model must be a text'],
  ['a model that is an option', "await agent('x', { model: '--yolo' })", '2:7', 'model must not begin with "-", but is "--yolo"'],
  ['a type that is an option', "await agent('x', { agentType: '-y' })", '2:7', 'agentType must not begin with "-", but is "-y"'],
  ['an effort that there is not', "return agent('x', { effort: 'huge' })", '2:8', 'effort must be one of low, medium, high, xhigh, max'],
  ['an isolation that there is not', "await agent('x', { isolation: 'docker' })", '2:7', "isolation must be 'worktree'"],
  ['a time that is none', "await agent('x', { timeoutMs: -1 })", '2:7', 'timeoutMs must be a number of milliseconds above 0'],
  ['a schema of another root', "await agent('x', { schema: { type: 'array' } })", '2:7', 'the root of the schema must be of type "object"'],
  [
    'a schema that no engine takes',
    "await agent('x', { schema: { type: 'object', minProperties: 'a' } })",
    '2:7',
    "the schema can't be used",
  ],
  ['a script that there is not', "const f = () => workflow('none')\nawait f()", '2:17', 'there is no workflow script "none"'],
  ['a stage that is no function', "await pipeline([1], 'x')", '2:7', 'stage 1 is string'],
])('names the place of %s', async (_what, body, place, said) => {
  const failure = await failureOf(body);
  expect(failure.said).toContain(said);
  expect(failure.place).toBe(place);
});

it('says of a spent budget that its tokens are an estimate, where no agent told them', async () => {
  const failure = await failureOf("await agent('one')\nawait agent('two')", {
    backend: 'cmd:echo twelve letters',
    totalTokens: 3,
    environment: process.env,
  });
  expect(failure).toEqual({ said: 'the budget of 3 output tokens is spent: 4 are used, as an estimate', place: '3:7' });
});

it.each([
  ['given', { model: '--yolo' }],
  ['configured', { agent: { model: '--yolo' } }],
])('starts nothing where the model of all agents that is %s would be an option of their program', async (_, settings) => {
  writeFileSync(join(root, 'job.js'), "export const meta = { name: 'job', description: 'x' }\nawait agent('x')\n");
  const { report } = await runScript(root, settings);
  const message = 'the name of a model may not begin with "-": "--yolo"';
  expect(report).toMatchObject({ status: 'failed', error: { code: 'AGENT_BACKEND', message } });
});

it('lets a script catch a refusal, with the message in its stack', async () => {
  writeFileSync(
    join(root, 'job.js'),
    `export const meta = { name: 'job', description: 'x' }
try { await agent('x', { model: 3 }) } catch (error) { return [error instanceof TypeError, error.message, error.stack.split('\\n')[0]] }\n`,
  );
  const { result } = await runScript(root);
  const message = 'agent(prompt, options?): model must be a text';
  expect(JSON.parse(result)).toEqual([true, message, `TypeError: ${message}`]);
});

it('ends a script that waits for nothing, and says so in one line', async () => {
  expect((await failureOf('await new Promise(() => {})')).said).toBe('the script waits for a promise that nothing can resolve any more');
});

it('says in one line why a result is no data', async () => {
  expect((await failureOf('const a = {}; a.a = a\nreturn a')).said).toBe(
    'TypeError: the result of a script must be JSON: Converting circular structure to JSON',
  );
});

it('ends a script as interrupted when the interruption comes before its first statement', async () => {
  writeFileSync(join(root, 'job.js'), "export const meta = { name: 'job', description: 'x' }\nreturn await agent('a')\n");
  const { report, result } = await runScript(root, { signal: AbortSignal.abort() });
  expect({ status: report.status, code: (report.error as MlldError).code, result }).toEqual({
    status: 'interrupted',
    code: 'INTERRUPTED',
    result: '',
  });
});
