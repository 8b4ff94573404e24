import { describe, expect, it } from 'vitest';

import type { Fact } from '../../../journal/event.js';
import type { Attempt } from '../../../src/calls/attempt.js';
import { DEFAULT_CALL_SETTINGS, type CallOptions, type CallSettings } from '../../../src/calls/options.js';
import type { ReportedUsage } from '../../../src/calls/replies/reply.js';
import { callOrReuse } from '../../../src/operation/cache-stage.js';
import type { CacheableCall } from '../../../src/operation/cacheable-call.js';
import { failedFacts, messageOfFailure } from '../../../src/operation/attempts/failed-attempt.js';
import { judge } from '../../../src/operation/attempts/judge-attempt.js';
import { inAttempts } from '../../../src/operation/attempts/attempts.js';
import { CallProgress } from '../../../src/operation/attempts/call-progress.js';
import type { Frame, RunState } from '../../../src/runtime/frame.js';
import { AttemptFailed, callFailureOf, failureMessage, markCallFailure } from '../../../src/runtime/calls/call-failure.js';
import { annotate } from '../../../src/values/value.js';
import { compileSchema } from '../../../src/calls/schema/compile-schema.js';
import { withNote } from '../../../src/operation/replies/repair-inputs.js';
import { createCallRuntime } from '../../../src/session/script/call-runtime.js';
import { mxField } from '../../../src/values/metadata.js';
import { dataOf, type Value } from '../../../src/values/value.js';
import { bareCall } from '../bare-call.js';
import { bareRun } from '../../support/bare-run.js';

const OVERLOADED = { class: 'overloaded', evidence: 'envelope', message: 'busy' } as const;

function callOf(run: RunState, frame: Frame, options: CallOptions): CacheableCall {
  return bareCall(run, frame.op.child('ask'), { fn: 'ask', inputs: ['tide'], options });
}

/** Executes one call whose body fails so many times before it gives a result. */
async function execute(
  failures: number,
  {
    options = {},
    fail = () => new AttemptFailed(OVERLOADED),
    hangs = false,
    settings: own = {},
    usage = { model: 'm', costUsd: 0.25 },
  }: { options?: CallOptions; fail?: () => Error; hangs?: boolean; settings?: Partial<CallSettings>; usage?: ReportedUsage } = {},
): Promise<{ facts: Fact[]; result: unknown; tries: number[]; warnings: string[] }> {
  const settings = { ...DEFAULT_CALL_SETTINGS, backoff: { firstMs: 1, maxMs: 2 }, ...own };
  const calls = createCallRuntime({
    settings,
    io: { stderr: () => undefined, monotonicMs: () => performance.now(), nowMs: Date.now },
    pause: () => undefined,
    signal: new AbortController().signal,
  });
  const { run, frame, facts, warnings } = bareRun({ calls });
  const tries: number[] = [];
  const call = callOf(run, frame, options);
  const found = callOrReuse(call, (_lookup, _own, around) =>
    around(async ({ attempt }) => {
      tries.push((attempt as Attempt).view.try);
      (attempt as Attempt).reportUsage(usage);
      if (hangs) await new Promise(() => undefined);
      if (tries.length <= failures) throw fail();
      return 'high';
    })(frame, ['tide']),
  );
  const result = await Promise.resolve(found).then(
    (value) => value.result,
    (error: unknown) => error,
  );
  return { facts: facts.filter(({ type }) => type.startsWith('call.')), result, tries, warnings };
}

describe('ATTEMPT-2: a call whose attempts fail', () => {
  it('is executed again, and each attempt leaves its start and its end', async () => {
    const { facts, result, tries } = await execute(2);
    expect(dataOf(result as Value)).toBe('high');
    expect(mxField(result as Value, 'cost')).toBe(0.75); // all attempts
    expect(tries).toEqual([1, 2, 3]);
    expect(facts).toMatchObject([
      { type: 'call.started', lane: '@ask' },
      { type: 'call.failed', class: 'overloaded', retryInMs: 0, usage: { costUsd: 0.25 } },
      { type: 'call.started', try: 2 },
      { type: 'call.failed', try: 2 },
      { type: 'call.started', try: 3 },
      { type: 'call.completed', try: 3, usage: { model: 'm', costUsd: 0.25, costSource: 'told' } },
    ]);
  });

  it('fails when no attempt is left, and its error knows the class', async () => {
    const { facts, result } = await execute(9, { options: { retries: 1 } });
    expect(result).toMatchObject({ code: 'CALL_FAILED', message: '@ask("tide") failed: overloaded: busy (2 attempts)' });
    expect(callFailureOf(result)).toMatchObject({ class: 'overloaded', attempts: 2, op: 'main/ask#0' });
    expect(facts.at(-1)).toMatchObject({ type: 'call.failed', try: 2, evidence: 'envelope' });
    expect(facts.at(-1)).not.toHaveProperty('retryInMs');
  });

  it('has one attempt where its body crashes, and keeps the error of the body', async () => {
    const { result, tries } = await execute(9, {
      fail: () => Object.assign(new AttemptFailed({ class: 'crash', evidence: 'none', message: 'x' })),
    });
    expect(tries).toEqual([1]);
    expect(callFailureOf(result)?.class).toBe('crash');
  });
});

it('has one attempt in a run that starts no further ones', async () => {
  const { run, frame } = bareRun();
  const progress = new CallProgress();
  const executing = inAttempts(callOf(run, frame, {}), {}, progress, undefined)(async () => Promise.reject(new AttemptFailed(OVERLOADED)))(
    frame,
    ['tide'],
  );
  await expect(executing).rejects.toMatchObject({ message: '@ask("tide") failed: overloaded: busy' });
  expect(progress).toMatchObject({ tries: 1, classes: ['overloaded'] });
});

describe('ATTEMPT-3: an error that is no failure of the attempt', () => {
  it('ends the call: a broken invariant, and the failure of a call inside', async () => {
    expect((await execute(1, { fail: () => new Error('broken') })).tries).toEqual([1]);
    const inner = markCallFailure(new AttemptFailed(OVERLOADED), {
      fn: 'in',
      op: 'x' as never,
      item: '',
      class: 'overloaded',
      attempts: 3,
      message: '',
    });
    const { facts, tries } = await execute(1, { fail: () => inner });
    expect(tries).toEqual([1]);
    expect(facts.at(-1)).toMatchObject({ type: 'call.failed', class: 'overloaded' });
  });
});

describe('a time limit', () => {
  it('ends an attempt, whatever its body still does', async () => {
    const { facts, result } = await execute(0, { options: { timeoutMs: 5, retries: 0 }, hangs: true });
    expect(result).toMatchObject({ code: 'CALL_FAILED', message: '@ask("tide") failed: timeout: no result within 0.005 s' });
    expect(facts.at(-1)).toMatchObject({ type: 'call.failed', class: 'timeout', evidence: 'clock' });
  });
});

describe('the judgement of an attempt', () => {
  const attempt = (options: CallOptions = {}): Attempt =>
    ({ options, nowMs: () => 0, readOwn: () => ({ adapter: 'claude', text: '{"a":1}' }) }) as unknown as Attempt;

  it('replaces the value by the result in its reply only where an adapter is chosen', async () => {
    const js = { isCommand: false, language: 'js' };
    const reply = { type: 'result', result: '{"a":1}' };
    expect(await judge(attempt(), js, async () => reply)).toEqual({ kind: 'completed', value: reply });
    expect(await judge(attempt({ reply: 'claude' }), js, async () => reply)).toMatchObject({
      kind: 'completed',
      value: { known: { a: 1 } },
    });
  });
});

describe('a result with a schema', () => {
  const attempt = (options: CallOptions): Attempt => ({ options, nowMs: () => 0 }) as unknown as Attempt;
  const cmd = { isCommand: true, language: 'cmd' };

  it('is the value that fits, and a bad reply with its problems otherwise', async () => {
    const schema = await compileSchema({ type: 'object', required: ['mark'] });
    expect(await judge(attempt({ schema }), cmd, async () => '```\n{"mark":1}\n```')).toEqual({ kind: 'completed', value: { mark: 1 } });
    expect(await judge(attempt({ schema }), cmd, async () => '{}')).toEqual({
      kind: 'failed',
      failure: { class: 'bad-reply', evidence: 'envelope', message: "the result must have required property 'mark'" },
      problem: ["the result must have required property 'mark'"],
      printed: '{}',
    });
  });

  it('keeps its labels, and loses the text that it was read from', async () => {
    const schema = await compileSchema({ type: 'object' });
    const printed = annotate({ a: 1 }, { labels: ['pii'], text: '{ "a": 1 }' });
    expect(await judge(attempt({ schema }), cmd, async () => printed)).toEqual({
      kind: 'completed',
      value: annotate({ a: 1 }, { labels: ['pii'] }),
    });
  });

  it('is asked for again with a note behind the first text, which keeps its labels', () => {
    expect(withNote([1, annotate('tide', { labels: ['pii'] }), 'b'], '!')).toEqual([1, annotate('tide!', { labels: ['pii'] }), 'b']);
    expect(withNote([1, { a: 'b' }], '!')).toEqual([1, { a: 'b' }]);
  });
});

describe('an attempt that the budget can not count', () => {
  const crash = (): Error => new AttemptFailed({ class: 'crash', evidence: 'none', message: 'x' });

  it.each([
    [
      'tokens only',
      { usd: 5 },
      { model: 'unpriced', inputTokens: 9 },
      /^@ask: an .* no cost in dollars, so it counts as 0.*"prices".* unpriced costs, /,
    ],
    [
      'tokens of no model',
      { usd: 5 },
      { inputTokens: 9 },
      /^@ask: an .* no cost in dollars, so it counts as 0.*; the option model gives it a price, /,
    ],
    ['dollars only', { tokens: 5 }, { model: 'm', costUsd: 1 }, /^@ask: an attempt reported no cost in tokens/],
    ['neither', { usd: 5, tokens: 5 }, { model: 'unpriced' }, /^@ask: an attempt reported no cost, so/],
  ])('is warned of once for its function: %s', async (_, budget, usage, message) => {
    const { warnings, tries } = await execute(2, { settings: { budget }, usage });
    expect(tries).toHaveLength(3);
    expect(warnings).toEqual([expect.stringMatching(message)]);
  });

  it('is also warned of when it failed', async () => {
    const { warnings } = await execute(9, { settings: { budget: { usd: 5 } }, usage: { model: 'unpriced' }, fail: crash });
    expect(warnings).toHaveLength(1);
  });

  it.each([
    ['a cost that is known', { budget: { usd: 5 } }, { model: 'm', costUsd: 1 }],
    ['a budget of calls', { budget: { calls: 5 } }, { model: 'unpriced' }],
    ['a strict budget, which pauses the run', { budget: { usd: 5 }, budgetStrict: true }, { model: 'unpriced' }],
  ])('is not warned of with %s', async (_, settings, usage) => {
    expect((await execute(0, { settings, usage })).warnings).toEqual([]);
  });
});

describe('the message of a failure', () => {
  it('begins with the class in words, and names the classes of the attempts before', () => {
    expect(failureMessage({ class: 'bad-reply', message: '' })).toBe('bad reply');
    expect(messageOfFailure({ class: 'crash', evidence: 'none', message: 'status 3' }, { classes: ['rate-limit'] })).toBe(
      'rate limit, then crash: status 3',
    );
  });

  it('has no secrets', () => {
    const facts = failedFacts({ ...OVERLOADED, status: 529 }, new CallProgress(), { redact: (text) => text.replace('busy', '*') });
    expect(facts).toMatchObject({ message: '*', status: 529 });
  });
});
