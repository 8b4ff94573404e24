/// <reference lib="dom" />
/** The page that `mlld journal open` serves follows a run that is still running, and says what is missing in a damaged journal. */
import fs from 'node:fs';
import path from 'node:path';
import { chromium, type Browser } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { projectFolder, resultOf, runCli, startCli, type CliProcess } from '../support/cli.js';

const BROWSER = ['/usr/bin/chromium-headless-shell', '/usr/bin/chromium', '/usr/bin/google-chrome'].find((file) => fs.existsSync(file));
/** All waits are for what the page shows; this only ends a test that waits in vain, however busy the machine is. */
const PATIENCE = { timeout: 120_000 };
const IN_VAIN = { timeout: 180_000 };

const WAITING = `exe llm @ask(t) = js { return "A:" + t }
exe llm @wait(t) = sh { until test -e go; do sleep 0.05; done; echo "B:$t" }
show @ask("ebb")
show @wait("flood")
`;

async function firstLineOf(stream: CliProcess['stdout']): Promise<string> {
  for await (const chunk of stream) return String(chunk).trim();
  throw new Error('it printed nothing');
}

interface Opened {
  readonly cwd: string;
  readonly url: string;
  readonly run: ReturnType<typeof resultOf>;
  readonly opened: CliProcess;
  readonly closed: ReturnType<typeof resultOf>;
}

/** Opens the page of a run that waits for the file `go`. */
async function openRunning(): Promise<Opened> {
  const cwd = await projectFolder({ 'job.mld': WAITING });
  const running = startCli(['job.mld', '--checkpoint'], { cwd });
  const run = resultOf(running);
  await expect
    .poll(async () => (await runCli(['journal', 'show', 'latest', '--json'], { cwd })).stdout, PATIENCE)
    .toMatch(/"call\.started"[^\n]*"wait"/);
  const opened = startCli(['journal', 'open', '--no-browser'], { cwd });
  const closed = resultOf(opened);
  return { cwd, url: await firstLineOf(opened.stdout), run, opened, closed };
}

it('answers 304 to a page that is up to date, and serves a page without a version when the run has ended', IN_VAIN, async () => {
  const { cwd, url, run, opened, closed } = await openRunning();
  const versionIn = (page: string): string | undefined => /<script type="application\/json" id="version">"(.+?)"</.exec(page)?.[1];
  const page = await (await fetch(url)).text();
  expect(page).toContain("connect-src 'self'");
  expect(versionIn(page)).toBeDefined();
  fs.writeFileSync(path.join(cwd, 'go'), '');
  expect(await run).toMatchObject({ status: 0 });
  const last = await (await fetch(url, { headers: { 'if-none-match': versionIn(page) as string } })).text();
  expect([versionIn(last), last.includes('B:flood'), last.includes('connect-src')]).toEqual([undefined, true, false]);
  opened.kill('SIGINT');
  expect(await closed).toMatchObject({ status: 0 });
});

describe.skipIf(BROWSER === undefined)('in a browser', IN_VAIN, () => {
  let browser: Browser;
  beforeAll(async () => {
    browser = await chromium.launch({ executablePath: BROWSER as string, args: ['--no-sandbox'] });
  }, IN_VAIN.timeout);
  afterAll(() => browser?.close());

  it('follows the run to its end, without a message', async () => {
    const { cwd, url, run, opened, closed } = await openRunning();
    const page = await browser.newPage();
    const noise: string[] = [];
    page.on('pageerror', (error) => noise.push(error.message));
    page.on('console', (message) => noise.push(message.text()));
    await page.goto(url);
    await expect.poll(() => page.locator('.notice').textContent(), PATIENCE).toContain('this page follows it');
    expect(await page.locator('.sentence').textContent()).toMatch(/^Still running/);
    fs.writeFileSync(path.join(cwd, 'go'), '');
    expect(await run).toMatchObject({ status: 0 });
    await expect.poll(() => page.locator('.sentence').textContent(), PATIENCE).toMatch(/^Completed after .*: all 2 calls have a result/);
    expect(await page.locator('.notice').count()).toBe(0);
    expect(noise).toEqual([]);
    await page.close();
    opened.kill('SIGINT');
    expect(await closed).toMatchObject({ status: 0 });
  });

  it('says that it lost its server', async () => {
    const { cwd, url, run, opened, closed } = await openRunning();
    const page = await browser.newPage();
    await page.goto(url);
    await page.waitForSelector('.notice', PATIENCE);
    opened.kill('SIGINT');
    await closed;
    await expect.poll(() => page.locator('.notice').textContent(), PATIENCE).toContain('does not respond');
    await page.close();
    fs.writeFileSync(path.join(cwd, 'go'), '');
    await run;
  });

  it('says what is missing where the journal is damaged', async () => {
    const cwd = await projectFolder({ 'job.mld': 'exe llm @ask(t) = js { return "A:" + t }\nshow @ask("ebb")\nshow @ask("flood")\n' });
    await runCli(['job.mld', '--checkpoint'], { cwd });
    const root = path.join(cwd, '.mlld');
    const journal = fs.readdirSync(root, { recursive: true, encoding: 'utf8' }).find((file) => file.endsWith('.ndjson')) as string;
    const file = path.join(root, journal);
    const lines = fs.readFileSync(file, 'utf8').split('\n');
    lines[4] = `${(lines[4] as string).slice(0, 20)}#${(lines[4] as string).slice(21)}`;
    fs.writeFileSync(file, lines.join('\n'));
    await runCli(['journal', 'report', 'latest', '-o', 'damaged.html'], { cwd });
    const page = await browser.newPage();
    await page.goto(`file://${path.join(cwd, 'damaged.html')}`);
    await page.getByRole('heading', { name: 'The journal of this run is incomplete' }).waitFor(PATIENCE);
    expect(await page.locator('main').textContent()).not.toBe('');
    await page.close();
  });
});
