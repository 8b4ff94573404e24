/** `mlld init --from` tells people with workflow scripts what runs here, and how. */
import { expect, it } from 'vitest';
import { callCli } from '../../support/in-process/call-cli.js';
import { projectFolder } from '../../support/cli.js';

const FILES = {
  'mlld-config.json': '{}',
  '.claude/workflows/audit.js': "export const meta = { name: 'berth-audit', description: 'Look at each berth' }\nreturn Date.now()\n",
  '.claude/workflows/typed.js': "export const meta = { name: 'typed', description: 'x' }\nconst x: string = 'y'\n",
  'elsewhere/job.mjs': "export const meta = { name: 'job', description: 'Does it' }\nreturn 1\n",
};

it('lists the scripts, what validate finds, and the command of each', async () => {
  const cwd = await projectFolder(FILES);
  const environment = { cwd, env: { PATH: '/usr/bin:/bin' } };
  const { status, stdout } = await callCli(['init', '--from', '.claude/workflows'], environment);
  expect(status).toBe(0);
  expect(stdout).toContain('.claude/workflows/audit.js  berth-audit: Look at each berth\n  note 2:8 Date.now() is recorded here');
  expect(stdout).toMatch(/mlld run audit --backend \w+\n/);
  expect(stdout).toMatch(/typed\.js\n {2}error 2:8 Parse error: .*\(this is JavaScript, not TypeScript/);
  expect(stdout).toContain('1 of 2 scripts can run');
});

it('names a script that no name finds by its path, and prints JSON', async () => {
  const cwd = await projectFolder(FILES);
  const { stdout } = await callCli(['init', '--from', 'elsewhere', '--json'], { cwd });
  expect(JSON.parse(stdout)).toMatchObject({
    scripts: [{ name: 'job', valid: true, run: expect.stringMatching(/^mlld run elsewhere\/job\.mjs --backend \w+$/) }],
  });
  const { status, stderr } = await callCli(['init', '--from', 'nowhere'], { cwd });
  expect({ status, stderr }).toEqual({ status: 1, stderr: expect.stringContaining('there are no workflow scripts in nowhere') });
});
