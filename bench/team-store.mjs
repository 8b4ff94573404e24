// The start of a run that reuses N results of a team's store, as a multiple of the same over files, and the round trips that it waits for.
//   MLLD_STORE=postgres://… node team-store.mjs [N] [ROUNDS] [ROUND_TRIP_MS]
// MLLD_STORE names an empty store that `mlld store migrate` has made. Round trips are counted on the slower line: what is sent behind an
// answer, on whichever connection, may have waited for it. So they are the most that the start can have waited for. At last another run of
// the workflow is in flight, so that the index covers none of those behind it: a start reads the run of N results before it.

import { mkdirSync, writeFileSync } from 'node:fs';
import { connect, createServer } from 'node:net';
import { join } from 'node:path';
import { env, execPath } from 'node:process';
import { fileURLToPath } from 'node:url';

import { importTypescript } from './import-typescript.mjs';
import { runProcess, scratch } from './measure.mjs';
import { median } from './statistics.mjs';

const [countText = '10000', roundsText = '5', roundTripText = '20'] = process.argv.slice(2);
const ROUND_TRIP_MS = Number(roundTripText);
if (!env.MLLD_STORE) throw new Error('MLLD_STORE names no store: MLLD_STORE=postgres://127.0.0.1/mlld?project=bench');
const store = new URL(env.MLLD_STORE);
const folder = scratch('team-store');
const cli = fileURLToPath(new URL('../dist/mlld.cjs', import.meta.url));
mkdirSync(join(folder, 'llm', 'run'), { recursive: true });
writeFileSync(join(folder, 'mlld-config.json'), '{}');
const items = Array.from({ length: Number(countText) }, (_, n) => `"item ${n}"`).join(', ');
writeFileSync(
  join(folder, 'llm', 'run', 'many.mld'),
  `exe llm @ask(q) = js { return "answer to " + q }\nvar @all = for parallel(20) @q in [${items}] => @ask(@q)\nshow @all.length()\n`,
);

let delayMs = 0;
let roundTrips = 0;
const relay = createServer((client) => {
  const server = connect(Number(store.port || 5432), store.hostname);
  let reached = 0; // the round trip of what the server has got on this connection
  client.on('data', (chunk) => {
    const own = roundTrips + 1;
    setTimeout(() => {
      reached = Math.max(reached, own);
      if (!server.destroyed) server.write(chunk);
    }, delayMs / 2);
  });
  server.on('data', (chunk) => {
    const own = reached;
    setTimeout(() => {
      roundTrips = Math.max(roundTrips, own);
      if (!client.destroyed) client.write(chunk);
    }, delayMs / 2);
  });
  for (const socket of [client, server]) {
    socket.on('error', () => undefined); // 'close' follows
    socket.on('close', () => void (client.destroy(), server.destroy()));
  }
});
await new Promise((resolve) => relay.listen(0, '127.0.0.1', resolve));
const relayed = new URL(store);
relayed.host = `127.0.0.1:${relay.address().port}`;
relayed.searchParams.set('sslmode', 'disable');

async function start(address) {
  env.MLLD_STORE = address;
  roundTrips = 0;
  const { code, wall, cpu, rssMB, stderr } = await runProcess([execPath, cli, 'run', 'many', '--checkpoint'], { cwd: folder });
  if (code !== 0) throw new Error(stderr);
  return { wall, cpu, rssMB, roundTrips };
}

await start('files');
await start(relayed.href);
const rounds = [];
for (let round = 0; round < Number(roundsText); round++) {
  const files = await start('files');
  delayMs = 0;
  const near = await start(relayed.href);
  delayMs = ROUND_TRIP_MS;
  const far = await start(relayed.href);
  rounds.push({ files, near, far });
}
const of = (figure) => median(rounds.map(figure));
console.log(`start over files: ${of(({ near, files }) => near.wall / files.wall).toFixed(2)} times the time`);
console.log(`  ${of(({ near, files }) => near.cpu / files.cpu).toFixed(2)} times the CPU time`);
console.log(`  ${of(({ near, files }) => near.rssMB / files.rssMB).toFixed(2)} times the memory`);
console.log(`at ${ROUND_TRIP_MS} ms: ${of(({ far }) => far.roundTrips)} round trips at most, in ${of(({ far }) => far.wall).toFixed(2)} s`);
console.log(`  ${of(({ near, far }) => far.wall - near.wall).toFixed(2)} s more than at 0 ms`);

const { openProjectStore } = await importTypescript('src/session/project-store.ts');
const inFlight = await openProjectStore({
  project: { root: folder, config: {} },
  environment: env,
  sealingKey: undefined,
  stderr: console.error,
});
const journal = await inFlight.create({ workflow: 'llm/run/many.mld', run: runIdNow() });
await journal.append({ type: 'run.started', workflow: 'llm/run/many.mld', argv: [] });
delayMs = 0;
await start(relayed.href);
delayMs = ROUND_TRIP_MS;
const behind = await start(relayed.href);
console.log(
  `  behind a run in flight: ${behind.roundTrips} round trips at most, in ${behind.wall.toFixed(2)} s, ${behind.rssMB.toFixed(0)} MB`,
);
process.exit(); // the relay's connections end with the process

/** The id of a run that begins now. */
function runIdNow() {
  const digits = new Date().toISOString().replace(/\D/g, '');
  return `${digits.slice(0, 8)}-${digits.slice(8, 14)}-${digits.slice(14, 17)}-0000`;
}
