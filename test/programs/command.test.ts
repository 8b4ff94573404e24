/** `mlld run FILE.mjs` runs the program that a module exports, with the flags and the exit statuses of workflow scripts. */
import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { projectFolder, runCli } from '../support/cli.js';
import { PROJECT } from '../support/source-files.js';

const PROGRAM = `import { existsSync } from 'node:fs';
import { workflow } from 'mlld';
export default workflow('berth-audit', async (ctx, input) => {
  const found = await ctx.llm('look', [input], async () => 'a loose plank');
  await ctx.step('post', [found], async () => {
    if (existsSync('closed')) throw new Error('the office is closed');
  });
  return { found };
});
`;

async function folderWith(files: Readonly<Record<string, string>>): Promise<string> {
  const cwd = await projectFolder({ 'mlld-config.json': '{}', ...files });
  mkdirSync(join(cwd, 'node_modules'));
  symlinkSync(PROJECT, join(cwd, 'node_modules', 'mlld'));
  return cwd;
}

it('runs, plans and resumes it', async () => {
  const cwd = await folderWith({ 'audit.mjs': PROGRAM, closed: '' });
  const failed = await runCli(['run', 'audit.mjs', '--args', '"north"'], { cwd });
  expect(failed).toMatchObject({ status: 1, stdout: '' });
  expect(failed.stderr).toContain('Error: audit.mjs: the office is closed\n  hint: thrown at ');
  expect(failed.stderr).toContain(`next: mlld run audit.mjs --args '"north"' --resume`);
  const plan = await runCli(['run', 'audit.mjs', '--args', '"north"', '--plan'], { cwd });
  expect(plan.stdout).toContain('berth-audit: 1 reused, 1 to execute');
  const open = await folderWith({ 'audit.mjs': PROGRAM });
  expect(await runCli(['run', './audit.mjs', '--args', '"north"'], { cwd: open })).toMatchObject({
    status: 0,
    stdout: '{\n  "found": "a loose plank"\n}\n',
  });
  const again = await runCli(['run', 'audit.mjs', '--args', '"north"', '--resume'], { cwd: open });
  expect(again.stderr).toContain('2 calls: 2 reused');
});

it.each([
  ['export default 1;\n', 'the default export of job.mjs is no program'],
  ['export default null;\n', 'the default export of job.mjs is no program'],
  ["import './missing.mjs';\nexport default 1;\n", "job.mjs can't be loaded: Cannot find module"],
  ['export const x = 1;\n', 'a workflow script begins with `export const meta'],
  ["throw new Error('no');\nexport default 1;\n", "job.mjs can't be loaded: no"],
])('refuses %j', async (text, message) => {
  const cwd = await folderWith({ 'job.mjs': text });
  const { status, stderr } = await runCli(['run', 'job.mjs'], { cwd });
  expect(status).toBe(1);
  expect(stderr).toContain(message);
  expect(stderr).not.toContain('    at ');
});

it('explains a call whose kind an edit has changed as another sample', async () => {
  const program = (kind: string): string => `import { workflow } from 'mlld';
export default workflow('berth-audit', (ctx) => ctx.${kind}('look', ['north'], async () => 'a loose plank'));
`;
  const cwd = await folderWith({ 'audit.mjs': program('llm') });
  await runCli(['run', 'audit.mjs'], { cwd });
  writeFileSync(join(cwd, 'audit.mjs'), program('step'));
  await runCli(['run', 'audit.mjs', '--resume'], { cwd });
  const { stdout } = await runCli(['journal', 'explain', 'latest'], { cwd });
  expect(stdout).toContain('executed: it is sample 2, and the results of equal calls belong to other samples at audit.mjs:2:');
});
