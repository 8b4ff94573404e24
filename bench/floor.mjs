// The physical reference: the least work with which a program can answer N questions from an ordered, durable event log. No
// language, no parser.
//   node floor.mjs cold|warm N FOLDER
// cold: N calls, 20 at a time; two events a call, and the answer is on disk (group commit) before the call counts.
// warm: read the log back, answer all N from it.

import { hash } from 'node:crypto';
import { fdatasync, mkdirSync, openSync, readFileSync, writeSync } from 'node:fs';
import { join } from 'node:path';

const CALLS_AT_ONCE = 20;

const [mode, countText, folder] = process.argv.slice(2);
const count = Number(countText);
mkdirSync(folder, { recursive: true });
const file = join(folder, 'log.ndjson');
const answers = new Map();
if (mode === 'warm') {
  for (const line of readFileSync(file, 'utf8').split('\n')) {
    const event = line && JSON.parse(line);
    if (event.type === 'call.completed') answers.set(event.key, event.result);
  }
}

const handle = openSync(file, 'a');
let queue = [];
let waiting = [];
let committing = false;
let seq = 0;

let next = 0;
const lane = async () => {
  while (next < count) await call(next++);
};
await Promise.all(Array.from({ length: CALLS_AT_ONCE }, lane));

async function call(i) {
  const prompt = `Review source file number ${i} of the fleet ledger, list every defect.`;
  const key = hash('sha256', `{"args":[${JSON.stringify(prompt)}],"fn":"review"}`, 'hex');
  if (answers.has(key)) return;
  queue.push(`${JSON.stringify({ seq: seq++, type: 'call.started', key, fn: 'review' })}\n`);
  let result = `verdict on ${prompt}: `;
  while (result.length < 4096) result += `${prompt} holds, line ${result.length}; `;
  queue.push(`${JSON.stringify({ seq: seq++, type: 'call.completed', key, result: result.slice(0, 4096) })}\n`);
  await new Promise((resolve) => {
    waiting.push(resolve);
    if (!committing) {
      committing = true;
      setImmediate(commit);
    }
  });
}

function commit() {
  writeSync(handle, queue.join(''));
  const covered = waiting;
  queue = [];
  waiting = [];
  fdatasync(handle, () => {
    for (const resolve of covered) resolve();
    if (waiting.length > 0) setImmediate(commit);
    else committing = false;
  });
}
