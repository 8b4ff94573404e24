import { beforeEach, describe, expect, it } from 'vitest';
import { JournalError } from '../../journal/errors.js';
import type { FactOf } from '../../journal/event.js';
import { seqOf, type CallKey, type EventRef } from '../../journal/ids.js';
import type { Claimed, ClaimRequest } from '../../journal/storage/claims.js';
import { openMemoryStore } from '../../journal/storage/memory-store.js';
import type { Journal, JournalStore, Recorded } from '../../journal/store.js';
import { loadWorkflow } from '../../replay/memo/load.js';
import { RunTeamResults, type TeamPorts } from '../../src/session/ports/claims/team-results.js';
import type { ClaimedCallState } from '../../src/runtime/calls/result-cache.js';
import { call, callKeyOf, JOB, runRef, started } from '../support/written-runs.js';

const key = callKeyOf('q1');
const INSIDE = { usage: { costUsd: 0.02, costSource: 'told' }, insideUsd: 0.03, insideReusedUsd: 0.01 } as const;
/** An execution for $0.02, one that a guard refused for $0.03, and the last one for $0.04. */
const REPEATED = {
  usage: { costUsd: 0.02, costSource: 'told' },
  callUsage: { costUsd: 0.09, costSource: 'told' },
  insideUsd: 0.07,
  repeatedUsd: 0.07,
} as const;
const colleague = runRef(1);
let store: JournalStore;
let theirs: Journal;
let requests: ClaimRequest[];

beforeEach(async () => {
  store = openMemoryStore();
  theirs = await store.create(colleague);
  requests = [];
});

const NEVER_UNSURE = {
  mayBeLost: () => false,
  claimAgain: () => expect.unreachable('the claim is sure'),
};

/** The run of a colleague that records its call, and the place of the result. */
async function recordTheirCall(): Promise<Recorded> {
  let result: Recorded | undefined;
  for (const fact of [started(colleague), ...call('main/ask#0', 'q1')]) {
    const recorded = await theirs.append(fact);
    if (fact.type === 'call.completed') result = recorded;
  }
  if (result === undefined) throw new Error('the call has a result');
  return result;
}

/** Claims the call in a run whose prior runs are loaded before `record`; the store answers with that result until it is refused. */
async function claimAfter(
  record: () => Promise<Recorded>,
  readAt: JournalStore['readAt'] = (...place) => store.readAt(...place),
  served: Pick<TeamPorts, 'served'> = {},
): Promise<ClaimedCallState> {
  const prior = await loadWorkflow(store, JOB, { onDefect: ({ message }) => expect.unreachable(message) });
  const { seq, position } = await record();
  const by = { run: colleague.run, seq, position };
  const isRefused = (refused: EventRef | undefined): boolean => refused?.run === by.run && refused.seq === by.seq;
  const results = new RunTeamResults({
    claims: {
      waitMs: 60_000,
      claim(request): Promise<Claimed> {
        requests.push(request);
        return Promise.resolve(isRefused(request.refused) ? { kind: 'claimed', replaces: by } : { kind: 'answered', by });
      },
      ...NEVER_UNSURE,
      giveBack: () => undefined,
      isLost: () => expect.unreachable('nothing is waited for'),
      watch: () => expect.unreachable('nothing is waited for'),
    },
    store: { readAt },
    workflow: JOB,
    prior,
    ...served,
    reusesAll: () => true,
    signal: new AbortController().signal,
    hasStopped: () => false,
    monotonicMs: () => 0,
    stderr: () => undefined,
    onOutage: () => undefined,
    onLost: (error) => expect.unreachable(error.message),
  });
  return results.claim({ key, fn: 'ask' }, undefined);
}

describe('TEAM-RESULTS-2', () => {
  it('reuses a result of a run that had just been created, without an event, when this one began', async () => {
    expect(await claimAfter(recordTheirCall)).toMatchObject({ kind: 'answered', by: { run: colleague.run } });
    expect(requests).toHaveLength(1);
  });

  it('refuses a result that its memo knows, and replaces it', async () => {
    const known = await recordTheirCall();
    expect(await claimAfter(() => Promise.resolve(known))).toMatchObject({ kind: 'claimed', replaces: { seq: known.seq } });
    expect(requests).toHaveLength(2);
  });
});

describe('TEAM-RESULTS-5: for the run that it serves, a worker', () => {
  const reads: JournalStore['readAt'] = (...place) => store.readAt(...place);

  it('refuses and replaces a result that this run would not reuse, although it knows of no run itself', async () => {
    const state = await claimAfter(recordTheirCall, reads, { served: { mayReuse: async () => false } });
    expect(state).toMatchObject({ kind: 'claimed', replaces: { run: colleague.run } });
  });

  it('reuses one that this run would reuse, and waits for a store that is away before it decides', async () => {
    let looks = 0;
    const mayReuse = async (): Promise<boolean> => {
      if (++looks === 1) throw new JournalError('STORE_UNREACHABLE', 'the server restarts');
      return true;
    };
    expect(await claimAfter(recordTheirCall, reads, { served: { mayReuse } })).toMatchObject({ kind: 'answered' });
    expect({ looks, claims: requests.length }).toEqual({ looks: 2, claims: 1 });
  });
});

it('waits for a store that goes away before a result can be read, and executes the call no second time (TEAM-RESULTS-3)', async () => {
  let reads = 0;
  const state = await claimAfter(recordTheirCall, async (...place) => {
    if (++reads === 1) throw new JournalError('STORE_UNREACHABLE', 'the server restarts');
    return store.readAt(...place);
  });
  expect(state).toMatchObject({ kind: 'answered', by: { run: colleague.run } });
  expect({ reads, claims: requests.length }).toEqual({ reads: 2, claims: 1 });
});

it('knows what all attempts of a call had cost whose result came during the run', async () => {
  const [, begun, ...ends] = [started(colleague), ...call('main/ask#0', 'q1')];
  if (begun === undefined) throw new Error('the call begins');
  await theirs.append(begun);
  let learned: number | undefined;
  for (const fact of ends) {
    if (fact.type !== 'call.completed') continue;
    const usage = { costUsd: 0.02, costSource: 'told' } as const;
    const recorded = await theirs.append({ ...fact, usage, callUsage: { ...usage, costUsd: 0.05 } });
    const ports = { store, workflow: JOB, prior: { sizes: new Map() }, hasStopped: () => false, signal: new AbortController().signal };
    const results = new RunTeamResults({ ...ports, monotonicMs: () => 0 } as unknown as TeamPorts);
    if (!recorded) throw new Error('it is recorded');
    const { seq, position } = recorded;
    learned = (await results.learn({ key, fn: 'ask' }, { run: colleague.run, seq, position }))?.entry.result.costUsd;
  }
  expect(learned).toBe(0.05);
});

describe('what a worker was paid for a call', () => {
  const WORKER = { name: 'hut', host: 'db7' };

  async function learned(op: string, members: Partial<FactOf<'call.completed'>>): Promise<RunTeamResults> {
    await theirs.append(started(colleague));
    const ports = { store, workflow: JOB, prior: { sizes: new Map() }, hasStopped: () => false, signal: new AbortController().signal };
    const results = new RunTeamResults({ ...ports, monotonicMs: () => 0 } as unknown as TeamPorts);
    for (const fact of call(op, 'q1')) {
      const { seq, position } = await theirs.append(fact.type === 'call.completed' ? { ...fact, ...members } : fact);
      if (fact.type === 'call.completed') await results.learn({ key, fn: 'ask' }, { run: colleague.run, seq, position }, WORKER);
    }
    return results;
  }

  it.each([
    ['the call cost itself', { usage: { costUsd: 0.02, costSource: 'told' } }, 0.02],
    ['the calls inside it cost', { onlyCalls: true, insideUsd: 0.03 }, 0.03],
    ['it and the calls inside it cost, but not what was reused there', INSIDE, 0.04],
    ['it and the executions cost that a guard requested, once', REPEATED, 0.09],
    ['is nothing where all inside was reused', { onlyCalls: true, insideUsd: 0.03, insideReusedUsd: 0.03 }, 0],
    ['is not known where no cost is', {}, undefined],
  ] as const)('is what %s', async (_, members, costUsd) => {
    expect((await learned('main/ask#0', members)).takeWorkerOf(key)).toEqual({ ...WORKER, costUsd });
  });

  it('is said once, however often the run reuses the result', async () => {
    const results = await learned('main/ask#0', {});
    expect([results.takeWorkerOf(key)?.name, results.takeWorkerOf(key)]).toEqual(['hut', undefined]);
  });

  it('is part of the call around it, where the worker executed it inside that', async () => {
    expect((await learned('main/wrap#0/ask#0', { usage: { costUsd: 0.02, costSource: 'told' } })).takeWorkerOf(key)).toBeUndefined();
  });
});

it('says once for each run that is lost why its calls are executed here', async () => {
  let said = '';
  let nowMs = 0;
  const looks = new Map<CallKey, number>();
  const results = new RunTeamResults({
    claims: {
      waitMs: 60_000,
      async claim(request): Promise<Claimed> {
        const look = looks.get(request.key) ?? 0;
        looks.set(request.key, look + 1);
        return look < 3 ? { kind: 'taken', run: colleague.run, host: 'adabook' } : { kind: 'claimed', replaces: undefined };
      },
      ...NEVER_UNSURE,
      giveBack: () => undefined,
      isLost: async (run) => run === colleague.run,
      watch: () => ({ wait: async () => ((nowMs += 2000), false), close: () => undefined }),
    },
    store,
    workflow: JOB,
    prior: { sizes: new Map() },
    reusesAll: () => true,
    signal: new AbortController().signal,
    hasStopped: () => false,
    monotonicMs: () => nowMs,
    stderr: (text) => (said += text),
    onOutage: () => undefined,
    onLost: (error) => expect.unreachable(error.message),
  });
  for (const argument of ['q1', 'q2']) {
    expect(await results.claim({ key: callKeyOf(argument), fn: 'ask' }, undefined)).toEqual({ kind: 'claimed', replaces: undefined });
  }
  expect(said).toBe(
    `waiting for calls that run ${colleague.run} on adabook is making\n` +
      `run ${colleague.run} has not been heard of for its lease: the calls that it was making are executed here\n`,
  );
});

describe('TEAM-RESULTS-4', () => {
  const BY = { run: colleague.run, seq: seqOf(4), position: { offset: 9, bytes: 9 } };

  /** Confirms a claim that may have been lost; `answers` are those of the store, one after the other. */
  function confirm(answers: readonly (Claimed | JournalError)[]) {
    let unsure = 1;
    let looks = 0;
    let isStopped = false;
    const results = new RunTeamResults({
      claims: {
        waitMs: 60_000,
        claim: () => expect.unreachable('nothing is waited for'),
        mayBeLost: () => unsure > 0,
        async claimAgain({ refused, isAlone }): Promise<Claimed> {
          expect({ refused, isAlone }).toEqual({ refused: { run: colleague.run, seq: 2 }, isAlone: false });
          const answer = answers[looks++];
          isStopped = answer === undefined;
          if (answer === undefined) throw new JournalError('STORE_UNREACHABLE', 'the server restarts');
          if (answer instanceof Error) throw answer;
          if (answer.kind === 'claimed' && looks > 1) unsure--; // the first answer took longer than a lease
          return answer;
        },
        giveBack: () => undefined,
        isLost: () => expect.unreachable('nothing is waited for'),
        watch: () => expect.unreachable('nothing is waited for'),
      },
      store,
      workflow: JOB,
      prior: { sizes: new Map() },
      reusesAll: () => true,
      signal: new AbortController().signal,
      hasStopped: () => isStopped,
      monotonicMs: () => 0,
      stderr: () => undefined,
      onOutage: () => undefined,
      onLost: (error) => expect.unreachable(error.message),
    });
    return results.confirm({ key, fn: 'ask' }, { run: colleague.run, seq: seqOf(2) });
  }

  const CLAIMED: Claimed = { kind: 'claimed', replaces: undefined };
  const AWAY = new JournalError('STORE_UNREACHABLE', 'the server restarts');

  it.each<[string, (Claimed | JournalError)[], object | undefined]>([
    ['is claimed again, until the answer comes within a lease', [CLAIMED, AWAY, CLAIMED], undefined],
    ['is lost to a run that executes it', [AWAY, { kind: 'taken', run: colleague.run, host: '' }], { to: colleague.run }],
    ['is lost to a run that has its result', [{ kind: 'answered', by: BY }], { to: colleague.run }],
    ['is not executed in a run that was sealed', [new JournalError('STORE_SEALED', 'sealed')], { to: undefined }],
    ['is not executed in a run that must stop while the store is away', [AWAY], { to: undefined }],
  ])('a call %s', async (_what, answers, lost) => {
    expect(await confirm(answers)).toEqual(lost);
  });

  it('asks nothing while the claim is sure', () => {
    const results = new RunTeamResults({ claims: NEVER_UNSURE, prior: { sizes: new Map() } } as unknown as TeamPorts);
    expect(results.confirm({ key, fn: 'ask' }, undefined)).toBeUndefined();
  });
});
