import { describe, expect, it } from 'vitest';
import { callCli } from '../../support/in-process/call-cli.js';
import { projectFolder } from '../../support/cli.js';

describe('words that a command can’t take', () => {
  it.each([
    [['checkpoint', 'list'], '<script> is required by mlld checkpoint list', 'for example: mlld checkpoint list nightly; '],
    [['journal', 'redact'], '<run> is required by mlld journal redact', 'for example: mlld journal redact nightly '],
    [
      ['journal', 'export', 'x'],
      '--format <format> is required by mlld journal export',
      'for example: mlld journal export latest --format ',
    ],
    [['journal', 'show', '--follw'], 'mlld journal show has no option --follw', 'did you mean --follow?'],
    [['journal', 'shwo'], 'There is no command "journal shwo"', 'did you mean show?'],
    [['journal', 'show', 'latest', '--op'], '--op <path> needs a value', 'for example: mlld journal show'],
    [['journal', 'export', 'x', '--format', 'xml'], '--format xml: it must be otlp-json, chrome-trace, ndjson or csv', ''],
    [['completion', 'csh'], "<shell> can't be csh: it must be bash, zsh or fish", ''],
    [['journal', 'list', 'a', 'b'], 'mlld journal list takes 1 argument, not 2', ''],
    [
      ['run', 'x.dot', '--changed', 'ask'],
      'mlld run FILE.dot has no option --changed',
      'a run with --checkpoint says which replies it reused from before an edit; --resume NODE executes that node',
    ],
    [['run', 'x.dot', '--ask', 'all'], '--ask all: it must be auto, console, stdin or remote', ''],
  ])('%j', async (argv, message, hint) => {
    const { stdout, stderr, status } = await callCli(argv, { cwd: await projectFolder() });
    expect({ stdout, status }).toEqual({ stdout: '', status: 1 });
    expect(stderr.split('\n')[0]).toContain(`Error: ${message}`);
    expect(stderr.split('\n')[1]).toContain(`  hint: ${hint}`);
    expect(stderr.trim().split('\n')).toHaveLength(2);
  });
});

describe('a script on standard input', () => {
  it.each([[[]], [['-']], [['--checkpoint']]])('is named by its path, not by %j', async (argv) => {
    const { stderr, status } = await callCli(argv, { cwd: await projectFolder(), stdin: 'show "hi"\n' });
    expect(status).toBe(1);
    expect(stderr).toContain('for a script on standard input: mlld /dev/stdin');
  });

  it('runs', async () => {
    expect(await callCli(['/dev/stdin'], { cwd: await projectFolder(), stdin: 'show "hi"\n' })).toMatchObject({
      stdout: 'hi\n',
      status: 0,
    });
  });
});
