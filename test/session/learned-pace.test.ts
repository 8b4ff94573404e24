import { expect, it } from 'vitest';

import { sha256 } from '../../journal/canonical.js';
import type { Fact, JournalEvent } from '../../journal/event.js';
import type { RunRef, Workflow } from '../../journal/ids.js';
import type { JournalStore, Position, RunFile } from '../../journal/store.js';
import { learnedPace } from '../../src/session/script/learned-pace.js';

const WORKFLOW = 'job.mld' as Workflow;
const NOW_MS = Date.parse('2026-01-01T12:00:00.000Z');

/** A store of one run with these events, each a minute after the one before, the last one a minute ago. */
function storeOf(facts: readonly object[], file: Partial<RunFile> = {}): Pick<JournalStore, 'runs' | 'scan'> {
  const ref = { workflow: WORKFLOW, run: '20260101-000000-000-aaaa' } as RunRef;
  return {
    runs: async () => [{ ref, bytes: 1, ...file } as RunFile],
    scan: async (_ref, visit) => {
      facts.forEach((fact, i) => {
        const ts = new Date(NOW_MS - (facts.length - i) * 60_000).toISOString();
        visit({ v: 1, seq: i, ts, hash: '', ...(fact as Fact) } as JournalEvent, { offset: 0, bytes: 0 } as Position);
      });
      return { defects: [], end: undefined } as never;
    },
  };
}

const LANE = { type: 'lane.changed', lane: 'claude', limit: 8, ceiling: 8, why: 'rejected' };

it('begins with the last state of each lane, and the known costs of each function', async () => {
  const facts = [
    { ...LANE, limit: 20 },
    { type: 'call.started', op: 'main/ask#0', fn: 'ask' },
    { type: 'call.failed', op: 'main/ask#0', usage: { costUsd: 0.5 }, retryInMs: 0 },
    { type: 'call.started', op: 'main/ask#0', fn: 'ask', try: 2 },
    { type: 'call.completed', op: 'main/ask#0', usage: { inputTokens: 10, outputTokens: 5 } },
    { type: 'call.started', op: 'main/ask#1', fn: 'ask' },
    { type: 'call.completed', op: 'main/ask#1' },
    LANE,
  ];
  const { lanes, costs } = await learnedPace(storeOf(facts), WORKFLOW, { current: undefined, nowMs: NOW_MS });
  expect(lanes.get('claude')).toMatchObject({ limit: 8, ceiling: 8 });
  expect(costs.get('ask')).toEqual([{ usd: 0.5 }, { tokens: 15 }]);
});

it('forgets a lane whose last event is older than an hour, and reads no run that is too long', async () => {
  const old = [LANE, ...Array.from({ length: 61 }, () => ({ type: 'op.finished', op: 'x', outcome: 'ok' }))];
  expect((await learnedPace(storeOf(old), WORKFLOW, { current: undefined, nowMs: NOW_MS })).lanes.size).toBe(0);
  const long = storeOf([LANE], { bytes: 1e9 });
  expect((await learnedPace(long, WORKFLOW, { current: undefined, nowMs: NOW_MS })).lanes.size).toBe(0);
});

it('has the costs of the run before for a budget, where the latest run only reused results', async () => {
  const paid = [
    { type: 'call.started', op: 'main/ask#0', fn: 'ask' },
    { type: 'call.completed', op: 'main/ask#0', usage: { costUsd: 0.5 } },
  ];
  const runs = ['a', 'b', 'c'].map((name) => ({ ref: { workflow: WORKFLOW, run: name } as unknown as RunRef, bytes: 1 }) as RunFile);
  const read: string[] = [];
  const store: Pick<JournalStore, 'runs' | 'scan'> = {
    runs: async () => runs,
    scan(ref, visit) {
      read.push(ref.run);
      return storeOf(ref.run === 'c' ? [LANE, { type: 'call.reused', op: 'main/ask#0' }] : paid).scan(ref, visit);
    },
  };
  const asked = { current: undefined, nowMs: NOW_MS };
  const { lanes, costs } = await learnedPace(store, WORKFLOW, { ...asked, reserves: true });
  expect([costs.get('ask'), lanes.size, read.splice(0)]).toEqual([[{ usd: 0.5 }], 1, ['c', 'b']]);
  expect([(await learnedPace(store, WORKFLOW, asked)).costs.size, read]).toEqual([0, ['c']]);
});

it('begins at the pace of the latest run that made attempts, and looks for it only among runs of the last hour', async () => {
  const paced = [LANE, { type: 'call.completed', op: 'main/ask#0', session: 's', usage: { costUsd: 2 } }];
  const reused = [{ type: 'call.reused', op: 'main/ask#0' }];
  const runs = ['a', 'b', 'c', 'd'].map((name) => ({ ref: { workflow: WORKFLOW, run: name } as unknown as RunRef, bytes: 1 }) as RunFile);
  const read: string[] = [];
  const store: Pick<JournalStore, 'runs' | 'scan'> = {
    runs: async () => runs,
    scan(ref, visit) {
      read.push(ref.run);
      return storeOf(ref.run === 'b' ? paced : ref.run === 'a' ? [{ ...LANE, limit: 3 }] : reused).scan(ref, visit);
    },
  };
  const { lanes, sessions } = await learnedPace(store, WORKFLOW, { current: undefined, nowMs: NOW_MS });
  expect([lanes.get('claude')?.limit, sessions?.get('s'), read.splice(0)]).toEqual([8, 2, ['d', 'c', 'b']]);
  const later = await learnedPace(store, WORKFLOW, { current: undefined, nowMs: NOW_MS + 2 * 3_600_000 });
  expect([later.lanes.size, read]).toEqual([0, ['d']]);
});

it('learns nothing of a lane in which all attempts were simulated', async () => {
  const definition = (backend: string): object => ({
    type: 'definition.recorded',
    fingerprint: backend,
    parts: [{ kind: 'variable', name: 'backend', digest: sha256(backend) }],
  });
  const attempt = (backend: string, lane: string): object => ({ type: 'call.started', op: lane, fn: 'ask', fingerprint: backend, lane });
  const tried = [definition('simulated'), { ...LANE, limit: 20 }, attempt('simulated', 'claude')];
  const paid = [definition('claude'), LANE, attempt('claude', 'claude'), { type: 'call.completed', op: 'claude', usage: { costUsd: 2 } }];
  const after = async (...runs: readonly (readonly object[])[]) => {
    const files = runs.map((_, n) => ({ ref: { workflow: WORKFLOW, run: String(n) } as unknown as RunRef, bytes: 1 }) as RunFile);
    const store: Pick<JournalStore, 'runs' | 'scan'> = {
      runs: async () => files,
      scan: (ref, visit) => storeOf(runs[Number(ref.run)] ?? []).scan(ref, visit),
    };
    const { lanes, costs } = await learnedPace(store, WORKFLOW, { current: undefined, nowMs: NOW_MS, reserves: true });
    return [lanes.get('claude')?.limit, costs.get('ask')];
  };
  expect(await after(tried)).toEqual([undefined, undefined]);
  expect(await after(paid, [...tried, { type: 'call.completed', op: 'claude', usage: { costUsd: 0 } }])).toEqual([8, [{ usd: 2 }]]);
  expect(await after([...tried, ...paid])).toEqual([8, [{ usd: 2 }]]);
  expect(await after([...paid, ...tried])).toEqual([20, [{ usd: 2 }]]);
});

it('lists runs only where none but its own is known', async () => {
  const store = storeOf([LANE]);
  const listing: Workflow[] = [];
  const counted = {
    ...store,
    runs(workflow: Workflow) {
      listing.push(workflow);
      return store.runs(workflow);
    },
  };
  const [file] = await store.runs(WORKFLOW);
  const listed = [file as RunFile];
  const { lanes } = await learnedPace(counted, WORKFLOW, { current: undefined, nowMs: NOW_MS, listed });
  expect([lanes.size, listing]).toEqual([1, []]);
  const { lanes: ownLanes } = await learnedPace(counted, WORKFLOW, { current: file?.ref, nowMs: NOW_MS, listed });
  expect([ownLanes.size, listing]).toEqual([0, [WORKFLOW]]);
});
