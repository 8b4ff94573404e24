/** A run waits for calls that it has offered to workers. team-store.md 7. */
import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import type { ExecutingWorker, OfferedResult, OfferOutcome, Offers } from '../../../journal/storage/offers.js';
import { JournalError } from '../../../journal/errors.js';
import type { JournalEvent, Payload } from '../../../journal/event.js';
import { runIdAt, seqOf, type CallKey, type Fingerprint, type OpPath } from '../../../journal/ids.js';
import type { Stop } from '../../../src/calls/dispatch/stop.js';
import type { DescribedCall, OfferableCall, OfferedCall } from '../../../src/runtime/calls/offered-call.js';
import { createReach } from '../../../src/runtime/definitions/reachable-operations.js';
import { OfferedCalls } from '../../../src/session/ports/offers/offered-calls.js';
import type { RunTeamResults } from '../../../src/session/ports/claims/team-results.js';
import { callKeyOf, JOB } from '../../support/written-runs.js';

const key = callKeyOf('q1');
const INSIDE = { reach: createReach(), labels: [] };

const DESCRIBED: DescribedCall = {
  module: 'a.mld',
  main: 'a.mld',
  args: [],
  captured: [],
  lane: '',
  readsFiles: false,
  inside: INSIDE,
  hasSecret: false,
};

const CALL: OfferableCall = {
  key,
  fn: 'ask',
  op: 'main/ask#0' as OpPath,
  sites: {},
  definition: { fingerprint: 'sha256:1' as Fingerprint, parts: [] },
  attempt: undefined,
  pace: () => '@ask',
  describe: async () => DESCRIBED,
};

const FAILED = { type: 'call.failed', seq: 3, key, message: 'no quota' } as unknown as JournalEvent;
const BY = { run: runIdAt(0, '0000'), seq: seqOf(3), position: { offset: 0, bytes: 9 } };

interface Run {
  /** It lies at the place that an outcome names. */
  readonly event?: JournalEvent;
  /** Absent: its offer waits. */
  readonly outcome?: OfferOutcome;
  readonly claim?: RunTeamResults['claim'];
  readonly tryClaim?: RunTeamResults['tryClaim'];
  readonly slots?: number;
  /** The calls that may be taken back; all of them where it is absent. */
  readonly free?: readonly CallKey[];
  /** The result is there already when the call is offered. */
  readonly known?: OfferedResult;
  /** The run was sealed by another process: every statement says so, or those that make offers, which are gone then. */
  readonly isSealed?: () => boolean;
  readonly isSealedAtOffers?: () => boolean;
  /** The option by which the run looks results up, and that workers do not know. */
  readonly ownLimit?: string;
  /** The reason why no call may start. */
  readonly stoppedBy?: () => Stop | undefined;
}

function offering({
  outcome,
  event,
  claim,
  tryClaim,
  slots = 0,
  free,
  known,
  isSealed = () => false,
  isSealedAtOffers = () => false,
  ownLimit,
  stoppedBy = () => undefined,
}: Run) {
  const stop = new AbortController();
  const { signal } = stop;
  let inFlight = 0;
  const takenBack: CallKey[] = [];
  const withdrawn: CallKey[] = [];
  const givenBack: CallKey[] = [];
  const pausesMs: number[] = [];
  const offered: OfferedCall[] = [];
  const learnt: (ExecutingWorker | undefined)[] = [];
  let said = '';
  const outcomes = new Map(outcome && [[key, outcome]]);
  const offers: Partial<Offers> = {
    async offer({ call }) {
      if (isSealedAtOffers()) throw new JournalError('STORE_SEALED', 'the run was sealed');
      offered.push(JSON.parse(call) as OfferedCall);
      return known;
    },
    collect: async () => outcomes,
    collectAll: async () => ({ outcomes, count: isSealedAtOffers() ? 0 : 1 }),
    takeBack: async (keys) => (takenBack.push(...keys), free ?? keys),
    withdraw: (each) => void withdrawn.push(each),
    workers: async () => ({ alive: 1, lanes: new Set() }),
    watch: () => ({ wait: async () => (await sleep(1), true), close: () => undefined }),
  };
  const whenOpen = async (): Promise<void> => {
    while (stoppedBy() !== undefined && !signal.aborted) await sleep(5); // until the run pauses
  };
  const team: Partial<RunTeamResults> = {
    ...(claim && { claim }),
    ...(tryClaim && { tryClaim }),
    giveBack: (each) => void givenBack.push(each),
    async whileReachable(ask) {
      if (isSealed()) return 'sealed';
      return ask().catch((error: unknown) => {
        if (error instanceof JournalError) return 'sealed';
        throw error;
      });
    },
    async pause(ms = 0) {
      pausesMs.push(ms);
    },
    read: async () => event,
    isNews: () => known !== undefined,
    async learn(_call, _by, worker) {
      learnt.push(worker);
      return known && ({} as Awaited<ReturnType<RunTeamResults['learn']>>);
    },
    mustStop: () => signal.aborted,
  };
  const calls = new OfferedCalls({
    offers: offers as Offers,
    team: team as RunTeamResults,
    workflow: JOB,
    request: { slots },
    reusesAll: () => true,
    ownLimit: () => ownLimit,
    payload: (value) => ({ inline: value }) as Payload,
    sources: () => [],
    budgets: [],
    record: () => undefined,
    onAtWorkers: undefined,
    dispatch: {
      began: () => void inFlight++,
      ended: () => void inFlight--,
      whenOpen,
      get stoppedBy() {
        return stoppedBy();
      },
    },
    mustStop: () => signal.aborted,
    signal,
    monotonicMs: () => performance.now(),
    stderr: (text) => void (said += text),
  });
  return { calls, said: () => said, stop, takenBack, withdrawn, givenBack, outcomes, offered, learnt, pausesMs, inFlight: () => inFlight };
}

describe('a run that waits for workers', () => {
  it('looks soon after a hint where no call had ended lately', async () => {
    const { calls, stop, pausesMs } = offering({ claim: async () => ({ kind: 'claimed', replaces: undefined }) });
    const claimed = calls.claim(CALL, undefined);
    await expect.poll(() => pausesMs.length).toBeGreaterThan(5);
    expect(Math.max(...pausesMs.slice(1, 6))).toBeLessThanOrEqual(5);
    stop.abort();
    await claimed;
  });
});

it('knows the worker of a result that came while the run wanted to execute the call itself', async () => {
  const worker = { name: 'hut', host: 'db7' };
  const { calls, learnt } = offering({ known: { kind: 'answered', by: BY, worker } });
  expect(await calls.claim(CALL, undefined)).toEqual({ kind: 'answered', by: BY });
  expect(learnt).toEqual([worker]);
});

describe('a call that makes calls itself', () => {
  const claim: RunTeamResults['claim'] = async () => ({ kind: 'claimed', replaces: undefined });
  const describedWith = (reach: Partial<DescribedCall['inside']['reach']>): OfferableCall => ({
    ...CALL,
    describe: async () => ({ ...DESCRIBED, inside: { ...INSIDE, reach: { ...createReach(), ...reach } } }),
  });
  const OTHER = describedWith({ labels: new Set(['llm']) });
  const ITSELF = describedWith({ functions: new Set(['ask']) });

  it.each([OTHER, ITSELF])('is executed here where a worker would look these up otherwise', async (call) => {
    const { calls, offered, said } = offering({ ownLimit: '--fork', claim });
    expect(await calls.claim(call, undefined)).toEqual({ kind: 'claimed', replaces: undefined });
    expect(offered).toEqual([]);
    expect(said()).toBe('calls of @ask are executed here: a worker would look up the calls inside it without --fork\n');
  });

  it.each([
    [OTHER, undefined],
    [CALL, '--fork'],
  ])('is offered else, and so is one that makes none', async (call, ownLimit) => {
    const known = { kind: 'answered', by: BY, worker: undefined } as const;
    const { calls, offered } = offering({ known, claim, ...(ownLimit !== undefined && { ownLimit }) });
    expect(await calls.claim(call, undefined)).toEqual({ kind: 'answered', by: BY });
    expect(offered).toHaveLength(1);
  });
});

describe('OFFERED-3', () => {
  const inSlot = { ...CALL, key: callKeyOf('q0') };
  const claim: RunTeamResults['claim'] = async () => ({ kind: 'claimed', replaces: undefined });

  it('leaves the offer of a call that a worker executes where its end is looked for', async () => {
    let tried = 0;
    const tryClaim: RunTeamResults['tryClaim'] = async () => (await sleep(1), tried++, { kind: 'taken', run: BY.run, host: 'db7' });
    const { calls, offered, withdrawn, outcomes } = offering({ slots: 1, claim, tryClaim, event: FAILED });
    await calls.claim(inSlot, undefined);
    const claimed = calls.claim(CALL, undefined);
    await expect.poll(() => offered.length).toBe(1);
    calls.ended(inSlot.key);
    await expect.poll(() => tried).toBeGreaterThan(1);
    expect([offered.length, withdrawn]).toEqual([1, []]);
    outcomes.set(key, { kind: 'ended', by: BY, worker: undefined });
    expect(await claimed).toMatchObject({ kind: 'failed', event: FAILED });
  });

  it('executes no call that has failed at a worker by the time it is claimed', async () => {
    const tryClaim: RunTeamResults['tryClaim'] = async () => ({ kind: 'claimed', replaces: undefined });
    const { calls, offered, givenBack, outcomes } = offering({ slots: 1, claim, tryClaim, free: [], event: FAILED });
    await calls.claim(inSlot, undefined);
    const claimed = calls.claim(CALL, undefined);
    await expect.poll(() => offered.length).toBe(1);
    calls.ended(inSlot.key);
    await expect.poll(() => givenBack).toContain(key);
    outcomes.set(key, { kind: 'ended', by: BY, worker: undefined });
    expect(await claimed).toMatchObject({ kind: 'failed', event: FAILED });
  });

  it('executes an offer that no worker has come to in a slot that is free', async () => {
    const { calls, offered, withdrawn } = offering({ slots: 1, claim, tryClaim: async () => ({ kind: 'claimed', replaces: undefined }) });
    await calls.claim(inSlot, undefined);
    const claimed = calls.claim(CALL, undefined);
    await expect.poll(() => offered.length).toBe(1);
    calls.ended(inSlot.key);
    expect(await claimed).toEqual({ kind: 'claimed', replaces: undefined });
    expect(withdrawn).toEqual([key]);
  });
});

describe('OFFERED-4', () => {
  it('takes back what no worker executes when no call may start any more', async () => {
    let stoppedBy: Stop | undefined;
    const { calls, stop, takenBack, inFlight } = offering({
      stoppedBy: () => stoppedBy,
      claim: async () => ({ kind: 'claimed', replaces: undefined }),
    });
    const claimed = calls.claim(CALL, undefined);
    await expect.poll(inFlight).toBe(1);
    expect(takenBack).toEqual([]);
    stoppedBy = { class: 'budget', message: 'the budget is used up' };
    await expect.poll(inFlight).toBe(0);
    expect(takenBack).toEqual([key]);
    stop.abort();
    await claimed;
  });
});

describe('OFFERED-5', () => {
  it('does not count a declined call as in flight while it waits for another run, which may wait for this one', async () => {
    let isClaiming = false;
    const { calls, stop, inFlight } = offering({
      outcome: { kind: 'declined', worker: 'hut', why: 'its budget is used up' },
      async claim() {
        isClaiming = true;
        while (!stop.signal.aborted) await sleep(5);
        return { kind: 'claimed', replaces: undefined };
      },
    });
    const claimed = calls.claim(CALL, undefined);
    await expect.poll(() => isClaiming).toBe(true);
    await expect.poll(inFlight).toBe(0);
    stop.abort();
    expect(await claimed).toEqual({ kind: 'claimed', replaces: undefined });
    expect(inFlight()).toBe(0);
  });
});

describe('OFFERED-8', () => {
  it('hears that the run was sealed where its offers are gone, and it makes them again', async () => {
    let isSealed = false;
    const { calls, inFlight } = offering({ isSealedAtOffers: () => isSealed });
    const claimed = calls.claim(CALL, undefined);
    await expect.poll(inFlight).toBe(1);
    isSealed = true;
    expect(await claimed).toEqual({ kind: 'claimed', replaces: undefined });
  });

  it('lets a call begin, which its journal refuses, where the run is sealed while it waits for a worker', async () => {
    let isSealed = false;
    const { calls, inFlight } = offering({ isSealed: () => isSealed });
    const claimed = calls.claim(CALL, undefined);
    await expect.poll(inFlight).toBe(1);
    isSealed = true;
    expect(await claimed).toEqual({ kind: 'claimed', replaces: undefined });
    expect(inFlight()).toBe(0);
  });
});

describe('OFFERED-6', () => {
  const claim = async () => ({ kind: 'claimed', replaces: undefined }) as const;

  it('does not offer a call that guards deny', async () => {
    const { calls, offered } = offering({ claim });
    expect(await calls.claim({ ...CALL, passGuards: async () => ({ because: undefined }) }, undefined)).toEqual(await claim());
    expect(offered).toEqual([]);
  });

  it('offers the arguments of the key, those that the guards let pass, and the parts of the guards', async () => {
    const { calls, offered, stop } = offering({ claim });
    const part = { kind: 'guard', name: 'strict', digest: 'sha256:2' } as const;
    const passed = { ...DESCRIBED, args: [{ json: 'bright', notes: [] }] };
    const definition = { ...CALL.definition, parts: [part] };
    const claimed = calls.claim({ ...CALL, definition, passGuards: async () => passed }, undefined);
    await expect.poll(() => offered.length).toBe(1);
    expect(offered).toMatchObject([{ args: { inline: [] }, passed: { inline: [{ json: 'bright' }] }, guards: [part] }]);
    stop.abort();
    await claimed;
  });
});

describe('a call that failed at a worker', () => {
  const outcome: OfferOutcome = { kind: 'ended', by: BY, worker: undefined };

  it('fails here with what its worker has recorded', async () => {
    const { calls } = offering({ outcome, event: FAILED });
    expect(await calls.claim(CALL, undefined)).toMatchObject({ kind: 'failed', event: FAILED, begun: { run: BY.run, seq: 3 } });
  });

  it.each([
    ['another call', { ...FAILED, key: callKeyOf('q2') }],
    ['another event', { ...FAILED, seq: seqOf(4) }],
  ])('is offered again where the end that is named is that of %s', async (_of, event) => {
    const { calls, stop, offered } = offering({ outcome, event, claim: async () => ({ kind: 'claimed', replaces: undefined }) });
    const claimed = calls.claim(CALL, undefined);
    await expect.poll(() => offered.length).toBeGreaterThan(1);
    stop.abort();
    expect(await claimed).toMatchObject({ kind: 'claimed' });
  });
});
