/** One table makes parser, help and completion: every flag is in all of them. */
import { describe, expect, it } from 'vitest';
import { candidates } from '../../../cli/completion/candidates.js';
import { parseRunRequest } from '../../../cli/options/run-request.js';
import { COMMAND_NAMES, isParsedCommand } from '../../../cli/command-table/command-names.js';
import { COMMAND_ROWS, PROGRAM } from '../../../cli/command-table/commands.js';
import { RUN_PIPELINE } from '../../../cli/command-table/pipelines.js';
import { dashed, type CommandRow } from '../../../cli/command-table/rows.js';
import { runFlags, spellingsOf } from '../../../cli/command-table/run-flags.js';
import { toCommand } from '../../../cli/command-table/to-commander.js';
import { WHO_ANSWERS } from '../../../src/session/pipeline/run-pipeline-options.js';
import { callCli } from '../../support/in-process/call-cli.js';
import { projectFolder } from '../../support/cli.js';

const nothing = async () => [];
const rows: readonly (readonly [string, CommandRow])[] = [...COMMAND_ROWS, ['walk.dot', RUN_PIPELINE], ['', PROGRAM]];
const groups = ['checkpoint', 'journal', 'graph'];

function shownFlags({ flags = [] }: CommandRow): readonly string[] {
  return flags.flatMap((row) => (row.does === undefined ? [] : row.flags.filter((flag) => flag.length > 1).map(dashed)));
}

describe.each(rows.filter(([words]) => !groups.includes(words)))('the flags of "%s"', (words, row) => {
  it('are those of its parser', () => {
    const long = toCommand('x', row).options.flatMap(({ flags }) => flags.match(/--[a-z-]+/g) ?? []);
    expect(long).toEqual([...shownFlags(row), ...(row.otherFlags?.flags ?? []).map(({ flags: [flag] }) => dashed(flag))]);
  });

  it('are all completed', async () => {
    const typed = words === '' ? ['-'] : [...words.split(' '), '-'];
    const offered = (await candidates(typed, nothing)).map(({ text }) => text);
    expect(offered).toEqual([...shownFlags(row), '--help']);
  });

  it('are all in its help, with examples', () => {
    let help = '';
    toCommand('x', row)
      .configureOutput({ writeOut: (text) => (help += text), getOutHelpWidth: () => 300 })
      .outputHelp();
    for (const flag of shownFlags(row)) expect(help).toContain(flag);
    expect(help).toContain('\nExamples:\n  ');
  });
});

it('completes the flags of a workflow script', async () => {
  const offered = (await candidates(['run', 'audit.js', '--'], nothing)).map(({ text }) => text);
  expect(offered).toEqual(expect.arrayContaining(['--args', '--backend', '--resume', '--parallel']));
  expect(offered).not.toContain('--structured');
});

/** Values of flags by what their help says is written there; `1s` fits the others. */
const VALUES: { readonly [written: string]: string } = { count: '1', '@fn,@fn': '@ask,@review' };

describe('the flags of a run', () => {
  it.each(['file', 'run'] as const)('are understood as options in the form %s, and not handed to the script', (form) => {
    for (const row of runFlags(form).filter(
      ({ instead, flags }) => instead === undefined && !['changed', 'mode', 'error-behavior', 'progress'].includes(flags[0]),
    )) {
      for (const flag of spellingsOf(row)) {
        const written = VALUES[row.written ?? ''] ?? '1s';
        const value = row.value === 'none' ? [] : [written];
        const source = row.flags[0] === 'eval' ? [] : ['x'];
        const needed = row.flags[0] === 'lanes' ? ['--workers'] : [];
        expect(parseRunRequest([...source, ...needed, dashed(flag), ...value], form).looseFlags, flag).toEqual([]);
      }
    }
  });

  it('have the values that the table lists', () => {
    for (const { flags, choices } of runFlags('file')) {
      for (const choice of choices ?? []) expect(() => parseRunRequest(['x', dashed(flags[0]), choice], 'file')).not.toThrow();
      if (choices) expect(() => parseRunRequest(['x', dashed(flags[0]), 'none-of-these'], 'file')).toThrow(/must be/);
    }
  });
});

describe('the names of commands', () => {
  it('are the first words of the table', () => {
    const first = COMMAND_ROWS.flatMap(([words, { alias }]) => [words.split(' ')[0] ?? '', ...(alias === undefined ? [] : [alias])]);
    expect(new Set([...first, 'help'])).toEqual(new Set(COMMAND_NAMES));
  });

  it('are all parsed by commander, but for running', () => {
    expect(COMMAND_NAMES.filter((name) => !isParsedCommand(name))).toEqual(['run']);
  });
});

it('lists for --ask who can answer', () => {
  expect(RUN_PIPELINE.flags.find(({ flags: [name] }) => name === 'ask')).toMatchObject({ choices: WHO_ANSWERS });
});

describe('help about a word that names nothing', () => {
  it.each([
    [['foo', '--help'], 'There is no command and no file "foo"', 'mlld --help lists the commands'],
    [['jornal', '--help'], 'There is no command and no file "jornal"', 'did you mean: mlld journal --help'],
    [['journal', 'shwo', '--help'], 'There is no command "shwo"', 'did you mean show?'],
    [['help', 'shwo'], 'There is no command "shwo"', 'mlld help'],
  ])('is an error: %j', async (argv, message, hint) => {
    const { stdout, stderr, status } = await callCli(argv, { cwd: await projectFolder() });
    expect({ stdout, status }).toEqual({ stdout: '', status: 1 });
    expect(stderr).toBe(`Error: ${message}\n  hint: ${hint}\n`);
  });
});

it('documents the exit statuses', async () => {
  const { stdout } = await callCli(['journal', 'replay', '--help'], { cwd: await projectFolder() });
  expect(stdout).toMatch(/Exit status:\n {2}0 +success\n {2}1 +an error\n {2}3 +the replay diverged/);
});
