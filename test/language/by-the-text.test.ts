/** Rules of the language reference without a conformance case, a line each: a script, its output or its error. */
import { describe, expect, it } from 'vitest';
import { callCli } from '../support/in-process/call-cli.js';
import { projectFolder } from '../support/cli.js';
import { runScript } from '../support/in-fake-world.js';

const files = { '/p/a.txt': 'file' };

async function outcomeOf(script: string): Promise<{ shown: string; warnings: readonly string[]; error: string }> {
  const { shown, warnings, error } = await runScript(script, { files });
  return { shown: shown.replace(/\n$/, ''), warnings, error: error ? `${error.code} ${error.message}` : '' };
}

describe('values', () => {
  it.each([
    // 8.2: `?` after a field has no effect in an expression.
    [
      'var @o = {a: 5}\nvar @x = [@o.a? + 1, @o.a? > 1, @o.a? ? "yes" : "no", @o.none? ?? "d", true ? @o.a? : 3]\nshow `is @x`',
      'is [6,true,"yes","d",5]',
    ],
    ['var @o = {a: 5}\nvar @x = @o.a? - 1 # note\nvar @y = @o.a ? -1 : 1\nshow `is @x @y`', 'is 4 -1'],
    // 11.2: JSON text that leaves a function is the value at once, and keeps its text.
    ['exe @mk() = `{"a":  [1, 2]}`\nvar @x = @mk()\nshow `is @x.a @x`', 'is [1,2] {"a":  [1, 2]}'],
    ["exe @mk() = [ => '[1]' ]\nshow @mk().length", '1'],
    ['exe @id(x) = ` @x `\nexe @k(x) = `k=@x.k`\nvar @w = "{\\"k\\": 5}" | @id | @k\nshow @w', 'k=5'],
    ['exe @mk() = `[no json]`\nvar @x = @mk()\nshow @x.length', '9'],
    // 15.1: labels of a show.
    ['var @x = 1\nshow secret, pii @x\nshow note "t"\nif true [ show a @x; show b `q` ]\nshow note <a.txt>', '1\nt\n1\nq\nfile'],
  ])('%s', async (script, shown) => {
    expect(await outcomeOf(script)).toEqual({ shown, warnings: [], error: '' });
  });

  it('takes the labels of a show for those of the operation', async () => {
    const script = 'guard @g before outgoing = when [ * => deny "stays here" ]\nvar @x = 1\nshow @x\nshow outgoing @x';
    const { shown, error } = await outcomeOf(script);
    expect(shown).toBe('1');
    expect(error).toContain('stays here');
  });
});

describe('control', () => {
  it.each([
    // 14, 15, 25: null outside of a loop, all three.
    ['show `@mx.loop.iteration @mx.loop.limit @mx.loop.active @mx.while.active`', 'null null null null'],
    ['loop(1) [ show `@mx.loop.active` ]\nshow `@mx.loop.active`', 'true\nnull'],
    // 16, 21: a control word of a `when` is for the loop or pipeline around, also where the `when` is returned or bound.
    [
      'exe @a(x) = [ => { x: @x, hint: @mx.hint } ]\nexe @r(o) = [ => when [ @mx.try < 3 => retry `r@mx.try`; * => @o.hint ] ]\n' +
        'exe @f(x) = @a(@x) | @r\nvar @v = @f(1)\nshow @v',
      'r2',
    ],
    [
      'exe @a(x) = `@x@mx.try`\nexe @r(o) = [ let @w = when [ @mx.try < 2 => retry; * => "w" ]; => `@w@o` ]\n' +
        'exe @f(x) = @a(@x) | @r\nvar @v = @f("a")\nshow @v',
      'wa2',
    ],
    ['var @l = for @x in [1, 2, 3] [ var @y = when [ @x == 2 => skip; * => @x ]; => @y ]\nshow `is @l`', 'is [1,3]'],
    ['var @x = when [ 1 => done 5 ]\nshow `is @x`', 'is 5'],
    ['exe @s(n) = [ => when [ @n > 2 => done @n; * => continue (@n + 1) ] ]\nvar @v = 0 | while(9) @s\nshow @v', '3'],
    ['var @l = for @x in [1, 2, 3, 4] [ => when [ @x == 2 => skip; @x == 4 => done; * => @x ] ]\nshow `is @l`', 'is [1,3]'],
    ['var @l = loop(9) [ let @i = when [ @input => done @input; * => 5 ]; continue @i ]\nshow `is @l`', 'is 5'],
  ])('%s', async (script, shown) => {
    expect(await outcomeOf(script)).toEqual({ shown, warnings: [], error: '' });
  });

  it.each(['for 2 parallel @x in [1] => show @x', 'for (2, 1ms) parallel @x in [1] [ show @x ]'])(
    'warns of the old form: %s',
    async (script) => {
      const { shown, warnings } = await outcomeOf(script);
      expect(shown).toBe('1');
      expect(warnings).toEqual(['`for N parallel` is the old form of `for parallel(N, PACE)` (main.mld:1:1)']);
    },
  );
});

describe('world', () => {
  // 14.4: `log x` is `output x to stderr`.
  it.each(['{"a": 1}', '[1]', '"t"', 'null'])('logs %s as output writes it', async (value) => {
    const { stderr } = await runScript(`var @v = ${value}\nlog @v\noutput @v to stderr\nvar @w = @v | log`);
    const [written = ''] = stderr.split(/(?<=\n)(?=[{["tn])/);
    expect(stderr).toBe(written.repeat(3));
  });

  // 18: paths appear as they are written in the script, and every error has its place.
  it.each([
    ['append "x" to "ships"', 15, 'Cannot write ships: it is a directory'],
    ['if true [ output "x" to "@root/ships" ]', 25, 'Cannot write @root/ships: it is a directory'],
    ['file "ships" = "x"', 1, 'Cannot write ships: it is a directory'],
    ['files "ships/" = [{"gull.json": "x"}]', 1, 'Cannot write ships/gull.json: it is a directory'],
  ])('%s', async (script, column, message) => {
    const cwd = await projectFolder({ 'main.mld': script, 'ships/gull.json/deep.txt': '' });
    const { stderr, status } = await callCli(['main.mld'], { cwd });
    expect(stderr).toContain(`Error: ${message}\n  main.mld:1:${column}\n`);
    expect(status).toBe(1);
  });

  // 15: commands start in the project root, `js` sees where the process works.
  it('runs a js body in the working directory of the process', async () => {
    const job = ['js', 'node', 'js:@root/sub'].map((code, i) => `exe @f${i}() = ${code} { return process.cwd() }\nshow @f${i}()`);
    const cwd = await projectFolder({ 'sub/job.mld': job.join('\n'), 'else/where.txt': '' });
    const { stdout } = await callCli(['../sub/job.mld'], { cwd: `${cwd}/else` });
    expect(stdout).toBe(`${cwd}/else\n${cwd}\n${cwd}/sub\n`);
  });

  // 16.3: malformed values are errors before the script starts, also of a module that is not imported.
  it.each([['@m=var @x ='], ['@m=@half.json']])('refuses --inject %s before anything runs', async (inject) => {
    const cwd = await projectFolder({ 'main.mld': 'show "started"', 'half.json': '{"a":' });
    const { stdout, stderr, status } = await callCli(['main.mld', '--inject', inject], { cwd });
    expect({ stdout, status }).toEqual({ stdout: '', status: 1 });
    expect(stderr).toMatch(/^Parse error: .*\n {2}@m:1:\d+\n/);
  });

  // 13, 16: what editors and shells of some systems put before a text is no part of it.
  it('ignores a byte order mark before inputs and prompts', async () => {
    const script = 'exe @p(a) = template "./p.att"\nvar @t = @p(@state.k)\nshow `[@t] @input.b`';
    const cwd = await projectFolder({ 'main.mld': `\uFEFF${script}`, 's.json': '\uFEFF{"k": 1}', 'p.att': '\uFEFF@a' });
    const { stdout, stderr } = await callCli(['main.mld', '--state', '@s.json'], { cwd, stdin: '\uFEFF{"b": 2}' });
    expect({ stdout, stderr }).toEqual({ stdout: '[1] 2\n', stderr: '' });
  });

  // 21: addresses are not in scope.
  it('says that an address is not the path of a file', async () => {
    const cwd = await projectFolder({ 'main.mld': 'show <https://port.example/a.txt>' });
    expect((await callCli(['main.mld'], { cwd })).stderr).toContain('hint: this is an address, not the path of a file');
  });
});
