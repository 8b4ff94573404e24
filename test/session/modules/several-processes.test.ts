/** `mlld modules add` as several processes at once, and killed. docs/decisions/0047-modules.md. */
import fs from 'node:fs';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, it } from 'vitest';
import { projectFolder, resultOf, runCli, startCli } from '../../support/cli.js';

const COUNT = 6;
const names = Array.from({ length: COUNT }, (_, i) => `m${i}`);
const folder = async () =>
  projectFolder({
    'mlld-config.json': '{}',
    ...Object.fromEntries(names.map((name) => [`shared/${name}.mld`, `---\nname: ${name}\nauthor: a\n---\nvar @x = "${name}"\n`])),
  });

const lockOf = (cwd: string): { readonly modules: Record<string, { readonly sha256: string }> } =>
  JSON.parse(fs.readFileSync(path.join(cwd, 'mlld-lock.json'), 'utf8')) as ReturnType<typeof lockOf>;

it('loses no module when several are added at once', { timeout: 60_000 }, async () => {
  const cwd = await folder();
  const results = await Promise.all(names.map((name) => runCli(['modules', 'add', `shared/${name}.mld`], { cwd })));
  expect(results.map(({ status, stderr }) => `${status}${stderr}`)).toEqual(names.map(() => '0'));
  expect(Object.keys(lockOf(cwd).modules)).toEqual(names.map((name) => `@a/${name}`));
  expect((await runCli(['modules', 'verify'], { cwd })).status).toBe(0);
});

it('deletes no file that another process adds while unused ones are removed', { timeout: 60_000 }, async () => {
  const cwd = await folder();
  await Promise.all([
    ...names.map((name) => runCli(['modules', 'add', `shared/${name}.mld`], { cwd })),
    ...names.map(() => runCli(['modules', 'remove', '--unused'], { cwd })),
  ]);
  expect(Object.keys(lockOf(cwd).modules)).toHaveLength(COUNT);
  expect((await runCli(['modules', 'verify'], { cwd })).status).toBe(0);
});

it.each<[when: string, isReached: (cwd: string) => boolean]>([
  ['while it waits for its turn or has it', (cwd) => hasEntries(cwd, '.mlld/modules-lock')],
  ['when the first file is there', (cwd) => hasEntries(cwd, '.mlld/modules')],
  ['when the lock is there', (cwd) => fs.existsSync(path.join(cwd, 'mlld-lock.json'))],
])('leaves a lock whose modules are there when it is killed %s, and the next command works', { timeout: 60_000 }, async (_, isReached) => {
  const cwd = await folder();
  const files = names.map((name) => `shared/${name}.mld`);
  const child = startCli(['modules', 'add', ...files], { cwd });
  const ended = resultOf(child);
  while (child.exitCode === null && !isReached(cwd)) await sleep(1);
  child.kill('SIGKILL');
  await ended;
  if (fs.existsSync(path.join(cwd, 'mlld-lock.json'))) {
    expect(Object.keys(lockOf(cwd).modules)).toHaveLength(COUNT);
    expect((await runCli(['modules', 'verify'], { cwd })).status).toBe(0);
  }
  expect(await runCli(['modules', 'add', ...files], { cwd })).toMatchObject({ status: 0, stderr: '' });
  expect((await runCli(['modules', 'verify'], { cwd })).status).toBe(0);
});

function hasEntries(cwd: string, name: string): boolean {
  const absolute = path.join(cwd, name);
  return fs.existsSync(absolute) && fs.readdirSync(absolute).length > 0;
}
