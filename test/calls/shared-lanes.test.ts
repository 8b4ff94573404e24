/** The pace of several processes whose lanes are one, against limits that are not announced, in virtual time. team-store.md 8. */
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import type { OpPath } from '../../journal/ids.js';
import { Dispatcher } from '../../src/calls/dispatch/dispatcher.js';
import type { Started } from '../../src/calls/dispatch/ports.js';
import { SharedLanes } from '../../src/calls/lanes/shared-lanes.js';
import { DEFAULT_CALL_SETTINGS } from '../../src/calls/options.js';
import { runRef } from '../journal/support/facts.js';
import { FakeLaneLog } from './fake-lane-log.js';

beforeEach(() => void vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'setInterval', 'clearInterval', 'performance', 'Date'] }));
afterEach(() => void vi.useRealTimers());

const now = (): number => performance.now();
const sleep = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));
const LATENCY_MS = 3000;

interface Provider {
  /** Attempts at once. */
  readonly concurrency?: number;
  /** Starts a second, by a token bucket that holds one second of them. */
  readonly perSecond?: number;
}

class Server {
  rejected = 0;
  attempts = 0;
  inFlight = 0;
  mostInFlight = 0;
  private bucket: number;
  private bucketMs = now();

  constructor(private readonly provider: Provider) {
    this.bucket = Math.max(1, provider.perSecond ?? 0);
  }

  async ask(random: () => number): Promise<{ readonly retryAfterMs?: number } | undefined> {
    this.attempts++;
    const refusal = this.refusal();
    if (refusal) {
      this.rejected++;
      await sleep(50);
      return refusal;
    }
    this.mostInFlight = Math.max(this.mostInFlight, ++this.inFlight);
    await sleep(LATENCY_MS * (0.6 + 0.8 * random()));
    this.inFlight--;
    return undefined;
  }

  private refusal(): { readonly retryAfterMs?: number } | undefined {
    const { concurrency, perSecond } = this.provider;
    if (concurrency !== undefined) return this.inFlight >= concurrency ? {} : undefined;
    if (perSecond === undefined) return undefined;
    this.bucket = Math.min(Math.max(1, perSecond), this.bucket + ((now() - this.bucketMs) / 1000) * perSecond);
    this.bucketMs = now();
    if (this.bucket < 1) return { retryAfterMs: Math.ceil((1 - this.bucket) / perSecond) * 1000 };
    this.bucket--;
    return undefined;
  }
}

function generator(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 2 ** 32;
  };
}

async function processOf(n: number, log: FakeLaneLog | null, random: () => number): Promise<Dispatcher> {
  const dispatcher = new Dispatcher({
    settings: DEFAULT_CALL_SETTINGS,
    monotonicMs: now,
    nowMs: () => Date.now(),
    random,
    pause: () => undefined,
    signal: new AbortController().signal,
  });
  const sharing = log
    ? new SharedLanes({ log, run: runRef(n), nameOf: (lane) => lane, monotonicMs: now, nowMs: () => Date.now() })
    : undefined;
  dispatcher.open({ record: () => undefined, learn: async () => ({ lanes: new Map(), costs: new Map() }), sharing });
  return dispatcher;
}

/** One call, tried until it has a result. */
async function call(dispatcher: Dispatcher, op: string, server: Server, random: () => number): Promise<void> {
  for (let isRetry = false; ; isRetry = true) {
    const started = await dispatcher.start({ op: op as OpPath, fn: 'ask', lane: 'claude', isRetry });
    const refusal = await server.ask(random);
    if (refusal === undefined) return dispatcher.finish(started, { cost: {} });
    dispatcher.finish(started, { cost: {}, failure: { class: 'rate-limit', message: '429', ...refusal } as never });
  }
}

async function play(provider: Provider, { processes = 2, calls = 400, log = new FakeLaneLog(4) as FakeLaneLog | null } = {}) {
  const random = generator(1);
  const server = new Server(provider);
  const beganMs = now();
  const all: Promise<void>[] = [];
  for (let n = 0; n < processes; n++) {
    const dispatcher = await processOf(n + 1, log, random);
    for (let c = 0; c < calls / processes; c++) all.push(call(dispatcher, `main/ask#${n}x${c}`, server, random));
  }
  let isOver = false;
  void Promise.all(all).then(() => (isOver = true));
  while (!isOver) await vi.advanceTimersByTimeAsync(250);
  return { ...server, share: server.rejected / server.attempts, elapsedMs: now() - beganMs, log };
}

describe('lanes of several processes', () => {
  it.each([
    [2, { concurrency: 5 }],
    [4, { concurrency: 10 }],
    [4, { perSecond: 5 }],
    [2, { perSecond: 2 }],
  ])('keep to a limit together as one process alone does: %i against %o', async (processes, provider) => {
    const alone = await play(provider, { processes: 1, log: null });
    const shared = await play(provider, { processes });
    expect(shared.share).toBeLessThanOrEqual(alone.share + 0.02);
    expect(shared.elapsedMs).toBeLessThanOrEqual(1.1 * alone.elapsedMs);
  });

  it('go each by what it knows while the store is away', async () => {
    const log = new FakeLaneLog(4);
    log.isAway = true;
    const { share } = await play({ concurrency: 5 }, { calls: 100, log });
    expect(share).toBeGreaterThan(0); // and all have a result
    expect(log.events).toEqual([]);
  });

  const OK = { cost: {} };
  const HELD = { cost: {}, failure: { class: 'rate-limit', message: '429', retryAfterMs: 60_000 } as never };
  const begin = (dispatcher: Dispatcher, n: number) =>
    dispatcher.start({ op: `main/ask#${n}` as OpPath, fn: 'ask', lane: 'claude', isRetry: false });

  async function settle<T>(promise: T | Promise<T>, ms = 1000): Promise<T | 'waits'> {
    let outcome: T | 'waits' = 'waits';
    void Promise.resolve(promise).then((value) => (outcome = value));
    await vi.advanceTimersByTimeAsync(ms);
    return outcome;
  }

  it('are held by a rejection that another process had, also in one that comes later', async () => {
    const log = new FakeLaneLog(4);
    const [one, two] = [await processOf(1, log, () => 0.5), await processOf(2, log, () => 0.5)];
    const first = await settle(begin(one, 1));
    two.finish((await settle(begin(two, 1))) as Started, OK);
    one.finish(first as Started, HELD);
    await vi.advanceTimersByTimeAsync(3000); // longer than what was heard is taken as it is
    expect(await settle(begin(two, 2))).toBe('waits');
    const three = await processOf(3, log, () => 0.5);
    const waiting = begin(three, 3);
    expect(await settle(waiting)).toBe('waits');
    expect(await settle(waiting, 300_000)).toMatchObject({ lane: 'claude' });
  });

  it('let a call start again whose attempt was not executed after all', async () => {
    const one = await processOf(1, new FakeLaneLog(4), () => 0.5);
    one.abandon((await settle(begin(one, 1))) as Started);
    expect(await settle(begin(one, 1))).toMatchObject({ lane: 'claude' });
  });

  it('let a call start that waited for the end of another one while the store was away', async () => {
    const log = new FakeLaneLog(4);
    log.isAway = true;
    const one = await processOf(1, log, () => 0.5);
    one.finish((await settle(begin(one, 1))) as Started, OK);
    expect(await settle(begin(one, 2))).toMatchObject({ lane: 'claude' });
  });

  it('count no attempt of a process that is gone', async () => {
    const log = new FakeLaneLog(4);
    log.limits = { limit: 1, ceiling: 1 };
    log.events.push({ run: runRef(9).run, event: { kind: 'start', id: 1, waited: 'not' }, atMs: now() });
    const one = await processOf(1, log, () => 0.5);
    const waiting = begin(one, 1);
    expect(await settle(waiting, 5000)).toBe('waits');
    log.gone.add(runRef(9).run);
    expect(await settle(waiting)).toMatchObject({ lane: 'claude' });
  });
});
