/// <reference lib="dom" />
/** The page over many runs: `mlld journal report --script`. Opened in a browser where there is one. */
import fs from 'node:fs';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import axe from 'axe-core';
import { chromium } from 'playwright-core';
import { beforeAll, describe, expect, it } from 'vitest';
import type { Trend } from '../../replay/reports/stats/trend.js';
import { change, METRICS, type Point } from '../../viewer/trend/metrics.js';
import { projectFolder, runCli } from '../support/cli.js';
import { recordRun } from '../support/recorded-project.js';
import { call } from '../support/written-runs.js';

const BROWSER = ['/usr/bin/chromium-headless-shell', '/usr/bin/chromium', '/usr/bin/google-chrome'].find((file) => fs.existsSync(file));
const ATTACK = `</script><script>document.title='owned'</script>`;
const RUNS = 6;

let cwd: string;

beforeAll(async () => {
  cwd = await projectFolder();
  for (let number = 1; number <= RUNS; number++) {
    await recordRun(
      cwd,
      number,
      call('main/ask#0', 'ebb'),
      call('main/ask#1', `flow ${ATTACK}`, number === RUNS ? { outcome: 'failed' } : {}),
      call('main/judge#0', 'neap', { fn: number % 2 === 0 ? 'judge' : 'weigh' }),
    );
  }
  const { status } = await runCli(['journal', 'report', '--script', 'job', '-o', 'trend.html'], { cwd });
  expect(status).toBe(0);
});

describe('the report over many runs', () => {
  it('has the figures of each run and of its functions as JSON, the oldest first', async () => {
    const { stdout } = await runCli(['journal', 'report', '--script', 'job', '--last', '2', '--json'], { cwd });
    const { runs, total } = JSON.parse(stdout) as Trend;
    expect(total).toMatchObject({ runs: 2, executed: 5, failed: 1 });
    expect(runs).toMatchObject([
      { status: 'completed', executed: 3, failed: 0, functions: [{ fn: 'ask', executed: 2 }, { fn: 'weigh' }] },
      { executed: 2, failed: 1, functions: [{ fn: 'ask', executed: 1, failed: 1 }, { fn: 'judge' }] },
    ]);
    expect(Date.parse(runs[0]?.started ?? '')).toBeLessThan(Date.parse(runs[1]?.started ?? ''));
  });

  it('refuses a run beside a script, a script without runs, and neither', async () => {
    for (const [words, says] of [
      [['job', '--script', 'job'], '--script and --last are about many'],
      [['job', '--last', '3'], '--script and --last are about many'],
      [['--script', 'job', '--diff', 'job'], '--diff compares one run with another'],
      [['--script', 'nothing'], 'nothing'],
      [[], 'a run is missing'],
    ] as const) {
      const { status, stderr } = await runCli(['journal', 'report', ...words], { cwd });
      expect([status, stderr]).toEqual([1, expect.stringContaining(says)]);
    }
  });
});

describe('what became of a figure', () => {
  const points = (...values: readonly number[]): readonly Point[] =>
    values.map((value) => ({ executed: 1, reused: 0, failed: value, hitRate: value, costUsd: value, timeMs: value }));
  const metric = (name: string) => METRICS.find((each) => each.name === name) as (typeof METRICS)[number];

  it.each([
    ['time', [1000, 1000, 90_000, 2000, 2000, 2000], '1.0s in the earlier half, 2.0s in the later'],
    ['cost', [0.02, 0.02, 0.02, 0.02, 0.02], 'steady at $0.02'],
    ['failures', [0, 3, 0, 0, 0, 4], '3 in the earlier half, 4 in the later'],
    ['failures', [0, 0, 0, 0], 'none'],
    ['hits', [0.5, 0.5, 1, 1], '50 % in the earlier half, 100 % in the later'],
    ['time', [1, 2, 3], undefined],
  ] as const)('%s of %j', (name, values, expected) => {
    expect(change(metric(name), points(...values))).toBe(expected);
  });
});

describe.skipIf(BROWSER === undefined)('the page over many runs in a browser', () => {
  it.each([
    [1440, 'light'],
    [820, 'dark'],
    [390, 'light'],
    [390, 'dark'],
  ] as const)('is shown on %d pixels, %s, without a violation, a message or a request', async (width, colorScheme) => {
    const browser = await chromium.launch({ executablePath: BROWSER as string, args: ['--no-sandbox'] });
    try {
      const page = await browser.newPage({ colorScheme, viewport: { width, height: 900 } });
      const url = pathToFileURL(path.join(cwd, 'trend.html')).href;
      const noise: string[] = [];
      page.on('request', (request) => request.url() !== url && noise.push(request.url()));
      page.on('pageerror', (error) => noise.push(error.message));
      page.on('console', (message) => noise.push(message.text()));
      await page.goto(url);
      await page.waitForSelector('main section');
      expect(await page.title()).not.toBe('owned');
      expect(await page.locator('.sentence').textContent()).toBe(
        '5 of the latest 6 runs were completed; 1 reached the end with unresolved calls.',
      );
      expect(await page.locator('[role=img]').first().getAttribute('aria-label')).toMatch(/^Cost of all calls, run by run/);
      expect(await page.locator('table').last().locator('tbody tr').count()).toBe(RUNS);
      await page.evaluate(axe.source);
      const found = await page.evaluate(() => (globalThis as unknown as { axe: { run(): Promise<axe.AxeResults> } }).axe.run());
      expect(found.violations.map(({ id }) => id)).toEqual([]);
      expect(await page.evaluate(() => document.documentElement.scrollWidth > document.documentElement.clientWidth)).toBe(false);
      expect(noise).toEqual([]);
    } finally {
      await browser.close();
    }
  });
});
