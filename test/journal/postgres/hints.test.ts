/** Hints of other processes, on a server. team-store.md 11. */
import { afterAll, afterEach, describe, expect, it, vi } from 'vitest';
import { sha256 } from '../../../journal/canonical.js';
import type { Fact } from '../../../journal/event.js';
import { opPath } from '../../../journal/ids.js';
import { PgHints } from '../../../journal/postgres/hints/pg-hints.js';
import type { TeamStore, TeamStoreOptions } from '../../../journal/postgres/open-store.js';
import { OFFERS, type HintWatch, type Topic } from '../../../journal/storage/hints.js';
import { callCompleted, callStarted, finished, runRef, started } from '../support/facts.js';
import { Line } from './away/breakable-line.js';
import { makeDatabase, noServer, openTestStore, type TestDatabase } from './database.js';

/** Nobody waits so long: a watch that is not woken fails the test by its time. */
const FOREVER_MS = 600_000;
const { workflow } = runRef(1);
const keyOf = (n: number) => sha256(`key ${n}`);
const failed: Fact = { type: 'call.failed', key: keyOf(2), op: opPath('main/review#2'), message: 'no', elapsedMs: 1 };

describe.skipIf(noServer !== undefined)(`hints${noServer === undefined ? '' : ` (not run: ${noServer})`}`, async () => {
  const database = noServer === undefined ? await makeDatabase() : (undefined as unknown as TestDatabase);
  const opened: TeamStore[] = [];
  const open = (url: string, options?: Partial<TeamStoreOptions>): TeamStore => {
    const store = openTestStore(url, options);
    opened.push(store);
    return store;
  };
  afterAll(() => Promise.all(opened.map((store) => store.close())));

  /** A watch that the server listens for: its first hint says so (HINTS-3). */
  async function watchOf(store: TeamStore, topic: Topic): Promise<HintWatch> {
    const watch = store.hints.watch(topic);
    expect(await watch.wait(FOREVER_MS)).toBe(true);
    return watch;
  }

  it('come when a call or a run of another process ends, and when a claim is given back', async () => {
    const url = database.project();
    const journal = await open(url).create(runRef(1));
    await journal.append(started);
    await journal.append(callStarted(1));
    const given = await open(url).create(runRef(2)); // it ends with its process: what it holds is given back at its close
    const watch = await watchOf(open(url), workflow);
    const ends = [
      () => journal.append(callCompleted(1, 'done')),
      () => journal.append(callStarted(2)).then(() => journal.append(failed)),
      () => journal.claims?.claim({ key: keyOf(3) }).then(() => journal.claims?.giveBack(keyOf(3))),
      () => journal.append(finished),
      () => given.close(),
    ];
    for (const end of ends) {
      const [isDue] = await Promise.all([watch.wait(FOREVER_MS), end()]);
      expect(isDue).toBe(true);
    }
  });

  it('are of one workflow, or of the offers of the whole project', async () => {
    const url = database.project();
    const store = open(url);
    await store.create(runRef(1));
    const [results, offers] = [await watchOf(store, workflow), await watchOf(open(url), OFFERS)];
    store.hints.send(OFFERS);
    expect(await offers.wait(FOREVER_MS)).toBe(true);
    expect(await results.wait(1)).toBe(false);
  });

  it('of offers are heard by who listened before the project had a run, and only in that project', async () => {
    const [url, elsewhere] = [database.project(), database.project()];
    const [early, other] = [await watchOf(open(url), OFFERS), await watchOf(open(elsewhere), OFFERS)];
    while (await other.wait(100)); // the connection and the topic each say once that they are heard
    open(url).hints.send(OFFERS);
    expect(await early.wait(FOREVER_MS)).toBe(true);
    expect(await other.wait(1)).toBe(false);
  });

  it('wake everybody when the connection was opened again, and come over that one', async () => {
    const url = database.project();
    const line = new Line(url);
    const store = open(url, { connect: line.connect });
    const other = open(url);
    await other.create(runRef(1));
    const watch = await watchOf(store, workflow);
    await line.cut();
    line.isCut = false;
    const [wasWoken] = await Promise.all([watch.wait(FOREVER_MS), store.writeDerived(workflow, 'x', 'opens the connection')]);
    expect(wasWoken).toBe(true);
    other.hints.send(workflow);
    expect(await watch.wait(FOREVER_MS)).toBe(true);
  });

  it('are neither sent nor heard where they are turned off', async () => {
    const url = database.project();
    const [quiet, loud] = [open(url, { notifies: false }), open(url)];
    await loud.create(runRef(1));
    const [ofQuiet, ofLoud] = [quiet.hints.watch(workflow), await watchOf(loud, workflow)];
    quiet.hints.send(workflow);
    expect(await ofLoud.wait(200)).toBe(false);
    loud.hints.send(workflow);
    expect(await ofLoud.wait(FOREVER_MS)).toBe(true);
    expect(await ofQuiet.wait(1)).toBe(false);
  });
});

describe('what is sent', () => {
  afterEach(() => vi.useRealTimers());

  const sendingTo = (query: () => Promise<[]>) => new PgHints({ sql: { query }, project: 'p', isOn: true, timeoutMs: 1000 });

  const paces: readonly { kind: string; topic: Topic; values: readonly unknown[]; restMs: number }[] = [
    { kind: 'offers', topic: OFFERS, values: [expect.stringMatching(/^mlld_offers_[0-9a-f]{40}$/)], restMs: 20 },
    { kind: 'results', topic: workflow, values: ['p', [workflow]], restMs: 100 },
  ];
  it.each(paces)('of $kind is one statement at once, and one for all that comes within $restMs ms', ({ topic, values, restMs }) => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] });
    const query = vi.fn<() => Promise<[]>>(async () => []);
    const hints = sendingTo(query);
    hints.send(topic);
    expect(query).toHaveBeenCalledTimes(1);
    for (let n = 0; n < 50; n++) hints.send(topic);
    vi.advanceTimersByTime(restMs - 2);
    expect(query).toHaveBeenCalledTimes(1);
    vi.advanceTimersByTime(2);
    expect(query).toHaveBeenCalledTimes(2);
    expect(query).toHaveBeenLastCalledWith(expect.any(String), values, 1000);
  });

  it('of offers does not wait for results', () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] });
    const query = vi.fn<() => Promise<[]>>(async () => []);
    const hints = sendingTo(query);
    for (let n = 0; n < 2; n++) {
      hints.send(workflow);
      vi.advanceTimersByTime(1);
    }
    hints.send(OFFERS);
    vi.advanceTimersByTime(1);
    expect(query).toHaveBeenCalledTimes(2);
  });

  it('may be lost without anybody noticing', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] });
    const query = vi.fn<() => Promise<[]>>(() => Promise.reject(new Error('gone')));
    const hints = sendingTo(query);
    hints.send(OFFERS);
    await vi.advanceTimersByTimeAsync(30);
    expect(query).toHaveBeenCalledTimes(1);
  });

  it('ends a wait that is aborted', async () => {
    const watch = sendingTo(async () => []).watch(workflow);
    const stopping = new AbortController();
    const waiting = watch.wait(FOREVER_MS, stopping.signal);
    stopping.abort();
    expect(await waiting).toBe(false);
    expect(await watch.wait(FOREVER_MS, stopping.signal)).toBe(false);
  });
});
