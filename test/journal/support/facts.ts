/** Facts to write: short ones for every durability. */
import { opPath, runIdAt, workflowOf, type RunRef } from '../../../journal/ids.js';
import type { Fact, Json } from '../../../journal/event.js';
import { sha256 } from '../../../journal/canonical.js';

export const workflow = workflowOf('llm/run/patrol.mld');

export function runRef(n: number, of = workflow): RunRef {
  return { workflow: of, run: runIdAt(Date.UTC(2026, 10, 21, 8, 45, 12, 123) + n, '9f3a') };
}

export const started: Fact = {
  type: 'run.started',
  workflow,
  name: 'patrol',
  argv: ['run', 'patrol'],
  payload: {},
  flags: { checkpoint: true },
  versions: { mlld: '0.1.0', node: '20.20.2' },
  host: 'ship',
  pid: 7,
};

export const finished: Fact = { type: 'run.finished', status: 'completed', totals: { executed: 1, reused: 0, failed: 0 } };

export function opStarted(n: number): Fact {
  return { type: 'op.started', op: opPath(`main/show#${n}`), kind: 'show' };
}

export function callStarted(n: number): Fact {
  return {
    type: 'call.started',
    key: sha256(`key ${n}`),
    op: opPath(`main/review#${n}`),
    fn: 'review',
    args: { inline: [n] },
    fingerprint: sha256('definition'),
  };
}

export function callCompleted(n: number, result: Json = `answer ${n}, naïve — 船`): Fact {
  return { type: 'call.completed', key: sha256(`key ${n}`), op: opPath(`main/review#${n}`), result: { inline: result }, elapsedMs: n };
}

export function callFailed(n: number): Fact {
  return { type: 'call.failed', key: sha256(`key ${n}`), op: opPath(`main/review#${n}`), message: 'no', elapsedMs: n };
}

/** The result of a call, before its guards judge it. */
export function received(n: number): Fact {
  return { ...callCompleted(n), type: 'result.received' } as Fact;
}

/** A small run: one of each durability, with non-ASCII text. */
export const smallRun: readonly Fact[] = [
  started,
  opStarted(0),
  callStarted(0),
  callCompleted(0),
  { type: 'op.finished', op: opPath('main/show#0'), outcome: 'ok' },
  callStarted(1),
  callCompleted(1),
  finished,
];
