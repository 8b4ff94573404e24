import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';

import type { OpPath } from '../../../journal/ids.js';
import { Dispatcher } from '../../../src/calls/dispatch/dispatcher.js';
import type { Started } from '../../../src/calls/dispatch/ports.js';
import { DEFAULT_CALL_SETTINGS, type CallSettings } from '../../../src/calls/options.js';

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

interface Fixture {
  readonly dispatcher: Dispatcher;
  readonly facts: object[];
  readonly waits: readonly (readonly [lane: string, leftMs: number])[];
  readonly pauses: () => number;
  start(op: string, lane?: string, isRetry?: boolean): Started | Promise<Started>;
}

function fixture(settings: Partial<CallSettings> = {}, isServing = false, around?: Dispatcher, isWriting?: () => boolean): Fixture {
  let pauses = 0;
  const facts: object[] = [];
  const waits: (readonly [lane: string, leftMs: number])[] = [];
  const dispatcher = new Dispatcher({
    settings: { ...DEFAULT_CALL_SETTINGS, ...settings },
    monotonicMs: () => performance.now(),
    nowMs: () => Date.now(),
    random: () => 0.5,
    pause: () => void pauses++,
    signal: new AbortController().signal,
    isServing,
    around,
  });
  dispatcher.open({
    record: (fact) => facts.push(fact),
    waits: (lane, untilMs) => waits.push([lane, untilMs - Date.now()]),
    learn: async () => ({ lanes: new Map(), costs: new Map() }),
    ...(isWriting && { isWriting }),
  });
  return {
    dispatcher,
    facts,
    waits,
    pauses: () => pauses,
    start: (op, lane = 'claude', isRetry = false) => dispatcher.start({ op: op as OpPath, fn: 'ask', lane, isRetry }),
  };
}

const OK = { cost: {} };

describe('DISPATCH-1: an attempt starts', () => {
  it('at once while its lane and the run have room, else when another one has ended, those tried again first', async () => {
    const { dispatcher, start } = fixture({ concurrency: 1 });
    const first = await start('a');
    const order: string[] = [];
    const waiting = ['b', 'c'].map(async (op) => order.push((await start(op)).op));
    const again = Promise.resolve(start('d', 'claude', true)).then(({ op }) => order.push(op));
    dispatcher.finish(first, OK);
    await again;
    expect(order).toEqual(['d']);
    dispatcher.finish({ ...first, op: 'd' as OpPath }, OK);
    await vi.advanceTimersByTimeAsync(0);
    expect(order).toEqual(['d', 'b']);
    dispatcher.finish({ ...first, op: 'b' as OpPath }, OK);
    await Promise.all(waiting);
    expect(order).toEqual(['d', 'b', 'c']);
  });

  it('when one that had started before it did not begin after all', async () => {
    const { dispatcher, start } = fixture({ concurrency: 1 });
    const first = await start('a');
    const second = start('b');
    dispatcher.abandon(first);
    expect(await second).toMatchObject({ op: 'b' });
  });

  it('waits in a lane that was held by a rejection', async () => {
    const { dispatcher, facts, start } = fixture();
    dispatcher.finish(await start('a'), {
      failure: { class: 'rate-limit', evidence: 'envelope', message: '', retryAfterMs: 500 },
      cost: {},
    });
    expect(facts.at(-1)).toMatchObject({ type: 'lane.changed', lane: 'claude', heldUntil: new Date(Date.now() + 500).toISOString() });
    let began = -1;
    const t = performance.now();
    void Promise.resolve(start('b')).then(() => (began = performance.now() - t));
    await vi.advanceTimersByTimeAsync(490);
    expect(began).toBe(-1);
    await vi.advanceTimersByTimeAsync(20);
    expect(began).toBeGreaterThanOrEqual(500);
  });
});

it('records with which limits a lane begins, once', async () => {
  const { facts, start } = fixture({ lanes: [['claude', { start: 4 }]] });
  await start('a');
  await start('b');
  expect(facts).toEqual([{ type: 'lane.changed', lane: 'claude', limit: 4, why: 'began' }]);
});

describe('DISPATCH-2 and DISPATCH-3: a stopped lane', () => {
  const QUOTA = { class: 'quota', evidence: 'text', message: 'used up' } as const;

  it('leaves a run alone that goes on in another lane, however short the time between two things is', async () => {
    let isWriting = false;
    const { dispatcher, pauses, start } = fixture({}, false, undefined, () => isWriting);
    const stopping = await start('a');
    dispatcher.finish(stopping, { failure: QUOTA, cost: {} });
    const refused = Promise.resolve(start('b')).catch((error: Error & { code: string }) => error.code);
    for (let ms = 0; ms < 200; ms += 19) {
      const other = await start('c', 'codex');
      await vi.advanceTimersByTimeAsync(1);
      dispatcher.finish(other, OK);
      await vi.advanceTimersByTimeAsync(18); // as the run reads what comes next
    }
    expect(pauses()).toBe(0);
    isWriting = true;
    await vi.advanceTimersByTimeAsync(500);
    expect(pauses()).toBe(0);
    isWriting = false;
    await vi.advanceTimersByTimeAsync(20);
    expect([pauses(), await refused]).toEqual([1, 'INTERRUPTED']);
  });

  it('starts nothing, and the run is paused once nothing else is in flight', async () => {
    const { dispatcher, facts, pauses, start } = fixture();
    const first = await start('a');
    const second = await start('b');
    dispatcher.finish(first, { failure: QUOTA, cost: {} });
    expect(dispatcher.mayTryAgain('claude')).toBe(false);
    const refused = Promise.resolve(start('c')).catch((error: { code: string }) => error.code);
    await vi.advanceTimersByTimeAsync(100);
    expect(pauses()).toBe(0);
    const other = await start('x', 'codex');
    dispatcher.finish(second, OK);
    await vi.advanceTimersByTimeAsync(100);
    expect(pauses()).toBe(0);
    dispatcher.began(); // an effect
    dispatcher.finish(other, OK);
    await vi.advanceTimersByTimeAsync(100);
    expect(pauses()).toBe(0);
    dispatcher.ended();
    await vi.advanceTimersByTimeAsync(100);
    expect([pauses(), await refused]).toEqual([1, 'INTERRUPTED']);
    expect(facts.filter((fact) => !('why' in fact))).toMatchObject([{ type: 'dispatch.stopped', class: 'quota', lane: 'claude', op: 'a' }]);
    expect(dispatcher.pausedBy).toMatchObject({ class: 'quota', lane: 'claude' });
  });

  it('says of a wait that a provider asks for, where it takes a minute, and once for all that are rejected together', async () => {
    const { dispatcher, waits, start } = fixture();
    const attempts = [await start('a'), await start('b'), await start('c')];
    const rejected = { class: 'rate-limit', evidence: 'envelope', message: 'slow down' } as const;
    for (const [index, attempt] of attempts.entries())
      dispatcher.finish(attempt, { failure: { ...rejected, retryAfterMs: index === 0 ? 59_000 : 3_600_000 + index }, cost: {} });
    expect(waits).toEqual([['claude', 3_600_001]]);
  });

  it('names every lane that was stopped, in a run with a budget too', async () => {
    for (const settings of [{}, { budget: { calls: 5 } }]) {
      const { dispatcher, start } = fixture(settings);
      dispatcher.finish(await start('a'), { failure: QUOTA, cost: {} });
      expect(dispatcher.pausedBy).not.toHaveProperty('others');
      dispatcher.finish(await start('x', 'codex'), { failure: { ...QUOTA, class: 'auth', message: 'no key' }, cost: {} });
      expect(dispatcher.pausedBy).toMatchObject({ class: 'quota', lane: 'claude', others: [{ class: 'auth', lane: 'codex' }] });
    }
  });

  it('stops a lane whose reset is past where nothing says to wait for one', async () => {
    const { dispatcher, start } = fixture();
    dispatcher.finish(await start('a'), { failure: { ...QUOTA, resetsAtMs: Date.now() - 1 }, cost: {} });
    expect(dispatcher.mayTryAgain('claude')).toBe(false);
  });

  it('does not wait for an attempt that waits itself, for a call inside it', async () => {
    const { dispatcher, pauses, start } = fixture();
    const outer = await start('main/outer#0', '@outer');
    dispatcher.finish(await start('a'), { failure: QUOTA, cost: {} });
    void Promise.resolve(start('main/outer#0/inner#0')).catch(() => undefined);
    await vi.advanceTimersByTimeAsync(100);
    expect(pauses()).toBe(1);
    dispatcher.finish(outer, OK);
  });

  it('is only held where the run waits for a reset that is near', async () => {
    const { dispatcher, facts, waits, pauses, start } = fixture({ waitQuotaMs: 10_000 });
    const inFlight = [await start('a'), await start('c')];
    for (const each of inFlight) dispatcher.finish(each, { failure: { ...QUOTA, resetsAtMs: Date.now() + 5000 }, cost: {} });
    expect(dispatcher.mayTryAgain('claude')).toBe(true);
    let isStarted = false;
    void Promise.resolve(start('b')).then(() => (isStarted = true));
    await vi.advanceTimersByTimeAsync(4900);
    expect([isStarted, pauses()]).toEqual([false, 0]);
    expect(waits).toEqual([['claude', 5000]]);
    await vi.advanceTimersByTimeAsync(200);
    expect(isStarted).toBe(true);
    expect(facts.slice(1)).toMatchObject([
      { type: 'dispatch.stopped', op: 'a' },
      { type: 'dispatch.resumed', lane: 'claude' },
    ]);
  });
});

it('a hold that a provider announces is recorded once for each reset, and stays in the changes that follow', async () => {
  const { dispatcher, facts, start } = fixture();
  const headers = { 'x-ratelimit-remaining-requests': '0', 'x-ratelimit-reset-requests': '60s' };
  const heldUntil = new Date(Date.now() + 60_000).toISOString();
  const all = await Promise.all(['a', 'b', 'c', 'd'].map(async (op) => start(op)));
  for (const started of all.slice(1)) dispatcher.finish(started, { ...OK, headers });
  const failure = { class: 'rate-limit', evidence: 'envelope', message: 'slow', retryAfterMs: 1000 } as const;
  dispatcher.finish(all[0] as Started, { cost: undefined, failure });
  expect(facts).toMatchObject([
    { type: 'lane.changed', why: 'began' },
    { type: 'lane.changed', why: 'told', heldUntil },
    { type: 'lane.changed', why: 'rejected', heldUntil },
  ]);
});

it('a hold is recorded where the announced starts were counted down to it', async () => {
  const { dispatcher, facts, start } = fixture();
  const headers = (left: number) => ({ 'x-ratelimit-remaining-requests': `${left}`, 'x-ratelimit-reset-requests': '60s' });
  for (const left of [2, 1, 0]) dispatcher.finish(await start(`left ${left}`), { ...OK, headers: headers(left) });
  expect(facts.slice(1)).toMatchObject([{ type: 'lane.changed', why: 'told', heldUntil: new Date(Date.now() + 60_000).toISOString() }]);
});

it('an attempt that did not begin after all takes up none of the starts that a provider announced', async () => {
  const { dispatcher, start } = fixture();
  const headers = { 'x-ratelimit-remaining-requests': '1', 'x-ratelimit-reset-requests': '60s' };
  dispatcher.finish(await start('a'), { ...OK, headers });
  dispatcher.abandon(await start('b'));
  expect(await Promise.race([start('c'), vi.advanceTimersByTimeAsync(1000)])).toMatchObject({ op: 'c' });
});

describe('a lane stalls', () => {
  const OVERLOADED = { cost: undefined, failure: { class: 'overloaded', evidence: 'envelope', message: 'busy' } } as const;
  const MINUTE_MS = 60_000;

  it('when it gave nothing but rejections for so long', async () => {
    const { dispatcher, start } = fixture({ stallAfterMs: 10 * MINUTE_MS });
    for (let n = 0; n < 10; n++) {
      dispatcher.finish(await start(`each minute ${n}`), OVERLOADED);
      expect(dispatcher.pausedBy).toBeUndefined();
      await vi.advanceTimersByTimeAsync(MINUTE_MS);
    }
    dispatcher.finish(await start('late'), OVERLOADED);
    expect(dispatcher.pausedBy).toMatchObject({ class: 'stalled', lane: 'claude' });
  });

  it('when calls waited for it for so long, as its rejections told', async () => {
    const { dispatcher, start } = fixture({ stallAfterMs: 10 * MINUTE_MS });
    const early = await Promise.all(Array.from({ length: 9 }, async (_, n) => start(`early ${n}`)));
    const { failure } = OVERLOADED;
    for (const started of early) dispatcher.finish(started, { ...OVERLOADED, failure: { ...failure, retryAfterMs: 10 * MINUTE_MS } });
    const late = start('late');
    await vi.advanceTimersByTimeAsync(10 * MINUTE_MS);
    dispatcher.finish(await late, OVERLOADED);
    expect(dispatcher.pausedBy).toMatchObject({ class: 'stalled', lane: 'claude' });
  });

  it('not by a rejection, and ten after a long time in which nothing used it', async () => {
    const { dispatcher, start } = fixture({ stallAfterMs: 10 * MINUTE_MS });
    const isRejected = async (op: string): Promise<void> => {
      const started = start(op);
      await vi.advanceTimersByTimeAsync(0.75 * MINUTE_MS); // the longest hold of the lane
      dispatcher.finish(await started, OVERLOADED);
    };
    await isRejected('first');
    await vi.advanceTimersByTimeAsync(60 * MINUTE_MS);
    for (let n = 0; n < 10; n++) await isRejected(`soon ${n}`);
    expect(dispatcher.pausedBy).toBeUndefined();
    await isRejected('later');
    expect(dispatcher.pausedBy).toMatchObject({ class: 'stalled', lane: 'claude' });
  });

  it('not by calls that are rejected at once after a time in which nothing used it', async () => {
    const { dispatcher, start } = fixture({ stallAfterMs: 10 * MINUTE_MS });
    dispatcher.finish(await start('first'), OK);
    await vi.advanceTimersByTimeAsync(60 * MINUTE_MS);
    const burst = await Promise.all(Array.from({ length: 15 }, async (_, n) => start(`b${n}`)));
    for (const started of burst) dispatcher.finish(started, OVERLOADED);
    expect(dispatcher.pausedBy).toBeUndefined();
  });

  it('not by what ends while its allowance is waited for', async () => {
    const { dispatcher, start } = fixture({ stallAfterMs: 10 * MINUTE_MS, waitQuotaMs: 120 * MINUTE_MS });
    const slow = await start('slow');
    const failure = { class: 'quota', evidence: 'envelope', message: 'used up', resetsAtMs: Date.now() + 60 * MINUTE_MS } as const;
    dispatcher.finish(await start('used up'), { cost: undefined, failure });
    dispatcher.finish(slow, { cost: undefined, failure: { class: 'network', evidence: 'exit', message: 'gone' } });
    await vi.advanceTimersByTimeAsync(61 * MINUTE_MS);
    for (const started of await Promise.all(Array.from({ length: 9 }, async (_, n) => start(`b${n}`))))
      dispatcher.finish(started, OVERLOADED);
    expect(dispatcher.pausedBy).toBeUndefined();
  });

  it('not where a result came in the meantime, however long the rejected ones took', async () => {
    const { dispatcher, start } = fixture({ stallAfterMs: 10 * MINUTE_MS });
    const slow = await Promise.all(Array.from({ length: 12 }, async (_, n) => start(`s${n}`)));
    const good = await start('good');
    await vi.advanceTimersByTimeAsync(11 * MINUTE_MS);
    dispatcher.finish(good, OK);
    for (const started of slow) dispatcher.finish(started, OVERLOADED);
    expect(dispatcher.pausedBy).toBeUndefined();
  });
});

describe("DISPATCH-5: a run that is another process's", () => {
  const TAKEN = { class: 'journal', message: 'the run was sealed', endsRun: true } as const;

  it('is paused at once, whatever else it does, and whatever had stopped it before', () => {
    const { dispatcher, pauses } = fixture();
    dispatcher.began();
    dispatcher.stop({ class: 'budget', message: 'the budget is reached' });
    vi.advanceTimersByTime(1000);
    expect(pauses()).toBe(0);
    dispatcher.stop(TAKEN);
    expect(pauses()).toBe(1);
    expect(dispatcher.pausedBy).toBe(TAKEN);
  });

  it('begins nothing besides the attempts in flight, and no child run', async () => {
    const { dispatcher, start, pauses } = fixture();
    const paid = await start('a');
    expect(dispatcher.held()).toBeUndefined();
    dispatcher.stop(TAKEN);
    const held = expect(dispatcher.held()).rejects.toMatchObject({ code: 'INTERRUPTED' });
    const child = fixture({}, false, dispatcher);
    expect(child.pauses()).toBe(1);
    await expect(child.start('b')).rejects.toMatchObject({ code: 'INTERRUPTED' });
    expect(pauses()).toBe(0);
    dispatcher.finish(paid, OK);
    await held;
    await expect(dispatcher.held()).rejects.toMatchObject({ code: 'INTERRUPTED' });
    expect(pauses()).toBe(1);
  });

  it('waits for the attempts in flight, also those of child runs, and starts no other', async () => {
    const { dispatcher, start, pauses } = fixture();
    const child = fixture({}, false, dispatcher);
    const [own, inside] = [await start('a'), await child.start('b')];
    dispatcher.stop(TAKEN);
    const refused = expect(child.start('c')).rejects.toMatchObject({ code: 'INTERRUPTED' });
    dispatcher.finish(own, OK);
    await vi.advanceTimersByTimeAsync(1000);
    expect([pauses(), child.pauses()]).toEqual([0, 0]);
    child.dispatcher.finish(inside, OK);
    expect([pauses(), child.pauses()]).toEqual([1, 1]);
    await refused;
  });

  it('does not wait for an attempt that waits for a call inside it', async () => {
    const { dispatcher, start, pauses } = fixture();
    await start('main/outer#0');
    dispatcher.stop(TAKEN);
    expect(pauses()).toBe(0);
    const inner = expect(start('main/outer#0/inner#0')).rejects.toMatchObject({ code: 'INTERRUPTED' });
    expect(pauses()).toBe(1);
    await inner;
  });
});

describe('a budget', () => {
  it('lets attempts start one at a time until one has told its cost, also behind one that was turned away', async () => {
    const { dispatcher, start } = fixture({ budget: { usd: 1 }, lanes: [['claude', { start: 5 }]] });
    const busy = await dispatcher.start({ op: 'o' as OpPath, fn: 'other', lane: 'claude', isRetry: false });
    const first = await start('a');
    dispatcher.finish(first, {
      cost: { usd: 0, tokens: 0 },
      failure: { class: 'rate-limit', evidence: 'envelope', message: 'slow down', retryAfterMs: 1 },
    });
    await vi.advanceTimersByTimeAsync(60_000);
    dispatcher.finish(busy, { cost: { usd: 0.01 } });
    const begun: Started[] = [];
    for (const op of ['a', 'b', 'c'])
      void Promise.resolve(start(op)).then(
        (started) => begun.push(started),
        () => undefined,
      );
    await vi.advanceTimersByTimeAsync(60_000);
    expect(begun.map(({ op, reserved }) => [op, reserved])).toEqual([['a', { usd: 0.01, basis: 'largest' }]]);
    dispatcher.finish(begun[0] as Started, { cost: { usd: 0.6 } });
    await vi.advanceTimersByTimeAsync(60_000);
    expect(begun).toHaveLength(1);
    expect(dispatcher.stoppedBy).toMatchObject({ class: 'budget' });
  });

  it('says that it is spent, and less than one call costs, where no resume with it could go on', async () => {
    const { dispatcher, facts, start } = fixture({ budget: { usd: 0.001 } });
    const first = await start('a');
    const refused = Promise.resolve(start('b')).catch((error: { code: string }) => error.code);
    dispatcher.finish(first, { ...OK, cost: { usd: 0.0045 } });
    await vi.advanceTimersByTimeAsync(100);
    expect(await refused).toBe('INTERRUPTED');
    expect(facts.at(-1)).toMatchObject({
      message: 'the budget of $0.001 is reached: $0.0045 spent, and a further call of @ask is expected to cost $0.0045',
    });
    expect(dispatcher.pausedBy?.leastBudget).toBe('0.0045usd');
  });

  it.each([
    [true, '2calls'],
    [false, undefined],
  ])('says that it allows no more calls than wait for calls inside them: %s', async (waits, least) => {
    const { dispatcher, start } = fixture({ budget: { calls: 1 } });
    const first = await start('main/outer#0');
    if (!waits) dispatcher.finish(first, OK);
    const refused = expect(start('main/outer#0/inner#0')).rejects.toMatchObject({ code: 'INTERRUPTED' });
    await vi.advanceTimersByTimeAsync(100);
    await refused;
    if (waits) dispatcher.finish(first, OK); // it was rejected with the call inside it
    expect(dispatcher.pausedBy?.leastBudget).toBe(least);
  });

  it('stops all lanes when it is reached, and says which', async () => {
    const { dispatcher, facts, pauses, start } = fixture({ budget: { calls: 1 } });
    const first = await start('a');
    expect(first.reserved).toEqual({ basis: 'none' });
    const refused = Promise.resolve(start('b')).catch((error: { code: string }) => error.code);
    dispatcher.finish(first, OK);
    await vi.advanceTimersByTimeAsync(100);
    expect([await refused, pauses()]).toEqual(['INTERRUPTED', 1]);
    expect(facts.at(-1)).toMatchObject({ type: 'dispatch.stopped', class: 'budget', message: 'the budget of 1 call is reached' });
  });

  it('begins what it had let go when it is reached: a resume that asks for everything at once would else begin nothing, each time', async () => {
    const { dispatcher, start } = fixture({ budget: { calls: 1 } });
    const first = await start('a');
    void Promise.resolve(start('b')).catch(() => undefined);
    expect([dispatcher.stoppedBy?.class, dispatcher.mayBegin(first)]).toEqual(['budget', true]);
  });

  it.each([
    ['no usage', { usd: 5 }, undefined, true],
    ['tokens without a price', { usd: 5 }, { tokens: 100 }, true],
    ['dollars where tokens are limited', { tokens: 5000 }, { usd: 0.1 }, true],
    ['all that is limited', { usd: 5 }, { usd: 0.1 }, false],
    ['nothing, and the cost is not limited', { calls: 5 }, undefined, false],
  ])('that is strict: %s was reported', async (_, budget, cost, stops) => {
    const { dispatcher, start } = fixture({ budget, budgetStrict: true });
    dispatcher.finish(await start('a'), { cost });
    expect(dispatcher.stoppedBy?.class).toBe(stops ? 'budget' : undefined);
  });
});

describe('a quota that is not waited for', () => {
  const MINUTE = 60_000;
  const pausedAfter = async (waitQuotaMs: number, resetsInMs?: number) => {
    const { dispatcher, start } = fixture({ waitQuotaMs });
    const resets = resetsInMs === undefined ? {} : { resetsAtMs: Date.now() + resetsInMs };
    dispatcher.finish(await start('a'), { cost: undefined, failure: { class: 'quota', evidence: 'text', message: 'used up', ...resets } });
    const refused = Promise.resolve(start('b')).catch((error: { code: string }) => error.code);
    await vi.advanceTimersByTimeAsync(100);
    expect(await refused).toBe('INTERRUPTED');
    return dispatcher.pausedBy?.notWaited;
  };

  it('says why it is not', async () => {
    expect(await pausedAfter(10 * MINUTE)).toBe('no time');
    expect(await pausedAfter(10 * MINUTE, 11 * MINUTE)).toBe('too late');
    expect(await pausedAfter(0, 11 * MINUTE)).toBeUndefined();
  });
});

describe('a failure at a worker', () => {
  const failure = { class: 'quota', evidence: 'envelope', message: 'used up' } as const;
  const request = { op: 'b' as OpPath, fn: 'ask', lane: 'claude', isRetry: false };

  it('stops its lane in the run that offered the call, which pauses when no offered call is in flight', async () => {
    const { dispatcher, facts, pauses } = fixture();
    await dispatcher.whenOpen(request);
    dispatcher.began();
    dispatcher.failedElsewhere({ op: 'a' as OpPath, lane: 'claude' }, failure);
    expect(facts.at(-1)).toMatchObject({ type: 'dispatch.stopped', class: 'quota', lane: 'claude', op: 'a' });
    const opening = dispatcher.whenOpen(request).catch(({ code }: { readonly code: string }) => code);
    await vi.advanceTimersByTimeAsync(1000);
    expect(pauses()).toBe(0);
    dispatcher.ended();
    await vi.advanceTimersByTimeAsync(1000);
    expect(pauses()).toBe(1);
    expect(await opening).toBe('INTERRUPTED');
  });

  it('is waited out where the run may wait for the allowance', async () => {
    const { dispatcher, pauses } = fixture({ waitQuotaMs: 10_000 });
    await dispatcher.whenOpen(request);
    dispatcher.failedElsewhere({ op: 'a' as OpPath, lane: 'claude' }, { ...failure, resetsAtMs: Date.now() + 5000 });
    let isOpen = false;
    const opening = dispatcher.whenOpen(request).then(() => (isOpen = true));
    await vi.advanceTimersByTimeAsync(4900);
    expect(isOpen).toBe(false);
    await vi.advanceTimersByTimeAsync(200);
    await opening;
    expect(pauses()).toBe(0);
  });

  it('stops nothing at the worker, which executes what is offered next', async () => {
    const { dispatcher, start, facts } = fixture({}, true);
    const first = await start('a');
    dispatcher.judged(first, failure);
    dispatcher.finish(first, { failure, cost: undefined });
    expect(await start('b')).toMatchObject({ op: 'b' });
    expect(dispatcher.stopsLane(failure)).toBe(false);
    expect(facts).not.toContainEqual(expect.objectContaining({ type: 'dispatch.stopped' }));
  });
});
