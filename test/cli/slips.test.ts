/** Slips of the hand on the command line that would go unnoticed: what the user reads. */
import { describe, expect, it } from 'vitest';
import { projectFolder, runCli } from '../support/cli.js';

describe('a flag that looks like one of ours', () => {
  it.each([
    ['--chekpoint', '--checkpoint'],
    ['--resum', '--resume'],
    ['--frsh', '--fresh'],
    ['--frok', '--fork'],
  ])('is a warning: %s', async (flag, meant) => {
    const cwd = await projectFolder({ 'llm/run/job.mld': 'show @payload\n' });
    for (const command of [['llm/run/job.mld'], ['run', 'job']]) {
      const { stdout, stderr, status } = await runCli([...command, flag], { cwd });
      expect(status).toBe(0);
      expect(stdout).toContain(flag.slice(2)); // it is the script's all the same
      expect(stderr).toContain(`warning: ${flag} is no option of mlld`);
      expect(stderr).toContain(`did you mean ${meant}?`);
    }
  });

  it('is not one when the script names it, or when nothing of ours is near', async () => {
    const cwd = await projectFolder({ 'job.mld': 'show @payload.resumee\n' });
    expect((await runCli(['job.mld', '--resumee', 'x', '--from', 'here', '--topic', 'tides', '--new'], { cwd })).stderr).toBe('');
  });
});

describe('a record of what has no file', () => {
  it.each([['--checkpoint'], ['--resume'], ['--fresh'], ['--new'], ['--fork', 'job'], ['--changed', 'ask'], ['--keep-files'], ['--plan']])(
    'is refused before anything runs: %s',
    async (...flags) => {
      const cwd = await projectFolder();
      const inline = await runCli(['-e', 'show "ran"', ...flags], { cwd });
      const piped = await runCli(['/dev/stdin', ...flags], { cwd, stdin: 'show "ran"\n' });
      for (const { status, stdout, stderr } of [inline, piped]) {
        expect({ status, stdout }).toEqual({ status: 1, stdout: '' });
        expect(stderr).toMatch(/belongs to a file, and there is none\n {2}hint: save the code in a file: mlld FILE\.mld --/);
      }
    },
  );

  it('is what --no-checkpoint says', async () => {
    expect(await runCli(['-e', 'show "ran"', '--no-checkpoint'], { cwd: await projectFolder() })).toMatchObject({
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
    [['journal', 'shwo', 'latest'], /unknown command 'shwo'\n\(Did you mean show\?\)/],
    [['help', 'jounal'], /There is no command "jounal"\n {2}hint: did you mean journal\?/],
    [['help', 'journal', 'shwo'], /did you mean show\?/],
    [['tides'], /File not found: tides/],
  ])('%j is refused with the one that was meant', async (argv, message) => {
    const { status, stdout, stderr } = await runCli(argv, { cwd: await projectFolder() });
    expect({ status, stdout }).toEqual({ status: 1, stdout: '' });
    expect(stderr).toMatch(message);
  });

  it('is none when a file has the name', async () => {
    const cwd = await projectFolder({ journl: 'show "a script"\n' });
    expect(await runCli(['journl'], { cwd })).toMatchObject({ stdout: 'a script\n', status: 0 });
  });
});

describe('mlld help', () => {
  it.each([
    [['help', 'journal', 'show'], 'Usage: mlld journal show'],
    [['help', 'run'], 'Usage: mlld run'],
    [['help', 'analyze'], 'Usage: mlld validate'],
    [['help'], 'Usage: mlld FILE'],
  ])('%j prints the help of that command', async (argv, first) => {
    const { stdout, status } = await runCli(argv, { cwd: await projectFolder() });
    expect(status).toBe(0);
    expect(stdout.startsWith(first)).toBe(true);
    expect(stdout).toContain('Examples:');
  });
});
