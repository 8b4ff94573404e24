/** `mlld journal open` serves the page of a run to this machine until Ctrl-C. */
import fs from 'node:fs/promises';
import path from 'node:path';
import { expect, it } from 'vitest';
import { projectFolder, resultOf, runCli, startCli, type CliProcess } from '../../support/cli.js';

async function recorded(): Promise<string> {
  const cwd = await projectFolder({ 'job.mld': 'exe llm @ask(t) = js { return "A:" + t }\nshow @ask("ebb")\n' });
  await runCli(['job.mld', '--checkpoint'], { cwd });
  return cwd;
}

async function addressOf(child: CliProcess): Promise<string> {
  for await (const chunk of child.stdout) return String(chunk).trim();
  throw new Error('it printed nothing');
}

it('opens a browser at an address that nobody guesses, and ends in order at Ctrl-C', async () => {
  const cwd = await recorded();
  const bin = path.join(cwd, 'bin');
  await fs.mkdir(bin);
  const opened = path.join(cwd, 'opened.txt');
  for (const name of ['xdg-open', 'open'])
    await fs.writeFile(path.join(bin, name), `#!/bin/sh\necho "$1" > "${opened}.new" && mv "${opened}.new" "${opened}"\n`, { mode: 0o755 });
  const child = startCli(['journal', 'open'], { cwd, env: { PATH: `${bin}:${process.env['PATH'] ?? ''}` } });
  const ended = resultOf(child);
  const url = await addressOf(child);
  expect(url).toMatch(/^http:\/\/127\.0\.0\.1:\d+\/[0-9a-f]{32}\/$/);
  const response = await fetch(url);
  expect([response.status, response.headers.get('content-type')]).toEqual([200, 'text/html; charset=utf-8']);
  const page = await response.text();
  expect(page).toContain('A:ebb');
  expect((await fetch(new URL('/', url))).status).toBe(404);
  expect((await fetch(url, { method: 'POST' })).status).toBe(404);
  await expect.poll(() => fs.readFile(opened, 'utf8').catch(() => ''), { timeout: 10_000 }).toBe(`${url}\n`);
  child.kill('SIGINT');
  const { status, stderr } = await ended;
  expect(status).toBe(0);
  expect(stderr).toMatch(/^\S+ of job\.mld; Ctrl-C ends it\n$/);
});

it('prints the address with --no-browser, and where no browser can be started', async () => {
  const cwd = await recorded();
  const child = startCli(['journal', 'open', 'job.mld', '--no-browser'], { cwd, env: {} });
  const ended = resultOf(child);
  await addressOf(child);
  child.kill('SIGTERM');
  expect(await ended).toMatchObject({ status: 0 });
  const { status, stderr } = await runCli(['journal', 'open', 'nowhere'], { cwd });
  expect([status, stderr]).toEqual([1, expect.stringContaining('nowhere')]);
});
