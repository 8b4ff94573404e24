// Events that are appended to a team's store and acknowledged, as a share of the rate at which the same server commits rows that
// `pgbench -M prepared` inserts over as many connections; alternately, with the CPU of both sides.
//   MLLD_STORE=postgres://… node team-append.mjs [--writers 1,20,200] [--lanes 1,20] [--seconds 2] [--rounds 5] [--json FILE]
// MLLD_STORE names a store that `mlld store migrate` has made, on a server that allows so many connections; with MLLD_STORE=own a server
// of its own is started, which allows 400. Each event is a `call.completed` of 1 KB, which is in the index of results as well. The shares
// that are the goal: docs/spec/team-store.md 17.

import { spawn } from 'node:child_process';
import { createHash, randomUUID } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { cpuUsage } from 'node:process';
import { parseArgs } from 'node:util';

import pg from 'pg';

import { importTypescript } from './import-typescript.mjs';
import { scratch } from './measure.mjs';
import { storeAddress } from './own-server.mjs';
import { cpuOf, createServerPids, followCpu } from './processes.mjs';
import { heading, saveJson, table } from './report.mjs';
import { median } from './statistics.mjs';

const GOALS = { '1x1': 0.4, '20x1': 0.25, '200x1': 0.2, '1x20': 2.5, '20x20': 1.3 };
const ROW_BYTES = 1200;
const CONNECTED_PER_S = 40; // pgbench counts the time in which it connects, which a busy machine makes longer
const COLUMNS = {
  'writers x lanes': 'name',
  'events/s': 'perS',
  'floor/s': 'floorPerS',
  share: 'share',
  goal: 'goal',
  'p50 ms': 'p50',
  'p99 ms': 'p99',
  'server ms/event': 'serverMs',
  'floor: server ms/commit': 'floorServerMs',
  'client ms/event': 'clientMs',
};

const { values: options } = parseArgs({
  options: {
    writers: { type: 'string', default: '1,20,200' },
    lanes: { type: 'string', default: '1,20' },
    seconds: { type: 'string', default: '2' },
    rounds: { type: 'string', default: '5' },
    json: { type: 'string' },
  },
});
const address = await storeAddress();
const database = new URL(address);
database.search = '';
const serverPids = createServerPids(database);
const seconds = Number(options.seconds);
const folder = scratch('team-append');
const { openProjectStore } = await importTypescript('src/session/project-store.ts');
const connectionsMax = Number((await query('show max_connections'))[0].max_connections) - 10;
await query(
  'drop schema if exists mlld_bench cascade; create schema mlld_bench; create table mlld_bench.floor (n bigint, run bigint, line text)',
);
const script = join(folder, 'floor.sql');
writeFileSync(script, `insert into mlld_bench.floor values (1, 1, '${'x'.repeat(ROW_BYTES)}');\n`);

heading('Appending to the store of a team');
const sizes = options.writers.split(',').flatMap((writers) => options.lanes.split(',').map((lanes) => [Number(writers), Number(lanes)]));
const rows = [];
for (const [writers, lanes] of sizes.filter(([writers, lanes]) => `${writers}x${lanes}` in GOALS)) {
  if (writers > connectionsMax) console.log(`\nnot measured: ${writers} writers, because the server allows ${connectionsMax} connections`);
  else rows.push(await compare(writers, lanes));
}
await query('drop schema mlld_bench cascade');
table('Medians', Object.entries(COLUMNS), rows);
saveJson(options.json, rows);

async function compare(writers, lanes) {
  const rounds = [];
  for (let round = 0; round < Number(options.rounds); round++) {
    const floor = await floorOf(writers);
    const ours = await append(writers, lanes);
    rounds.push({ ...ours, ...floor, share: ours.perS / floor.floorPerS });
    process.stderr.write('.');
  }
  process.stderr.write('\n');
  const medians = Object.keys(rounds[0]).map((name) => [name, median(rounds.map((round) => round[name]))]);
  const name = `${writers}x${lanes}`;
  return { name, goal: GOALS[name], ...Object.fromEntries(medians) };
}

async function floorOf(writers, connectingS = Math.ceil(writers / CONNECTED_PER_S)) {
  await query('truncate mlld_bench.floor');
  const argv = [
    '-n',
    '-M',
    'prepared',
    '-c',
    String(writers),
    '-j',
    String(Math.min(writers, 2)),
    '-T',
    String(seconds + connectingS),
    '-f',
    script,
  ];
  const cpu = followCpu(serverPids);
  const child = spawn('pgbench', [
    ...argv,
    '-h',
    database.hostname,
    '-p',
    database.port || '5432',
    '-U',
    database.username || 'postgres',
    database.pathname.slice(1),
  ]);
  let said = '';
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk) => (said += chunk));
  const code = await new Promise((resolve, reject) => child.on('error', reject).on('close', resolve));
  if (code === 0 && /actually processed: 0\n/.test(said)) return floorOf(writers, 3 * connectingS + 1);
  const perS = Number(/tps = ([\d.]+)/.exec(said)?.[1]);
  if (code !== 0 || !perS) throw new Error(`pgbench: ${said}`);
  const commits = Number(/transactions actually processed: (\d+)/.exec(said)?.[1]);
  return { floorPerS: perS, floorServerMs: (1000 * cpu()) / commits };
}

async function append(writers, lanes) {
  const environment = { MLLD_STORE: address, MLLD_STORE_NOTIFY: 'off' };
  const project = { root: folder, config: {} };
  const workflow = `append-${randomUUID()}.mld`;
  const opened = await Promise.all(
    Array.from({ length: writers }, async (_, n) => {
      const store = await openProjectStore({ project, environment, sealingKey: undefined, stderr: console.error });
      const journal = await store.create({ workflow, run: `20261121-084512-123-${String(n).padStart(4, '0')}` });
      await journal.append({ type: 'run.started', workflow, argv: [] });
      return { store, journal };
    }),
  );
  const latencies = [];
  // These stay until the end. To look for them meanwhile would hold up what is measured: this process.
  const servers = serverPids();
  const serverCpu = () => servers.reduce((sum, pid) => sum + cpuOf(pid), 0);
  const serverBegan = serverCpu();
  const [beganMs, beganCpu] = [performance.now(), cpuUsage()];
  const endMs = beganMs + 1000 * seconds;
  const lane = async ({ journal }, name) => {
    for (let n = 0; performance.now() < endMs; n++) {
      const sentMs = performance.now();
      await journal.append(completed(`${workflow} ${name} ${n}`));
      latencies.push(performance.now() - sentMs);
    }
  };
  await Promise.all(opened.flatMap((each, w) => Array.from({ length: lanes }, (_, l) => lane(each, `${w} ${l}`))));
  const tookS = (performance.now() - beganMs) / 1000;
  const { user, system } = cpuUsage(beganCpu);
  const serverS = serverCpu() - serverBegan;
  for (const { store, journal } of opened) {
    await journal.append({ type: 'run.finished', status: 'completed' });
    await journal.close();
    await store.close();
  }
  latencies.sort((a, b) => a - b);
  const events = latencies.length;
  const at = (share) => latencies[Math.floor(share * (events - 1))];
  return {
    perS: events / tookS,
    p50: at(0.5),
    p99: at(0.99),
    serverMs: (1000 * serverS) / events,
    clientMs: (user + system) / 1000 / events,
  };
}

function completed(name) {
  const key = `sha256:${createHash('sha256').update(name).digest('hex')}`;
  return { type: 'call.completed', key, op: `main/ask#${name.split(' ').at(-1)}`, result: { inline: 'x'.repeat(700) }, elapsedMs: 1 };
}

async function query(text) {
  const client = new pg.Client({ connectionString: database.href });
  await client.connect();
  try {
    return (await client.query(text)).rows;
  } finally {
    await client.end();
  }
}
