/** Facts to write: short ones for every durability, and any legal one for property tests. */
import fc from 'fast-check';
import type { BlobId, CallKey, Fingerprint, OpPath } from '../../../journal/ids.js';
import { opPath, runIdAt, workflowOf, type RunRef } from '../../../journal/ids.js';
import type { Fact, Json, Payload } from '../../../journal/event.js';
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

const json = fc.jsonValue({ maxDepth: 3 }) as fc.Arbitrary<Json>;
const digest = fc.nat(50).map((n) => sha256(`${n}`)) as fc.Arbitrary<CallKey & Fingerprint & BlobId>;
const path = fc.string({ unit: 'grapheme', maxLength: 20 }).map((text) => opPath(`main/${text}`)) as fc.Arbitrary<OpPath>;
const payload: fc.Arbitrary<Payload> = fc.oneof(
  json.map((inline) => ({ inline })),
  fc.record({ blob: digest, bytes: fc.nat() }),
  fc.record({ sealed: fc.base64String(), keyId: fc.string() }),
  fc.record({ digest: fc.string() }),
  fc.record({ redacted: fc.string() }),
);
const text = fc.string({ unit: 'binary', maxLength: 30 });

/** Facts of several types, also of types and with members that this version doesn't know. */
export const anyFact: fc.Arbitrary<Fact> = fc.oneof(
  fc.record({ type: fc.constant('call.completed' as const), key: digest, op: path, result: payload, elapsedMs: fc.nat() }),
  fc.record({ type: fc.constant('call.failed' as const), key: digest, op: path, message: text, elapsedMs: fc.nat() }),
  fc.record({ type: fc.constant('op.started' as const), op: path, kind: text }, { requiredKeys: ['type', 'op', 'kind'] }),
  fc.record({ type: fc.constant('checkpoint.reached' as const), name: text }),
  fc.record({ type: fc.constant('memo.invalidated' as const), selector: text, keys: fc.array(digest) }),
  fc
    .dictionary(
      text.filter((name) => !['v', 'seq', 'type', 'ts', 'hash', 'key', 'op', '__proto__'].includes(name)),
      json,
    )
    .map((members) => ({ ...members, type: 'tide.turned' }) as unknown as Fact),
);
