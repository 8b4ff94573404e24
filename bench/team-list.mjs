// Looks into a team's store that holds a thousand runs with a million events: whole processes, alternately with the same over files.
//   MLLD_STORE=postgres://… node team-list.mjs [--runs 1000] [--events 1000] [--rounds 5] [--json FILE]
// MLLD_STORE names an empty project of a store that `mlld store migrate` has made; what is there from another round is used again.
// Status 1 when `journal list` of a workflow takes more than 0.3 s.

import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { env, execPath } from 'node:process';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';

import { interleave, runProcess, scratch } from './measure.mjs';
import { loopOfCalls, writeRun } from './recorded-runs.mjs';
import { heading, saveJson, table } from './report.mjs';

const { values: options } = parseArgs({
  options: {
    runs: { type: 'string', default: '1000' },
    events: { type: 'string', default: '1000' },
    rounds: { type: 'string', default: '5' },
    json: { type: 'string' },
  },
});
const LIST_SECONDS_MAX = 0.3;
const EVENTS_PER_CALL = 7;
if (!env.MLLD_STORE) throw new Error('MLLD_STORE names no store: MLLD_STORE=postgres://127.0.0.1/mlld?project=bench');

const mlld = fileURLToPath(new URL('../dist/mlld.cjs', import.meta.url));
const project = scratch('team-list');
writeFileSync(join(project, 'mlld-config.json'), '{}');
const runs = Number(options.runs);
const calls = Math.floor((Number(options.events) - 4) / EVENTS_PER_CALL);
heading(`${runs} runs of a workflow, each with ${calls * EVENTS_PER_CALL + 4} events and ${calls} results`);
let last;
for (let number = 0; number < runs; number++) {
  const facts = loopOfCalls(calls, (i) => `of run ${number}, number ${i}:`);
  last = writeRun(project, { workflow: 'patrol.mld', number, facts, executed: calls }).run;
}
const filled = await runProcess([execPath, mlld, 'store', 'copy', '--from', '.'], { cwd: project });
if (filled.code !== 0) throw new Error(filled.stderr);
process.stderr.write(`filled in ${filled.wall.toFixed(1)} s\n`);

const store = env.MLLD_STORE;
const variants = [
  ['list', 'patrol'],
  ['list', 'patrol', '--json'],
  ['show', last],
].flatMap((argv) =>
  ['files', store].map((place) => ({
    name: `${argv.join(' ')}, ${place === store ? 'store' : 'files'}`,
    argv: ['env', `MLLD_STORE=${place}`, execPath, mlld, 'journal', ...argv],
    cwd: project,
  })),
);
const rows = await interleave(variants, { rounds: Number(options.rounds) });
table('Medians of whole processes', Object.entries({ what: 'name', 'cpu s': 'cpu', 'wall s': 'wall', 'peak MB': 'rssMB' }), rows);
saveJson(options.json, rows);
const missed = rows.filter(({ name, wall, failed }) => failed > 0 || (name.startsWith('list patrol,') && wall > LIST_SECONDS_MAX));
if (missed.length > 0) {
  console.error(`missed: ${missed.map(({ name }) => name).join(', ')}`);
  process.exitCode = 1;
}
