// Measures how well calls keep to limits that a provider does not announce.   node pace.mjs [--calls 2000] [--only NAME] [--json FILE]
// The provider is one of this machine's own, on the loopback address. For each kind of limit: calls without a result, the share of attempts
// that were rejected, and the throughput as a share of what the limit makes possible. calls.md 12.5 has the figures that must come of it.

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

/** `possible` is the number of calls that the limit lets through in a second. */
const LIMITS = {
  'concurrency 3': { config: { concurrency: 3 }, possible: 3 / LATENCY_S, share: 0.125 },
  'concurrency 50': { config: { concurrency: 50 }, possible: 50 / LATENCY_S },
  '5 a second': { config: { rps: 5, burst: 5 }, possible: 5, share: 0.1 },
  '20 a second': { config: { rps: 20, burst: 20 }, possible: 20, share: 0.5 },
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
  'throughput %': 'throughput',
  seconds: 'seconds',
};
table('Share of the possible', Object.entries(columns), rows);
saveJson(options.json, rows);

async function measure(name, { config, possible, share = 1 }) {
  const folder = mkdtempSync(join(tmpdir(), 'mlld-pace-'));
  const count = Math.round(calls * share);
  const { provider, url } = await startProvider(folder, { latencyMs: [LATENCY_S * 1000, 0.2], ...config });
  try {
    writeFileSync(join(folder, 'job.mld'), script(count));
    writeFileSync(join(folder, 'mlld-config.json'), '{}');
    const beganMs = Date.now();
    const printed = await run(process.execPath, [MLLD, 'job.mld', '--checkpoint'], folder, { PROVIDER_URL: url });
    const seconds = (Date.now() - beganMs) / 1000;
    const stats = await (await fetch(`${url}/stats`)).json();
    const rejected = stats.rateLimited + stats.overloaded;
    const busySeconds = (stats.lastMs - stats.firstMs) / 1000;
    return {
      name,
      calls: count,
      failed: count - stats.answered,
      rejected: (rejected / stats.requests) * 100,
      throughput: (stats.answered / busySeconds / possible) * 100,
      seconds,
      isComplete: printed.stdout.trim() === String(count),
    };
  } finally {
    provider.kill('SIGTERM');
    rmSync(folder, { recursive: true });
  }
}

async function startProvider(folder, config) {
  const ready = join(folder, 'ready');
  const provider = spawn(process.execPath, [PROVIDER, '--config', JSON.stringify(config), '--ready', ready], { stdio: 'ignore' });
  while (!existsSync(ready)) await sleep(20);
  return { provider, url: readFileSync(ready, 'utf8') };
}

function script(count) {
  return `exe llm @ask(q) = node {
  const response = await fetch(process.env.PROVIDER_URL + "/v1/chat/completions", {
    method: "POST",
    body: JSON.stringify({ model: "gpt-5", messages: [{ role: "user", content: q }] }),
  });
  const text = await response.text();
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

function run(program, args, cwd, environment) {
  return new Promise((resolve, reject) => {
    const child = spawn(program, args, { cwd, env: { ...process.env, ...environment }, stdio: ['ignore', 'pipe', 'pipe'] });
    let stdout = '';
    let stderr = '';
    child.stdout.on('data', (data) => (stdout += data));
    child.stderr.on('data', (data) => (stderr += data));
    child.on('error', reject);
    child.on('close', (code) => (code === 0 || code === 4 ? resolve({ stdout, stderr }) : reject(new Error(`status ${code}: ${stderr}`))));
  });
}
