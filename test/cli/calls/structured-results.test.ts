/** Results that must fit a schema, read from what bodies print and return. calls.md 8.2. */
import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { expect, it } from 'vitest';
import { callCli } from '../../support/in-process/call-cli.js';
import { projectFolder, type CliResult } from '../../support/cli.js';

const STRING = '{ schema: { "type": "string" } }';
const OBJECT = '{ schema: { "type": "object", "required": ["mark"] } }';

function show(body: string, options: string): Promise<CliResult> {
  return projectFolder({ 'job.mld': `exe llm @ask(q) = ${body} with ${options}\nshow @ask("ebb")\n` }).then((cwd) =>
    callCli(['job.mld', '--retries', '0'], { cwd }),
  );
}

it.each([
  ['sh', `sh { printf '"a \\\\"tide\\\\""' }`, 'a "tide"'],
  ['bash', `bash { echo '"12"' }`, '12'],
  ['py', `py { print('"null"') }`, 'null'],
  ['cmd', `cmd { echo '"high"' }`, 'high'],
  ['js', 'js { return JSON.stringify("high") }', 'high'],
  ['node', 'node { return JSON.stringify("high") }', 'high'],
  ['a block', `[\n  let @r = sh { echo '"high"' }\n  => @r\n]`, 'high'],
])('reads a text in quotes that %s printed or returned as JSON', async (_, body, shown) => {
  const { stdout, stderr } = await show(body, STRING);
  expect({ stdout, stderr: stderr.split('\n').filter((line) => line.includes('failed')) }).toEqual({ stdout: `${shown}\n`, stderr: [] });
});

it.each([
  ['a text without quotes', 'sh { echo high }', STRING, 'bad reply: the result must be JSON'],
  ['a number', 'sh { echo 12 }', STRING, 'bad reply: the result must be string'],
  ['an object in a text', `sh { echo '"{\\"mark\\": 5}"' }`, OBJECT, 'bad reply: the result must be object'],
  ['an object without the member', `sh { echo '{"grade": 5}' }`, OBJECT, "bad reply: the result must have required property 'mark'"],
])('refuses %s', async (_, body, options, message) => {
  const { stderr, status } = await show(body, options);
  expect(stderr).toContain(message);
  expect(status).toBe(1);
});

it('takes an object that was printed, and a text in quotes that an adapter reads from code', async () => {
  expect((await show(`sh { echo '{"mark": 5}' }`, OBJECT)).stdout).toBe('{"mark": 5}\n');
  expect((await show('js { return JSON.stringify("high") }', '{ schema: { "type": "string" }, reply: "text" }')).stdout).toBe('high\n');
});

const ENVELOPE = { type: 'result', subtype: 'success', is_error: false, session_id: 's1', result: '{"mark": 5}' };

it.each([
  ['whose result would have fit', OBJECT, 1, true],
  ['whose result would not have fit either', '{ schema: { "type": "object", "required": ["grade"] } }', 3, false],
])('says once how to take the result out of a whole reply %s', async (_, options, attempts, isTold) => {
  const cwd = await projectFolder({
    'reply.json': JSON.stringify(ENVELOPE),
    'job.mld': `exe llm @ask(q) = sh { echo "$q" >> asked; cat reply.json } with ${options}\nvar @all = for parallel(2) @q in ["ebb", "ebb"] => @ask(@q)\n`,
  });
  const { stderr } = await callCli(['job.mld'], { cwd });
  const told = '@ask: the schema was held against the whole reply of claude, whose result would have fit; reply: "claude" takes';
  expect(stderr.split(told)).toHaveLength(isTold ? 2 : 1);
  expect(
    (await readFile(path.join(cwd, 'asked'), 'utf8'))
      .trim()
      .split('\n')
      .filter((line) => line === 'ebb'),
  ).toHaveLength(2 * attempts);
});
