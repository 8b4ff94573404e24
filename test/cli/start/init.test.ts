/** `mlld init` writes workflows that run as printed, and touches nothing that is there. */
import { chmodSync, cpSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';

import { emptyFolder, inShell, runCli } from '../../support/cli.js';
import { PROJECT } from '../../support/source-files.js';

const STUBS = join(PROJECT, 'test', 'conformance', 'stubs');
const NODE_FOLDER = process.execPath.replace(/\/[^/]+$/, '');
/** Has no program that answers prompts. */
const SYSTEM = { PATH: `${NODE_FOLDER}:/usr/bin:/bin` };

interface InitReport {
  readonly written: readonly string[];
  readonly left: readonly string[];
  readonly leftOut: readonly string[];
  readonly next: readonly string[];
}

async function init(cwd: string, ...flags: string[]): Promise<InitReport> {
  const { stdout } = await runCli(['init', '--json', ...flags], { cwd, env: SYSTEM });
  return JSON.parse(stdout) as InitReport;
}

describe('the workflow', () => {
  it.each([
    ['summary', 'ferry.md: The last ferry leaves at ten', 'out/summary.md', 'There are 3 notes.'],
    ['review', '2 findings in 2 of 2 files', 'out/findings.jsonl', '{"path":"sources/tide.js","line":3,"severity":"major"'],
    ['triage', '| 101.md | bug | now |', 'out/triage.md', '| 103.md | question | soon |'],
    ['extract', 'umbrella.txt,Jon Vik,2026-05-11,', 'out/letters.csv', 'crane.txt,"Mira Holm, North Pier",2026-05-04,1840.5'],
    ['pipeline', 'announce: completed', 'out/notice.md', 'From Monday on, the last ferry leaves at ten.'],
  ])('%s runs by the commands that are printed', async (template, shown, file, content) => {
    const cwd = await emptyFolder();
    const { stdout } = await runCli(['init', 'my work', '--template', template], { cwd, env: SYSTEM });
    const [, next = ''] = stdout.split('\nNext:\n');
    const commands = next.trim().split(/\n */);
    expect(commands[0]).toBe("cd 'my work'");
    expect(commands).toHaveLength(4);
    const ran = await inShell(commands.map((line) => line.replace(/^mlld /, '"$@" ')).join(' && '), cwd);
    expect(ran).toMatchObject({ status: 0, stdout: expect.stringContaining(shown) as string });
    expect(ran.stdout).toContain('completed');
    expect(ran.stdout).toContain('A first workflow in ten minutes');
    expect(readFileSync(join(cwd, 'my work', file), 'utf8')).toContain(content);
  });

  it.each(['claude', 'codex', 'gemini', 'opencode'])('is offered with %s where it is installed, and asks it', async (program) => {
    const cwd = await emptyFolder();
    const programs = join(cwd, 'bin');
    mkdirSync(programs);
    cpSync(join(STUBS, program), join(programs, program));
    cpSync(join(STUBS, 'lib'), join(programs, 'lib'), { recursive: true });
    chmodSync(join(programs, program), 0o755);
    const env = { PATH: `${programs}:${SYSTEM.PATH}`, STUB_PLAN: '{"default": {"text": "Calm seas."}}' };
    const { stdout } = await runCli(['init', '--json'], { cwd, env });
    expect((JSON.parse(stdout) as InitReport).next).toContain(`mlld run summary --checkpoint --model ${program}`);
    const ran = await runCli(['run', 'summary', '--checkpoint', '--model', program], { cwd, env });
    expect(ran).toMatchObject({ status: 0, stdout: expect.stringContaining('harbour.md: Calm seas.\n') as string });
  });
});

describe('what is there', () => {
  it('is left as it is, and named', async () => {
    const cwd = await emptyFolder();
    mkdirSync(join(cwd, 'notes'));
    writeFileSync(join(cwd, 'notes', 'ferry.md'), 'mine\n');
    writeFileSync(join(cwd, 'mlld-config.json'), '{"record": false}');
    const { stdout } = await runCli(['init'], { cwd, env: SYSTEM });
    expect(stdout).toContain('  notes/ferry.md  was there; left as it is\n');
    expect(stdout).toContain('  mlld-config.json  was there; left as it is\n');
    expect(readFileSync(join(cwd, 'notes', 'ferry.md'), 'utf8')).toBe('mine\n');
    expect(readFileSync(join(cwd, 'mlld-config.json'), 'utf8')).toBe('{"record": false}');
  });

  it('is not mixed with examples where the workflow would read both', async () => {
    const cwd = await emptyFolder();
    mkdirSync(join(cwd, 'letters'));
    writeFileSync(join(cwd, 'letters', 'mine.txt'), 'Dear sirs\n');
    const { stdout } = await runCli(['init', '--template', 'extract'], { cwd, env: SYSTEM });
    expect(stdout).toContain('  letters/crane.txt  not written; its folder has files of yours, which the workflow reads\n');
    expect(readdirSync(join(cwd, 'letters'))).toEqual(['mine.txt']);
    expect((await init(cwd, '--template', 'extract')).leftOut).toEqual(['letters/crane.txt', 'letters/umbrella.txt']);
  });

  it('makes a second template stand beside the first', async () => {
    const cwd = await emptyFolder();
    await init(cwd);
    const second = await init(cwd, '--template', 'triage');
    expect(second.left).toEqual(['mlld-config.json']);
    expect((await init(cwd, '--template', 'triage')).written).toEqual([]);
  });

  it.each([
    ['', '.mlld/\nout/\n'],
    ['dist', 'dist\n.mlld/\nout/\n'],
    ['/out\n.mlld\n', '/out\n.mlld\n'],
    ['out/\n', 'out/\n.mlld/\n'],
  ])('.gitignore gets the lines that are missing: %j', async (before, after) => {
    const cwd = await emptyFolder();
    writeFileSync(join(cwd, '.gitignore'), before);
    await init(cwd);
    expect(readFileSync(join(cwd, '.gitignore'), 'utf8')).toBe(after);
  });
});

it.each([
  [['init', 'taken'], /^Error: .*taken can't be written: EEXIST/, 'mlld init FOLDER'],
  [['init', '--template', 'poem'], /^Error: --template poem: it must be summary, review, triage, extract or pipeline/, 'mlld init'],
  [['initt'], /^Error: There is no command and no file "initt"/, 'did you mean: mlld init'],
])('mlld %j is an error that says what to do', async (words, message, hint) => {
  const cwd = await emptyFolder();
  writeFileSync(join(cwd, 'taken'), '');
  const { stdout, stderr, status } = await runCli(words, { cwd, env: SYSTEM });
  expect({ stdout, status }).toEqual({ stdout: '', status: 1 });
  expect(stderr).toMatch(message);
  expect(stderr).toContain(hint);
});
