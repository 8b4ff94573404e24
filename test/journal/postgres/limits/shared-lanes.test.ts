/** Lanes that processes share, on a server. team-store.md 8, LANES-1. */
import { afterAll, describe, expect, it } from 'vitest';
import type { LaneEvent, LaneRequest } from '../../../../journal/postgres/limits/shared-lanes.js';
import type { TeamStore } from '../../../../journal/postgres/open-store.js';
import { opPath } from '../../../../journal/ids.js';
import { finished, runRef, started } from '../../support/facts.js';
import { makeDatabase, noServer, openTestStore, type TestDatabase } from '../database.js';

describe.skipIf(noServer !== undefined)(`shared lanes${noServer === undefined ? '' : ` (not run: ${noServer})`}`, async () => {
  const database = noServer === undefined ? await makeDatabase() : (undefined as unknown as TestDatabase);
  const opened: TeamStore[] = [];
  afterAll(() => Promise.all(opened.map((store) => store.close())));

  async function twoRuns() {
    const url = database.project();
    const stores = [openTestStore(url), openTestStore(url)] as const;
    opened.push(...stores);
    const [one, two] = [await stores[0].create(runRef(1)), await stores[1].create(runRef(2))];
    await one.append(started);
    await two.append(started);
    const exchangeOf = (n: 0 | 1) => {
      return (events: readonly LaneEvent[], more: Partial<LaneRequest> = {}) =>
        stores[n].lanes.exchange({
          run: runRef(n + 1),
          lane: 'claude',
          seen: 0,
          events,
          isExact: false,
          limits: undefined,
          others: [],
          ...more,
        });
    };
    return { url, stores, one, two, ofOne: exchangeOf(0), ofTwo: exchangeOf(1) };
  }

  const start = (id: number): LaneEvent => ({ kind: 'start', id, waited: 'not' });
  const end = (id: number): LaneEvent => ({ kind: 'end', id, how: 'rejected', retryAfterMs: 1000 });

  it('hear each other in order, and take an exact start only of a run that has heard everything', async () => {
    const { ofOne, ofTwo } = await twoRuns();
    expect(await ofOne([start(1)], { isExact: true })).toEqual({ seen: 1, isTaken: true, heard: [] });
    const refused = await ofTwo([start(1), end(0)], { isExact: true });
    expect(refused).toMatchObject({ seen: 2, isTaken: false, heard: [{ event: start(1) }] });
    expect(await ofTwo([start(2)], { isExact: true, seen: refused.seen })).toEqual({ seen: 3, isTaken: true, heard: [] });
    const heard = await ofOne([], { seen: 1 });
    expect(heard).toMatchObject({ seen: 3, heard: [{ event: end(0) }, { event: start(2) }] });
    expect(heard.heard.every(({ agoMs }) => agoMs >= 0)).toBe(true);
    expect(await ofOne([], { seen: 0, lane: 'codex' })).toMatchObject({ seen: 0, heard: [] });
  });

  it('say which runs are gone, and what a later run begins with', async () => {
    const { ofOne, ofTwo, one, stores } = await twoRuns();
    await ofOne([start(1), start(2), end(1)]);
    await ofTwo([start(7)], { limits: { limit: 4, ceiling: 4, gapMs: 250, heldMs: 60_000 } });
    const [state] = await stores[0].lanes.states();
    expect(state).toMatchObject({
      lane: 'claude',
      seen: 4,
      limits: { limit: 4, ceiling: 4, gapMs: 250 },
      starts: [{ event: start(2) }, { event: start(7) }],
    });
    expect(state?.limits?.heldMs).toBeGreaterThan(0);
    const { heard } = await ofTwo([]);
    const runOfOne = heard[0]!.run;
    expect((await ofTwo([], { seen: 4, others: [runOfOne] })).heard).toEqual([]);
    await one.append(finished);
    await one.close();
    expect((await ofTwo([], { seen: 4, others: [runOfOne] })).heard).toEqual([{ run: runOfOne, event: { kind: 'gone' }, agoMs: 0 }]);
    expect((await stores[1].lanes.states())[0]?.starts).toMatchObject([{ event: start(7) }]);
  });

  it('keep the latest events only', async () => {
    const { url, ofOne } = await twoRuns();
    const many = Array.from({ length: 700 }, (_, n) => start(n));
    await ofOne(many);
    await ofOne(many);
    await ofOne([end(0)]);
    const [row] = await database.query(
      `select count(*)::int as count, max(n)::int as last from mlld.lane_events join mlld.projects using (project_id) where name = $1`,
      [new URL(url).searchParams.get('project')],
    );
    expect(row).toEqual({ count: 1001, last: 1401 });
  });

  it('let no process start more at once than the provider takes, once one of them has met its limit', async () => {
    const { stores } = await twoRuns();
    const { openSharedLanes } = await import('../../../../src/session/script/limits/shared-lanes.js');
    const { Dispatcher } = await import('../../../../src/calls/dispatch/dispatcher.js');
    const { DEFAULT_CALL_SETTINGS } = await import('../../../../src/calls/options.js');
    const clocks = { monotonicMs: () => performance.now(), nowMs: () => Date.now() };
    const settings = { ...DEFAULT_CALL_SETTINGS, backoff: { firstMs: 10, maxMs: 50 } };
    const dispatchers = await Promise.all(
      stores.map(async (store, n) => {
        const made = new Dispatcher({
          settings,
          ...clocks,
          random: Math.random,
          pause: () => undefined,
          signal: new AbortController().signal,
        });
        const sharing = await openSharedLanes({ store, run: runRef(n + 1), io: clocks, redact: (text) => text });
        expect(sharing).toBeDefined();
        made.open({ record: () => undefined, learn: async () => ({ lanes: new Map(), costs: new Map() }), sharing });
        return made;
      }),
    );
    let [inFlight, rejected, completed] = [0, 0, 0];
    const LIMIT = 3;
    const ask = async (n: number): Promise<void> => {
      const dispatcher = dispatchers[n % 2]!;
      for (let isRetry = false; ; isRetry = true) {
        const attempt = await dispatcher.start({ op: opPath(`main/ask#${n}`), fn: 'ask', lane: 'claude', isRetry });
        const isOver = inFlight >= LIMIT;
        if (!isOver) inFlight++;
        await new Promise((resolve) => setTimeout(resolve, isOver ? 1 : 10));
        if (!isOver) inFlight--;
        dispatcher.finish(attempt, { cost: {}, ...(isOver && { failure: { class: 'rate-limit', message: '429' } as never }) });
        if (!isOver) return void completed++;
        rejected++;
      }
    };
    await Promise.all(Array.from({ length: 120 }, (_, n) => ask(n)));
    expect(completed).toBe(120);
    expect(rejected).toBeGreaterThan(0);
    const state = async () => (await stores[0].lanes.states())[0];
    expect((await state())?.limits).toMatchObject({ limit: expect.any(Number) });
    await expect.poll(async () => (await state())?.starts).toEqual([]); // the last end is told without being waited for
  });
});
