// The physical reference: the least work with which a program can reuse N results from an ordered, durable event log. No
// language, no parser.
//   node floor.mjs cold|warm N FOLDER
// cold: N calls, 20 at a time; two events a call, and the result is on disk (group commit) before the call counts. In the end the
// log is read once for an index of its results. warm: every event is parsed back, and all N results are taken from that.
// peer.json holds what a peer takes as multiples of this program, measured when it did just this work: keep it so.

import { hash } from 'node:crypto';
import { closeSync, fdatasync, mkdirSync, openSync, readSync, writeFileSync, writeSync } from 'node:fs';
import { join } from 'node:path';

const CALLS_AT_ONCE = 20;
const ANSWER_BYTES = 4096;
const BLOCK_BYTES = 256 * 1024;
const NEWLINE = 0x0a;

const [mode, countText, folder] = process.argv.slice(2);
const count = Number(countText);
mkdirSync(folder, { recursive: true });
const file = join(folder, 'log.ndjson');
const answers = new Map();
if (mode === 'warm') {
  readLines((bytes, start, end) => {
    const event = JSON.parse(bytes.toString('utf8', start, end));
    if (event.type === 'call.completed') answers.set(event.key, event);
  });
}

const handle = openSync(file, 'a');
let queue = [];
let waiting = [];
let committing = false;
let seq = 0;
let answered = 0;

let next = 0;
const lane = async () => {
  while (next < count) {
    const { length } = await call(next++);
    answered += length;
  }
};
await Promise.all(Array.from({ length: CALLS_AT_ONCE }, lane));
if (answered !== count * ANSWER_BYTES) throw new Error(`${answered} bytes of results`);
if (mode === 'cold') writeIndex();

async function call(i) {
  const prompt = `Review source file number ${i} of the fleet ledger, list every defect with a line reference and a severity.`;
  const question = JSON.stringify(prompt);
  const key = hash('sha256', `{"args":[${question}],"fn":"review"}`, 'hex');
  const known = answers.get(key);
  if (known) return known.result;
  const span = `s${i}`;
  const started = { type: 'call.started', span, fn: 'review', site: 'pipe.mld:4:9', number: i, key, args: prompt };
  const head = { type: 'call.completed', key, fn: 'review', number: i, elapsedMs: 0 };
  queue.push(`${JSON.stringify({ seq: seq++, ts: Date.now(), ...started })}\n`);
  let result = `verdict on ${prompt}: `;
  while (result.length < ANSWER_BYTES) result += `${prompt} holds, line ${result.length}; `;
  result = result.slice(0, ANSWER_BYTES);
  queue.push(`${JSON.stringify({ seq: seq++, ts: Date.now(), ...head, result })}\n`);
  await new Promise((resolve) => {
    waiting.push(resolve);
    if (!committing) {
      committing = true;
      setImmediate(commit);
    }
  });
  answers.set(key, { key, result });
  return result;
}

function commit() {
  writeSync(handle, Buffer.from(queue.join('')));
  const covered = waiting;
  queue = [];
  waiting = [];
  fdatasync(handle, () => {
    for (const resolve of covered) resolve();
    if (waiting.length > 0) setImmediate(commit);
    else committing = false;
  });
}

/** The place of each result, found by the first bytes of its line. */
function writeIndex() {
  const rows = [];
  readLines((bytes, start, end, offset) => {
    const head = bytes.latin1Slice(start, Math.min(end, start + 160));
    const at = head.indexOf('"type":"call.completed","key":"');
    if (at > 0) rows.push(`${head.slice(at + 31, at + 95)} ${offset} ${end - start}`);
  });
  if (rows.length !== count) throw new Error(`${rows.length} results in the log`);
  writeFileSync(join(folder, 'index'), `${rows.join('\n')}\n`);
}

/** Every line of the log, in blocks. */
function readLines(visit) {
  const log = openSync(file, 'r');
  const bytes = Buffer.allocUnsafe(BLOCK_BYTES);
  let held = 0;
  let offset = 0;
  for (;;) {
    const read = readSync(log, bytes, held, bytes.length - held, offset + held);
    if (read === 0) break;
    held += read;
    let start = 0;
    for (let end = bytes.indexOf(NEWLINE); end >= 0 && end < held; end = bytes.indexOf(NEWLINE, start)) {
      visit(bytes, start, end, offset + start);
      start = end + 1;
    }
    bytes.copyWithin(0, start, held);
    held -= start;
    offset += start;
  }
  closeSync(log);
}
