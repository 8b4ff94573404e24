// Holds what the other scripts wrote into a folder against targets.json.   node check-targets.mjs FOLDER
// Status 1 when a gate is missed. What was not measured is shown and does not count.

import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

import { table } from './report.mjs';
import { greatest } from './statistics.mjs';

const folder = process.argv[2];
const beside = (name) => JSON.parse(readFileSync(new URL(name, import.meta.url), 'utf8'));
const written = (name) => (existsSync(join(folder, name)) ? JSON.parse(readFileSync(join(folder, name), 'utf8')) : undefined);
const { targets } = beside('targets.json');
const recorded = beside('peer.json');

const start = written('cold-start.json');
const operations = written('operations.json');
const parse = written('parse.json');
const checkpoint = written('checkpoint.json');
const crash = written('crash.json');
const journal = written('journal-api.json');
const programs = written('programs.json');
const starts = written('starts.json')?.filter(({ name, right }) => name.startsWith('start over') && right);

const nodeCpu = start?.[0].cpu;
const hasPeer = start?.some(({ name }) => name.startsWith('peer:'));
const startRow = start?.find(({ name }) => name === 'ours: one line');
const measured = {
  'start.version': start?.find(({ name }) => name === 'ours: --version').cpuRatio,
  'start.oneLine': startRow?.cpuRatio,
  'start.memory': startRow?.rssMBRatio,
  ...Object.fromEntries(Object.keys(recorded.usPerOp).map((kind) => [`operations.${kind}`, costOfOperation(kind)])),
  'operations.growth': operations && greatest(operations.growth.filter(({ who }) => who === 'ours').map(({ exponent }) => exponent)),
  'parse.long': parse?.rows.find((row) => row.who === 'ours' && row.how === 'validate' && row.lines >= 1990 && row.lines < 2010)
    ?.extraRatio,
  'checkpoint.warm732': gainOver('warm', 732),
  'checkpoint.warm10000': gainOver('warm', 10000),
  'checkpoint.cold732': gainOver('cold', 732),
  'checkpoint.cold10000': gainOver('cold', 10000),
  'checkpoint.hit': phase('ours', 'warm', 10000)?.xFloor,
  'checkpoint.miss': phase('ours', 'cold', 10000)?.xFloor,
  'checkpoint.disk': phase('ours', 'cold', 732)?.amplification,
  'checkpoint.files': phase('ours', 'cold', 732)?.store.files,
  'checkpoint.memory': phase('ours', 'warm', 10000)?.kbPerCall,
  'starts.cpu': starts?.at(-1)?.cpuRatio,
  'starts.memory': starts?.at(-1)?.rssMBRatio,
  'starts.growth': starts?.at(-1)?.growth,
  'programs.start': programs?.starts.at(-1).cpuRatio,
  'programs.growth': programs?.steps.at(-1).ratio,
  'crash.again': crash && Math.max(...crash.kills.map(({ paidTwice }) => paidTwice)),
  'crash.inFlight': crash && Math.max(...crash.kills.map(({ again }) => again)) / crash.callsAtOnce,
  'crash.right': crash && crash.kills.filter(({ right }) => right).length / crash.kills.length,
  'journal.append20': share('durable append, 20 writers, small'),
  'journal.append20big': share('durable append, 20 writers, 4 KB'),
  'journal.post': share('ordered post without sync, small'),
  'journal.replay': share('replay against JSON.parse alone, small'),
  'journal.replayBig': share('replay against JSON.parse alone, 4 KB'),
};

const rows = targets.map((target) => {
  const value = measured[target.id];
  const reaches = (limit) => (target.better === 'less' ? value <= limit : value >= limit);
  const isKnown = Number.isFinite(value);
  const verdict = !isKnown ? 'not measured' : reaches(target.goal) ? 'goal' : reaches(target.gate) ? 'gate' : 'MISSED';
  return { ...target, value, verdict, gate: `${target.better === 'less' ? '<=' : '>='} ${target.gate}` };
});
console.log('# targets\n');
if (hasPeer) console.log('The peer was measured in the same run.');
else if (nodeCpu) {
  const factor = (nodeCpu / recorded.nodeCpuSeconds).toFixed(2);
  console.log(`No peer was measured. Its figures are the recorded ones of ${recorded.peer} (peer.json), scaled to this machine: times by`);
  console.log(`${factor}, the ratio of \`node -e 0\` here and there; whole runs by what floor.mjs takes in this run.`);
}
table(
  'Targets',
  Object.entries({ id: 'id', what: 'what', measured: 'value', gate: 'gate', goal: 'goal', floor: 'floor', verdict: 'verdict' }),
  rows,
);
const missed = rows.filter(({ verdict }) => verdict === 'MISSED').length;
console.log(`\n${rows.filter(({ verdict }) => verdict !== 'not measured').length} measured, ${missed} missed`);
process.exitCode = missed > 0 ? 1 : 0;

function costOfOperation(kind) {
  const cost = (who) => operations?.rows.find((row) => row.who === who && row.kind === kind && row.n === 10000 && row.right)?.usPerOp;
  const peer = hasPeer ? cost('peer') : recorded.usPerOp[kind] * (nodeCpu / recorded.nodeCpuSeconds);
  return cost('ours') / peer;
}

function gainOver(name, n) {
  const peer = hasPeer ? phase('peer', name, n)?.cpu : phase('floor', name, n)?.cpu * recorded.cpuOverFloor[name][n];
  return peer / phase('ours', name, n)?.cpu;
}

/** A phase with a wrong result was not measured. */
function phase(who, name, n) {
  return checkpoint?.rows.find((row) => row.who === who && row.phase === name && row.n === n && row.right);
}

function share(name) {
  return journal?.find((row) => row.name === name)?.share;
}
