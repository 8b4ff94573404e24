/** Results that must fit a schema, read from what bodies print and return. calls.md 8.2. */
import { expect, it } from 'vitest';
import { projectFolder, runCli, type CliResult } from '../../support/cli.js';

const STRING = '{ schema: { "type": "string" } }';
const OBJECT = '{ schema: { "type": "object", "required": ["mark"] } }';

function show(body: string, options: string): Promise<CliResult> {
  return projectFolder({ 'job.mld': `exe llm @ask(q) = ${body} with ${options}\nshow @ask("ebb")\n` }).then((cwd) =>
    runCli(['job.mld', '--retries', '0'], { cwd }),
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
