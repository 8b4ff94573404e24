// Measures how well calls keep to limits that a provider does not announce.   node pace.mjs [--calls 2000] [--only NAME] [--json FILE]
// The provider is one of this machine's own, on the loopback address. For each kind of limit: calls without a result, the share of attempts
// that were rejected, and the throughput as a share of what the limit makes possible. calls.md 12.5 has the figures that must come of it.
// Some limits change in the middle, one allowance is used up and comes back, and one run is killed and continued; rejections are also
// reported for the part after the kill.

import { spawn } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';

import { heading, saveJson, table } from './report.mjs';

const { values: options } = parseArgs({
  options: { calls: { type: 'string', default: '2000' }, only: { type: 'string' }, json: { type: 'string' } },
});
const calls = Number(options.calls);
const MLLD = fileURLToPath(new URL('../dist/mlld.cjs', import.meta.url));
const PROVIDER = fileURLToPath(new URL('../test/conformance/stubs/provider.mjs', import.meta.url));
const LATENCY_S = 0.4;

/**
 * `perSecond` is what the limit lets through: from the start, and from `atMs` on after a change; `share` of the calls is made. `killAtMs`:
 * the process is killed then, and another one continues.
 */
const LIMITS = {
  'concurrency 3': { config: { concurrency: 3 }, perSecond: 3 / LATENCY_S, share: 0.125 },
  'concurrency 50': { config: { concurrency: 50 }, perSecond: 50 / LATENCY_S },
  '5 a second': { config: { rps: 5, burst: 5 }, perSecond: 5, share: 0.1 },
  '20 a second': { config: { rps: 20, burst: 20 }, perSecond: 20, share: 0.5 },
  '20 a second, exact': { config: { rps: 20, burst: 20, retryAfter: 'ms' }, perSecond: 20, share: 0.5 },
  'requests a window': { config: { rpm: 100, windowMs: 5000 }, perSecond: 20, share: 0.5 },
  'tokens a window': { config: { tpm: 110_000, windowMs: 5000 }, perSecond: 20, share: 0.5 },
  'told by headers': { config: { rpm: 100, windowMs: 5000, headers: true }, perSecond: 20, share: 0.5 },
  'concurrency rises': {
    config: { concurrency: 10 },
    change: { atMs: 20_000, concurrency: 50 },
    perSecond: [10 / LATENCY_S, 50 / LATENCY_S],
  },
  'concurrency falls': {
    config: { concurrency: 30 },
    change: { atMs: 10_000, concurrency: 10 },
    perSecond: [30 / LATENCY_S, 10 / LATENCY_S],
  },
  'rate rises': { config: { rps: 8, burst: 8 }, change: { atMs: 20_000, rps: 40, burst: 40 }, perSecond: [8, 40] },
  'rate falls': { config: { rps: 30, burst: 30 }, change: { atMs: 15_000, rps: 10, burst: 10 }, perSecond: [30, 10], share: 0.5 },
  'allowance resets': { config: { concurrency: 30, quota: { calls: 800, resetsInMs: 20_000 } }, perSecond: 40 },
  'killed at 20 s': { config: { rps: 20, burst: 20 }, perSecond: 20, share: 0.5, killAtMs: 20_000 },
};

heading('pace under limits that are not announced');
const rows = [];
for (const [name, limit] of Object.entries(LIMITS)) {
  if (options.only !== undefined && options.only !== name) continue;
  rows.push(await measure(name, limit));
}
const columns = {
  limit: 'name',
  calls: 'calls',
  failed: 'failed',
  'rejected %': 'rejected',
  'after a kill %': 'rejectedAfterKill',
  'throughput %': 'throughput',
  seconds: 'seconds',
};
table('Share of the possible', Object.entries(columns), rows);
saveJson(options.json, rows);

async function measure(name, { config, change, perSecond, share = 1, killAtMs }) {
  const folder = mkdtempSync(join(tmpdir(), 'mlld-pace-'));
  const count = Math.round(calls * share);
  const changes = change ? [change] : [];
  const { provider, url } = await startProvider(folder, { latencyMs: [LATENCY_S * 1000, 0.2], ...config, changes });
  const statistics = async () => (await fetch(`${url}/stats`)).json();
  try {
    writeFileSync(join(folder, 'job.mld'), script(count));
    writeFileSync(join(folder, 'mlld-config.json'), '{}');
    const beganMs = Date.now();
    const words = [MLLD, 'job.mld', '--checkpoint', '--wait-quota', '1m'];
    const before = killAtMs && (await run(words, folder, url, killAtMs).then(statistics));
    const printed = await run(killAtMs ? [...words, '--resume'] : words, folder, url);
    const seconds = (Date.now() - beganMs) / 1000;
    const stats = await statistics();
    const rejectedShare = (from) => ((rejectedOf(stats) - rejectedOf(from)) / (stats.requests - from.requests)) * 100;
    const possible = possibleUntil(stats.lastMs, stats.firstMs, change?.atMs, [perSecond].flat());
    return {
      name,
      calls: count,
      failed: count - Number(printed.stdout.trim()),
      rejected: rejectedShare({ requests: 0, rateLimited: 0, overloaded: 0 }),
      ...(before ? { rejectedAfterKill: rejectedShare(before) } : {}),
      throughput: (stats.answered / possible) * 100,
      seconds,
    };
  } finally {
    provider.kill('SIGTERM');
    rmSync(folder, { recursive: true });
  }
}

function rejectedOf({ rateLimited, overloaded }) {
  return rateLimited + overloaded;
}

/** How many calls the limits let through from the first request to the last result; times are since the start of the provider. */
function possibleUntil(lastMs, firstMs, changesAtMs = Number.POSITIVE_INFINITY, [before, after = before]) {
  const changedMs = Math.min(Math.max(changesAtMs, firstMs), lastMs);
  return ((changedMs - firstMs) * before + (lastMs - changedMs) * after) / 1000;
}

async function startProvider(folder, config) {
  const ready = join(folder, 'ready');
  const provider = spawn(process.execPath, [PROVIDER, '--config', JSON.stringify(config), '--ready', ready], { stdio: 'ignore' });
  const url = () => (existsSync(ready) ? readFileSync(ready, 'utf8') : ''); // the file is there before it has its text
  while (url() === '') await sleep(20);
  return { provider, url: url() };
}

function script(count) {
  return `exe llm @ask(q) = node {
  const response = await fetch(process.env.PROVIDER_URL + "/v1/chat/completions", {
    method: "POST",
    body: JSON.stringify({ model: "gpt-5", messages: [{ role: "user", content: q }] }),
  });
  const text = await response.text();
  const resets = /it resets at ([^"]+Z)/.exec(text);
  if (resets) mlld.fail("quota", "used up", { resetsAt: Date.parse(resets[1]) / 1000 });
  if (!response.ok) throw Object.assign(new Error(text), { status: response.status, headers: Object.fromEntries(response.headers) });
  return JSON.parse(text).choices[0].message.content;
} with { lane: "provider" }
exe @items() = js { return Array.from({ length: ${count} }, (_, i) => "item " + i) }
var @list = @items()
var @results = for parallel(200) @item in @list => @ask(@item)
var @good = for @r in @results when @r.startsWith("A:") => 1
show @good.length
`;
}

/** Resolves with what the run printed; with `killAtMs` after its kill. */
function run(args, cwd, url, killAtMs) {
  return new Promise((resolve, reject) => {
    const child = spawn(process.execPath, args, { cwd, env: { ...process.env, PROVIDER_URL: url }, stdio: ['ignore', 'pipe', 'pipe'] });
    const timer = killAtMs && setTimeout(() => child.kill('SIGKILL'), killAtMs);
    let stdout = '';
    let stderr = '';
    child.stdout.on('data', (data) => (stdout += data));
    child.stderr.on('data', (data) => (stderr += data));
    child.on('error', reject);
    child.on('close', (code, signal) => {
      clearTimeout(timer);
      if (code === 0 || code === 4 || (killAtMs && signal === 'SIGKILL')) resolve({ stdout, stderr });
      else reject(new Error(`status ${code}: ${stderr}`));
    });
  });
}
