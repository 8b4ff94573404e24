/** Words and settings of commands about a team's store that can't be meant. No server is asked for any of them. */
import { expect, it } from 'vitest';
import { projectFolder, runCli } from '../../support/cli.js';

/** Nothing listens at this port: a command that connects fails with other words. */
const STORE = 'postgres://ada@127.0.0.1:9/mlld?project=trial';
const SCRIPT = 'exe llm @ask(q) = cmd { echo "@q" }\nshow @ask("one")\n';
const FILES = { 'mlld-config.json': '{}', 'one.mld': SCRIPT, 'llm/run/two.mld': SCRIPT, 'a.txt': '' };

it.each([
  [['worker', '--root', 'nowhere'], 'mlld worker --root nowhere: there is no such folder', 'each call is executed in an empty folder'],
  [['worker', '--root', 'a.txt'], 'mlld worker --root a.txt: there is no such folder', 'each call is executed in an empty folder'],
  [['worker', '--name', ''], '--name : a name of one line is expected, of 1 to 100 characters', 'mlld worker --lanes 8'],
  [['worker', '--name', 'hut\u001b[31m'], 'a name of one line is expected', 'mlld worker --lanes 8'],
  [['worker', '--name', 'h'.repeat(101)], 'a name of one line is expected', 'mlld worker --lanes 8'],
  [['worker', '--lane', 'gpu=1', '--lane', 'gpu=2'], '--lane gpu=2: the lane was given before', 'mlld worker --lanes 8'],
  [['worker', '--lane', 'gpu=10000'], 'with a count from 1 to 9999', 'mlld worker --lanes 8'],
  [['worker', '--lanes', '10000'], '--lanes 10000: a whole number up to 9999 is expected', 'mlld worker --lanes 8'],
  [['worker', 'statu'], 'mlld worker takes 0 arguments, not 1', 'did you mean status?'],
  [['store', 'copy', '--from', 'nowhere'], 'mlld store copy --from nowhere: there is no such folder', '.mlld/journal'],
])('%j is an error', async (words, message, hint) => {
  const { status, stdout, stderr } = await runCli(words, { cwd: await projectFolder(FILES), env: { MLLD_STORE: STORE } });
  const [first, second] = stderr.split('\n');
  expect({ status, stdout }).toEqual({ status: 1, stdout: '' });
  expect(first).toContain(message);
  expect(second).toContain(hint);
});

it.each([
  ['MLLD_LEASE', '1ms', 'between 1 s and 1 h'],
  ['MLLD_LEASE', '2h', 'between 1 s and 1 h'],
  ['MLLD_STORE_WAIT', 'long', 'as in 500ms, 30s, 5m or 1h'],
])('%s=%s is an error that says what is allowed', async (name, value, allowed) => {
  const env = { MLLD_STORE: STORE, [name]: value };
  const { status, stderr } = await runCli(['one.mld', '--checkpoint'], { cwd: await projectFolder(FILES), env });
  expect({ status, stderr }).toMatchObject({
    status: 1,
    stderr: expect.stringContaining(`${name}=${value}: a duration is expected, ${allowed}`),
  });
});

it.each([[['run', 'two', '--no-checkpoint', '--workers']], [['one.mld', '--workers', '@ask', '--lanes', '2']]])(
  '%j: a run that is not recorded can offer nothing, and begins no call',
  async (words) => {
    const { status, stdout, stderr } = await runCli(words, { cwd: await projectFolder(FILES), env: { MLLD_STORE: STORE } });
    expect({ status, stdout, stderr }).toMatchObject({
      status: 1,
      stdout: '',
      stderr: expect.stringContaining('--workers: this run is not recorded, so no worker can find its calls'),
    });
  },
);
