/** A call whose result came back in an earlier execution gets it without executing its body. calls.md 17.4. */
import { expect, it } from 'vitest';
import { canonicalJson, sha256 } from '../../../journal/canonical.js';
import type { Fact } from '../../../journal/event.js';
import type { CallKey } from '../../../journal/ids.js';
import { seqOf, type RunId } from '../../../journal/ids.js';
import { CallProgress } from '../../../src/operation/attempts/call-progress.js';
import { insteadOfAttempts } from '../../../src/operation/attempts/unjudged-call.js';
import type { CallIdentity } from '../../../src/operation/cacheable-call.js';
import type { UnjudgedResult } from '../../../src/runtime/calls/result-cache.js';
import { NO_RESULT_LABELS } from '../../../src/runtime/calls/result-labels.js';
import { bareRun } from '../../support/bare-run.js';
import { bareCall } from '../bare-call.js';

const KEY = 'k' as CallKey;

function received(more: Partial<UnjudgedResult> = {}): UnjudgedResult {
  return {
    key: KEY,
    from: { run: 'r' as RunId, seq: seqOf(3) },
    resultLabels: NO_RESULT_LABELS,
    outputs: async () => undefined,
    measured: () => ({ usage: { costUsd: 2 }, session: 's' }),
    value: () => 'high',
    fact: {
      type: 'result.received',
      key: KEY,
      op: 'main/ask#0' as Extract<Fact, { type: 'result.received' }>['op'],
      elapsedMs: 7,
      reply: { adapter: 'claude', inner: true },
      session: 's',
    },
    ...more,
  };
}

async function judge(unjudged: UnjudgedResult, sent?: readonly string[]) {
  const { run, frame } = bareRun({});
  const call = bareCall(run, frame.op.child('ask'), { fn: 'ask', inputs: ['tide'], options: {} });
  const progress = new CallProgress();
  const started: unknown[] = [];
  const record = {
    started: async (view: unknown) => (started.push(view), seqOf(9)),
    failed: async () => expect.unreachable(),
  };
  const identity = { hasSecret: false } as CallIdentity;
  const waiting = { kind: 'waits', known: unjudged, outputs: [], files: [] } as const;
  const instead = insteadOfAttempts({ call, identity, options: { lane: 'l' }, progress, record, unjudged: waiting }, (own) => own);
  const body = instead(async () => 'executed');
  const result = await body(frame, sent ?? call.operation.inputs);
  return { result, progress, started, usage: run.usage };
}

it('begins one attempt that costs nothing, in no lane and for no budget', async () => {
  const { result, progress, started } = await judge(received());
  expect(result).toBe('high');
  expect(started).toEqual([{ try: 1, lane: 'l' }]);
  expect(progress).toMatchObject({ isStarted: true, isOpen: true, tries: 1, callUsage: { costUsd: 2 } });
  expect([progress.usage, progress.session]).toEqual([undefined, 's']);
  expect(progress.attempt).toMatchObject({ onlyCalls: true, reply: { adapter: 'claude' } });
});

it('has saved what the calls inside it had cost', async () => {
  const { progress } = await judge(received({ costUsd: 2, insideUsd: 0.5 }));
  expect(progress.costsInside).toEqual({ insideUsd: 0.5, insideReusedUsd: 0.5 });
});

it('is not given the result of what guards had sent otherwise', async () => {
  expect((await judge(received(), ['ebb'])).result).toBe('executed');
  const sent = sha256(canonicalJson(['ebb']));
  const fact = { ...received().fact, sent };
  expect((await judge(received({ fact }), ['ebb'])).result).toBe('high');
  expect((await judge(received({ fact }))).result).toBe('executed');
});
