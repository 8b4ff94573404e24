/** The reservation of an attempt is settled once, also where the journal is lost by the very event that starts it. calls.md 13.2. */
import { expect, it } from 'vitest';
import type { Started } from '../../../src/calls/dispatch/ports.js';
import { DEFAULT_CALL_SETTINGS } from '../../../src/calls/options.js';
import { inAttempts } from '../../../src/operation/attempts/attempts.js';
import { CallProgress } from '../../../src/operation/attempts/call-progress.js';
import type { CallRuntime } from '../../../src/runtime/calls/call-runtime.js';
import { createCallRuntime } from '../../../src/session/script/call-runtime.js';
import type { CacheableCall } from '../../../src/operation/cacheable-call.js';
import { bareRun } from '../../support/bare-run.js';

it.each(['returned', 'thrown'] as const)('settles once where the refusal is %s', async (how) => {
  const made = createCallRuntime({
    settings: { ...DEFAULT_CALL_SETTINGS, budget: { usd: 5 } },
    io: { stderr: () => undefined, monotonicMs: () => performance.now(), nowMs: Date.now },
    pause: () => undefined,
    signal: new AbortController().signal,
  });
  const settled: string[] = [];
  const { dispatcher } = made;
  const watched: CallRuntime['dispatcher'] = Object.create(dispatcher, {
    abandon: { value: (started: Started) => (settled.push('abandoned'), dispatcher.abandon(started)) },
    finish: { value: () => settled.push('finished') },
    refuse: { value: async () => (how === 'thrown' ? Promise.reject(new Error('refused')) : new Error('refused')) },
  }) as CallRuntime['dispatcher'];
  const { run, frame } = bareRun({ calls: { ...made, dispatcher: watched } });
  const call = { run, op: frame.op.child('ask'), operation: {}, llm: { fn: 'ask' } } as unknown as CacheableCall;
  const record = {
    async started() {
      dispatcher.stop({ class: 'journal', message: 'lost' });
      return undefined;
    },
    failed: async () => undefined,
  };
  const attempts = inAttempts(call, {}, new CallProgress(), record)(async () => 'high');
  await expect(attempts(frame, ['tide'])).rejects.toThrow('refused');
  expect(settled).toEqual(['abandoned']);
});
