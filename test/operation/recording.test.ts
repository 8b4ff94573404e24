/** The facts that a call leaves: its start, its end without a result, and its result. CACHE-1, CACHE-2, CACHE-5. */
import { expect, it } from 'vitest';
import type { Fingerprint } from '../../journal/ids.js';
import { MlldError } from '../../src/errors.js';
import { CallProgress, type AttemptRecord } from '../../src/operation/attempts/call-progress.js';
import type { CallIdentity } from '../../src/operation/cacheable-call.js';
import { CallFileWatch } from '../../src/operation/files/call-files.js';
import { recordFailure } from '../../src/operation/recording/record-failure.js';
import { recordResult } from '../../src/operation/recording/record-result.js';
import { recordStart } from '../../src/operation/recording/record-start.js';
import { recordedArguments } from '../../src/operation/recording/recorded-arguments.js';
import { callKey } from '../../src/runtime/calls/call-key.js';
import { bareRun, type BareRun } from '../support/bare-run.js';
import { bareCall } from './bare-call.js';

const KEY = callKey({ fn: 'ask', args: ['tide'] });

function identityOf({ hasSecret = false }: { hasSecret?: boolean } = {}): CallIdentity {
  const definition = { fingerprint: 'f1' as Fingerprint, parts: [] };
  return { key: KEY, plainKey: KEY, hasSecret, definition, request: { fn: 'ask', args: ['tide'] } };
}

function callOf({ run, frame }: BareRun): ReturnType<typeof bareCall> {
  return bareCall(run, frame.op.child('ask'), { fn: 'ask', inputs: ['tide'] });
}

it.each([
  { hasSecret: false, expected: { inline: ['tide'] } },
  { hasSecret: true, expected: { digest: expect.not.stringContaining('tide') as string } },
])('records arguments as they are, or as a digest where a secret is among them ($hasSecret)', async ({ hasSecret, expected }) => {
  expect(await recordedArguments(callOf(bareRun()), identityOf({ hasSecret }))).toEqual(expected);
});

it('records the start of an attempt with its number, unless its lane was stopped meanwhile', async () => {
  const bare = bareRun();
  const call = callOf(bare);
  const begin = { progress: new CallProgress(), view: { try: 2 }, started: undefined, mayBegin: undefined };
  expect(await recordStart(call, identityOf(), {}, { ...begin, mayBegin: () => false })).toBeUndefined();
  expect(bare.facts).toEqual([]);
  expect(await recordStart(call, identityOf(), {}, begin)).toBe(1);
  expect(bare.facts).toMatchObject([{ type: 'call.started', key: KEY, op: 'main/ask#0', args: { inline: ['tide'] }, try: 2 }]);
});

it('records nothing of a call that was interrupted before an attempt of it began, and the failure of any other', async () => {
  const bare = bareRun();
  const call = callOf(bare);
  let starts = 0;
  const record: AttemptRecord = { started: async () => void starts++, failed: async () => undefined };
  const ending = { progress: new CallProgress(), record, isAccepted: false };
  await recordFailure(call, identityOf(), new MlldError('INTERRUPTED', 'stopped'), ending);
  expect([starts, bare.facts]).toEqual([0, []]);
  await recordFailure(call, identityOf(), new MlldError('DENIED', 'not at night'), ending);
  expect(starts).toBe(1);
  expect(bare.facts).toEqual([{ type: 'call.failed', key: KEY, op: 'main/ask#0', message: 'not at night', code: 'DENIED', elapsedMs: 0 }]);
});

it('records a result, and why one is not usable where recording is off', async () => {
  for (const records of [true, false]) {
    const bare = bareRun({ policy: { records, reuses: true } });
    const call = callOf(bare);
    const ending = { progress: new CallProgress(), watch: new CallFileWatch(call, identityOf(), {}) };
    expect(await recordResult(call, identityOf(), 'high', ending)).toBe('high');
    const unusable = records ? {} : { unusable: 'recording is off here' };
    expect(bare.facts).toEqual([
      { type: 'call.completed', key: KEY, op: 'main/ask#0', result: { inline: 'high' }, elapsedMs: 0, ...unusable },
    ]);
  }
});
