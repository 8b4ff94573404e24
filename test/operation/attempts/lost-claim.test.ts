/** An attempt whose call another run has by the time its start is recorded. team-store.md 6. */
import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import type { RunId } from '../../../journal/ids.js';
import type { Fact } from '../../../journal/event.js';
import { DEFAULT_CALL_SETTINGS } from '../../../src/calls/options.js';
import type { Started } from '../../../src/calls/dispatch/ports.js';
import { inAttempts } from '../../../src/operation/attempts/attempts.js';
import { CallProgress } from '../../../src/operation/attempts/call-progress.js';
import { OwnClaim } from '../../../src/operation/attempts/own-claim.js';
import type { CacheableCall, CallIdentity } from '../../../src/operation/cacheable-call.js';
import type { CallRuntime } from '../../../src/runtime/calls/call-runtime.js';
import { ExecutedElsewhere } from '../../../src/runtime/calls/executed-elsewhere.js';
import type { CallClaims, ClaimedCallState, LostClaim } from '../../../src/runtime/calls/result-cache.js';
import { createCallRuntime } from '../../../src/session/script/call-runtime.js';
import { callKeyOf, runRef } from '../../support/written-runs.js';
import { bareRun } from '../../support/bare-run.js';

const OTHER = runRef(9).run;
const RESULT = { run: OTHER, seq: 4 } as never;

interface Claims {
  /** One for each start; undefined where nothing needs to be asked. */
  readonly confirms: (LostClaim | 'asked, and ours' | undefined)[];
  readonly claim?: () => Promise<ClaimedCallState>;
}

function open({ confirms, claim = async () => ({ kind: 'claimed', replaces: undefined }) }: Claims) {
  const made = createCallRuntime({
    settings: { ...DEFAULT_CALL_SETTINGS, concurrency: 1 },
    io: { stderr: () => undefined, monotonicMs: () => performance.now(), nowMs: Date.now },
    pause: () => undefined,
    signal: new AbortController().signal,
  });
  const happened: string[] = [];
  const { dispatcher } = made;
  const watched: CallRuntime['dispatcher'] = Object.create(dispatcher, {
    abandon: { value: (started: Started) => (happened.push('abandoned'), dispatcher.abandon(started)) },
    finish: { value: (...end: Parameters<typeof dispatcher.finish>) => (happened.push('finished'), dispatcher.finish(...end)) },
  }) as CallRuntime['dispatcher'];
  const sharedBudgets = {
    admit: async (started: Started) => (happened.push('reserved'), started),
    release: async () => void happened.push('released'),
  } as unknown as NonNullable<CallRuntime['sharedBudgets']>;
  const claims: CallClaims = {
    claim,
    confirm() {
      const next = confirms.shift();
      return next === undefined ? undefined : sleep(20).then(() => (next === 'asked, and ours' ? undefined : next));
    },
    giveBack: () => undefined,
    winner: async () => undefined,
  };
  const { run: bare, frame } = bareRun({ calls: { ...made, dispatcher: watched, sharedBudgets } });
  const recorder = {
    ...bare.recorder,
    post: (fact: Fact) => void happened.push('to' in fact ? `${fact.type} ${String(fact.to)}` : fact.type),
  };
  const run = { ...bare, recorder, cache: { ...bare.cache, claims } };
  const call = { run, op: frame.op.child('ask'), operation: {}, llm: { fn: 'ask' } } as unknown as CacheableCall;
  const identity = { key: callKeyOf('tide'), request: { fn: 'ask' } } as unknown as CallIdentity;
  const claimed = new OwnClaim(call, identity, undefined);
  const record = {
    key: identity.key,
    claim: claimed,
    started: async () => (happened.push('call.started'), 1 as never),
    failed: async () => undefined,
  };
  const progress = new CallProgress();
  const body = async (): Promise<string> => (happened.push('body'), 'high');
  const execute = async (): Promise<unknown> => {
    const made = await inAttempts(call, {}, progress, record)(body)(frame, ['tide']);
    progress.isRecorded();
    return made;
  };
  return { happened, execute, dispatcher, claimed };
}

describe('a call whose claim may have been lost', () => {
  it.each([undefined, 'asked, and ours'] as const)('begins where it is still its own: %s', async (confirmed) => {
    const { happened, execute } = open({ confirms: [confirmed] });
    expect(await execute()).toBe('high');
    expect(happened).toEqual(['reserved', 'call.started', 'body', 'finished']);
  });

  it('gives its place and its reservation back while it waits for the other run, and starts anew when that has left it', async () => {
    let leave = (_state: ClaimedCallState): void => undefined;
    const left = new Promise<ClaimedCallState>((resolve) => (leave = resolve));
    const { happened, execute, dispatcher, claimed } = open({ confirms: [{ to: OTHER }], claim: () => left });
    const executing = execute();
    await expect.poll(() => happened).toContain('released');
    const another = await dispatcher.start({ op: 'main/other#0' as never, fn: 'ask', lane: '@ask', isRetry: false });
    leave({ kind: 'claimed', replaces: RESULT });
    dispatcher.finish(another, { cost: {} });
    expect(await executing).toBe('high');
    const given = ['reserved', 'call.started', `call.withdrawn ${OTHER}`, 'abandoned', 'released'];
    expect(happened).toEqual([...given, 'reserved', 'call.started', 'body', 'finished']);
    expect(claimed.refused).toEqual(RESULT);
  });

  it('ends without a body where the other run has its result, and settles nothing twice', async () => {
    const { happened, execute } = open({ confirms: [{ to: OTHER }], claim: async () => ({ kind: 'answered', by: RESULT }) });
    const error: unknown = await execute().catch((reason: unknown) => reason);
    expect(error).toBeInstanceOf(ExecutedElsewhere);
    expect((error as ExecutedElsewhere).by).toEqual(RESULT);
    expect(happened).toEqual(['reserved', 'call.started', `call.withdrawn ${OTHER}`, 'abandoned', 'released']);
  });

  it('does not begin in a run that must stop', async () => {
    const confirms = [{ to: undefined as RunId | undefined }];
    const { happened, execute, dispatcher } = open({ confirms });
    const executing = execute();
    await expect.poll(() => confirms.length, { interval: 2 }).toBe(0);
    dispatcher.end(); // while the store is asked
    await expect(executing).rejects.toMatchObject({ code: 'INTERRUPTED' });
    expect(happened).toEqual(['reserved', 'call.started', 'call.withdrawn', 'abandoned', 'released']);
  });
});
