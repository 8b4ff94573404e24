// Measures the cost of followers to the run that they watch: a pipeline in `mlld serve`, alternately without followers and with many.
//   node followers.mjs [--followers 500] [--stages 100] [--rounds 3] [--json FILE]
// The time is that of the run, from its first to its last event, on the server's clock. Followers live in a process of their own; on few
// cores they take time from the server, too, so the ratio is an upper bound.

import { spawn } from 'node:child_process';
import { get } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';

import { scratch } from './measure.mjs';
import { heading, saveJson, table } from './report.mjs';
import { median } from './statistics.mjs';
import { subjects } from './subjects.mjs';
import { project } from './workload.mjs';

const { values: options } = parseArgs({
  options: {
    followers: { type: 'string', default: '500' },
    stages: { type: 'string', default: '100' },
    rounds: { type: 'string', default: '3' },
    json: { type: 'string' },
    watch: { type: 'string' },
  },
});
if (options.watch) follow(options.watch, Number(options.followers));
else await main();

async function main() {
  heading('followers of a run');
  const cwd = project(scratch('followers'));
  const ours = subjects().find(({ name }) => name === 'ours').argv;
  const server = spawn(ours[0], [...ours.slice(1), 'serve', '--port', '0', '--json'], { cwd, stdio: ['ignore', 'pipe', 'ignore'] });
  const { url: origin } = JSON.parse(await new Promise((resolve) => server.stdout.once('data', resolve)));
  const url = origin.replace(/\/$/, '');
  const rows = [];
  try {
    for (const followers of [0, Number(options.followers)]) {
      const tookMs = [];
      for (let round = 0; round < Number(options.rounds); round++) tookMs.push(await run(url, followers));
      rows.push({ followers, tookMs: Math.round(median(tookMs)), least: Math.min(...tookMs), most: Math.max(...tookMs) });
    }
  } finally {
    server.kill('SIGTERM');
  }
  table(`${options.stages} stages`, Object.entries({ followers: 'followers', 'run ms': 'tookMs', least: 'least', most: 'most' }), rows);
  console.log(`\nratio ${(rows[1].tookMs / rows[0].tookMs).toFixed(2)}`);
  saveJson(options.json, { rows });
}

async function run(url, followers) {
  const names = Array.from({ length: Number(options.stages) }, (_, i) => `s${i}`);
  // The first stage waits until everybody watches.
  const first = 'gate [shape=parallelogram, tool_command="sleep 3"]';
  const stages = names.map((name) => `${name} [prompt="stage ${name}"]`).join('; ');
  const dot = `digraph g { start [shape=Mdiamond]; exit [shape=Msquare]; ${first}; ${stages}; start -> gate -> ${names.join(' -> ')} -> exit }`;
  const response = await fetch(`${url}/pipelines`, { method: 'POST', body: JSON.stringify({ dot, backend: 'simulated' }) });
  const { id, error } = await response.json();
  if (error) throw new Error(`${error.message}: ${JSON.stringify(error.diagnostics)}`);
  const self = fileURLToPath(import.meta.url);
  const watching =
    followers > 0 && spawn(process.execPath, [self, '--watch', `${url}/pipelines/${id}/events`, '--followers', `${followers}`]);
  for (;;) {
    const { status, started_at: from, finished_at: to } = await (await fetch(`${url}/pipelines/${id}`)).json();
    if (status === 'failed') throw new Error('the pipeline failed');
    if (status === 'completed') {
      if (watching) await new Promise((resolve) => watching.on('close', resolve));
      return Date.parse(to) - Date.parse(from) - 3000;
    }
    await sleep(250);
  }
}

function follow(url, count) {
  for (let i = 0; i < count; i++) get(url, { agent: false }, (response) => response.resume());
}
