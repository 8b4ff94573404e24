/** A call that a worker executed, and that failed there. team-store.md 7.2. */
import { describe, expect, it } from 'vitest';
import { opPath, seqOf, type Fingerprint, type RunId } from '../../journal/ids.js';
import type { EventOf } from '../../journal/event.js';
import type { CallIdentity } from '../../src/operation/cacheable-call.js';
import { Attempt } from '../../src/calls/attempt.js';
import { failedElsewhere } from '../../src/operation/failures/failed-elsewhere.js';
import { callFailureOf } from '../../src/runtime/calls/call-failure.js';
import { callKey } from '../../src/runtime/calls/call-key.js';
import type { CallOptions } from '../../src/calls/options.js';
import { bareCall } from './bare-call.js';
import { bareRun } from '../support/bare-run.js';

const REQUEST = { fn: 'ask', args: ['tide'] };
const KEY = callKey(REQUEST);
const begun = { run: '20261121-084512-123-9f3a' as RunId, seq: seqOf(4) };
const event: EventOf<'call.failed'> = {
  v: 1,
  seq: seqOf(5),
  ts: '2026-11-21T08:45:12.123Z',
  hash: '',
  type: 'call.failed',
  key: KEY,
  op: opPath('main/ask#7'),
  message: 'the command ended with status 7',
  code: 'CALL_FAILED',
  class: 'crash',
  evidence: 'none',
  elapsedMs: 40,
  exitCode: 7,
};

function failing(options: Partial<CallOptions> = {}, members: Partial<typeof event> = {}, around?: Attempt) {
  const { run, frame, facts } = bareRun();
  const bare = bareCall(run, frame.op.child('ask'), { fn: 'ask', inputs: ['tide'], options: { lane: 'x', ...options } });
  const call = { ...bare, around };
  const definition = { fingerprint: 'f1' as Fingerprint, parts: [] };
  const identity: CallIdentity = { key: KEY, plainKey: KEY, hasSecret: false, definition, request: REQUEST };
  const worker = { name: 'hut', host: 'db7' };
  return { facts, failed: failedElsewhere(call, identity, { kind: 'failed', event: { ...event, ...members }, begun, worker }) };
}

describe('a call that failed at a worker', () => {
  it('fails with what the worker recorded, as an attempt that began there', async () => {
    const { facts, failed } = failing();
    const error: unknown = await failed.catch((thrown: unknown) => thrown);
    expect(error).toMatchObject({
      code: 'CALL_FAILED',
      message: '@ask("tide") failed: the command ended with status 7',
      hint: 'the worker hut on db7 executed the call',
    });
    expect(callFailureOf(error)).toMatchObject({ fn: 'ask', op: 'main/ask#0', class: 'crash', attempts: 1 });
    expect(facts).toMatchObject([
      { type: 'call.started', key: KEY, op: 'main/ask#0', begun, worker: 'hut', workerHost: 'db7', args: { inline: ['tide'] } },
      { type: 'call.failed', key: KEY, op: 'main/ask#0', message: event.message, class: 'crash', exitCode: 7, onlyCalls: true },
    ]);
    expect(facts.at(-1)).not.toHaveProperty('usage');
  });

  it('fails with the error of its body where that had ended it', async () => {
    const { failed } = failing({}, { message: 'crash: no tide', code: 'CODE_THREW' });
    await expect(failed).rejects.toMatchObject({ code: 'CODE_THREW', message: 'no tide' });
  });

  it('cost what the worker paid for it and for the calls inside, also as a part of the call around it', async () => {
    const around = new Attempt(opPath('main/wrap#0'), { try: 1 }, {}, undefined, () => 0);
    const usage = { costUsd: 0.02, costSource: 'told' } as const;
    const { facts, failed } = failing({}, { usage, insideUsd: 0.05, insideReusedUsd: 0.01 }, around);
    await expect(failed).rejects.toThrow('failed');
    expect(facts.at(-1)).toMatchObject({ workerUsd: 0.06 });
    expect(around.costsInside?.usd).toBe(0.06);
  });

  it('gives a marker where its function wants one', async () => {
    const { facts, failed } = failing({ onFailure: 'marker' });
    expect(await failed).toMatchObject({ isFailed: true });
    expect(facts.at(-1)).toMatchObject({ accepted: true });
  });
});
