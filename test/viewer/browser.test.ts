/// <reference lib="dom" />
/** Opens the report in a real browser. Skipped without one: `apt-get install chromium-headless-shell` installs it. */
import fs from 'node:fs';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import { chromium, type Browser, type Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Fact } from '../../journal/event.js';
import { openFileStore } from '../../journal/storage/file-store.js';
import { projectFolder, runCli } from '../support/cli.js';
import { recordRun } from '../support/recorded-project.js';
import { call, finished, inside, runRef, started } from '../support/written-runs.js';

const BROWSER = ['/usr/bin/chromium-headless-shell', '/usr/bin/chromium', '/usr/bin/google-chrome'].find((file) => fs.existsSync(file));
const CALLS = 10_000;
const ATTACK = `</script><script>document.title='owned'</script><img src=x onerror="document.title='owned'">`;

describe.skipIf(BROWSER === undefined)('a report in a browser', () => {
  let browser: Browser;
  let cwd: string;
  /** Requests beyond the page, errors, what the console said. */
  let noise: string[];

  beforeAll(async () => {
    browser = await chromium.launch({ executablePath: BROWSER as string, args: ['--no-sandbox'] });
    cwd = await projectFolder();
    await recordLargeRun();
    await recordRun(
      cwd,
      2,
      inside('main/survey#0', { kind: 'exe', name: ATTACK, site: 'job.mld:1:1' }, call('main/survey#0/ask#0', ATTACK)),
    );
    await runCli(['journal', 'report', 'job@2', '-o', 'large.html'], { cwd });
    await runCli(['journal', 'report', 'job@1', '-o', 'small.html', '--diff', 'job@2'], { cwd });
  }, 60_000);
  afterAll(() => browser?.close());

  async function recordLargeRun(): Promise<void> {
    const journal = await openFileStore(cwd).create(runRef(1));
    const post = (facts: readonly Fact[]): void => facts.forEach((fact) => journal.post(fact));
    post([started(runRef(1)), { type: 'op.started', op: 'main/for#0' as never, kind: 'for', total: CALLS }]);
    for (let n = 0; n < CALLS; n++) {
      const outcome = n === 7777 ? 'failed' : n % 3 === 0 ? 'reused' : 'completed';
      post(
        inside(`main/for#0[${n}]`, { kind: 'for:iteration', item: `item ${n}` }, call(`main/for#0[${n}]/ask#0`, `tide ${n}`, { outcome })),
      );
      if (n === CALLS / 2) post([{ type: 'checkpoint.reached', name: 'half of it' }]);
    }
    await journal.append({ type: 'op.finished', op: 'main/for#0' as never, outcome: 'ok' });
    await journal.append(finished());
    await journal.close();
  }

  async function open(file: string, colorScheme: 'light' | 'dark' = 'light'): Promise<Page> {
    const page = await browser.newPage({ colorScheme, viewport: { width: 1280, height: 900 } });
    noise = [];
    const url = pathToFileURL(path.join(cwd, file)).href;
    page.on('request', (request) => request.url() !== url && noise.push(request.url()));
    page.on('pageerror', (error) => noise.push(error.message));
    page.on('console', (message) => noise.push(message.text()));
    await page.goto(url);
    await page.waitForSelector('[role=tree]');
    return page;
  }

  it('opens with ten thousand calls within seconds, and asks for nothing', async () => {
    const from = performance.now();
    const page = await open('large.html');
    await page.waitForFunction(() => document.querySelector('canvas')!.height > 60);
    expect(performance.now() - from).toBeLessThan(5000);
    expect(await page.locator('dl').textContent()).toContain('reused3,334');
    expect(noise).toEqual([]);
    expect(await page.locator('#failures').textContent()).toContain('main/for#0[7777]/ask#0');
    await page.close();
  });

  it('finds an operation, and shows its argument and result', async () => {
    const page = await open('large.html');
    await page.keyboard.press('/');
    await page.keyboard.type('TIDE 1234');
    await page.waitForFunction(() => document.getElementById('count')!.textContent!.startsWith('1 of 20001'));
    await page.keyboard.press('Enter');
    const panel = page.locator('#panel');
    expect(await panel.locator('pre').allTextContents()).toEqual([
      expect.stringContaining('tide 1234'),
      expect.stringContaining('A:"tide 1234"'),
    ]);
    expect(await page.locator('[aria-selected=true]').first().getAttribute('aria-label')).toContain('ask tide 1234');
    expect(noise).toEqual([]);
    await page.close();
  });

  it('is used with the keyboard alone', async () => {
    const page = await open('large.html');
    await page.locator('[role=treeitem]').first().focus();
    const focused = (): Promise<string | null> => page.evaluate(() => document.activeElement!.getAttribute('aria-label'));
    expect(await focused()).toContain('for');
    await page.keyboard.press('ArrowRight');
    await page.keyboard.press('ArrowDown');
    expect(await focused()).toContain('item 0');
    await page.keyboard.press('ArrowRight');
    await page.keyboard.press('ArrowRight');
    await page.keyboard.press('Enter');
    expect(await page.locator('#panel').textContent()).toContain('reused from event');
    await page.keyboard.press('ArrowLeft');
    expect(await focused()).toContain('item 0');
    await page.close();
  });

  it('zooms the timeline by key, wheel and drag, and chooses by click', async () => {
    const page = await open('large.html');
    const picture = (): Promise<string> =>
      page.evaluate(
        () =>
          new Promise((resolve) =>
            requestAnimationFrame(() => requestAnimationFrame(() => resolve(document.querySelector('canvas')!.toDataURL()))),
          ),
      );
    const seen = [await picture()];
    await page.locator('canvas').focus();
    for (const key of ['+', '+', '+', 'ArrowRight']) {
      await page.keyboard.press(key);
      const now = await picture();
      expect(seen).not.toContain(now);
      seen.push(now);
    }
    const box = (await page.locator('canvas').boundingBox())!;
    await page.mouse.move(box.x + 300, box.y + 40);
    await page.mouse.wheel(0, -300);
    expect(seen).not.toContain(await picture());
    await page.keyboard.press('0');
    expect(await picture()).toBe(seen[0]);
    await page.mouse.click(box.x + 500, box.y + 30);
    expect(await page.locator('#panel').textContent()).toContain('main/for#0');
    await page.close();
  });

  it('is light and dark as the reader wants it', async () => {
    const ground = async (scheme: 'light' | 'dark'): Promise<string> => {
      const page = await open('small.html', scheme);
      const colour = await page.evaluate(() => getComputedStyle(document.body).backgroundColor);
      await page.close();
      return colour;
    };
    expect([await ground('light'), await ground('dark')]).toEqual(['rgb(255, 255, 255)', 'rgb(13, 17, 23)']);
  });

  it('shows what a run contains as text, and runs none of it', async () => {
    const page = await open('small.html');
    await page.locator('[role=treeitem]').first().click();
    await page.keyboard.press('ArrowRight');
    await page.keyboard.press('ArrowDown');
    await page.keyboard.press('Enter');
    expect(await page.locator('#panel').textContent()).toContain(ATTACK);
    expect(await page.title()).toBe(`job ${runRef(2).run}`);
    expect(await page.locator('img').count()).toBe(0);
    expect(noise).toEqual([]);
    await page.close();
  });

  it('shows two runs side by side', async () => {
    const page = await open('small.html');
    const difference = page.locator('section[aria-label=Difference]');
    expect(await difference.textContent()).toContain(`Only in ${runRef(1).run}: `);
    expect(await difference.locator('th').allTextContents()).toEqual(expect.arrayContaining([runRef(1).run, runRef(2).run]));
    await page.close();
  });
});
