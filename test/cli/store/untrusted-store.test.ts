/** A store that only the configuration of a repository names gets no password of the environment. Decision 0061. */
import { expect, it } from 'vitest';
import { projectFolder, runCli } from '../../support/cli.js';

const PASSWORD = 'pw-4711-of-another-server';
const URL_OF_STRANGER = 'postgres://db.invalid/mlld?project=p';

async function clone(url = URL_OF_STRANGER): Promise<string> {
  return projectFolder({ 'mlld-config.json': JSON.stringify({ store: { url } }), 'llm/run/hi.mld': 'show "hi"\n' });
}

it.each([[['journal', 'list']], [['run', 'hi', '--checkpoint']], [['store', 'status']], [['worker', '--once']], [['store', 'migrate']]])(
  'is not connected to by %j while PGPASSWORD is set',
  async (words) => {
    const { status, stdout, stderr } = await runCli(words, { cwd: await clone(), env: { PGPASSWORD: PASSWORD } });
    expect({ status, stderr }).toMatchObject({
      status: 1,
      stderr: expect.stringContaining(`mlld-config.json names the store ${URL_OF_STRANGER}, and PGPASSWORD would be sent there`),
    });
    expect(stderr).toContain('MLLD_STORE');
    expect(stdout + stderr).not.toContain(PASSWORD);
  },
);

it.each([
  { what: 'the user names it', env: { PGPASSWORD: PASSWORD, MLLD_STORE: URL_OF_STRANGER }, url: URL_OF_STRANGER },
  { what: 'there is no such password', env: {}, url: URL_OF_STRANGER },
  { what: 'it is on this machine', env: { PGPASSWORD: PASSWORD }, url: 'postgres://127.0.0.1:9/mlld?project=p' },
])('is connected to where $what', async ({ env, url }) => {
  const { status, stderr } = await runCli(['journal', 'list'], { cwd: await clone(url), env });
  expect(status).toBe(1);
  expect(stderr).not.toContain('PGPASSWORD');
  expect(stderr).toMatch(/ENOTFOUND|EAI_AGAIN|ECONNREFUSED|can't be reached|does not answer/);
});

it('is left aside where the user wants the files', async () => {
  const env = { PGPASSWORD: PASSWORD, MLLD_STORE: 'files' };
  expect(await runCli(['journal', 'list'], { cwd: await clone(), env })).toMatchObject({ status: 0, stdout: 'No recorded runs.\n' });
});
