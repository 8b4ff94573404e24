/// <reference lib="dom" />
/** Starting runs by requests and on the page: pipelines of the project, their inputs, and what is refused. */
import fs from 'node:fs';
import path from 'node:path';
import axe from 'axe-core';
import { chromium, type Browser, type Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { projectFolder } from '../support/cli.js';
import { pipeline } from '../support/pipeline-run.js';
import { serve, type Served } from '../support/served.js';

const BROWSER = ['/usr/bin/chromium-headless-shell', '/usr/bin/chromium', '/usr/bin/google-chrome'].find((file) => fs.existsSync(file));
const PATIENCE = { timeout: 120_000 };
const IN_VAIN = { timeout: 180_000 };

const FERRY = pipeline(
  'load [shape=parallelogram, tool_command="echo loaded"]; start -> load -> exit',
  'graph [goal="ferry the cars over", input.berth=4, input.night=false, input.note="<b>calm</b>", input.token="", secrets="token"]',
);

let served: Served;
beforeAll(async () => {
  const folder = await projectFolder({
    'ferry.dot': FERRY,
    'night/broken.dot': 'digraph broken { start -> nowhere }',
    '.hidden/secret.dot': FERRY,
  });
  await fs.promises.writeFile(path.join(folder, '..', `${path.basename(folder)}.dot`), FERRY);
  served = await serve({ folder });
}, IN_VAIN.timeout);
afterAll(async () => {
  await served?.end('SIGKILL');
  fs.rmSync(`${served.folder}.dot`, { force: true });
});

const contextOf = async (id: string): Promise<object> => {
  await served.until(`/pipelines/${id}`, ({ status }: { status: string }) => status === 'completed');
  return (await served.get(`/pipelines/${id}/context`)).body;
};

describe('by requests', IN_VAIN, () => {
  it('lists the pipelines of the project, and what the run of one needs', async () => {
    expect((await served.get('/files')).body).toEqual(['ferry.dot', 'night/broken.dot']);
    expect((await served.post('/inputs', { file: 'ferry.dot' })).body).toEqual({
      name: 'g',
      goal: 'ferry the cars over',
      dot: FERRY,
      inputs: [
        { key: 'berth', kind: 'integer', default: '4', secret: false },
        { key: 'night', kind: 'boolean', default: 'false', secret: false },
        { key: 'note', kind: 'text', default: '<b>calm</b>', secret: false },
        { key: 'token', kind: 'text', default: '', secret: true },
      ],
      diagnostics: [],
    });
    expect((await served.post('/inputs', { dot: 'digraph broken { start -> nowhere }' })).body).toMatchObject({
      name: '',
      inputs: [],
      diagnostics: expect.arrayContaining([expect.objectContaining({ rule: 'edge_target_exists', severity: 'error' })]) as object,
    });
  });

  it('runs a pipeline of the project in its place, which a terminal resumes by its name', async () => {
    const { status, body } = await served.post('/pipelines', { file: 'ferry.dot', set: { berth: '7', token: 'open sesame' } });
    expect(status).toBe(201);
    const { id } = body as { id: string };
    expect(await contextOf(id)).toMatchObject({ context: { berth: '7', night: 'false', token: '[secret]' } });
    expect(fs.readdirSync(path.join(served.folder, '.mlld', 'graph'))).toContain('ferry');
    expect(fs.readFileSync(path.join(served.folder, 'ferry.dot'), 'utf8')).toBe(FERRY);
  });

  it.each([
    ['a file outside of the project', () => ({ file: `../${path.basename(served.folder)}.dot` }), 404, 'FILE_NOT_FOUND'],
    ['an absolute path', () => ({ file: path.join(served.folder, 'ferry.dot') }), 404, 'FILE_NOT_FOUND'],
    ['a hidden file', () => ({ file: '.hidden/secret.dot' }), 404, 'FILE_NOT_FOUND'],
    ['a file and a text', () => ({ file: 'ferry.dot', dot: FERRY }), 400, 'REQUEST_INVALID'],
    ['a path that is no text', () => ({ file: 4 }), 400, 'REQUEST_INVALID'],
    ['a pipeline with errors', () => ({ file: 'night/broken.dot' }), 422, 'PIPELINE_REFUSED'],
    ['a value of another kind', () => ({ file: 'ferry.dot', set: { berth: 'four' } }), 422, 'INPUT_VALUE'],
  ])('refuses %s', async (_, body, status, code) => {
    const answer = await served.post('/pipelines', body());
    expect([answer.status, answer.body]).toEqual([status, { error: expect.objectContaining({ code }) as object }]);
  });
});

describe.skipIf(BROWSER === undefined)('on the page', IN_VAIN, () => {
  let browser: Browser;
  let page: Page;
  let noise: string[];
  beforeAll(async () => {
    browser = await chromium.launch({ executablePath: BROWSER as string, args: ['--no-sandbox'] });
  }, IN_VAIN.timeout);
  afterEach(() => page?.close());
  afterAll(() => browser?.close());

  async function open(width: number): Promise<void> {
    page = await browser.newPage({ viewport: { width, height: 900 } });
    page.setDefaultTimeout(PATIENCE.timeout);
    noise = [];
    page.on('pageerror', (error) => noise.push(error.message));
    page.on('console', (message) => noise.push(message.text()));
    await page.goto(`${served.url}/start`);
  }

  it.each([1440, 390])('has a field for each input, and starts the run with their values, at %d pixels', async (width) => {
    await open(width);
    await page.getByLabel('berth').fill('5');
    await page.getByLabel('night').check();
    expect(await page.getByLabel('note').inputValue()).toBe('<b>calm</b>');
    await page.getByLabel('token').fill('open sesame');
    await page.evaluate(axe.source);
    const violations = await page.evaluate(() =>
      (globalThis as unknown as { axe: { run(): Promise<axe.AxeResults> } }).axe.run().then(({ violations: found }) => found),
    );
    expect(violations.map(({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html).join(' ')}`)).toEqual([]);
    expect(await page.evaluate(() => document.documentElement.scrollWidth > document.documentElement.clientWidth)).toBe(false);
    await page.locator('form').getByRole('button', { name: 'Start' }).click();
    await page.waitForURL(/\/runs\//);
    const id = new URL(page.url()).pathname.slice('/runs/'.length);
    expect(await contextOf(id)).toMatchObject({ context: { berth: '5', night: 'true', note: '<b>calm</b>', token: '[secret]' } });
    await expect.poll(() => page.locator('#status').textContent(), PATIENCE).toContain('completed');
    expect(noise).toEqual([]);
  });

  it('says why a pipeline can not be run, and takes a file of this computer', async () => {
    await open(820);
    await page.getByLabel('Pipeline').selectOption('night/broken.dot');
    await expect.poll(() => page.locator('form').textContent(), PATIENCE).toContain('This pipeline can’t be run');
    expect(await page.locator('form').getByRole('button', { name: 'Start' }).isDisabled()).toBe(true);
    await page.getByLabel('Pipeline').selectOption({ label: 'a file of this computer' });
    await page
      .getByLabel('File')
      .setInputFiles({ name: 'sent.dot', mimeType: 'text/plain', buffer: Buffer.from(pipeline('start -> exit')) });
    await page.getByText('This pipeline declares no inputs').waitFor();
    await page.locator('form').getByRole('button', { name: 'Start' }).click();
    await page.waitForURL(/\/runs\//);
    await expect.poll(() => page.locator('#status').textContent(), PATIENCE).toContain('completed');
    expect(noise).toEqual([]);
  });
});
