// Compares the journal with the raw rates of the machine, alternately in one process.   node journal-api.mjs [--events 20000] [--rounds 5] [--json FILE]

import { hash } from 'node:crypto';
import { closeSync, fdatasync, mkdirSync, openSync, readdirSync, readSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { performance } from 'node:perf_hooks';
import { parseArgs } from 'node:util';

import { openWriter, replay } from './adapter.mjs';
import { bigEvent, smallEvent } from './events.mjs';
import { scratch } from './measure.mjs';
import { heading, saveJson, table } from './report.mjs';
import { greatest, least, median } from './statistics.mjs';

const SLICE_MS = 200; // a durable rate depends on what else the disk does, so it is taken in short slices
const SLICES = 6;
const REPEATS = 3; // of a measured time: the first one also collects the garbage of the pair before
const KINDS = 512; // different events; more would measure the cache of the processor
const BUFFER_BYTES = 65_536;

const { values: options } = parseArgs({
  options: { events: { type: 'string', default: '20000' }, rounds: { type: 'string', default: '5' }, json: { type: 'string' } },
});
const count = Number(options.events);
const root = scratch('journal');
const block = Buffer.alloc(BUFFER_BYTES);
let folders = 0;

const samples = {
  small: Array.from({ length: KINDS }, (_, i) => smallEvent(i)),
  '4 KB': Array.from({ length: KINDS }, (_, i) => bigEvent(i)),
};
const texts = Object.fromEntries(Object.entries(samples).map(([size, events]) => [size, events.map((event) => JSON.stringify(event))]));
const bytes = Object.fromEntries(Object.entries(texts).map(([size, lines]) => [size, lines.map((line) => Buffer.from(line))]));
const written = {};
for (const size of Object.keys(samples)) {
  written[size] = freshFolder();
  await postAll(samples[size], written[size]);
}

const pairs = [
  ...[1, 20, 200].map((writers) => durable(writers, 'small')),
  durable(20, '4 KB'),
  ...['small', '4 KB'].map((size) => ({
    name: `ordered post without sync, ${size}`,
    by: 'cpu',
    raw: () => rawPost(samples[size]),
    ours: () => ourPost(samples[size]),
  })),
  ...['small', '4 KB'].flatMap((size) =>
    Object.entries({
      'JSON.parse alone': () => rawParse(texts[size]),
      'sha256 and JSON.parse of each line': () => rawVerify(bytes[size]),
    }).map(([what, raw]) => ({
      name: `replay against ${what}, ${size}`,
      by: 'cpu',
      raw,
      ours: () => ourReplay(written[size]),
    })),
  ),
];

heading('journal against raw rates');
const seen = pairs.map(() => []);
for (let round = -1; round < Number(options.rounds); round++) {
  for (const [i, pair] of pairs.entries()) {
    const taken = await turns(pair, round);
    if (round >= 0) seen[i].push(taken);
    process.stderr.write('.');
  }
}
process.stderr.write('\n');
const rows = pairs.map(({ name, by }, i) => {
  const shares = seen[i].map(({ raw, ours }) => (by === 'cpu' ? raw.us / ours.us : ours.perSecond / raw.perSecond) * 100);
  const middle = (who, key) => median(seen[i].map((taken) => taken[who][key]));
  return {
    name,
    by,
    raw: middle('raw', 'perSecond'),
    ours: middle('ours', 'perSecond'),
    rawUs: middle('raw', 'us'),
    oursUs: middle('ours', 'us'),
    share: median(shares),
    least: least(shares),
    greatest: greatest(shares),
  };
});
const columns = {
  what: 'name',
  by: 'by',
  'raw/s': 'raw',
  'journal/s': 'ours',
  'raw us cpu': 'rawUs',
  'journal us cpu': 'oursUs',
  'share %': 'share',
  min: 'least',
  max: 'greatest',
};
table('Share of the raw rate (100 % = nothing lost)', Object.entries(columns), rows);
saveJson(options.json, rows);

function durable(writers, size) {
  const plural = writers === 1 ? 'writer' : 'writers';
  const lines = texts[size].map((text) => `${text}\n`);
  return {
    name: `durable append, ${writers} ${plural}, ${size}`,
    by: 'rate',
    raw: () => rawDurable(lines, writers),
    ours: () => ourDurable(samples[size], writers),
  };
}

async function turns({ by, raw, ours }, round) {
  const slices = by === 'rate' ? SLICES : REPEATS;
  const taken = { raw: [], ours: [] };
  for (let slice = 0; slice < slices; slice++) {
    const order = (slice + round) % 2 ? ['raw', 'ours'] : ['ours', 'raw'];
    for (const who of order) taken[who].push(await (who === 'raw' ? raw() : ours()));
  }
  return { raw: mean(taken.raw), ours: mean(taken.ours) };
}

/** Slices last equally long, so rates go by their harmonic mean. */
function mean(results) {
  return {
    perSecond: results.length / results.reduce((sum, { perSecond }) => sum + 1 / perSecond, 0),
    us: median(results.map(({ us }) => us)),
  };
}

async function timed(work) {
  const startedMs = performance.now();
  const before = process.cpuUsage();
  const events = await work();
  const { user, system } = process.cpuUsage(before);
  return { perSecond: (events * 1000) / (performance.now() - startedMs), us: (user + system) / events };
}

/** `writers` loops, each waiting for its event before it appends the next. */
async function appendInLanes(writers, append) {
  let events = 0;
  const untilMs = performance.now() + SLICE_MS;
  const lane = async () => {
    while (performance.now() < untilMs) await append(events++ % KINDS);
  };
  await Promise.all(Array.from({ length: writers }, lane));
  return events;
}

/** The lines are ready; the committer only joins, writes and syncs. */
async function rawDurable(lines, writers) {
  const handle = openSync(join(freshFolder(), 'raw'), 'a');
  let queue = [];
  let waiting = [];
  let committing = false;
  const commit = () => {
    writeSync(handle, queue.join(''));
    const covered = waiting;
    queue = [];
    waiting = [];
    fdatasync(handle, () => {
      for (const resolve of covered) resolve();
      if (waiting.length > 0) setImmediate(commit);
      else committing = false;
    });
  };
  const append = (i) =>
    new Promise((resolve) => {
      queue.push(lines[i]);
      waiting.push(resolve);
      if (committing) return;
      committing = true;
      setImmediate(commit);
    });
  const result = await timed(() => appendInLanes(writers, append));
  closeSync(handle);
  return result;
}

async function ourDurable(events, writers) {
  const journal = await openWriter(freshFolder());
  const result = await timed(() => appendInLanes(writers, (i) => journal.append(events[i])));
  await journal.close();
  return result;
}

/** Includes JSON.stringify, which no journal can avoid. */
function rawPost(events) {
  const handle = openSync(join(freshFolder(), 'raw'), 'a');
  return timed(() => {
    let buffer = '';
    for (let i = 0; i < count; i++) {
      buffer += `${JSON.stringify(events[i % KINDS])}\n`;
      if (buffer.length > BUFFER_BYTES) {
        writeSync(handle, buffer);
        buffer = '';
      }
    }
    writeSync(handle, buffer);
    closeSync(handle);
    return count;
  });
}

function ourPost(events) {
  return timed(() => postAll(events, freshFolder()));
}

async function postAll(events, folder) {
  const journal = await openWriter(folder);
  for (let i = 0; i < count; i++) {
    journal.post(events[i % KINDS]);
    if (i % 1024 === 0) await Promise.resolve(); // a program yields to its other tasks
  }
  await journal.close();
  return count;
}

function rawParse(lines) {
  return timed(() => {
    let sum = 0;
    for (let i = 0; i < count; i++) sum += JSON.parse(lines[i % KINDS]).seq;
    if (Number.isNaN(sum)) throw new Error('an event without a number');
    return count;
  });
}

/** The least work with which a reader can check a chain of hashes. */
function rawVerify(lines) {
  return timed(() => {
    let sum = 0;
    for (let i = 0; i < count; i++) {
      const line = lines[i % KINDS];
      sum += hash('sha256', line).length + JSON.parse(line.toString()).seq;
    }
    if (Number.isNaN(sum)) throw new Error('an event without a number');
    return count;
  });
}

function ourReplay(folder) {
  read(folder);
  return timed(() => replay(folder, () => {}));
}

/** Reads the file first: pages that were not used for some seconds may have left the memory, and the reader is not to pay for that. */
function read(folder) {
  for (const entry of readdirSync(folder, { recursive: true, withFileTypes: true })) {
    if (!entry.isFile()) continue;
    const handle = openSync(join(entry.parentPath ?? entry.path, entry.name));
    while (readSync(handle, block) > 0);
    closeSync(handle);
  }
}

function freshFolder() {
  const folder = join(root, String(folders++));
  mkdirSync(folder);
  return folder;
}
