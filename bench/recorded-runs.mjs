// Writes runs as docs/journal-format.md has them, as fast as that goes, without executing anything.

import { createHash } from 'node:crypto';
import { closeSync, mkdirSync, openSync, writeSync } from 'node:fs';
import { dirname, join } from 'node:path';

const PENDING_MAX = 1 << 20;

/** Writes a whole run of `workflow` that began `number` minutes into the year. Returns its id and its file. */
export function writeRun(folder, { workflow, number, facts, executed }) {
  const startMs = Date.UTC(2026, 0, 1) + number * 60_000;
  const stamp = new Date(startMs).toISOString();
  const run = `${stamp.slice(0, 10).replaceAll('-', '')}-${stamp.slice(11, 19).replaceAll(':', '')}-${stamp.slice(20, 23)}-0000`;
  const path = join(folder, '.mlld/journal', workflow.replaceAll('/', '+'), 'runs', `${run}.ndjson`);
  mkdirSync(dirname(path), { recursive: true });
  const file = openSync(path, 'wx');
  const state = { previous: '0'.repeat(64), seq: 0, pending: '' };
  const flush = () => {
    writeSync(file, state.pending);
    state.pending = '';
  };
  const put = ({ type, ...members }) => {
    const ts = new Date(startMs + Math.floor(state.seq / 100)).toISOString();
    const body = JSON.stringify({ v: 1, seq: state.seq++, type, ...members, ts });
    const hash = createHash('sha256').update(state.previous).update(body).digest('hex');
    state.pending += `${body.slice(0, -1)},"hash":"${hash}"}\n`;
    state.previous = hash;
    if (state.pending.length > PENDING_MAX) flush();
  };
  const name = workflow.slice(workflow.lastIndexOf('/') + 1, -'.mld'.length);
  const versions = { mlld: '0.1.0', node: process.version };
  put({ type: 'run.started', workflow, name, argv: [], payload: {}, flags: { checkpoint: true }, versions, host: 'here', pid: 1 });
  for (const fact of facts) put(fact);
  put({ type: 'run.finished', status: 'completed', totals: { executed, reused: 0, failed: 0 } });
  flush();
  closeSync(file);
  return { run, path };
}

/** The events of one loop of calls, seven a call, as the runtime records them. `resultOf` tells results of equal calls apart. */
export function* loopOfCalls(count, questionOf, resultOf = (question) => `An answer to ${question}`) {
  yield { type: 'op.started', op: 'main/for#0', kind: 'for', total: count };
  const fingerprint = digest('definition');
  for (let i = 0; i < count; i++) {
    const iteration = `main/for#0[${i}]`;
    const op = `${iteration}/ask#0`;
    const question = `${questionOf(i)} question number ${i} about the tide at the pier and how it turns`;
    const key = digest(question);
    yield { type: 'op.started', op: iteration, kind: 'for:iteration', name: 'i', item: String(i) };
    yield { type: 'op.started', op, kind: 'exe', name: 'ask', labels: ['llm'] };
    const site = { site: 'big.mld:7:16', declared: 'big.mld:1:1' };
    yield { type: 'call.started', key, op, fn: 'ask', ...site, args: { inline: [question] }, fingerprint };
    yield { type: 'effect.performed', op, kind: 'command.run', subject: `ask ${i}`, request: key, elapsedMs: 1.5 };
    const usage = { inputTokens: 10, outputTokens: 20, costUsd: 0.001 };
    yield { type: 'call.completed', key, op, result: { inline: resultOf(question, i) }, elapsedMs: 2.5, usage };
    yield { type: 'op.finished', op, outcome: 'ok' };
    yield { type: 'op.finished', op: iteration, outcome: 'ok' };
  }
  yield { type: 'op.finished', op: 'main/for#0', outcome: 'ok' };
}

export function digest(text) {
  return `sha256:${createHash('sha256').update(text).digest('hex')}`;
}
