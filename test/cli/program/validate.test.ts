import fs from 'node:fs/promises';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { callCli } from '../../support/in-process/call-cli.js';
import { projectFolder, withoutSummary } from '../../support/cli.js';

const NOTE = { 'src/main.mld': 'exe @note(who) = template "./note.att"\nvar @name = "x"\nshow `hi @nmae`\nshow @note(@name)\n' };

describe('mlld validate FILE', () => {
  it('says what the file declares and what is doubtful, and runs nothing', async () => {
    const cwd = await projectFolder({
      'a.mld': 'exe llm @ask(q, data) = sh { touch ran.txt }\nexport { @ask }\nvar @name = "x"\nshow @nmae\nvar @r = @ask(1, 2)\n',
    });
    const { stdout, stderr, status } = await callCli(['validate', 'a.mld'], { cwd });
    expect(stdout.split('\n')).toEqual([
      'a.mld',
      'Valid module',
      '',
      'Executables:',
      '  @ask(q, data) [llm]',
      '',
      'Exports:',
      '  @ask',
      '',
      'Warnings:',
      '  @nmae (line 4:6) - undefined variable (did you mean @name?)',
      '  (line 1:17) - @ask has a parameter of the generic name "data" (name it after its meaning)',
      '',
    ]);
    expect([stderr, status]).toEqual(['', 0]);
    await expect(fs.access(path.join(cwd, 'ran.txt'))).rejects.toThrow();
  });

  it('prints all errors of a file at once, and fails', async () => {
    const cwd = await projectFolder({ 'a.mld': 'var @now = 1\nvar @b = 1\nvar @b = 2\n', 'b.mld': 'var @ = 1\nshow "x"\nvar b = 1\n' });
    const semantic = await callCli(['analyze', 'a.mld'], { cwd });
    expect(semantic.stdout).toMatch(/^Invalid module$[^]*\(line 1:5\)[^]*\(line 3:5\)/m);
    expect(semantic.status).toBe(1);
    const syntax = await callCli(['validate', 'b.mld'], { cwd });
    expect(syntax.stdout).toMatch(/\(line 1:1\)[^]*\(line 3:/);
    expect(syntax.status).toBe(1);
  });

  it.each([['--json'], ['--format=json']])('prints the report as JSON with %s', async (flag) => {
    const cwd = await projectFolder({ 'a.mld': 'show `@zzz`\nvar @mx = 1\n' });
    const { stdout, status } = await callCli(['validate', 'a.mld', flag], { cwd });
    expect(JSON.parse(stdout)).toEqual({
      filepath: 'a.mld',
      valid: false,
      errors: [
        { message: "@mx is a reserved name and can't be declared", hint: 'choose another name', line: 2, column: 5, code: 'reserved-name' },
      ],
      warnings: [{ message: 'undefined variable', variable: 'zzz', line: 1, column: 7, code: 'undefined-variable' }],
    });
    expect(status).toBe(1);
  });

  it('follows imports and templates with --deep', async () => {
    const cwd = await projectFolder({ 'a.mld': 'import { f, g } from "./lib/b.mld"\n', 'lib/b.mld': 'exe @f(x) = `@x @y`\n' });
    expect(await callCli(['validate', 'a.mld'], { cwd })).toMatchObject({ status: 0 });
    const { stdout, status } = await callCli(['validate', 'a.mld', '--deep'], { cwd });
    expect(stdout).toContain('(line 1:13) - @g is not exported by ./lib/b.mld (it exports @f)');
    expect(stdout).toContain('@y (lib/b.mld:1:17) - undefined variable');
    expect(status).toBe(1);
  });

  it('counts warnings with --error-on-warnings, unless the project suppresses them', async () => {
    const files = { 'a.mld': 'exe @f(result) = `@result`\n', 'b.mld': 'exe @upper(x) = `@x`\n' };
    const cwd = await projectFolder(files);
    expect(await callCli(['validate', 'a.mld', '--error-on-warnings'], { cwd })).toMatchObject({ status: 1 });
    expect(await callCli(['validate', 'b.mld', '--error-on-warnings'], { cwd })).toMatchObject({ status: 0 });
    const quiet = await projectFolder({ ...files, 'mlld-config.json': '{"validate":{"suppressWarnings":["exe-parameter-shadowing"]}}' });
    expect(await callCli(['validate', 'a.mld', '--error-on-warnings'], { cwd: quiet })).toMatchObject({ status: 0 });
  });

  it('refuses what is no source, and what is not there', async () => {
    const cwd = await projectFolder({ 'a.txt': 'text' });
    expect(await callCli(['validate', 'a.txt'], { cwd })).toMatchObject({
      status: 1,
      stdout: '',
      stderr: expect.stringContaining('a.txt') as string,
    });
    expect(await callCli(['validate', 'b.mld'], { cwd })).toMatchObject({
      status: 1,
      stdout: '',
      stderr: expect.stringContaining('b.mld') as string,
    });
    expect(await callCli(['validate'], { cwd })).toMatchObject({
      status: 1,
      stderr: expect.stringContaining('<path> is required by mlld validate') as string,
    });
  });
});

describe('mlld validate FOLDER', () => {
  it('has a line for every file, what was found in it, and a summary', async () => {
    const cwd = await projectFolder({
      ...NOTE,
      'src/note.att': 'Note for @who\n',
      'src/lib/bad.mld': 'var @ = 1\n',
      'src/doc.mld.md': '# Text @nobody\n',
      'src/readme.md': '/var @ = 1\n',
      'src/node_modules/x.mld': 'var @ = 1\n',
      'src/.cache/x.mld': 'var @ = 1\n',
    });
    await fs.symlink('..', path.join(cwd, 'src/lib/circle'));
    const { stdout, status } = await callCli(['validate', 'src'], { cwd });
    expect(stdout.split('\n')).toEqual([
      '  ✓ doc.mld.md',
      '  ✗ lib/bad.mld',
      '      (line 1:1) - Expected a name after `@` in `var`',
      '  ⚠ main.mld',
      '      @nmae (line 3:10) - undefined variable',
      '  ✓ note.att',
      '',
      '4 files: 3 passed, 1 failed, 1 with warnings',
      '',
    ]);
    expect(status).toBe(1);
  });

  it('says everything once with --deep, and all of it with --verbose', async () => {
    const cwd = await projectFolder({ ...NOTE, 'src/note.att': 'Note for @whom\n', 'src/other.mld': 'import "./main.mld" as @m\n' });
    const { stdout } = await callCli(['validate', 'src', '--deep'], { cwd });
    expect(stdout.match(/@whom/g)).toHaveLength(1);
    expect(stdout.match(/@nmae/g)).toHaveLength(1);
    const { stdout: long } = await callCli(['validate', 'src', '--verbose'], { cwd });
    expect(long).toMatch(/^note\.att\nValid template \(\.att\)\n\nParameters:\n {2}@who\n/m);
    expect(long).toMatch(/\n3 files: 3 passed, 2 with warnings\n$/);
  });

  it('keeps what only an importer knows about a file of the folder', async () => {
    const cwd = await projectFolder({
      'src/a.mld': 'import templates from "./prompts" as @p(who)\n',
      'src/b.mld': 'import templates from "./prompts" as @q(who)\n',
      'src/prompts/note.att': 'Note for @who, from @sender\n',
    });
    const { stdout, status } = await callCli(['validate', 'src', '--deep'], { cwd });
    expect(stdout).toMatch(/✗ a\.mld\n +\(src\/prompts\/note\.att:1:21\) - the template uses @sender, which is not a parameter/);
    expect(stdout.match(/@sender, which/g)).toHaveLength(1);
    expect(status).toBe(1);
  });

  it('is an array of reports as JSON', async () => {
    const cwd = await projectFolder({ ...NOTE, 'src/note.att': 'Note for @who\n' });
    const { stdout } = await callCli(['validate', 'src', '--json'], { cwd });
    expect(JSON.parse(stdout)).toMatchObject([
      { filepath: 'src/main.mld', valid: true, warnings: [{ variable: 'nmae', line: 3, column: 10 }] },
      { filepath: 'src/note.att', valid: true, template: { type: 'att', variables: ['who'], discoveredParams: ['who'] } },
    ]);
  });
});

describe('the look before mlld run', () => {
  it('ends the command when something is wrong, before anything runs', async () => {
    const cwd = await projectFolder({
      'llm/run/bad.mld': 'show "never"\nvar @ = 3\nshow "x"\nexe f() = "x"\n',
      'llm/run/lib.mld': 'import { g } from "../lib.mld"\nshow "never"\n',
      'llm/lib.mld': 'exe @f() = "x"\nvar @now = 1\n',
    });
    expect(await callCli(['run', 'bad'], { cwd })).toMatchObject({
      stdout: '',
      stderr: expect.stringMatching(/^error: llm\/run\/bad\.mld:2:1 - .+\nerror: llm\/run\/bad\.mld:4:5 - .+\n$/) as string,
      status: 1,
    });
    expect(await callCli(['run', 'lib'], { cwd })).toMatchObject({
      stdout: '',
      stderr: [
        'error: llm/run/lib.mld:1:10 - @g is not exported by ../lib.mld (it exports @f, @now)',
        "error: llm/lib.mld:2:5 - @now is a reserved name and can't be declared (choose another name)",
        '',
      ].join('\n'),
      status: 1,
    });
  });

  it('prints warnings, unless --no-warn hides them, and continues', async () => {
    const cwd = await projectFolder({ 'llm/run/typo.mld': 'var @name = "x"\nshow `hi @nmae`\n' });
    const warnings = 'Pre-flight warnings:\n  warning: llm/run/typo.mld:2:10 - @nmae undefined variable (did you mean @name?)\n';
    const running = 'Running llm/run/typo.mld...\n';
    const warned = await callCli(['run', 'typo'], { cwd });
    expect({ ...warned, stderr: withoutSummary(warned.stderr) }).toEqual({
      stdout: 'hi @nmae\n',
      stderr: `${warnings}${running}`,
      status: 0,
    });
    const silent = await callCli(['run', 'typo', '--no-warn'], { cwd });
    expect({ ...silent, stderr: withoutSummary(silent.stderr) }).toEqual({ stdout: 'hi @nmae\n', stderr: running, status: 0 });
  });
});
