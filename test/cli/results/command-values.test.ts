/** Text of a model is passed to commands, through the whole program. control.md 5.3. */
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { callCli } from '../../support/in-process/call-cli.js';

let cwd: string;
beforeEach(() => {
  cwd = fs.mkdtempSync(path.join(os.tmpdir(), 'mlld-cli-'));
  fs.writeFileSync(path.join(cwd, 'mlld-config.json'), '{}');
});
afterEach(() => fs.rmSync(cwd, { recursive: true, force: true }));

async function run(script: string, v: string): Promise<{ stdout: string; stderr: string }> {
  fs.writeFileSync(path.join(cwd, 'v.txt'), v);
  fs.writeFileSync(path.join(cwd, 'main.mld'), `var @v = <v.txt>\n${script}\n`);
  const { stdout, stderr } = await callCli(['main.mld'], { cwd });
  return { stdout, stderr };
}

describe('a text in a command', () => {
  it.each([
    ['run cmd { echo @v }', 'fine touch pwned\n'],
    ['run cmd { echo --opt=@v # @v }', '--opt=fine touch pwned\n'],
    ['run cmd { echo "@v" }', 'fine\ntouch pwned\n'],
    ['run "echo @v"', 'fine touch pwned\n'],
    ['var @x = @v | cmd { cat }\nshow @x', 'fine\ntouch pwned\n'],
  ])('runs nothing: %s', async (script, stdout) => {
    expect(await run(script, 'fine\ntouch pwned')).toEqual({ stdout, stderr: '' });
    expect(fs.readdirSync(cwd)).not.toContain('pwned');
  });

  it('runs nothing from backquotes in backquotes', async () => {
    expect((await run('run cmd { echo `printf %s "@v"` }', '$(touch pwned) `touch pwned`')).stdout).toBe('$(touch pwned) `touch pwned`\n');
    expect(fs.readdirSync(cwd)).not.toContain('pwned');
  });

  it('runs nothing behind a guard that changes the command', async () => {
    const guard = 'guard before op:run = when [ * => allow @input[0].replace("say", "echo") ]';
    const { stdout } = await run(`${guard}\nrun cmd { say @v "@v" }`, 'fine\ntouch pwned $(touch pwned)');
    expect(stdout).toBe('fine touch pwned $(touch pwned) fine\ntouch pwned $(touch pwned)\n');
    expect(fs.readdirSync(cwd)).not.toContain('pwned');
  });

  it('arrives whole when it is larger than an argument may be', async () => {
    const { stdout } = await run(
      `run cmd { printf %s "@v" | wc -c | tr -d ' ' }\nrun cmd { printf '%s\\n' @v | wc -l | tr -d ' ' }`,
      "it's `x`\n".repeat(40_000),
    );
    expect(stdout).toBe('360000\n80000\n');
  });

  it('with the character NUL is an error', async () => {
    expect((await run('var @nul = js { return "a\\0b" }\nrun cmd { echo "@nul" }', '')).stderr).toContain('NUL');
  });

  it('is shown as it reads when the command fails', async () => {
    expect((await run('run cmd { false "@v" }', 'two words')).stderr).toContain('false "two words"');
  });

  it('belongs to a part that is there only when the value is truthy', async () => {
    const script = 'exe @ask(s) = cmd { printf "<%s>" a @s?`--system "@s"` z }\nrun @ask(@v)\nrun @ask("")';
    expect(await run(script, 'x `touch pwned` $(touch pwned)')).toEqual({
      stdout: '<a><--system><x `touch pwned` $(touch pwned)><z>\n<a><z>\n',
      stderr: '',
    });
    expect(fs.readdirSync(cwd)).not.toContain('pwned');
  });
});
