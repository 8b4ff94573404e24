import { describe, expect, it } from 'vitest';
import { opPath } from '../../journal/ids.js';
import { SharedBudgetGate, type Refusal } from '../../src/calls/budget/shared-gate.js';
import { sharedBudgetStop, sumText } from '../../src/calls/budget/shared-words.js';
import type { Started } from '../../src/calls/dispatch/ports.js';
import type { Stop } from '../../src/calls/dispatch/stop.js';

const started = (usd?: number): Started => ({
  op: opPath('main/ask#0'),
  lane: '@ask',
  start: {} as Started['start'],
  charge: undefined,
  reserved: usd === undefined ? { basis: 'none' } : { usd, basis: 'history' },
});
const call = { key: 'k', try: 1, fn: 'ask', isInner: false, warnOnce: () => undefined };
const full = (spent: number, reserved: number): Refusal => ({
  kind: 'full',
  amount: 0.4,
  budget: { name: 'nightly', unit: 'usd', period: null, total: 1, spent, reserved },
});

/** Answers are given one after the other; the last one for ever. */
function gateWith(answers: readonly (Refusal | undefined | Error)[], isStrict = false) {
  const stops: Stop[] = [];
  const waits: number[] = [];
  const asked: object[] = [];
  const released: object[] = [];
  const dispatcher = {
    stop: (stop: Stop) => void stops.push(stop),
    sleep: async (ms: number) => void waits.push(ms),
    get stoppedBy() {
      return stops[0];
    },
  };
  const gate = new SharedBudgetGate({ names: ['nightly'], isStrict, dispatcher });
  gate.open({
    async reserve(attempt) {
      const answer = answers[Math.min(asked.push(attempt), answers.length) - 1];
      if (answer instanceof Error) throw answer;
      return answer;
    },
    async release(attempt) {
      released.push(attempt);
      throw new Error('the store is away');
    },
  });
  return { gate, stops, waits, asked, released };
}

describe('a shared budget before an attempt', () => {
  it('lets it begin with what it reserved', async () => {
    const { gate, asked, stops } = gateWith([undefined]);
    expect(await gate.admit(started(0.4), call)).toMatchObject({ reserved: { usd: 0.4, basis: 'history', shared: ['nightly'] } });
    expect({ asked, stops }).toEqual({ asked: [{ key: 'k', try: 1, usd: 0.4 }], stops: [] });
  });

  it('gives back what an attempt holds that did not begin, and goes on where the store is away', async () => {
    const { gate, released, stops } = gateWith([undefined]);
    await gate.release({ key: 'k', try: 2 });
    await gate.release({ key: undefined, try: 1 }); // it is not recorded, and holds nothing
    expect({ released, stops }).toEqual({ released: [{ key: 'k', try: 2 }], stops: [] });
  });

  it('stops as a journal that takes nothing does, where the store has lost the run', async () => {
    const lost = Object.assign(new Error('the store has lost the run'), { code: 'STORE_WENT_BACK' });
    const { gate, stops } = gateWith([lost]);
    expect(await gate.admit(started(0.4), call)).toBeUndefined();
    expect(stops).toEqual([{ class: 'journal', message: lost.message, error: lost }]);
  });

  it('waits while what others hold may become free', async () => {
    const { gate, waits, stops } = gateWith([full(0.2, 0.8), full(0.4, 0.4), undefined]);
    expect(await gate.admit(started(0.4), call)).toBeDefined();
    expect({ waits, stops }).toEqual({ waits: [100, 200], stops: [] });
  });

  it.each([
    ['nothing is left', full(1, 0), false],
    ['what others hold would not do', full(0.8, 0.2), false],
    ['it is inside another attempt, which may hold what it waits for', full(0.2, 0.8), true],
  ])('stops when %s', async (_, refusal, isInner) => {
    const { gate, waits, stops } = gateWith([refusal]);
    expect(await gate.admit(started(0.4), { ...call, isInner })).toBeUndefined();
    expect(waits).toEqual([]);
    expect(stops).toMatchObject([
      {
        class: 'budget',
        message: expect.stringContaining('the shared budget nightly of $1 is used up'),
        hint: expect.stringContaining('2usd'),
      },
    ]);
  });

  it('stops when it is gone, when the store does not answer, and when a strict run does not know the cost', async () => {
    const gone = gateWith([{ kind: 'missing', name: 'nightly' }]);
    expect(await gone.gate.admit(started(0.4), call)).toBeUndefined();
    expect(gone.stops).toMatchObject([{ class: 'budget', message: 'there is no shared budget nightly any more' }]);
    const away = gateWith([new Error('no route')]);
    expect(await away.gate.admit(started(0.4), call)).toBeUndefined();
    expect(away.stops).toMatchObject([{ class: 'store', message: expect.stringContaining('no route') }]);
    const strict = gateWith([undefined], true);
    expect(await strict.gate.admit(started(), call)).toBeUndefined();
    expect(strict).toMatchObject({ asked: [], stops: [{ class: 'budget', hint: expect.stringContaining('maxCost') }] });
  });
});

it.each([
  [12, 'usd', '$12'],
  [0.3, 'usd', '$0.30'],
  [0.01254, 'usd', '$0.0125'],
  [1, 'calls', '1 call'],
  [20, 'tok', '20 tokens'],
] as const)('writes %d %s as %s', (sum, unit, text) => expect(sumText(sum, unit)).toBe(text));

it.each([
  [1, 0, '2usd'],
  [5.1, 0, '10.2usd'], // twice the sum would be used up at once
  [0.9, 4, '9.8usd'],
])('proposes a sum that lets a run go on, where $%s is spent and $%s held', (spent, reserved, proposed) => {
  const refusal = full(spent, reserved);
  if (refusal.kind !== 'full') throw new Error('the budget is full');
  expect(sharedBudgetStop(refusal, 'ask').hint).toContain(`mlld store budget nightly ${proposed} raises it`);
});
