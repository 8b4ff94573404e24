/** Nothing starts in a lane from the moment at which its stop is known, however long the recording of it takes. calls.md 12.7 and 13.4. */
import { expect, it, vi } from 'vitest';

import type { Attempt } from '../../../src/calls/attempt.js';
import type { Failure } from '../../../src/calls/failure.js';
import { DEFAULT_CALL_SETTINGS, type CallSettings } from '../../../src/calls/options.js';
import { inAttempts } from '../../../src/operation/attempts/attempts.js';
import { CallProgress, type AttemptRecord } from '../../../src/operation/attempts/call-progress.js';
import type { CacheableCall } from '../../../src/operation/cacheable-call.js';
import { AttemptFailed } from '../../../src/runtime/calls/call-failure.js';
import { createCallRuntime } from '../../../src/session/script/call-runtime.js';
import { bareRun } from '../../support/bare-run.js';

const QUOTA: Failure = { class: 'quota', evidence: 'text', message: 'used up' };

/** Opens once, and lets all through from then on. */
interface Gate {
  readonly passed: Promise<void>;
  readonly open: () => void;
}

function gate(): Gate {
  let open = (): void => undefined;
  const passed = new Promise<void>((resolve) => (open = resolve));
  return { passed, open };
}

interface Planned {
  readonly lane?: string;
  /** Before `call.started` is appended: what the arguments take to be stored. */
  readonly storing?: Gate;
  readonly body?: Gate;
  /** Before `call.failed` is appended. */
  readonly failing?: Gate;
  /** Ends the first attempt. */
  readonly failure?: Failure;
  readonly costUsd?: number;
}

function fixture(settings: Partial<CallSettings> = {}) {
  const events: string[] = [];
  let pauses = 0;
  const calls = createCallRuntime({
    settings: { ...DEFAULT_CALL_SETTINGS, ...settings },
    io: { stderr: () => undefined, monotonicMs: () => performance.now(), nowMs: Date.now },
    pause: () => void pauses++,
    signal: new AbortController().signal,
  });
  calls.dispatcher.open({
    record: (fact) => void (fact.type === 'dispatch.stopped' && events.push('stopped')),
    learn: async () => ({ lanes: new Map(), costs: new Map() }),
  });
  const { run, frame } = bareRun({ calls });
  const make = (name: string, { lane = 'claude', storing, body, failing, failure, costUsd }: Planned = {}): Promise<string> => {
    const op = frame.op.child(name);
    const call = { run, op, llm: { fn: name }, operation: { inputs: [name] } } as unknown as CacheableCall;
    const progress = new CallProgress();
    const record: AttemptRecord = {
      async started(_view, _started, mayBegin) {
        await storing?.passed;
        if (mayBegin?.() !== false) events.push(`start ${name}`);
        return undefined;
      },
      async failed() {
        await failing?.passed;
        events.push(`failed ${name}`);
      },
    };
    const attempts = inAttempts(
      call,
      { lane },
      progress,
      record,
    )(async ({ attempt }) => {
      events.push(`body ${name}`);
      await body?.passed;
      if (costUsd !== undefined) (attempt as Attempt).reportUsage({ model: 'm', costUsd });
      if (failure && (attempt as Attempt).view.try === 1) throw new AttemptFailed(failure);
      return 'high';
    });
    return attempts({ ...frame, op }, [name])
      .finally(() => progress.isRecorded())
      .then(
        () => 'completed',
        (error: { code: string }) => error.code,
      );
  };
  return { events, make, pauses: () => pauses };
}

it.each(['quota', 'auth'] as const)('%s: no call starts while its failure is being recorded', async (failureClass) => {
  const { events, make, pauses } = fixture();
  const failing = gate();
  const body = gate();
  const first = make('a', { failing, body, failure: { ...QUOTA, class: failureClass } });
  await vi.waitFor(() => expect(events).toContain('body a'));
  body.open();
  await new Promise((resolve) => setImmediate(resolve)); // the body has ended, and its failure is judged
  const second = make('b');
  expect(await make('c', { lane: 'codex' })).toBe('completed');
  expect(events).toEqual(['start a', 'body a', 'start c', 'body c']);
  expect(pauses()).toBe(0);
  failing.open();
  expect(await Promise.all([first, second])).toEqual(['INTERRUPTED', 'INTERRUPTED']);
  expect(events.slice(4)).toEqual(['failed a', 'stopped']);
  expect(pauses()).toBe(1);
});

it('a call that was let go, and whose arguments are still being stored when its lane is stopped, does not begin', async () => {
  const { events, make } = fixture();
  const storing = gate();
  const body = gate();
  const first = make('a', { body, failure: QUOTA });
  const second = make('b', { storing });
  await vi.waitFor(() => expect(events).toContain('body a'));
  body.open();
  await vi.waitFor(() => expect(events).toContain('stopped'));
  storing.open();
  expect(await Promise.all([first, second])).toEqual(['INTERRUPTED', 'INTERRUPTED']);
  expect(events).toEqual(['start a', 'body a', 'failed a', 'stopped']);
});

it('such a call begins when its lane was only about to be held for a reset that is near', async () => {
  const { events, make } = fixture({ waitQuotaMs: 60_000 });
  const [storing, body, failing] = [gate(), gate(), gate()];
  const first = make('a', { body, failing, failure: { ...QUOTA, resetsAtMs: Date.now() + 1 } });
  const second = make('b', { storing });
  await vi.waitFor(() => expect(events).toContain('body a'));
  body.open();
  await new Promise((resolve) => setImmediate(resolve));
  storing.open();
  await new Promise((resolve) => setImmediate(resolve));
  expect(events).toEqual(['start a', 'body a']);
  failing.open();
  expect(await Promise.all([first, second])).toEqual(['completed', 'completed']);
  expect(events.slice(2, 5)).toEqual(['failed a', 'stopped', 'start a']);
});

it('a strict budget starts nothing while an attempt without a cost is being recorded', async () => {
  const { events, make } = fixture({ budget: { usd: 5 }, budgetStrict: true });
  const failing = gate();
  expect(await make('known', { costUsd: 0.1 })).toBe('completed');
  const body = gate();
  const first = make('a', { body, failing, failure: { class: 'network', evidence: 'none', message: 'cut' } });
  await vi.waitFor(() => expect(events).toContain('body a'));
  body.open();
  await new Promise((resolve) => setImmediate(resolve));
  const second = make('b', { lane: 'codex' });
  await new Promise((resolve) => setImmediate(resolve));
  expect(events.slice(2)).toEqual(['start a', 'body a']);
  failing.open();
  expect(await Promise.all([first, second])).toEqual(['INTERRUPTED', 'INTERRUPTED']);
  expect(events.slice(4)).toEqual(['failed a', 'stopped']);
});

it('a call that does not begin uses up none of the calls of a budget', async () => {
  const { events, make } = fixture({ budget: { calls: 3 }, waitQuotaMs: 60_000 });
  const [storing, body, failing] = [gate(), gate(), gate()];
  const first = make('a', { body, failing, failure: { ...QUOTA, resetsAtMs: Date.now() + 1 } });
  const second = make('b', { storing });
  await vi.waitFor(() => expect(events).toContain('body a'));
  body.open();
  await new Promise((resolve) => setImmediate(resolve));
  storing.open();
  await new Promise((resolve) => setImmediate(resolve));
  failing.open();
  expect(await Promise.all([first, second])).toEqual(['completed', 'completed']);
});
