/** A misspelt run or script is an error whose hint has the nearest recorded one. */
import { beforeAll, expect, it } from 'vitest';
import { callCli } from '../../support/in-process/call-cli.js';
import { projectFolder, type CliResult } from '../../support/cli.js';

let cwd: string;
const mlld = (...argv: string[]): Promise<CliResult> => callCli(argv, { cwd });

beforeAll(async () => {
  cwd = await projectFolder({ 'tides.mld': 'exe llm @ask(q) = js { return q }\nshow @ask("ebb")\n' });
  await mlld('tides.mld', '--checkpoint');
});

it.each(['show', 'verify', 'audit', 'explain', 'postmortem', 'report', 'replay'])(
  'journal %s names the script that was meant',
  async (command) => {
    const { status, stderr } = await mlld('journal', command, 'tidse');
    expect(stderr).toContain('hint: did you mean tides? mlld journal list shows the recorded runs');
    expect(status).toBe(1);
  },
);

it('keeps which of its runs was meant, and says of a path what is near as a path', async () => {
  expect((await mlld('journal', 'show', 'tidse@2')).stderr).toContain('did you mean tides@2?');
  expect((await mlld('journal', 'show', 'tides.mdl')).stderr).toContain('did you mean tides.mld?');
  expect(await mlld('journal', 'diff', 'tides', 'tidse')).toMatchObject({
    status: 2,
    stderr: expect.stringContaining('did you mean tides?'),
  });
});

it.each([['list'], ['stats'], ['gc', '--dry-run']])('journal %s names the script that was meant', async (command, ...options) => {
  const { status, stderr } = await mlld('journal', command, 'tidse', ...options);
  expect(stderr).toContain('hint: did you mean tides?');
  expect(status).toBe(1);
});

it.each(['list', 'inspect', 'clean'])('checkpoint %s has nothing to report, and tells beside it what was meant', async (command) => {
  expect(await mlld('checkpoint', command, 'tidse')).toMatchObject({ status: 0, stderr: 'note: did you mean tides?\n' });
});

it('names nothing where nothing is near', async () => {
  expect((await mlld('journal', 'show', 'neap')).stderr).not.toContain('did you mean');
  expect((await mlld('checkpoint', 'list', 'neap')).stderr).toBe('');
});
