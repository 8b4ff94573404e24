/** A call that is replayed ends as it was recorded. calls.md 17. */
import { describe, expect, it } from 'vitest';
import type { FactOf } from '../../../journal/event.js';
import type { CallKey, OpPath } from '../../../journal/ids.js';
import type { CallOptions } from '../../../src/calls/options.js';
import { compileSchema } from '../../../src/calls/schema/compile-schema.js';
import { CallProgress } from '../../../src/operation/attempts/call-progress.js';
import { replayCall } from '../../../src/operation/attempts/replayed-call.js';
import { callFailureOf } from '../../../src/runtime/calls/call-failure.js';
import type { Frame } from '../../../src/runtime/frame.js';
import type { ReplayedCall } from '../../../src/runtime/ports.js';
import { annotate, dataOf, labelsOf, type Value } from '../../../src/values/value.js';
import { bareCall } from '../bare-call.js';
import { bareRun, settled } from '../../support/bare-run.js';

const CALL = { key: 'sha256:1' as CallKey, op: 'main/ask#0' as OpPath };

function failedAs(more: Partial<FactOf<'call.failed'>>): FactOf<'call.failed'> {
  return { type: 'call.failed', ...CALL, message: 'busy', elapsedMs: 1, class: 'overloaded', evidence: 'envelope', ...more };
}

interface Fixture {
  readonly outcome: Promise<unknown>;
  readonly seen: { readonly try: number; readonly problem: unknown; readonly input: unknown }[];
  readonly usage: () => object;
  readonly progress: CallProgress;
}

function replay(
  recorded: Partial<ReplayedCall>,
  body: (frame: Frame) => Promise<Value> = async () => 'high',
  options: CallOptions = {},
): Fixture {
  const { run, frame } = bareRun();
  const progress = new CallProgress();
  const seen: Fixture['seen'] = [];
  const outcome = replayCall(
    { earlier: [], hasStarted: true, waits: false, waitForGood: () => new Promise(() => {}), ...recorded },
    {
      call: bareCall(run, frame.op.child('ask'), { fn: 'ask', inputs: ['tide'], options }),
      options,
      progress,
      record: undefined,
      body: async (inner, inputs) => {
        const { try: number, problem } = (inner.attempt as NonNullable<Frame['attempt']>).view;
        seen.push({ try: number, problem, input: dataOf(inputs[0]) });
        return body(inner);
      },
      frame,
      inputs: ['tide'],
    },
  ).catch((error: unknown) => error);
  return { outcome, seen, usage: () => run.usage.view(), progress };
}

const completedAs =
  (json: string, more: Partial<FactOf<'call.completed'>> = {}): NonNullable<ReplayedCall['completed']> =>
  async () => ({
    fact: { type: 'call.completed', ...CALL, result: { inline: json }, elapsedMs: 1, ...more },
    result: { json, form: undefined, notes: [] },
  });

describe('REPLAYED-CALL-1: attempts before the last one', () => {
  it('are not executed, and count with what they cost; the body sees the last one', async () => {
    const problem = ['/mark must be <= 6'];
    const earlier = [async () => failedAs({ usage: { costUsd: 0.5 } }), async () => failedAs({ class: 'bad-reply', problem })];
    const { outcome, seen, usage } = replay({ earlier, completed: completedAs('high', { usage: { costUsd: 0.25 } }) });
    expect(await outcome).toBe('high');
    expect(seen).toEqual([{ try: 3, problem, input: expect.stringContaining('/mark must be <= 6') as string }]);
    expect(usage()).toMatchObject({ attempts: 3, costUsd: 0.75, unpriced: 1 });
  });

  it('leave nothing to execute where no other one had started', async () => {
    const { outcome, seen } = replay({ earlier: [async () => failedAs({})], hasStarted: false });
    expect(await Promise.race([outcome, settled().then(() => 'waits')])).toBe('waits');
    expect(seen).toEqual([]);
  });
});

describe('REPLAYED-CALL-2: a failure', () => {
  it('is the recorded one, whatever the body does', async () => {
    const failed = async (): Promise<FactOf<'call.failed'>> =>
      failedAs({ class: 'timeout', evidence: 'clock', message: 'timeout: no result within 5 s', retryAfterMs: 7 });
    let isOver: (() => boolean | undefined) | undefined;
    const { outcome } = replay({ failed, earlier: [async () => failedAs({})] }, async ({ deadline }) => {
      isOver = () => deadline?.isOver;
      return new Promise(() => {});
    });
    expect(callFailureOf(await outcome)).toMatchObject({
      class: 'timeout',
      attempts: 2,
      message: 'timeout: no result within 5 s',
      retryAfterMs: 7,
    });
    expect(isOver?.()).toBe(true);
  });

  it('that an inner call or a guard caused is that of the body', async () => {
    const { outcome } = replay({}, async () => Promise.reject(new Error('broken')));
    expect(await outcome).toMatchObject({ message: 'broken' });
  });

  it('after which the call waited never ends it', async () => {
    const { outcome, usage } = replay({ waits: true, failed: async () => failedAs({ class: 'quota' }) });
    expect(await Promise.race([outcome, settled().then(() => 'waits')])).toBe('waits');
    expect(usage()).toMatchObject({ attempts: 1, unpriced: 0 });
  });
});

describe('REPLAYED-CALL-3: a result', () => {
  it('is that of the body where nothing else makes it', async () => {
    expect(await replay({ completed: completedAs('recorded') }).outcome).toBe('high');
  });

  it('is the recorded one where a schema or an adapter made it, with the labels of what was printed', async () => {
    const schema = await compileSchema({ type: 'string' });
    const printed = annotate('"high"', { labels: ['pii'] });
    const result = (await replay({ completed: completedAs('high', { labels: ['told'] }) }, async () => printed, { schema })
      .outcome) as Value;
    expect([dataOf(result), labelsOf(result)]).toEqual(['high', ['pii', 'told']]);
    expect(await replay({ completed: completedAs('high') }, async () => 'not what it reads', { reply: 'claude' }).outcome).toBe('high');
  });

  it('of a failure that is passed on counts as failed', async () => {
    const { outcome, progress } = replay({ completed: completedAs('partly', { class: 'crash' }) }, async () => 'partly');
    expect(await outcome).toBe('partly');
    expect(progress.isPassedOn).toBe(true);
  });
});
