/** Misspelt words on the command line that would go unnoticed are reported. */
import { describe, expect, it } from 'vitest';
import { callCli } from '../../support/in-process/call-cli.js';
import { projectFolder, withoutSummary } from '../../support/cli.js';

const MISSPELT = [
  ['--checkpont', '--checkpoint'],
  ['--chekcpoint', '--checkpoint'],
  ['--no_checkpoint', '--no-checkpoint'],
  ['--resum', '--resume'],
  ['--resumee', '--resume'],
  ['--Fresh', '--fresh'],
  ['--timeoot', '--timeout'],
  ['--error_behavior', '--error-behavior'],
  ['--structred', '--structured'],
  ['--nostream', '--no-stream'],
  ['--metric', '--metrics'],
  ['--max-cost', '--budget'],
  ['--max-budget-usd', '--budget'],
] as const;

describe('a flag that resembles an option', () => {
  it.each(MISSPELT)('is an error that names it and the way to pass it on, and nothing starts: %s', async (flag, meant) => {
    const cwd = await projectFolder({ 'llm/run/job.mld': 'show @payload\n' });
    for (const command of [['llm/run/job.mld'], ['run', 'job'], ['-e', 'show @payload']]) {
      const { stdout, stderr, status } = await callCli([...command, flag], { cwd });
      expect({ stdout, status }).toEqual({ stdout: '', status: 1 });
      expect(stderr).toMatch(new RegExp(`^Error: ${flag} is not an option of mlld, did you mean ${meant}\\?.* -- ${flag}\n$`));
    }
  });

  it.each(['--model', '--topic', '--hold', '--States', '--timeout2', '--forks', '--D'])('is not meant by %s', async (flag) => {
    const cwd = await projectFolder({ 'llm/run/job.mld': 'show @payload\n' });
    for (const command of [['llm/run/job.mld'], ['run', 'job']]) {
      const { stdout, status } = await callCli([...command, flag, 'x'], { cwd });
      expect({ stdout, status }).toEqual({ stdout: `{"${flag.slice(2)}": "x"}\n`, status: 0 });
    }
  });

  it.each([
    ['by name', { 'llm/run/job.mld': 'show @payload.resumee\n' }],
    ['as an element', { 'llm/run/job.mld': 'show @payload["resumee"]\n' }],
    ['in a text', { 'llm/run/job.mld': 'show `@payload.resumee`\n' }],
    ['by import', { 'llm/run/job.mld': 'import { resumee as @r } from @payload\nshow @r\n' }],
    ['through a namespace', { 'llm/run/job.mld': 'import "@payload" as @p\nshow @p.resumee\n' }],
    ['through a variable', { 'llm/run/job.mld': 'var @p = @payload\nshow @p.resumee\n' }],
    [
      'in a module',
      {
        'llm/run/job.mld': 'import { @line } from "./m.mld"\nshow @line\n',
        'llm/run/m.mld': 'var @line = @payload.resumee\nexport { @line }\n',
      },
    ],
    ['in a template', { 'llm/run/job.mld': 'exe @t() = template "./t.att"\nshow @t()\n', 'llm/run/t.att': '@payload.resumee' }],
  ])('is data when the script reads that very name %s', async (_, files) => {
    const cwd = await projectFolder(files);
    for (const command of [['llm/run/job.mld'], ['run', 'job']]) {
      const { stdout, status } = await callCli([...command, '--resumee', 'x'], { cwd });
      expect({ stdout, status }).toEqual({ stdout: 'x\n', status: 0 });
    }
  });

  it('is data behind --', async () => {
    const cwd = await projectFolder({ 'llm/run/job.mld': 'show @payload\n' });
    const { stdout } = await callCli(['run', 'job', '--', '--checkpont', '--checkpoint'], { cwd });
    expect(JSON.parse(stdout)).toEqual({ checkpont: true, checkpoint: true });
  });

  it('is an error for a pipeline as well', async () => {
    const cwd = await projectFolder({ 'walk.dot': 'digraph { s [shape=Mdiamond]; e [shape=Msquare]; s -> e }\n' });
    const { stderr, stdout, status } = await callCli(['run', 'walk.dot', '--checkpont'], { cwd });
    expect({ stdout, status }).toEqual({ stdout: '', status: 1 });
    expect(stderr).toMatch(/--checkpont.*\n.*--checkpoint/);
  });
});

describe('a flag that is only near an option', () => {
  it.each([
    ['--chckpont', '--checkpoint'],
    ['--frsh', '--fresh'],
    ['--frok', '--fork'],
  ])('is a warning: %s', async (flag, meant) => {
    const cwd = await projectFolder({ 'llm/run/job.mld': 'show @payload\n' });
    for (const command of [['llm/run/job.mld'], ['run', 'job']]) {
      const { stdout, stderr, status } = await callCli([...command, flag], { cwd });
      expect(status).toBe(0);
      expect(stdout).toContain(flag.slice(2)); // it is the script's all the same
      expect(stderr).toContain(`warning: ${flag} is not an option of mlld`);
      expect(stderr).toContain(`did you mean ${meant}?`);
    }
  });

  it('is none when the script names it, or when no option is near', async () => {
    const cwd = await projectFolder({ 'job.mld': 'show @payload.frsh\n' });
    const { stderr } = await callCli(['job.mld', '--frsh', 'x', '--from', 'here', '--topic', 'tides', '--new'], { cwd });
    expect(withoutSummary(stderr)).toBe('');
  });
});

describe('an option of `mlld run NAME`', () => {
  it.each(['--resume', '--checkpont', '--topic'])('is an error without a name, and no list: %s', async (flag) => {
    const cwd = await projectFolder({ 'llm/run/job.mld': 'show "ran"\n' });
    const { stdout, stderr, status } = await callCli(['run', flag], { cwd });
    expect({ stdout, status }).toEqual({ stdout: '', status: 1 });
    expect(stderr).toContain(`mlld run ${flag}: no script is named`);
  });

  it('is named where a misspelt one takes the word behind it', async () => {
    const cwd = await projectFolder({ 'llm/run/job.mld': 'show "ran"\n' });
    const { stdout, stderr, status } = await callCli(['run', '--checkpont', 'job'], { cwd });
    expect({ stdout, status }).toEqual({ stdout: '', status: 1 });
    expect(stderr).toContain('did you mean --checkpoint?');
  });

  it('works as for a file', async () => {
    const cwd = await projectFolder({ 'llm/run/job.mld': 'run sh { exit 3 }\nshow "behind"\n' });
    expect(await callCli(['run', 'job'], { cwd })).toMatchObject({ stdout: 'behind\n', status: 0 });
    expect(await callCli(['run', 'job', '--error-behavior', 'halt'], { cwd })).toMatchObject({ stdout: '', status: 1 });
    const { stdout } = await callCli(['run', 'job', '--structured'], { cwd });
    expect(JSON.parse(stdout)).toMatchObject({ output: 'behind\n' });
  });

  it('reads a script as --mode says, also in the check before the run', async () => {
    const cwd = await projectFolder({ 'llm/run/job.mld': '# A title\n\nSome prose.\n' });
    expect((await callCli(['run', 'job'], { cwd })).status).toBe(1);
    expect(await callCli(['run', 'job', '--md'], { cwd })).toMatchObject({ stdout: '# A title\n\nSome prose.\n', status: 0 });
  });

  it('reaches a script that reads its name', async () => {
    const cwd = await projectFolder({
      'llm/run/job.mld': 'show `@payload.timeout @payload.mode @payload.structured`\n',
      'llm/run/all.mld': 'show @payload\n',
    });
    expect((await callCli(['run', 'job', '--timeout', '50s', '--mode', 'strict'], { cwd })).stdout).toBe('50s strict null\n');
    expect((await callCli(['run', 'all', '--timeout', '50s', '--mode', 'strict'], { cwd })).stdout).toBe('{}\n');
  });
});

describe('a record of what has no file', () => {
  it.each([['--checkpoint'], ['--resume'], ['--fresh'], ['--new'], ['--fork', 'job'], ['--changed', 'ask'], ['--keep-files'], ['--plan']])(
    'is refused before anything runs: %s',
    async (...flags) => {
      const cwd = await projectFolder();
      const inline = await callCli(['-e', 'show "ran"', ...flags], { cwd });
      const piped = await callCli(['/dev/stdin', ...flags], { cwd, stdin: 'show "ran"\n' });
      for (const { status, stdout, stderr } of [inline, piped]) {
        expect({ status, stdout }).toEqual({ status: 1, stdout: '' });
        expect(stderr).toMatch(/recorded for a file, and this code is not in one\n {2}hint: save the code in a file: mlld FILE\.mld --/);
      }
    },
  );

  it('is what --no-checkpoint says', async () => {
    expect(await callCli(['-e', 'show "ran"', '--no-checkpoint'], { cwd: await projectFolder() })).toMatchObject({
      stdout: 'ran\n',
      status: 0,
    });
  });
});

describe('a misspelt command', () => {
  it.each([
    [['journl', 'list', 'a b'], /There is no command and no file "journl"\n {2}hint: did you mean: mlld journal list 'a b'\n/],
    [['chekpoint', 'list', 'job'], /did you mean: mlld checkpoint list job/],
    [['rnu', 'job'], /did you mean: mlld run job/],
    [['journal', 'shwo', 'latest'], /There is no command "journal shwo"\n {2}hint: did you mean show\?\n/],
    [['help', 'jounal'], /There is no command "jounal"\n {2}hint: did you mean journal\?/],
    [['help', 'journal', 'shwo'], /did you mean show\?/],
    [['tides'], /File not found: tides\n.*; commands are listed by mlld help\n/],
    [['tides', '--help'], /There is no command and no file "tides"\n {2}hint: mlld --help lists the commands\n/],
  ])('%j is refused with the one that was meant', async (argv, message) => {
    const { status, stdout, stderr } = await callCli(argv, { cwd: await projectFolder() });
    expect({ status, stdout }).toEqual({ status: 1, stdout: '' });
    expect(stderr).toMatch(message);
  });

  it('is none when a file has the name', async () => {
    const cwd = await projectFolder({ journl: 'show "a script"\n' });
    expect(await callCli(['journl'], { cwd })).toMatchObject({ stdout: 'a script\n', status: 0 });
  });
});

describe('mlld help', () => {
  it.each([
    [['help', 'journal', 'show'], 'Usage: mlld journal show'],
    [['help', 'run'], 'Usage: mlld run'],
    [['init', '--help'], 'Usage: mlld init'],
    [['help', 'analyze'], 'Usage: mlld validate'],
    [['help'], 'Usage: mlld COMMAND'],
  ])('%j prints the help of that command', async (argv, first) => {
    const { stdout, status } = await callCli(argv, { cwd: await projectFolder() });
    expect(status).toBe(0);
    expect(stdout.startsWith(first)).toBe(true);
    expect(stdout).toContain('Examples:');
  });
});
