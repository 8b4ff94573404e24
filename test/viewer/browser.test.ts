/// <reference lib="dom" />
/** Opens pages of runs in a real browser. Skipped without one: `apt-get install chromium-headless-shell` installs it. */
import fs from 'node:fs';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import axe from 'axe-core';
import { chromium, type Browser, type Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { openFileStore } from '../../journal/storage/file-store.js';
import { projectFolder, runCli } from '../support/cli.js';
import { pipeline } from '../support/pipeline-run.js';
import { recordRun } from '../support/recorded-project.js';
import { call, inside, runRef } from '../support/written-runs.js';
import { recordTriage } from './sample-runs.js';

const BROWSER = ['/usr/bin/chromium-headless-shell', '/usr/bin/chromium', '/usr/bin/google-chrome'].find((file) => fs.existsSync(file));
const ATTACK = `</script><script>document.title='owned'</script><img src=x onerror="document.title='owned'">`;
const CHOSEN = 'call=main/for#1[50]/review#0';
const ELEMENTS_MAX = 1000;
const BYTES_MAX = 15_000_000;

describe.skipIf(BROWSER === undefined)('the page of a run in a browser', () => {
  let browser: Browser;
  let cwd: string;
  let page: Page;
  /** Requests beyond the page, errors, what the console said. */
  let noise: string[];

  beforeAll(async () => {
    browser = await chromium.launch({ executablePath: BROWSER as string, args: ['--no-sandbox'] });
    cwd = await projectFolder();
    const samples = [
      [200, 60, ['--diff', 'triage@2']],
      [2000, 600, []],
      [10_000, 3000, []],
    ] as const;
    for (const [calls, reused, flags] of samples) {
      const folder = await projectFolder();
      await recordTriage(openFileStore(folder), { calls, reused, isCut: calls !== 2000 });
      await runCli(['journal', 'report', 'triage', '-o', path.join(cwd, `${calls}.html`), ...flags], { cwd: folder });
    }
    await recordRun(
      cwd,
      1,
      inside('main/survey#0', { kind: 'exe', name: ATTACK, site: 'job.mld:1:1' }, call('main/survey#0/ask#0', ATTACK)),
    );
    await runCli(['journal', 'report', 'job', '-o', 'attack.html'], { cwd });
  }, 120_000);
  afterEach(() => page?.close());
  afterAll(() => browser?.close());

  async function open(name: string, { hash = '', width = 1440, scheme = 'light' as 'light' | 'dark' } = {}): Promise<void> {
    page = await browser.newPage({ colorScheme: scheme, viewport: { width, height: 900 } });
    noise = [];
    const url = pathToFileURL(path.join(cwd, `${name}.html`)).href;
    page.on('request', (request) => request.url() !== url && noise.push(request.url()));
    page.on('pageerror', (error) => noise.push(error.message));
    page.on('console', (message) => noise.push(message.text()));
    await page.goto(url);
    await page.waitForSelector('main');
    await show(hash);
  }

  async function show(hash: string): Promise<void> {
    await page.evaluate((to) => void (location.hash = to), hash);
    // The page has followed the address when two frames have been drawn since.
    await page.evaluate(() => new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(resolve))));
  }

  async function violations(): Promise<readonly string[]> {
    await page.evaluate(axe.source);
    const results = await page.evaluate(() =>
      (globalThis as unknown as { axe: { run(): Promise<axe.AxeResults> } }).axe.run().then(({ violations: found }) => found),
    );
    return results.map(({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html).join(' ')}`);
  }

  const isWider = (): Promise<boolean> => page.evaluate(() => document.documentElement.scrollWidth > document.documentElement.clientWidth);

  it.each([
    [200, 1440, 'light', ['overview', 'operations', CHOSEN, 'script', 'output', 'compare']],
    [200, 390, 'dark', ['overview', 'operations', 'script', 'compare']],
    [2000, 820, 'dark', ['overview', CHOSEN]],
    [10_000, 390, 'light', [CHOSEN]],
    [10_000, 1440, 'dark', ['overview']],
  ] as const)('shows %d calls on %d pixels, %s, without a violation, a message or a request', async (name, width, scheme, views) => {
    await open(String(name), { width, scheme });
    for (const view of views) {
      await show(view);
      expect(await violations(), view).toEqual([]);
      expect(await isWider(), view).toBe(false);
    }
    expect(noise).toEqual([]);
  });

  it('offers the commands that repair a run behind its three most frequent causes, and the other causes below', async () => {
    await open('10000');
    const parts = page.locator('.trouble > ul.groups, .trouble > .repair, .trouble > h3');
    expect(await parts.evaluateAll((all) => all.map(({ className, tagName }) => className || tagName))).toEqual([
      'groups',
      'repair',
      'H3',
      'groups',
    ]);
    expect(await page.locator('.trouble > ul.groups').first().locator('li').count()).toBe(3);
  });

  it.each([
    [390, 50, true],
    [1440, 30, false],
  ])('gives the text of an operation a line of its own on a phone: %i pixels', async (width, rowPx, isBelow) => {
    await open('200', { hash: 'operations', width });
    const tops = (selector: string): Promise<readonly number[]> =>
      page.locator(selector).evaluateAll((all) => all.map((each) => each.getBoundingClientRect().top));
    const [first = 0, second = 0] = await tops('.item');
    expect(second - first).toBe(rowPx);
    const [[name = 0], [text = 0]] = [await tops('.item b'), await tops('.item .about')];
    expect(text - name > 10).toBe(isBelow);
  });

  it('opens with ten thousand calls in 15 MB, and with few elements', async () => {
    expect(fs.statSync(path.join(cwd, '10000.html')).size).toBeLessThan(BYTES_MAX);
    await open('10000');
    await page.waitForSelector('canvas');
    expect(await page.locator('*').count()).toBeLessThan(ELEMENTS_MAX);
  });

  it('says first what happened, what went wrong and how to repair it', async () => {
    await open('200');
    expect(await page.locator('.sentence').textContent()).toMatch(
      /^Failed after .*: \d+ of 200 calls have a result, \d+ of them reused; 3 failed, 3 unfinished\./,
    );
    expect(await page.locator('.trouble').textContent()).toContain('no reply within 60s: the attempt timed out');
    expect(await page.locator('.repair code').first().textContent()).toBe('mlld run triage --resume failed');
  });

  it('keeps what is typed while it searches for what was typed before', async () => {
    await open('10000', { hash: 'operations' });
    const slowly = await page.context().newCDPSession(page);
    await slowly.send('Emulation.setCPUThrottlingRate', { rate: 10 });
    await page.keyboard.press('/');
    await page.waitForSelector('input:focus');
    await page.keyboard.type('TICKET 0137', { delay: 170 });
    await slowly.send('Emulation.setCPUThrottlingRate', { rate: 1 });
    expect(await page.locator('input[type=search]').inputValue()).toBe('TICKET 0137');
    await expect.poll(() => new URL(page.url()).hash).toContain('TICKET%200137');
    expect(await page.locator('input[type=search]').inputValue()).toBe('TICKET 0137');
  });

  it('finds calls by what is in their results, and walks from one to the next', async () => {
    await open('2000', { hash: 'operations' });
    await page.keyboard.press('/');
    await page.waitForSelector('input:focus');
    await page.keyboard.type('TICKET 0137');
    await page.waitForSelector('.filters button');
    const names = page.locator('[role=treeitem] b', { hasText: '@' });
    await expect.poll(() => names.allTextContents()).toEqual(['@extract', '@review', '@judge', '@judge']);
    await names.nth(1).click();
    await page.waitForSelector('.call pre');
    expect(await page.locator('.call pre').first().textContent()).toContain('Ticket 0137');
    expect(new URL(page.url()).hash).toContain('call=main/for%231[137]/review%230');
    await page.getByRole('button', { name: 'Next' }).click();
    await expect.poll(() => new URL(page.url()).hash).toContain('main/for%232[136]');
    await show('operations&text=stops%20the%20work&fn=review&state=executed');
    await expect.poll(() => page.locator('.list h2 small').textContent()).toMatch(/^[1-9]\d* shown$/);
  });

  it('is used with the keyboard alone', async () => {
    await open('2000', { hash: 'operations' });
    const current = (): Promise<string | null> => page.locator('.item.current').textContent();
    await page.locator('[role=tree]').focus();
    expect(await current()).toContain('for');
    await page.keyboard.press('ArrowRight');
    await page.keyboard.press('ArrowDown');
    await expect.poll(current).toContain('Ticket 0000');
    await page.keyboard.press('ArrowRight');
    await page.keyboard.press('ArrowRight');
    await expect.poll(current).toContain('@extract');
    await page.keyboard.press('Enter');
    await page.waitForSelector('.call .reused');
    await page.keyboard.press('ArrowLeft');
    await expect.poll(current).toContain('item 1');
  });

  it('zooms the timeline by key, and opens a call by a click', async () => {
    await open('200');
    const label = (): Promise<string | null> => page.locator('canvas').getAttribute('aria-label');
    const before = await label();
    await page.locator('canvas').focus();
    await page.keyboard.press('+');
    await expect.poll(label).not.toBe(before);
    await page.keyboard.press('0');
    await expect.poll(label).toBe(before);
    // The page may still be laid out: the canvas is looked for anew until the tip of a call is there.
    const place = async (): Promise<[x: number, y: number]> => {
      const { x, y } = (await page.locator('canvas').boundingBox())!;
      return [x + 20, y + 52];
    };
    const tips = async (): Promise<number> => {
      await page.mouse.move(0, 0);
      await page.mouse.move(...(await place()));
      return page.locator('.tip').count();
    };
    await expect.poll(tips).toBe(1);
    await page.mouse.click(...(await place()));
    await page.waitForSelector('.call pre');
    expect(noise).toEqual([]);
  });

  it('shows what a run contains as text, and runs none of it', async () => {
    await open('attack', { hash: 'call=main/survey%230/ask%230' });
    await page.waitForSelector('.call pre');
    expect(await page.locator('.call').textContent()).toContain(ATTACK);
    expect(await page.title()).toBe(`job ${runRef(1).run}`);
    expect(await page.locator('img').count()).toBe(0);
    expect(noise).toEqual([]);
  });

  it('shows the graph of a pipeline, its visits, edges and conditions', async () => {
    const text = pipeline(
      `load [shape=parallelogram, tool_command="echo 4 cars"]; check [shape=parallelogram, tool_command="exit 3"]
       start -> load -> check; check -> exit [condition="outcome=success"]; check -> late [condition="outcome=fail"]
       late [shape=parallelogram, tool_command="true"]; late -> exit`,
    );
    const folder = await projectFolder({ 'ferry.dot': text });
    await runCli(['run', 'ferry.dot'], { cwd: folder });
    await runCli(['journal', 'report', 'latest', '-o', path.join(cwd, 'ferry.html')], { cwd: folder });
    await open('ferry', { width: 390 });
    await page.waitForSelector('[data-node=check]');
    await show('graph');
    await page.locator('[data-node=check]').click();
    const visits = page.locator('.visits');
    await expect.poll(() => visits.locator('li.muted').allTextContents()).toEqual(['– exit outcome=success did not hold']);
    expect(await visits.textContent()).toContain('→ late outcome=fail held, taken by condition');
    expect(await violations()).toEqual([]);
    expect(await isWider()).toBe(false);
    expect(noise).toEqual([]);
  });

  it('shows two runs side by side', async () => {
    await open('200', { hash: 'compare' });
    await page.locator('details.difference').first().click();
    const texts = page.locator('.sides').first();
    expect(await texts.locator('th').allTextContents()).toHaveLength(2);
    expect(await texts.locator('.removed, .added').count()).toBeGreaterThan(0);
  });
});
