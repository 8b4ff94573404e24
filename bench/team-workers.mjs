// Calls that workers of a team's store execute, as a share of what their lanes could do at best, and of what a plain queue in the same
// database does; and the CPU of a run that has many offers outstanding, as a share of a core.
//   MLLD_STORE=postgres://… node team-workers.mjs [CALLS] [WORKERS] [LANES] [MS] [OFFERS]
// MLLD_STORE names an empty store that `mlld store migrate` has made; with MLLD_STORE=own a server of its own is started. A call waits MS
// without CPU. CPU is read from /proc. Where all cores are in use the share of the best says more of the machine than of the program: the
// CPU of a call is the figure to bring down.

import { spawn } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { execPath } from 'node:process';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';

import pg from 'pg';

import { scratch } from './measure.mjs';
import { storeAddress } from './own-server.mjs';
import { cpuOf, createServerPids, followCpu } from './processes.mjs';

const OUTSTANDING_S = 10;
const OUTSTANDING_MS = 1000;

const database = new URL(await storeAddress());
database.search = '';

if (process.argv[2] === '--lanes-of-the-queue') await serveQueue(Number(process.argv[3]), Number(process.argv[4]));
else await measure(...process.argv.slice(2).map(Number));

async function measure(calls = 2000, workers = 4, lanes = 8, ms = 50, offers = 10_000) {
  const bestS = (calls * ms) / 1000 / (workers * lanes);
  const floorS = await plainQueue(calls, workers, lanes, ms);
  const project = writeProject();
  const running = Array.from({ length: workers }, (_, n) => project.start('worker', '--lanes', String(lanes), '--name', `bench ${n}`));
  await project.run(2 * workers * lanes, ms); // each worker serves the workflow, and has its code compiled
  const before = running.map(({ pid }) => cpuOf(pid));
  const coordinator = project.start('run', 'many', '--checkpoint', '--workers', '--progress', 'none', ...payload(calls, ms));
  const coordinatorCpu = followCpu(() => [coordinator.pid]);
  const serverCpu = followCpu(createServerPids(database));
  await project.end(coordinator);
  const workersCpu = running.reduce((sum, { pid }, n) => sum + cpuOf(pid) - before[n], 0);
  const runCpu = coordinatorCpu();
  const ofServer = serverCpu();
  const tookS = await spanOf('call.offered', 'call.reused');
  console.log(`${calls} calls of ${ms} ms at ${workers} workers with ${lanes} lanes`);
  console.log(`  of the best (${bestS.toFixed(2)} s): ${((100 * bestS) / tookS).toFixed(0)} %`);
  console.log(`  between the first and the last quarter of them: ${((50 * bestS) / (await middleOf(calls))).toFixed(0)} %`);
  console.log(`  of a plain queue (${floorS.toFixed(2)} s): ${((100 * floorS) / tookS).toFixed(0)} %`);
  console.log(
    `  CPU of a call: ${perCall(ofServer + workersCpu + runCpu, calls)} ms: server ${perCall(ofServer, calls)}, workers ` +
      `${perCall(workersCpu, calls)}, run ${perCall(runCpu, calls)} with its start`,
  );
  if (offers === 0) return end(running);

  const latest = await latestOffer();
  const patient = project.start('run', 'many', '--checkpoint', '--workers', '--progress', 'none', ...payload(offers, OUTSTANDING_MS));
  while ((await latestOffer()) - latest < offers) await sleep(200);
  const [beganCpu, beganMs] = [cpuOf(patient.pid), performance.now()];
  await sleep(OUTSTANDING_S * 1000);
  const share = (cpuOf(patient.pid) - beganCpu) / ((performance.now() - beganMs) / 1000);
  console.log(`${offers} offers outstanding: the run uses ${(100 * share).toFixed(1)} % of a core`);
  end([patient, ...running]);
}

function end(children) {
  for (const child of children) child.kill('SIGTERM');
  process.exit();
}

function perCall(cpuS, calls) {
  return ((1000 * cpuS) / calls).toFixed(2);
}

/** The items of two runs differ. */
function payload(count, ms) {
  return ['--', '--count', String(count), '--ms', String(ms), '--from', String(performance.now())];
}

function writeProject() {
  const folder = scratch('team-workers');
  const cli = fileURLToPath(new URL('../dist/mlld.cjs', import.meta.url));
  mkdirSync(join(folder, 'llm', 'run'), { recursive: true });
  writeFileSync(join(folder, 'mlld-config.json'), '{}');
  const script = [
    'import { @count, @ms, @from } from @payload',
    'exe llm @ask(item, ms) = js { await new Promise((resolve) => setTimeout(resolve, ms)); return "answer to " + item }',
    'exe @items(count, from) = js { return Array.from({ length: count }, (_, n) => from + " " + n) }',
    'var @all = for parallel(100000) @item in @items(@count, @from) => @ask(@item, @ms)',
    'show @all.length()',
    '',
  ];
  writeFileSync(join(folder, 'llm', 'run', 'many.mld'), script.join('\n'));
  const start = (...words) => spawn(execPath, [cli, ...words], { cwd: folder, stdio: ['ignore', 'ignore', 'pipe'] });
  const end = async (child) => {
    let said = '';
    child.stderr.on('data', (chunk) => (said += chunk));
    const code = await new Promise((resolve) => child.on('close', resolve));
    if (code !== 0) throw new Error(said);
  };
  const run = (count, ms) => end(start('run', 'many', '--checkpoint', '--workers', '--progress', 'none', ...payload(count, ms)));
  return { start, end, run };
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

/** Offers are numbered. */
async function latestOffer() {
  return Number((await query('select last_value as n from mlld.offers_offer_id_seq'))[0].n);
}

/** Seconds from the first event of one type to the last of another, in the latest run. */
async function spanOf(first, last) {
  const time = (type, which) =>
    `(select ${which}((line::jsonb ->> 'ts')::timestamptz) from mlld.events where run_id = l.id and line like '%"type":"${type}"%')`;
  const [row] = await query(
    `select extract(epoch from ${time(last, 'max')} - ${time(first, 'min')}) as s from (select max(run_id) as id from mlld.runs where role = 'run') l`,
  );
  return Number(row.s);
}

/**
 * Seconds in which the second and the third quarter of the latest calls ended. Neither the first call of the loop counts, which runs alone,
 * nor most of the time in which the run prepares the others.
 */
async function middleOf(calls) {
  const at = (share) => `percentile_disc(${share}) within group (order by at)`;
  const ends = `select (line::jsonb ->> 'ts')::timestamptz as at from mlld.events where line like '%"type":"call.completed"%' order by at desc limit ${calls}`;
  const [row] = await query(`select extract(epoch from ${at(0.75)} - ${at(0.25)}) as s from (${ends}) e`);
  return Number(row.s);
}

/** The least that could execute the calls: each is taken from a table, and its result is inserted into another. Returns seconds. */
async function plainQueue(calls, workers, lanes, ms) {
  await query(`drop schema if exists mlld_bench cascade; create schema mlld_bench;
    create table mlld_bench.queue (n int primary key, taken boolean not null default false);
    create index on mlld_bench.queue (n) where not taken; create table mlld_bench.results (n int primary key, result text, at timestamptz);
    insert into mlld_bench.queue (n) select n from generate_series(1, ${calls}) n`);
  const self = fileURLToPath(import.meta.url);
  const children = Array.from({ length: workers }, () => spawn(execPath, [self, '--lanes-of-the-queue', String(lanes), String(ms)]));
  await Promise.all(children.map((child) => new Promise((resolve) => child.on('close', resolve))));
  const [{ s }] = await query(`select extract(epoch from max(at) - min(at)) + ${ms / 1000} as s from mlld_bench.results`);
  await query('drop schema mlld_bench cascade');
  return Number(s);
}

async function serveQueue(lanes, ms) {
  const client = new pg.Client({ connectionString: database.href, pipeline: true });
  await client.connect();
  const lane = async () => {
    for (;;) {
      const { rows } = await client.query(`update mlld_bench.queue set taken = true where n = (
        select n from mlld_bench.queue where not taken order by n limit 1 for update skip locked) returning n`);
      if (rows.length === 0) return;
      await sleep(ms);
      await client.query('insert into mlld_bench.results values ($1, $2, clock_timestamp())', [rows[0].n, `answer to ${rows[0].n}`]);
    }
  };
  await Promise.all(Array.from({ length: lanes }, lane));
  await client.end();
}
