// Measures the page of a run with many calls: the script that runs until it is shown, as a multiple of parsing the page's own data as JSON in
// the same browser, and its bytes.   node page.mjs [--calls 10000] [--rounds 5] [--json FILE]
// Needs a Chromium, as the tests of the page do.

import { execFileSync } from 'node:child_process';
import { existsSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { parseArgs } from 'node:util';

import { chromium } from 'playwright-core';

import { scratch } from './measure.mjs';
import { loopOfCalls, writeRun } from './recorded-runs.mjs';
import { heading, saveJson, table } from './report.mjs';
import { median } from './statistics.mjs';
import { subjects } from './subjects.mjs';
import { project } from './workload.mjs';

const { values: options } = parseArgs({
  options: {
    calls: { type: 'string', default: '10000' },
    rounds: { type: 'string', default: '5' },
    json: { type: 'string' },
  },
});
const browserFile = ['/usr/bin/chromium-headless-shell', '/usr/bin/chromium', '/usr/bin/google-chrome'].find(existsSync);
if (browserFile === undefined) throw new Error('no browser: install chromium');

heading('The page of a run');
const calls = Number(options.calls);
const cwd = project(scratch('page'));
writeRun(cwd, { workflow: 'big.mld', number: 0, facts: loopOfCalls(calls, (i) => `Tide ${i}:`), executed: calls });
const [program, ...argv] = subjects().find(({ name }) => name === 'ours').argv;
execFileSync(program, [...argv, 'journal', 'report', 'big', '-o', 'page.html'], { cwd, stdio: 'ignore' });
const file = join(cwd, 'page.html');

const browser = await chromium.launch({ executablePath: browserFile, args: ['--no-sandbox'] });
const rounds = [];
for (let round = 0; round < Number(options.rounds); round++) rounds.push(await open());
await browser.close();
const row = {
  calls,
  megabytes: statSync(file).size / 1e6,
  scriptMs: median(rounds.map(({ scriptMs }) => scriptMs)),
  parseMs: median(rounds.map(({ parseMs }) => parseMs)),
  ratio: median(rounds.map(({ scriptMs, parseMs }) => scriptMs / parseMs)),
};
const columns = { calls: 'calls', MB: 'megabytes', 'script ms': 'scriptMs', 'floor: parse ms': 'parseMs', ratio: 'ratio' };
table('Medians', Object.entries(columns), [row]);
saveJson(options.json, row);

async function open() {
  const page = await browser.newPage();
  const session = await page.context().newCDPSession(page);
  await session.send('Performance.enable');
  await page.goto(pathToFileURL(file).href);
  await page.waitForSelector('canvas');
  const { metrics } = await session.send('Performance.getMetrics');
  const scriptMs = 1000 * metrics.find(({ name }) => name === 'ScriptDuration').value;
  const parseMs = await page.evaluate(() => {
    const text = [...document.scripts].find(({ type }) => type === 'application/json').textContent;
    const beganMs = performance.now();
    JSON.parse(text);
    return performance.now() - beganMs;
  });
  await page.close();
  return { scriptMs, parseMs };
}
