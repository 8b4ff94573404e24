// Measures conversations that grow: each call gets the text so far, and returns it with a new end, or that alone.   node conversations.mjs [--rounds 9] [--json FILE]
// stored / distinct: all bytes below .mlld, as sizes of files and as blocks of the disk, over the bytes of the last text
// read / plain: cpu to read every stored payload, over cpu to read the same payloads from files of their own, in turns in this process;
// first read: the same for the first payload that a newly opened store reads, which has the index of the packs to make

import { lstatSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';

import { openStore } from './adapter.mjs';
import { runProcess, scratch } from './measure.mjs';
import { heading, saveJson, table } from './report.mjs';
import { median } from './statistics.mjs';
import { subjects } from './subjects.mjs';
import { project } from './workload.mjs';

const KINDS = [
  { name: '50 calls, 200 KB that grow by 5 KB', calls: 50, startBytes: 200_000, growthBytes: 5000 },
  { name: '50 calls, 2 KB that grow by 1 KB', calls: 50, startBytes: 2000, growthBytes: 1000 },
  { name: '4 such of 200 KB at once', calls: 50, startBytes: 200_000, growthBytes: 5000, conversations: 4 },
  { name: '300 calls, 20 KB that grow by 2 KB', calls: 300, startBytes: 20_000, growthBytes: 2000 },
  { name: '50 answers of 5 KB, put behind 200 KB by a template', calls: 50, startBytes: 200_000, growthBytes: 5000, puts: 'template' },
  { name: '50 answers of 5 KB, put behind 200 KB by code', calls: 50, startBytes: 200_000, growthBytes: 5000, puts: 'code' },
  { name: '100 answers of 2 KB, put behind 20 KB by code', calls: 100, startBytes: 20_000, growthBytes: 2000, puts: 'code' },
];
const DISK_BLOCK_BYTES = 512; // the unit of `blocks`, on every system

const { values: options } = parseArgs({ options: { rounds: { type: 'string', default: '9' }, json: { type: 'string' } } });
const rounds = Number(options.rounds);
const root = scratch('conversations');
const [{ argv }] = subjects();

heading('conversations that grow');
const rows = [];
for (const [number, kind] of KINDS.entries()) {
  const cwd = project(join(root, String(number)));
  const script = join(cwd, 'llm', 'run', 'talk.mld');
  writeFileSync(script, talk(kind));
  const { code, stdout, stderr } = await runProcess([...argv, 'run', 'talk', '--checkpoint'], { cwd });
  const texts = kind.conversations ?? 1;
  const distinct = (kind.startBytes + kind.calls * kind.growthBytes) * texts;
  const lengths = stdout
    .split('\n')
    .slice(0, -1)
    .map((line) => line.length);
  const right = code === 0 && lengths.length === texts && lengths.every((length) => length === distinct / texts);
  if (!right) process.stderr.write(`${stderr}\n`);
  const stored = sizesOf(join(cwd, '.mlld'));
  const lines = sizesOf(join(cwd, '.mlld'), (path) => path.endsWith('.ndjson')).bytes;
  const again = await runProcess([...argv, 'run', 'talk', '--checkpoint'], { cwd });
  rows.push({
    name: kind.name,
    right: right && again.stdout === stdout,
    distinct,
    stored: stored.bytes,
    lines,
    ratio: stored.bytes / distinct,
    blocks: stored.blocks / distinct,
    ...(await readTimes(cwd, join(root, `${number}-plain`))),
  });
  process.stderr.write('.');
}
process.stderr.write('\n');
const columns = {
  what: 'name',
  right: 'right',
  'distinct KB': (row) => row.distinct / 1000,
  'stored KB': (row) => row.stored / 1000,
  'of it lines KB': (row) => row.lines / 1000,
  'stored / distinct': 'ratio',
  'blocks / distinct': 'blocks',
  'packed ms cpu': 'packedMs',
  'plain ms cpu': 'plainMs',
  'read / plain': 'read',
  'first read / plain': 'firstRead',
};
table('Bytes and reading', Object.entries(columns), rows);
saveJson(options.json, rows);

/** A turn of a conversation adds text that occurs nowhere else, as the replies of a model do. */
function talk({ calls, startBytes, growthBytes, puts, conversations = 1 }) {
  const names = Array.from({ length: conversations }, (_, i) => `talk${i}`);
  const turnOf = (name, i) => {
    const call = `@turn(@${name}_${i}, ${growthBytes})`;
    if (puts === undefined) return `var @${name}_${i + 1} = ${call}`;
    const whole = puts === 'code' ? `@put(@${name}_${i}, @answer_${i})` : `\`@${name}_${i}@answer_${i}\``;
    return `var @answer_${i} = ${call}\nvar @${name}_${i + 1} = ${whole}`;
  };
  return [
    'exe @words(seed, length) = node {',
    '  const { createHash } = require("crypto");',
    '  let text = "";',
    '  for (let i = 0; text.length < length; i++) text += createHash("sha256").update(seed + i).digest("base64") + " ";',
    '  return text.slice(0, length);',
    '}',
    'exe llm @turn(history, length) = node {',
    '  const { createHash } = require("crypto");',
    '  const seed = `${history.slice(0, 50)} ${history.length} `;',
    '  let text = "";',
    '  for (let i = 0; text.length < length; i++) text += createHash("sha256").update(seed + i).digest("base64") + " ";',
    `  return ${puts === undefined ? 'history + ' : ''}text.slice(0, length);`,
    '}',
    'exe @put(history, answer) = js { return history + answer; }',
    ...names.map((name) => `var @${name}_0 = @words("${name}", ${startBytes})`),
    ...Array.from({ length: calls }, (_, i) => names.map((name) => turnOf(name, i))).flat(),
    ...names.map((name) => `show @${name}_${calls}`),
    '',
  ].join('\n');
}

/** Reads all payloads, in the order in which they were recorded, in turns with a copy of them as plain blobs. */
async function readTimes(cwd, plainFolder) {
  const payloads = [];
  const store = openStore(cwd);
  for (const workflow of await store.workflows()) {
    for (const { ref } of await store.runs(workflow)) {
      await store.scan(ref, (event) => payloads.push(...Object.values(event).filter((member) => typeof member?.blob === 'string')));
    }
  }
  if (payloads.length === 0) return {};
  const plain = openStore(plainFolder);
  for (const { blob } of payloads) await plain.putBlob(await store.getBlob(blob));
  const seen = { packed: [], plain: [], firstPacked: [], firstPlain: [] };
  for (let round = -1; round < rounds; round++) {
    for (const who of round % 2 ? ['packed', 'plain'] : ['plain', 'packed']) {
      const opened = openStore(who === 'packed' ? cwd : plainFolder);
      const first = await cpuMs(() => opened.getBlob(payloads.at(-1).blob));
      const all = await cpuMs(async () => {
        for (const { blob } of payloads) await opened.getBlob(blob);
      });
      if (round < 0) continue;
      seen[who].push(all);
      seen[who === 'packed' ? 'firstPacked' : 'firstPlain'].push(first);
    }
  }
  const [packedMs, plainMs] = [median(seen.packed), median(seen.plain)];
  return { packedMs, plainMs, read: packedMs / plainMs, firstRead: median(seen.firstPacked) / median(seen.firstPlain) };
}

async function cpuMs(work) {
  const before = process.cpuUsage();
  await work();
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1000;
}

function sizesOf(folder, counts = () => true) {
  let bytes = 0;
  let blocks = 0;
  for (const name of readdirSync(folder, { recursive: true, encoding: 'utf8' })) {
    const path = join(folder, name);
    const stat = lstatSync(path);
    if (!stat.isFile() || !counts(path)) continue;
    bytes += stat.size;
    blocks += stat.blocks * DISK_BLOCK_BYTES;
  }
  return { bytes, blocks };
}
