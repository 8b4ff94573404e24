/** Code of a script runs in the process of mlld, and reaches its environment: that holds no secret of mlld itself. */
import { expect, it } from 'vitest';
import { projectFolder, runCli } from '../support/cli.js';

const ENV = {
  MLLD_STORE: 'postgres://ada:hunter2@127.0.0.1:1/mlld?project=acme/patrol',
  MLLD_JOURNAL_KEY: '0123456789abcdef'.repeat(4),
  MLLD_SERVE_TOKEN: 'a-token-of-the-server',
  MLLD_OTHER: 'kept',
};

it.each([
  ['a program that code starts', `js { return (await import("node:child_process")).execSync("env").toString() }`],
  ['a program that code of node starts', `node { return require("node:child_process").execSync("env").toString() }`],
  ['the global process', `js { return JSON.stringify(globalThis.process.env) }`],
  [
    'a report of the process',
    `js { return JSON.stringify((await import("node:process")).default.report.getReport().environmentVariables) }`,
  ],
])('is without the key of the journal, the password of the store and the token of the server: %s', async (_, body) => {
  const cwd = await projectFolder({ 'job.mld': `exe @seen() = ${body}\nshow @seen()\n` });
  const { stdout, status } = await runCli(['job.mld', '--unrecorded'], { cwd, env: ENV });
  expect(status).toBe(0);
  expect(stdout).toContain('postgres://ada@127.0.0.1:1/mlld?project=acme/patrol');
  expect(stdout).toContain('kept');
  expect(stdout).not.toMatch(/hunter2|0123456789abcdef|a-token-of/);
});
