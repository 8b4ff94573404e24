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
