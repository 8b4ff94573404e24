/// <reference lib="dom" />
/**
 * Shows the page of each kind of run in a window of each size: nothing scrolls sideways, nothing is said or loaded, and axe-core finds
 * nothing. Skipped without a browser: `apt-get install chromium-headless-shell` installs it.
 */
import fs from 'node:fs';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import axe from 'axe-core';
import { chromium, type Browser, type Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Fact } from '../../journal/event.js';
import { opPath, seqOf } from '../../journal/ids.js';
import { openFileStore } from '../../journal/storage/file-store.js';
import { projectFolder, resultOf, runCli, startCli } from '../support/cli.js';
import { pipeline } from '../support/pipeline-run.js';
import { recordRun } from '../support/recorded-project.js';
import { call, callKeyOf, runRef } from '../support/written-runs.js';
import { recordTriage } from './sample-runs.js';

const BROWSER = ['/usr/bin/chromium-headless-shell', '/usr/bin/chromium', '/usr/bin/google-chrome'].find((file) => fs.existsSync(file));
const IN_VAIN = 240_000;
const LONG = 'a-name-that-is-longer-than-any-screen-of-a-phone-and-has-no-place-to-break-'.repeat(2);

/** Makes a page, and names the views that it has. */
interface Sample {
  readonly views: readonly string[];
  /** Part of the sentence at the top: the run is of the kind that it is named after. */
  readonly says: RegExp;
  make(folder: string): Promise<void>;
  /** Looks at the last of the views. */
  look?(page: Page): Promise<void>;
}

const report = async (folder: string, ...args: readonly string[]): Promise<void> => {
  const { status, stderr } = await runCli(['journal', 'report', ...args, '-o', 'page.html'], { cwd: folder });
  expect([status, stderr]).toEqual([0, '']);
};

/** One call is executed and superseded, one executed by a worker, one reused. */
function callsAtWorkers(): Fact[] {
  const executed = call('main/ask#0', LONG).map((fact) => (fact.type === 'call.completed' ? { ...fact, usage: { costUsd: 0.5 } } : fact));
  const other = { run: runRef(0).run, seq: seqOf(4) };
  const of = seqOf(1 + executed.findIndex(({ type }) => type === 'call.completed'));
  const superseded: Fact = { type: 'call.superseded', key: callKeyOf(LONG), op: opPath('main/ask#0'), of, by: other };
  const atWorker = call('main/ask#1', 'flood', { outcome: 'reused' }).map((fact) =>
    fact.type === 'call.reused' ? { ...fact, worker: 'hut', workerHost: 'db7', workerUsd: 0.02 } : fact,
  );
  return [...executed, superseded, ...atWorker, ...call('main/ask#2', 'ebb', { outcome: 'reused' })];
}

const JOB = `exe llm @ask(t) = sh { if [ "$t" = "c" ]; then echo "no boat" >&2; exit 3; fi; echo "A:$t" }
var @all = for @x in ["a", "b", "c", "${LONG}"] => @ask(@x)
show @all
`;

const SAMPLES: { readonly [kind: string]: Sample } = {
  'calls that failed, were tried again and reused': {
    says: /Failed .* reused; .* failed/,
    views: ['overview', 'operations', 'call=main/for#1[50]/review#0', 'script', 'output', 'compare'],
    async make(folder) {
      await recordTriage(openFileStore(folder), { calls: 200, reused: 60, isCut: true });
      await report(folder, 'triage', '--diff', 'triage@2');
    },
  },
  'a fork': {
    says: /[1-9] of them reused|all of them reused/,
    views: ['overview', 'operations', 'script', 'output'],
    async make(folder) {
      fs.writeFileSync(path.join(folder, 'job.mld'), JOB);
      fs.writeFileSync(path.join(folder, 'other.mld'), JOB.replace('"b", ', ''));
      await runCli(['job.mld', '--checkpoint'], { cwd: folder });
      await runCli(['other.mld', '--fork', 'job.mld'], { cwd: folder });
      await report(folder, 'other.mld');
    },
    async look(page) {
      expect(await page.locator('.fork').textContent()).toMatch(
        /^Fork of job\.mld, run \S+: 1 of its results is reused\. The scripts differ in 1 line\.$/,
      );
      await page.evaluate(() => void (location.hash = 'overview'));
      await page.getByText('1 line of the script differs').click();
      expect(await page.locator('.difference .removed').textContent()).toContain('"b", ');
      expect(await page.locator('.command code').allTextContents()).toContainEqual(expect.stringMatching(/^mlld journal diff \S+ \S+$/));
    },
  },
  'calls that workers executed': {
    says: /all 3 calls have a result, 1 of them reused, 1 executed by workers\. It cost \$0\.50, and \$0\.02 at workers\.$/,
    views: ['overview', 'operations', 'call=main/ask#1', 'output'],
    async make(folder) {
      const ref = await recordRun(folder, 1, callsAtWorkers());
      await report(folder, ref.run);
    },
    async look(page) {
      await page.evaluate(() => void (location.hash = 'call=main/ask%231'));
      await expect
        .poll(() => page.locator('.call').textContent())
        .toMatch(/executed at a worker.*Workerhut on db7Cost, counted there\$0\.02/);
      await page.evaluate(() => void (location.hash = 'overview'));
      const functions = page.locator('section[aria-labelledby="title-functions"]');
      expect(await functions.locator('th').allTextContents()).toContain('At workers');
      expect(await functions.locator('tbody').textContent()).toMatch(/^@ask111033 %/); // of each kind one, and no failure
      const workers = page.locator('section[aria-labelledby="title-workers"]');
      expect(await workers.locator('tbody').textContent()).toBe('hutdb710$0.02');
      expect(await workers.textContent()).toContain('1 result was paid for in vain ($0.50)');
    },
  },
  'a pipeline': {
    says: /Completed .* 2 calls/,
    views: ['overview', 'graph', 'graph&node=check', 'operations', 'script', 'output'],
    async make(folder) {
      const text = pipeline(
        `load [shape=parallelogram, tool_command="echo ${LONG}"]; check [shape=parallelogram, tool_command="exit 3"]
         fan [shape=component]; north [prompt="north", label="${LONG}"]; south [prompt="south"]; join [shape=tripleoctagon]
         start -> load -> check; check -> exit [condition="outcome=success"]; check -> fan [condition="outcome=fail"]
         fan -> north; fan -> south; north -> join; south -> join; join -> exit`,
      );
      fs.writeFileSync(path.join(folder, 'ferry.dot'), text);
      await runCli(['run', 'ferry.dot'], { cwd: folder });
      await report(folder, 'ferry.dot');
    },
  },
  'a pipeline at a gate': {
    says: /its one call has a result.*gate waits for a person to answer q1: “Open it\?”/,
    views: ['overview', 'operations', 'graph'],
    async make(folder) {
      const stages = Array.from({ length: 12 }, (_, place) => `s${place} [shape=parallelogram, tool_command="true"]`).join('; ');
      const walk = Array.from({ length: 12 }, (_, place) => `s${place}`).join(' -> ');
      const text = pipeline(
        `ask [prompt="go"]; ${stages}; gate [shape=hexagon, label="Open it?"]; start -> ask -> ${walk} -> gate; gate -> exit [label="[Y] Yes"]`,
      );
      fs.writeFileSync(path.join(folder, 'lock.dot'), text);
      const child = startCli(['run', 'lock.dot', '--ask', 'remote'], { cwd: folder });
      const ended = resultOf(child);
      await new Promise<void>((resolve) => {
        let said = '';
        child.stderr.on('data', (text: Buffer) => /answer it: mlld answer/.test((said += String(text))) && resolve());
      });
      await report(folder, 'lock.dot');
      child.kill('SIGINT');
      await ended;
    },
    async look(page) {
      const { height, isInSight, fills } = await page.evaluate(() => {
        for (const animation of document.getAnimations()) animation.pause();
        const [box, gate] = [document.querySelector('.drawing') as Element, document.querySelector('.state-waiting') as Element];
        const [outer, inner] = [box.getBoundingClientRect(), gate.getBoundingClientRect()];
        const shape = gate.querySelector('polygon') as Element;
        const seen = [0, 400, 800, 1200].map((at) => {
          for (const animation of document.getAnimations()) animation.currentTime = at;
          return getComputedStyle(shape).fill;
        });
        const letters = gate.querySelector('text') as Element;
        return {
          height: letters.getBoundingClientRect().height,
          isInSight: inner.top >= outer.top && inner.bottom <= outer.bottom,
          fills: new Set(seen).size,
        };
      });
      expect(isInSight).toBe(true);
      expect(height).toBeGreaterThan(9);
      expect(fills).toBe(1); // a fill that is animated turns black on its way
    },
  },
  'a workflow script': {
    says: /Completed .* 3 calls/,
    views: ['overview', 'operations', 'script', 'output'],
    async make(folder) {
      const script = `export const meta = { name: 'audit', description: 'looks at berths' };
phase('Look');
const found = await parallel(['north', '${LONG}'].map((berth) => () => agent('look at ' + berth, { label: 'look:' + berth, phase: 'Look' })));
phase('Write');
return await agent('write it up: ' + found.length, { label: 'report', phase: 'Write' });
`;
      fs.mkdirSync(path.join(folder, '.claude', 'workflows'), { recursive: true });
      fs.writeFileSync(path.join(folder, '.claude', 'workflows', 'audit.js'), script);
      fs.writeFileSync(path.join(folder, 'mlld-config.json'), '{"agent": {"backend": "simulated"}}');
      await runCli(['run', 'audit'], { cwd: folder });
      await report(folder, 'latest');
    },
  },
};

/** The link of the view that is shown is in sight, also where the bar scrolls. */
function isInBar(link: Element): boolean {
  const [inner, bar] = [link.getBoundingClientRect(), (link.closest('nav') as Element).getBoundingClientRect()];
  return inner.left >= bar.left - 1 && inner.right <= bar.right + 1;
}

const WINDOWS = [
  [1440, 'light'],
  [820, 'dark'],
  [390, 'light'],
] as const;

describe.skipIf(BROWSER === undefined)('the page of a run', () => {
  let browser: Browser;
  beforeAll(async () => {
    browser = await chromium.launch({ executablePath: BROWSER as string, args: ['--no-sandbox'] });
  }, IN_VAIN);
  afterAll(() => browser?.close());

  it.each(Object.entries(SAMPLES))('with %s fits each window', { timeout: IN_VAIN }, async (_, { views, says, make, look }) => {
    const folder = await projectFolder();
    await make(folder);
    const url = pathToFileURL(path.join(folder, 'page.html')).href;
    for (const [width, colorScheme] of WINDOWS) {
      const page = await browser.newPage({ colorScheme, viewport: { width, height: 900 } });
      page.setDefaultTimeout(IN_VAIN);
      const noise: string[] = [];
      page.on('request', (request) => request.url() !== url && noise.push(request.url()));
      page.on('pageerror', (error) => noise.push(error.message));
      page.on('console', (message) => noise.push(message.text()));
      await page.goto(url);
      await page.waitForSelector('main');
      expect(await page.locator('.sentence').textContent()).toMatch(says);
      await page.evaluate(axe.source);
      for (const view of views) {
        await page.evaluate((to) => void (location.hash = to), view);
        await page.evaluate(() => new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(resolve))));
        const at = `${view} at ${width} pixels, ${colorScheme}`;
        expect(
          await page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth),
          at,
        ).toBeLessThanOrEqual(0);
        await expect.poll(() => page.locator('nav.views [aria-current]').evaluate(isInBar), { timeout: IN_VAIN, message: at }).toBe(true);
        const found = await page.evaluate(() =>
          (globalThis as unknown as { axe: { run(): Promise<axe.AxeResults> } }).axe.run().then(({ violations }) => violations),
        );
        expect(
          found.map(({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html).join(' ')}`),
          at,
        ).toEqual([]);
      }
      await look?.(page);
      expect(noise).toEqual([]);
      await page.close();
    }
  });
});
