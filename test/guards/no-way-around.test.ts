/** A guard sees every place where a script could hide a command or a labelled value. instrumentation.md 2 and 4.2. */
import { expect, it } from 'vitest';
import { FakeWorld } from '../support/fake-world.js';
import { runScript } from '../support/in-fake-world.js';

const GUARD = 'guard @no before op:sh = when [ * => deny "no scripts" ]\n';

it.each([
  'run sh { touch x }',
  'var @x = sh { touch x }',
  'var @x = run sh { touch x }',
  'var @x = [ => sh { touch x } ]',
  'var @x = when [ * => sh { touch x } ]',
  'var @x = for @i in [1] => run sh { touch x }',
  'var @x = for @i in [1] [ sh { touch x } ]',
  'when true => [ sh { touch x } ]',
  'var @x = { a: sh { touch x } }',
  'var @x = "a" | sh { touch x }',
  'exe @f() = sh { touch x } | @trim\nshow @f()',
  'exe @f() = bash { touch x }\nshow @f()',
  'run bash { touch x }',
  'var @x = stream sh { touch x }',
  'var llm @x = sh { touch x }',
  'var llm @x = bash { touch x }',
  'var llm @x = run sh { touch x } with { stdin: "a" }',
  'exe @f() = [ let @x = sh { touch x } ]\n@f()',
  'exe @f(x) = when [ @x => sh { touch x } ]\nshow @f(1)',
])('looks at a script of the shell wherever it is: %s', async (script) => {
  const { error, world } = await runScript(GUARD + script);
  expect(error?.message).toContain('no scripts');
  expect(world.performed).not.toContain('command.run');
});

const SECRET = 'var secret @pin = "4411"\nguard @no before secret = when [ @mx.op.type == "var" => allow; * => deny "stays here" ]\n';

it.each([
  'run sh (@pin) { echo $pin }',
  'var @x = js (@pin) { return pin }',
  'run cmd { cat } with { stdin: @pin }',
  'run @pin | { cat }',
  'if true [ let @x = @pin | cmd { cat } ]',
  'if true [ let @x = cmd { echo @pin } ]',
  'file "a.txt" = @pin',
  'file "a.txt" = `pin: @pin`',
  'files "a/" = [{ "b.txt": @pin }]',
  '@pin | append "a.txt"',
  'output "note" to "@pin"',
  'output "note" to "@root/a/@pin/n.txt"',
  'append "note" to "a/@pin\\.txt"',
  'output "note" to "state://a.@pin"',
  'file "a/@pin\\.txt" = "note"',
  'files "a/@pin/" = [{ "b.txt": "note" }]',
  'exe @f() = "note" | append "a/@pin/b.txt"\nshow @f()',
  'var @x = "note" | output to "a/@pin/b.txt"',
  'for @i in [1] [ output "note" to "a/@pin/@i\\.txt" ]',
  'output "note" to "a/@pin|@upper"',
  'run cmd:/srv/@pin { ls }',
  'run sh:/srv/@pin { ls }',
  'var @x = cmd:/srv/@pin { ls }',
  'var @x = js:/srv/@pin { return 1 }',
  'var @x = "a" | sh:/srv/@pin { cat }',
  'var llm @x = run sh (@pin) { echo $pin }',
  'var llm @x = cmd { echo @pin }',
  'var llm @x = cmd { cat } with { stdin: @pin }',
  'var llm @x = run cmd:/srv/@pin { ls }',
])('looks at a labelled value wherever it goes: %s', async (script) => {
  const { error, world } = await runScript(SECRET + script);
  expect(error?.message).toContain('stays here');
  expect([...world.files]).toEqual([]);
  expect(world.performed).toEqual([]);
});

it('sees the language, and can be switched off for one statement', async () => {
  const script = `guard @no before op:run = when [ * => deny "no" ]\nvar @x = sh { echo 1 } with { guards: { except: ["@no"] } }`;
  const { error } = await runScript(script);
  expect(error?.message).toContain('the fake world has no command.run');
  const { error: denied } = await runScript(
    `guard before op:run = when [ @mx.op.subtype == "bash" => deny "bash" ]\nvar @x = bash { echo 1 }`,
  );
  expect(denied?.message).toContain('bash');
});

it('replaces the listed variable of code, and the value of a file', async () => {
  const script = `var pii @who = "Ann"\nguard before pii = when [ @mx.op.type == "var" => allow; * => allow "****" ]\nfile "a.txt" = \`who: @who.\``;
  const { world } = await runScript(script, { world: new FakeWorld() });
  expect(world.files.get('/p/a.txt')).toBe('who: ****.');
});

const TELLING = (rule: string): string =>
  `var pii @who = "ann"\nvar pii @team = "ops"\nguard @look before pii = when [ @mx.op.type == "var" => allow; ${rule} ]\n`;

it('looks at each labelled value of a path by itself, behind those of the text', async () => {
  const script = `${TELLING('@input == "ops" => deny "the team"')}output \`for @who\` to "a/@who/x.txt"\noutput "x" to "a/@who/@team"`;
  const { error, world } = await runScript(script);
  expect(error?.message).toContain('the team');
  expect([...world.files]).toEqual([['/p/a/ann/x.txt', 'for ann']]);
});

it.each([
  ['output "x" to "a/@who/x.txt"', '/p/a/ann/x.txt'],
  ['append "x" to "a/@who/x.txt"', '/p/a/ann/x.txt'],
])('uses a value in a path as it is: %s', async (script, path) => {
  const kept = await runScript(`${TELLING('* => allow @input')}${script}`);
  expect([kept.error, [...kept.world.files.keys()]]).toEqual([undefined, [path]]);
  const replaced = await runScript(`${TELLING('* => allow "****"')}${script}`);
  expect(replaced.error?.message).toContain('a value in a path can only be allowed as it is, or denied');
  expect([...replaced.world.files]).toEqual([]);
});

it('shows an after-guard the values of a path, too, and replaces none', async () => {
  const guard = 'guard @late after pii = when [ @mx.op.type == "output" => deny "too late"; * => allow ]';
  const { error } = await runScript(`var pii @who = "ann"\n${guard}\noutput "x" to "a/@who"`);
  expect(error?.message).toContain('too late');
});

it('does not show the path to guards of the operation, and looks at no path without labels', async () => {
  const script = `var pii @who = "ann"\nvar @name = "bo"\nguard before op:output = when [ @input.length != 1 => deny "more"; * => allow ]
guard before pii = when [ @mx.op.type == "output" => deny "pii" ]\noutput "x" to "a/@name"`;
  const { error, world } = await runScript(script);
  expect([error, [...world.files.keys()]]).toEqual([undefined, ['/p/a/bo']]);
});
