/** An error in a body of another language points at its line. world.md 18, control.md 24.2 and 24.5. */
import { describe, expect, it } from 'vitest';
import { callCli } from '../../support/in-process/call-cli.js';
import { projectFolder } from '../../support/cli.js';

describe('an error in a body', () => {
  it.each<[string, string, string]>([
    [
      'of js that does not compile',
      'exe @ask(t) = js {\n  const x = 1;\n  const y = ;\n}',
      "Error: SyntaxError: Unexpected token ';'\n  job.mld:3:13\n  2 |   const x = 1;\n  3 |   const y = ;\n    |             ^\n  in @ask (",
    ],
    [
      'of node that does not compile, whatever it returns and awaits',
      'exe @ask(t) = node {\n  await null;\n  if (t) {\n    return (1;\n  }\n}',
      "Error: SyntaxError: Unexpected token ';': this `(` is not closed\n  job.mld:4:12\n  3 |   if (t) {\n  4 |     return (1;\n    |            ^\n  in @ask (",
    ],
    [
      'of sh that is the body of a call',
      'exe llm @ask(t) = sh {\n  set -e\n  echo hi\n  nosuchprogram "$t"\n}',
      'failed: crash: bash: line 4: nosuchprogram: command not found\n  job.mld:4:3\n  3 |   echo hi\n  4 |   nosuchprogram "$t"\n    |   ^\n  in @ask (',
    ],
    [
      'of py that is the body of a call',
      'exe llm @ask(t) = py {\n  import json\n  if t:\n    json.loads("{" + t)\n}',
      'job.mld:4:5\n  3 |   if t:\n  4 |     json.loads("{" + t)\n    |     ^\n  in @ask (',
    ],
  ])('%s', async (_, functions, expected) => {
    const cwd = await projectFolder({ 'job.mld': `${functions}\nvar @r = for @t in ["one", "two"] => @ask(@t)\nshow @r\n` });
    const { status, stderr } = await callCli(['job.mld'], { cwd });
    expect(status).toBe(1);
    expect(stderr).toContain(expected);
    expect(stderr).toContain('in for @t, item 1 of 2: "one"');
  });

  it.each<[string, string, string]>([
    [
      'py',
      'raise ValueError("bad " + t)',
      'warning: command ended with status 1, 2 times: raise ValueError("bad " + t) (job.mld:3:3): first for t = "one": ValueError: bad one\n',
    ],
    ['py', 'if t', 'warning: command ended with status 1, 2 times: if t (job.mld:3:7): first for t = "one": SyntaxError: expected \':\'\n'],
    [
      'sh',
      'fi',
      'warning: command ended with status 2, 2 times: fi (job.mld:3:3): first for t = "one": syntax error near unexpected token `fi\'\n',
    ],
    [
      'bash',
      'echo no >&2; exit 3',
      'warning: command ended with status 3, 2 times: x=1 … (2 lines) (job.mld:1:15): first for t = "one": no\n',
    ],
  ])('in %s is one warning for all items: %s', async (language, line, expected) => {
    const cwd = await projectFolder({
      'job.mld': `exe @ask(t) = ${language} {\n  x=1\n  ${line}\n}\nvar @r = for @t in ["one", "two"] => @ask(@t)\n`,
    });
    const { status, stderr } = await callCli(['job.mld'], { cwd });
    expect([status, stderr]).toEqual([0, expected]);
    const { stderr: all } = await callCli(['job.mld', '--verbose'], { cwd });
    expect(all.match(/^warning: command ended with status/gm)).toHaveLength(2);
  });

  it('names no value of a secret', async () => {
    const cwd = await projectFolder({
      'job.mld': 'exe @ask(t) = sh {\n  nosuchprogram "$t"\n}\nvar secret @key = "open-sesame"\nvar @r = @ask(@key)\n',
    });
    const { stderr } = await callCli(['job.mld'], { cwd });
    expect(stderr).toContain('ended with status 127');
    expect(stderr).not.toContain('open-sesame');
  });
});

it('prints each failed item of a loop with --verbose, else the first three', async () => {
  const cwd = await projectFolder({
    'job.mld': `exe llm @ask(t) = sh { echo "429 no $t" >&2; exit 1 } with { retries: 0 }
var @r = for parallel(2) @t in [1, 2, 3, 4, 5] => @ask(@t)
`,
  });
  const { stderr } = await callCli(['job.mld'], { cwd });
  expect(stderr).toMatch(/^warning: for parallel: 5 of 5 failed: @ask, rate limit: "1" .*and 2 more/m);
  const { stderr: all } = await callCli(['job.mld', '--verbose'], { cwd });
  expect(all.match(/^warning: for parallel: @ask, rate limit: "\d"/gm)).toHaveLength(5);
});
