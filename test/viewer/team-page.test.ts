/// <reference lib="dom" />
/**
 * The page over the runs of everybody works in a real browser: it follows, filters and turns pages, fits each window, and loads nothing.
 * Skipped without a browser: `apt-get install chromium-headless-shell` installs it.
 */
import fs from 'node:fs';
import axe from 'axe-core';
import { chromium, type Browser, type Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { openFileStore } from '../../journal/storage/file-store.js';
import type { JournalStore } from '../../journal/store.js';
import type { PipelineServer } from '../../src/server/server.js';
import { recordSample } from '../server/team-runs.js';
import { projectFolder } from '../support/cli.js';
import { serveTeam } from '../server/team-server.js';

const BROWSER = ['/usr/bin/chromium-headless-shell', '/usr/bin/chromium', '/usr/bin/google-chrome'].find((file) => fs.existsSync(file));
const ATTACK = `<img src=x onerror="document.title='owned'">`;
const LONG = 'a-name-that-is-longer-than-any-screen-of-a-phone-and-has-no-place-to-break-'.repeat(2);
const HOUR_MS = 3_600_000;
const RUNS = 120;
const READ = { role: 'read', token: 'a-token-that-only-reads' } as const;
const RUN = { role: 'run', token: 'a-token-that-may-run-it' } as const;

/** All waits are for what the page shows; this only ends a test that waits in vain. */
const PATIENCE = { timeout: 60_000 };
const IN_VAIN = 240_000;

describe.skipIf(BROWSER === undefined)('the page of the team', { timeout: IN_VAIN }, () => {
  let browser: Browser;
  let server: PipelineServer;
  let store: JournalStore;
  let page: Page;
  let noise: string[];
  const running: { finish(): Promise<void> }[] = [];

  beforeAll(async () => {
    const folder = await projectFolder();
    store = openFileStore(folder);
    const nowMs = Date.now();
    for (let n = 0; n < RUNS; n++) {
      const workflow = ['llm/run/patrol.mld', 'llm/run/nightly.mld', `llm/run/${LONG}.mld`][n % 3] as string;
      const user = n === 7 ? ATTACK : (['ada', 'bob', 'eve'][n % 3] as string);
      await recordSample(store, {
        workflow,
        atMs: nowMs - (n + 1) * 3 * HOUR_MS,
        user,
        usd: n / 40,
        status: n % 11 === 4 ? 'failed' : 'completed',
      });
    }
    running.push(await recordSample(store, { workflow: 'ferry.dot', atMs: nowMs - 90_000, user: 'ada', asks: `Open the lock? ${ATTACK}` }));
    server = await serveTeam({ store, folder, tokens: [READ, RUN] });
    browser = await chromium.launch({ executablePath: BROWSER as string, args: ['--no-sandbox'] });
  }, IN_VAIN);
  afterEach(() => page?.close());
  afterAll(async () => {
    await browser?.close();
    await server?.close();
    for (const run of running) await run.finish();
  });

  async function open(
    address: string,
    { token = READ.token as string, width = 1440, colorScheme = 'light' as 'light' | 'dark', hasPipelines = true } = {},
  ) {
    page = await browser.newPage({ colorScheme, viewport: { width, height: 900 } });
    if (!hasPipelines) await page.route('**/pipelines', (route) => route.fulfill({ json: [] }));
    page.setDefaultTimeout(PATIENCE.timeout);
    noise = [];
    page.on('request', (request) => request.url().startsWith(server.url) || request.url().startsWith('data:') || noise.push(request.url()));
    page.on('pageerror', (error) => noise.push(error.message));
    page.on('console', (message) => noise.push(message.text()));
    await page.addInitScript((known) => sessionStorage.setItem('token', known), token);
    await page.goto(server.url + address);
  }

  const rows = (): Promise<number> => page.locator('tr[data-run]').count();
  const range = (): Promise<string | null> => page.locator('.pages [role=status]').textContent();

  it('is named where no pipeline has run, because the runs of scripts are there', async () => {
    await open('', { hasPipelines: false });
    await page.locator('main').getByText('No pipeline has run here yet.').waitFor();
    await page.locator('main').getByRole('link', { name: 'All runs and costs' }).click();
    await expect.poll(range, PATIENCE).toBe('1 to 50 of 121');
    expect(noise).toEqual([]);
  });

  it('shows a new run by itself, and how it ends', async () => {
    await open('team?days=90');
    await expect.poll(range, PATIENCE).toBe('1 to 50 of 121');
    const started = await recordSample(store, { workflow: 'llm/run/patrol.mld', atMs: Date.now(), user: 'zoe', usd: 2, isRunning: true });
    running.push(started);
    const row = page.locator(`tr[data-run="${started.ref.run}"]`);
    await row.waitFor();
    expect(await row.textContent()).toMatch(/patrolrunningzoe@laptop.*\$2\.00/);
    await running.pop()?.finish();
    await expect.poll(() => row.locator('.pill').textContent(), PATIENCE).toBe('completed');
    await store.deleteRun(started.ref);
    await expect.poll(range, PATIENCE).toBe('1 to 50 of 121');
    expect(noise).toEqual([]);
  });

  it('filters, turns pages, and keeps that in its address without the token', async () => {
    await open('team?days=90');
    await page.locator('tr[data-run]').first().waitFor();
    await page.getByRole('button', { name: 'Older' }).click();
    await expect.poll(range, PATIENCE).toBe('51 to 100 of 121');
    await page.keyboard.press('/');
    await page.waitForSelector('input:focus');
    await page.keyboard.type('nightly bob');
    await expect.poll(range, PATIENCE).toBe('1 to 39 of 39 that fit, of 121');
    await page.getByLabel('Status').selectOption('failed');
    await expect.poll(rows, PATIENCE).toBe(4);
    expect(new URL(page.url()).search).toBe('?q=nightly+bob&status=failed&days=90');
    await page.reload();
    await expect.poll(rows, PATIENCE).toBe(4);
    expect(await page.getByLabel('Search').inputValue()).toBe('nightly bob');
    expect(page.url() + (await page.content())).not.toContain(READ.token);
    expect(noise).toEqual([]);
  });

  it('adds costs up by day, person and function, and lists the question that waits', async () => {
    await open('team?days=90');
    await page.locator('section', { hasText: 'By person' }).locator('tbody tr').first().waitFor();
    const functions = page.locator('section[aria-labelledby="title-by-function"]');
    await expect.poll(() => functions.locator('tbody').textContent(), PATIENCE).toMatch(/@ask.*\$178\.75121121/);
    const question = page.locator('.waiting a');
    expect(await question.textContent()).toBe(`Open the lock? ${ATTACK}`);
    expect(await page.title()).toBe('All runs and costs'); // no text of a journal became markup
    await page.getByRole('button', { name: 'bob@laptop' }).click();
    await expect.poll(range, PATIENCE).toBe('1 to 39 of 39 that fit, of 121');
    expect(noise).toEqual([]);
    await question.click();
    await expect.poll(() => page.locator('#status').textContent(), PATIENCE).toContain('waiting');
    expect(await page.locator('#cancel').count()).toBe(0); // this token only reads
    expect(await page.getByRole('button', { name: '[Y] Yes' }).isDisabled()).toBe(true);
    expect(await page.getByRole('link', { name: 'Start a run' }).count()).toBe(0);
    await page.getByRole('link', { name: 'All runs and costs' }).click();
    await page.locator('tr[data-run]').first().waitFor();
  });

  it('shows the page of a script while it runs, and comes back', async () => {
    const started = await recordSample(store, { workflow: 'llm/run/patrol.mld', atMs: Date.now(), user: 'zoe', isRunning: true });
    running.push(started);
    await open('team?days=90');
    await page.locator(`tr[data-run="${started.ref.run}"]`).getByRole('link', { name: 'patrol' }).click();
    await expect.poll(() => page.locator('h1').textContent(), PATIENCE).toBe('job running');
    expect(new URL(page.url()).pathname).toBe(`/team/runs/${started.ref.run}`);
    await page.locator('nav.views').getByRole('link', { name: 'Operations', exact: true }).click();
    await running.pop()?.finish();
    await expect.poll(() => page.locator('h1 .pill').first().textContent(), PATIENCE).toBe('completed');
    await page.reload();
    await expect.poll(() => page.locator('h1 .pill').first().textContent(), PATIENCE).toBe('completed');
    await page.getByRole('link', { name: 'All runs and costs' }).click();
    await page.locator('tr[data-run]').first().waitFor();
    await store.deleteRun(started.ref);
    expect(noise).toEqual([]);
  });

  it('offers what changes something to a token that may run', async () => {
    await open('', { token: RUN.token });
    await page.getByRole('link', { name: 'Start a run' }).waitFor();
    await expect.poll(() => page.getByRole('button', { name: '[Y] Yes' }).isEnabled(), PATIENCE).toBe(true);
  });

  it.each([
    [1440, 'light'],
    [820, 'dark'],
    [390, 'light'],
  ] as const)('fits a window of %s px, %s', async (width, colorScheme) => {
    await open('team?days=30', { width, colorScheme });
    await page.locator('tr[data-run]').first().waitFor();
    const functions = page.locator('section[aria-labelledby="title-by-function"]');
    await expect.poll(() => functions.locator('tbody').textContent(), PATIENCE).toContain('@ask');
    expect(await page.evaluate(() => document.documentElement.scrollWidth - innerWidth)).toBeLessThanOrEqual(0);
    // A sum is not cut at its right edge either: by person, by workflow, by function.
    const cut = page.locator('section:is([aria-labelledby="title-by-person"], [aria-labelledby="title-by-workflow"], .sums) .scroll');
    const isCut = await cut.evaluateAll((tables) => tables.map(({ scrollWidth, clientWidth }) => scrollWidth > clientWidth));
    expect(isCut).toEqual([false, false, false]);
    await page.evaluate(axe.source);
    const { violations } = await page.evaluate(() => (globalThis as unknown as { axe: typeof axe }).axe.run());
    expect(violations.map(({ id, nodes }) => [id, nodes.map(({ html }) => html)])).toEqual([]);
    expect(noise).toEqual([]);
  });
});
