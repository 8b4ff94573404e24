/// <reference lib="dom" />
/** The page of a server works in a real browser. Skipped without a browser: `apt-get install chromium-headless-shell` brings one. */
import fs from 'node:fs';
import axe from 'axe-core';
import { chromium, type Browser, type Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { pipeline } from '../support/pipeline-run.js';
import { serve, type Served } from '../support/served.js';
import { ENDLESS, GATED, PAID, PAID_AND_FAILED, QUICK } from './pipelines.js';

const BROWSER = ['/usr/bin/chromium-headless-shell', '/usr/bin/chromium', '/usr/bin/google-chrome'].find((file) => fs.existsSync(file));
const ATTACK = `<img src=x onerror="document.title='owned'">`;

/** All waits are for what the page shows; this only ends a wait in vain, however busy the machine is, and names it before the test ends. */
const PATIENCE = { timeout: 60_000 };
const IN_VAIN = { timeout: 180_000 };

describe.skipIf(BROWSER === undefined)('the page of a server', IN_VAIN, () => {
  let browser: Browser;
  let served: Served;
  let page: Page;
  /** Requests to others, errors, what the console said. */
  let noise: string[];

  beforeAll(async () => {
    browser = await chromium.launch({ executablePath: BROWSER as string, args: ['--no-sandbox'] });
    served = await serve();
  }, IN_VAIN.timeout);
  afterEach(() => page?.close());
  afterAll(async () => {
    await browser?.close();
    await served?.end('SIGKILL');
  });

  async function open(path: string, { url = served.url, colorScheme = 'light' as 'light' | 'dark', width = 1280 } = {}): Promise<void> {
    page = await browser.newPage({ colorScheme, viewport: { width, height: 900 } });
    page.setDefaultTimeout(PATIENCE.timeout);
    noise = [];
    page.on('request', (request) => request.url().startsWith(url) || request.url().startsWith('data:') || noise.push(request.url()));
    page.on('pageerror', (error) => noise.push(error.message));
    page.on('console', (message) => noise.push(message.text()));
    await page.goto(`${url}/${path}`);
  }

  const node = (id: string): string => `[data-node="${id}"]`;
  const label = (id: string): Promise<string | null> => page.locator(node(id)).getAttribute('aria-label');
  /** Shows a part of the page of the run. */
  const show = (view: string): Promise<void> => page.locator('nav.views').getByRole('link', { name: view, exact: true }).click();
  const status = (): Promise<string | null> => page.locator('#status').textContent();

  it('shows how the states of nodes change during a run', async () => {
    const steps = pipeline(
      `a [shape=parallelogram, tool_command="until test -e go-a; do sleep 0.1; done; echo four cars"]
       b [shape=parallelogram, tool_command="until test -e go-b; do sleep 0.1; done; exit 3", max_retries=1, retry_delay=1ms]
       start -> a -> b -> exit`,
    );
    const id = await served.send(steps);
    await open(`runs/${id}`);
    await page.waitForSelector(node('a'));
    await expect.poll(() => label('a'), PATIENCE).toBe('a, command · running');
    expect(await label('b')).toBe('b, command');
    await expect.poll(status, PATIENCE).toContain('running · at a');
    fs.writeFileSync(`${served.folder}/go-a`, '');
    await expect.poll(() => label('a'), PATIENCE).toBe('a, command · success');
    await expect.poll(() => label('b'), PATIENCE).toBe('b, command · running');
    fs.writeFileSync(`${served.folder}/go-b`, '');
    await expect.poll(() => label('b'), PATIENCE).toBe('b, command · fail');
    await expect.poll(status, PATIENCE).toContain('failed · last b');
    await expect.poll(() => page.locator('#cancel').count(), PATIENCE).toBe(0);

    await page.locator(node('b')).click();
    const visits = page.locator('#visits');
    await expect.poll(() => visits.locator('h2').textContent(), PATIENCE).toBe('Visits of b');
    expect(await visits.textContent()).toMatch(/command, .*2 attempts.*status 3.*Tried again.*again in 1 ms/);
    // By keyboard as well.
    await page.locator(node('a')).focus();
    await page.keyboard.press('Enter');
    await expect.poll(() => visits.locator('pre').textContent(), PATIENCE).toBe('four cars');
    expect(await page.locator('#context').textContent()).toContain('tool.exit_code');
    expect(new URL(page.url()).hash).toBe('#graph&node=a');
    expect(noise).toEqual([]);
  });

  it('shows what a command writes while it runs, also after a reload, and then its result', async () => {
    const command = `echo 'line <b>one</b>'; until test -e go-on; do sleep 0.1; done; echo the end`;
    const id = await served.send(pipeline(`build [shape=parallelogram, tool_command="${command}"]; start -> build -> exit`));
    await open(`runs/${id}`);
    const live = page.getByRole('group', { name: 'Output of build so far' });
    await expect.poll(() => live.textContent(), PATIENCE).toBe('line <b>one</b>');
    await page.reload();
    await expect.poll(() => live.textContent(), PATIENCE).toBe('line <b>one</b>');
    fs.writeFileSync(`${served.folder}/go-on`, '');
    await expect.poll(status, PATIENCE).toContain('completed');
    expect(await page.locator('section.live').count()).toBe(0);
    await show('Graph');
    await page.locator(node('build')).click();
    await expect.poll(() => page.locator('#visits pre').textContent(), PATIENCE).toBe('line <b>one</b>\nthe end');
    expect(noise).toEqual([]);
  });

  it('lets a question be answered by a click, and by the key of a choice', async () => {
    const id = await served.send(GATED);
    await open(`runs/${id}`);
    const question = page.locator('section[aria-label=Question]');
    await question.waitFor();
    expect(await question.textContent()).toContain('Open the field?');
    await expect.poll(() => question.textContent(), PATIENCE).toMatch(/ waits for the answer to q1, since 2\d{3}-/);
    await question.getByRole('button', { name: '[A] Again' }).click();
    await expect.poll(() => label('load'), PATIENCE).toBe('load, command · success (2 visits)');
    await page.locator('[data-question=q2]').waitFor();
    await page.keyboard.press('o');
    await expect.poll(status, PATIENCE).toContain('completed');
    await expect.poll(() => question.count(), PATIENCE).toBe(0);
    expect((await served.get(`/pipelines/${id}`)).body).toMatchObject({ status: 'completed', completed_nodes: 6 });
    expect(noise).toEqual([]);
  });

  it('answers with the clicked choice where two choices have the same key, which then is not a shortcut', async () => {
    const id = await served.send(
      pipeline(
        'ask [shape=hexagon]; ship; stop; start -> ask; ask -> ship [label=Approve]; ask -> stop [label=Abort]; ship -> exit; stop -> exit',
      ),
    );
    await open(`runs/${id}`);
    const question = page.locator('section[aria-label=Question]');
    await question.waitFor();
    await page.keyboard.press('a');
    await question.getByRole('button', { name: 'Abort' }).click();
    await expect.poll(status, PATIENCE).toContain('completed');
    await expect.poll(async () => [await label('ship'), await label('stop')], PATIENCE).toEqual(['ship, model', 'stop, model · success']);
    expect(noise).toEqual([]);
  });

  it('says what the calls of a run cost, beside the run and in the list', async () => {
    const id = await served.send(PAID);
    await open(`runs/${id}`);
    const figures = page.locator('.figures');
    await expect.poll(() => figures.textContent(), PATIENCE).toMatch(/1 executed.*\$0\.25.*1,200 in, 34 out/);
    expect((await served.get(`/pipelines/${id}`)).body).toMatchObject({ calls: { executed: 1, costUsd: 0.25, inputTokens: 1200 } });
    await expect.poll(() => page.locator(`nav a[href="/runs/${id}"]`).textContent(), PATIENCE).toContain('$0.25');
    expect(noise).toEqual([]);
  });

  it('cancels a run', async () => {
    const id = await served.send(ENDLESS);
    await open(`runs/${id}`);
    await expect.poll(status, PATIENCE).toContain('at wait');
    await page.getByRole('button', { name: 'Cancel' }).click();
    await expect.poll(status, PATIENCE).toContain('cancelled');
    expect((await served.get(`/pipelines/${id}`)).body).toMatchObject({ status: 'cancelled' });
    await expect.poll(() => page.locator('nav.runs a[aria-current=page]').textContent(), PATIENCE).toContain('cancelled');
  });

  it('lists the runs, takes in new ones, and shows the one that is chosen', async () => {
    const first = await served.send(QUICK);
    await open('');
    await page.locator('nav.runs a').first().waitFor();
    const second = await served.send(QUICK.replace('digraph g', 'digraph harbour'));
    await page.locator(`nav.runs a[href="/runs/${second}"]`).click();
    await expect.poll(() => page.title(), PATIENCE).toBe(`harbour ${second}`);
    await expect.poll(() => page.locator('h1').textContent(), PATIENCE).toBe('harbour ');
    await page.locator(`nav.runs a[href="/runs/${first}"]`).focus();
    await page.keyboard.press('Enter');
    await expect.poll(() => page.title(), PATIENCE).toBe(`g ${first}`);
    await page.goBack();
    await expect.poll(() => page.title(), PATIENCE).toBe(`harbour ${second}`);
    const nameless = await page.evaluate(
      () => [...document.querySelectorAll('button, a, input')].filter((each) => (each.textContent ?? '').trim() === '').length,
    );
    expect(nameless).toBe(0);
    expect(noise).toEqual([]);
  });

  it('is light and dark as the reader wants it', async () => {
    const id = await served.send(QUICK);
    const colours: string[][] = [];
    for (const colorScheme of ['light', 'dark'] as const) {
      await page?.close();
      await open(`runs/${id}`, { colorScheme });
      await page.waitForSelector(node('a'));
      await expect.poll(() => label('exit'), PATIENCE).toBe('exit, success');
      const text = page.locator(`${node('a')} text`).first();
      colours.push([
        await page.evaluate(() => getComputedStyle(document.body).backgroundColor),
        await text.evaluate((element) => getComputedStyle(element).fill),
      ]);
    }
    expect(colours).toEqual([
      ['rgb(245, 246, 248)', 'rgb(27, 31, 36)'],
      ['rgb(22, 27, 34)', 'rgb(230, 237, 243)'],
    ]);
  });

  it('shows what a pipeline contains as text, runs none of it, and leads nowhere', async () => {
    const quoted = ATTACK.replaceAll('"', '\\"');
    const hostile = pipeline(
      `a [label="${quoted}", prompt="p", URL="javascript:document.title='owned'", image="http://127.0.0.1:1/x.png"]
       warden [shape=hexagon, label="${quoted}"]
       start -> a -> warden
       warden -> exit [label="${quoted}"]`,
    );
    const id = await served.send(hostile);
    await open(`runs/${id}`);
    const question = page.locator('section[aria-label=Question]');
    await question.waitFor();
    expect(await question.textContent()).toContain(ATTACK);
    await page.locator(node('a')).click();
    await page.locator('#visits').waitFor();
    await page.evaluate(() => new Promise((resolve) => requestAnimationFrame(() => setTimeout(resolve)))); // what it holds has been drawn
    expect(await page.title()).toBe(`g ${id}`);
    expect(await page.locator('img').count()).toBe(0);
    expect(page.url()).toBe(`${served.url}/runs/${id}#graph&node=a`);
    expect(noise).toEqual([]);
  });

  it('is the page that journal report makes, and follows the run: an operation with its texts, a search in them, the events', async () => {
    const id = await served.send(PAID);
    await open(`#${id}`); // an older form of the address
    await expect.poll(status, PATIENCE).toContain('completed');
    expect(new URL(page.url()).pathname).toBe(`/runs/${id}`);
    await show('Operations');
    await page.getByRole('searchbox').waitFor();
    // The page listens to the key a moment after it has drawn the field.
    await expect
      .poll(async () => {
        await page.keyboard.press('/');
        return page.locator('input:focus').count();
      }, PATIENCE)
      .toBe(1);
    await page.keyboard.type('two boats');
    const calls = page.locator('[role=treeitem] b', { hasText: '@' });
    await expect.poll(() => calls.count(), PATIENCE).toBe(1);
    await calls.first().click();
    await expect.poll(() => page.locator('.call pre').last().textContent(), PATIENCE).toContain('two boats');
    await show('Events');
    await page.locator('#events select').selectOption('node.finished');
    await expect.poll(() => page.locator('#events tbody tr').count(), PATIENCE).toBe(3);
    await show('Script');
    expect(await page.locator('.script').textContent()).toContain('digraph');
    expect(noise).toEqual([]);
  });

  it.each([
    [1440, 'light'],
    [820, 'dark'],
    [390, 'light'],
  ] as const)('fits a window of %i pixels, %s, with a stage that failed and a question that waits', async (width, colorScheme) => {
    const long = 'a-name-that-is-longer-than-any-screen-of-a-phone-and-has-no-place-to-break-'.repeat(2);
    const id = await served.send(
      pipeline(
        `look [prompt="${long}"]; check [shape=parallelogram, tool_command="echo ${long}; exit 3"]; gate [shape=hexagon, label="Open ${long}?"]
         start -> look -> check; check -> gate [condition="outcome=fail"]; check -> exit [condition="outcome=success"]
         gate -> exit [label="[Y] Yes, ${long}"]; gate -> look [label="[N] No"]`,
      ),
    );
    await open(`runs/${id}`, { colorScheme, width });
    await page.locator('section[aria-label=Question]').waitFor();
    await page.evaluate(axe.source);
    for (const view of ['overview', 'graph&node=check', 'operations', 'script', 'output', 'events']) {
      await page.evaluate((to) => void (location.hash = to), view);
      await page.evaluate(() => new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(resolve))));
      expect(await page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth), view).toBe(0);
      const { violations } = await page.evaluate(() => (globalThis as unknown as { axe: typeof axe }).axe.run());
      expect(
        violations.map(({ id: rule, nodes }) => `${rule}: ${nodes.map(({ html }) => html).join(' ')}`),
        view,
      ).toEqual([]);
    }
    expect(noise).toEqual([]);
    await page.locator('#cancel').click();
    await expect.poll(status, PATIENCE).toContain('cancelled');
  });

  it('resumes a failed run, and shows the visits of both runs', async () => {
    const id = await served.send(PAID_AND_FAILED);
    await open(`runs/${id}#graph`);
    await expect.poll(status, PATIENCE).toContain('failed · last b');
    fs.writeFileSync(`${served.folder}/tide`, '');
    await page.getByRole('button', { name: 'Resume' }).click();
    await expect.poll(status, PATIENCE).toContain('completed');
    const visits = page.locator('.visits > li');
    await expect.poll(() => visits.count(), PATIENCE).toBe(5);
    expect(await visits.nth(2).textContent()).toMatch(/b fail command, .*in run/);
    expect(await visits.nth(3).textContent()).toMatch(/b \(visit 2\) success/);
    expect(noise).toEqual([]);
  });

  it('prompts for the token, and reconnects to a server that was away', async () => {
    const env = { MLLD_SERVE_TOKEN: 'open sesame' };
    const first = await serve({ env });
    const { port } = new URL(first.url);
    const bearer = { authorization: 'Bearer open sesame' };
    const { body } = await first.post('/pipelines', { dot: GATED }, bearer);
    const { id } = body as { id: string };
    await open(`runs/${id}`, { url: first.url });
    await page.locator('#token').fill('guess');
    await page.keyboard.press('Enter');
    await expect.poll(() => page.locator('[role=alert]').textContent(), PATIENCE).toContain('not the token');
    await page.locator('#token').fill('open sesame');
    await page.keyboard.press('Enter');
    await page.locator('section[aria-label=Question]').waitFor();
    await first.end('SIGKILL');
    await page.getByText('The server does not respond.').waitFor();
    const second = await serve({ folder: first.folder, env, args: ['--port', port] });
    await expect.poll(status, PATIENCE).toContain('interrupted');
    await expect.poll(() => label('warden'), PATIENCE).toContain('interrupted');
    await second.end('SIGKILL');
  });
});
