/** Options of functions about their calls: what is written wrong is an error before anything runs. calls.md 11.1, 20. */
import { describe, expect, it } from 'vitest';
import { parseScript } from '../../../grammar/parse.js';
import { refusedOptions } from '../../../src/language/calls/written-options.js';
import { callCli } from '../../support/in-process/call-cli.js';
import { projectFolder } from '../../support/cli.js';

const refused = (options: string): readonly string[] => {
  const text = `exe llm @ask(q) = cmd { claude -p "@q" } with { ${options} }\n`;
  return [...refusedOptions(parseScript(text, { mode: 'strict' }))].map(
    ({ at, message, hint }) => `${text.slice(at, at + 3)} ${message}; ${hint}`,
  );
};

it.each([
  ['reply: "claude", schema: { "type": "object" }, repair: false, partial: true'],
  ['retries: { "rate-limit": 2, "crash": 0 }, timeout: 5m, lane: "claude/opus", model: "opus"'],
  ['retries: 0, timeout: "90s", maxCost: 0.5, onFailure: "value", files: "ignore"'],
  ['maxCost: "200ktok", schema: "mark.json", reply: null'],
  ['maxCost: 0.5usd, timeout: 5m'],
  ['maxCost: 200ktok'],
  ['reply: @adapter, timeout: @limits.time, lane: "claude/@q", retries: { "crash": @n }'],
  ['lane: `claude/@q`, schema: { "type": @kind }'],
])('takes %s', (options) => {
  expect(refused(options)).toEqual([]);
});

it.each([
  ['reply: "cluade"', '"cl The option reply is "cluade", which it does not take; did you mean "claude"? reply takes "claude", '],
  ['reply: ["claude"]', '["c The option reply is ["claude"], which it does not take; reply takes "claude", '],
  ['repair: "no"', '"no The option repair is "no", which it does not take; repair takes true or false'],
  ['retries: -1', '-1 '],
  [
    'retries: { "ratelimit": 2 }',
    '{ " The option retries is {"ratelimit":2}, which it does not take; retries takes a number of further attempts',
  ],
  ['retries: { "quota": 2 }', '{ " The option retries is {"quota":2}'],
  ['timeout: "soon"', '"so The option timeout is "soon", which it does not take; timeout takes a duration'],
  ['maxCost: "5m"', '"5m The option maxCost is "5m"'],
  ['maxCost: "1eur"', '"1e The option maxCost is "1eur", which it does not take; maxCost takes a number of dollars'],
  ['maxCost: "cheap"', '"ch The option maxCost is "cheap", which it does not take; maxCost takes a number of dollars'],
  ['maxCost: 0', '0 } The option maxCost is 0'],
  ['onFailure: "ignore"', '"ig The option onFailure is "ignore", which it does not take; onFailure takes "error", "marker", "value"'],
  ['files: "kept"', '"ke The option files is "kept", which it does not take; files takes "keep", "ignore"'],
  ['schema: 7', '7 } The option schema is 7'],
  ['model: ""', '""  The option model is ""'],
])('refuses %s', (options, start) => {
  const [first = '', ...more] = refused(options);
  expect(first.slice(0, start.length)).toBe(start);
  expect(more).toEqual([]);
});

const BAD = 'show "begun"\nexe llm @ask(q) = cmd { claude -p "@q" } with { retries: 2, onFailure: "ignore" }\n';

describe('a script with such an option', () => {
  it('runs nothing, and shows the place and what the option takes', async () => {
    const cwd = await projectFolder({ 'job.mld': BAD });
    const { stdout, stderr, status } = await callCli(['job.mld', '--checkpoint'], { cwd });
    expect({ stdout, status }).toEqual({ stdout: '', status: 1 });
    expect(stderr).toBe(
      [
        'Error: The option onFailure is "ignore", which it does not take',
        '  job.mld:2:72',
        '  1 | show "begun"',
        '  2 | exe llm @ask(q) = cmd { claude -p "@q" } with { retries: 2, onFailure: "ignore" }',
        '    |                                                                        ^',
        '  hint: onFailure takes "error", "marker", "value"',
        '',
      ].join('\n'),
    );
    expect((await callCli(['journal', 'list', '--json'], { cwd })).stdout).toBe('[]\n');
  });

  it('is reported by validate, with the budget of its header', async () => {
    const cwd = await projectFolder({ 'job.mld': `budget: 5\n${BAD}exe llm @x(q) = cmd { claude } with { reply: "gpt" }\n` });
    const { stdout, status } = await callCli(['validate', 'job.mld', '--json'], { cwd });
    expect(status).toBe(1);
    const { errors } = JSON.parse(stdout) as { readonly errors: readonly { readonly line: number; readonly message: string }[] };
    expect(errors.map(({ line, message }) => `${line} ${message}`)).toEqual([
      expect.stringMatching(/^1 .*budget/),
      '3 The option onFailure is "ignore", which it does not take',
      '4 The option reply is "gpt", which it does not take',
    ]);
  });

  it('is an error of the module that has it, before any of the module runs', async () => {
    const cwd = await projectFolder({ 'job.mld': 'import { @ask } from "./asks.mld"\nshow "no"\n', 'asks.mld': `${BAD}export { @ask }\n` });
    const { stdout, stderr, status } = await callCli(['job.mld'], { cwd });
    expect({ stdout, status }).toEqual({ stdout: '', status: 1 });
    expect(stderr).toContain('asks.mld:2:72');
  });
});

it('evaluates what a variable decides for each call, and what is written once', async () => {
  const script = `exe @lane() = node { require("fs").appendFileSync("evaluated.log", "x"); return "a" }
exe llm @varied(q) = js { return q } with { lane: @lane() }
exe llm @fixed(q) = js { return q } with { lane: "b", timeout: 5m }
var @v = for @i in [1, 2, 3] => @varied(@i)
var @f = for @i in [1, 2, 3] => @fixed(@i)
output <evaluated.log> to stdout
`;
  const cwd = await projectFolder({ 'job.mld': script });
  const { stdout, stderr, status } = await callCli(['job.mld', '--checkpoint'], { cwd });
  expect([stdout.trim(), status], stderr).toEqual(['xxx', 0]);
  const events = (await callCli(['journal', 'show', 'latest', '--json'], { cwd })).stdout;
  const ofTheLane = events.split('\n').filter((line) => line.includes('"lane":"b"'));
  expect(ofTheLane.filter((line) => line.includes('"type":"call.started"'))).toHaveLength(3);
  expect(ofTheLane.filter((line) => line.includes('"why":"began"'))).toHaveLength(1);
});
