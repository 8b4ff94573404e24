import { afterEach, describe, expect, it, vi } from 'vitest';
import { Slots, type SlotInUse } from '../../../src/session/workers/slots.js';

const LONG_MS = 10_000;

/** Calls that a test ends by hand; each says with `began` that it has its slot. `clock.ms` is what the slots see. */
function manual(counts: { readonly [lane: string]: number }) {
  const clock = { ms: 0 };
  const slots = new Slots(counts, () => clock.ms);
  const began: string[] = [];
  const ends = new Map<string, SlotInUse & { readonly end: (error?: Error) => void }>();
  const run = (name: string, journal: object, lane = ''): Promise<boolean> =>
    slots.run(
      lane,
      journal,
      (slot) =>
        new Promise<void>((resolve, reject) => {
          began.push(name);
          ends.set(name, { ...slot, end: (error) => (error ? reject(error) : resolve()) });
        }),
    );
  return { slots, clock, began, run, of: (name: string) => ends.get(name) as NonNullable<ReturnType<typeof ends.get>> };
}

const settled = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

describe('slots', () => {
  afterEach(() => vi.useRealTimers());

  it('let a call of another journal begin only when one has left, though it is taken early (SLOTS-1, SLOTS-2)', async () => {
    const { slots, clock, began, run, of } = manual({ '': 1 });
    const first = run('first', { of: 'a' });
    expect([slots.free(), slots.isDue]).toEqual([{}, false]);
    clock.ms = LONG_MS;
    of('first').onEnding();
    of('first').onEnding();
    expect([slots.free(), slots.isDue]).toEqual([{ '': 1 }, true]);
    const second = run('second', { of: 'b' });
    expect([slots.free(), slots.isDue, slots.inFlight, began]).toEqual([{}, false, 2, ['first']]);
    of('first').end();
    await first;
    expect([slots.free(), slots.inFlight, began]).toEqual([{}, 1, ['first', 'second']]);
    of('second').end();
    await second;
    expect([slots.free(), slots.inFlight]).toEqual([{ '': 1 }, 0]);
  });

  it('are lent while their calls wait for other runs; nothing begins until as many have ended as went on beyond them (SLOTS-6)', async () => {
    const { slots, clock, began, run, of } = manual({ '': 1 });
    const [journal, other] = [{}, {}];
    clock.ms = LONG_MS;
    const outer = run('outer', journal);
    const inner = run('inner', other);
    expect([began, slots.free()]).toEqual([['outer'], {}]);
    const takeBack = of('outer').lend();
    await settled();
    expect([began, slots.free(), slots.inFlight]).toEqual([['outer', 'inner'], {}, 2]);
    takeBack();
    const next = run('next', other);
    of('inner').onEnding();
    of('inner').end();
    await inner;
    expect([began, slots.free()]).toEqual([['outer', 'inner'], {}]);
    clock.ms += LONG_MS;
    of('outer').onEnding();
    of('outer').end();
    await outer;
    expect(began).toEqual(['outer', 'inner', 'next']);
    of('next').end();
    await next;
    expect([slots.free(), slots.inFlight]).toEqual([{ '': 1 }, 0]);
    const alone = run('alone', journal);
    const [one, two] = [of('alone').lend(), of('alone').lend()];
    expect(slots.free()).toEqual({ '': 1 });
    one();
    expect(slots.free()).toEqual({ '': 1 });
    two();
    expect(slots.free()).toEqual({});
    of('alone').end();
    await alone;
    expect(slots.free()).toEqual({ '': 1 });
  });

  it('pass on to a call of the same journal before the end is committed, whichever came first (SLOTS-3)', async () => {
    const { slots, clock, began, run, of } = manual({ '': 1 });
    const [journal, other] = [{}, {}];
    const first = run('first', journal);
    const others = run('other', other);
    clock.ms = LONG_MS;
    const second = run('second', journal);
    await settled();
    expect(began).toEqual(['first']);
    of('first').onEnding(); // second waits
    await settled();
    expect([began, slots.inFlight]).toEqual([['first', 'second'], 3]);
    of('second').onEnding();
    const third = run('third', journal); // comes when the end is on its way
    await settled();
    expect([began, slots.inFlight]).toEqual([['first', 'second', 'third'], 4]);
    for (const name of ['first', 'second']) of(name).end();
    await Promise.all([first, second]);
    expect([began.length, slots.inFlight]).toEqual([3, 2]); // the slot is not given to `other` a second time
    of('third').end();
    await third;
    expect(began).toEqual(['first', 'second', 'third', 'other']);
    of('other').end();
    await others;
    expect([slots.free(), slots.inFlight]).toEqual([{ '': 1 }, 0]);
  });

  it('ask for the next calls while they are in use where calls are short, and for several at once (SLOTS-4)', async () => {
    const { slots, clock, run, of } = manual({ '': 4 });
    const journal = {};
    const running = ['1', '2', '3', '4'].map((name) => run(name, journal));
    expect(slots.free()).toEqual({});
    clock.ms = 50;
    of('1').onEnding();
    expect(slots.free()).toEqual({ '': 4 }); // one for the slot that ends, three for those in use
    const next = ['5', '6', '7', '8'].map((name) => run(name, journal));
    expect([slots.free(), slots.isDue]).toEqual([{ '': 1 }, false]); // one is executed already, three are next
    of('2').onEnding();
    expect([slots.free(), slots.isDue]).toEqual([{ '': 2 }, true]);
    clock.ms = LONG_MS;
    of('3').onEnding();
    expect([slots.free(), slots.isDue]).toEqual([{}, false]); // a long call: those behind the next ones may have to wait as long
    of('4').onEnding();
    await settled();
    for (const name of ['1', '2', '3', '4', '5', '6', '7', '8']) of(name).end();
    await Promise.all([...running, ...next]);
    expect([slots.free(), slots.inFlight]).toEqual([{ '': 4 }, 0]);
  });

  it('ask for a call for each slot that becomes free, while one of another journal waits', async () => {
    const { slots, clock, run, of } = manual({ '': 2 });
    const running = ['1', '2'].map((name) => run(name, { of: name }));
    clock.ms = LONG_MS;
    for (const name of ['1', '2']) of(name).onEnding();
    const next = run('3', { of: '3' });
    expect([slots.free(), slots.isDue]).toEqual([{ '': 1 }, true]);
    for (const name of ['1', '2']) of(name).end();
    await Promise.all(running);
    of('3').end();
    await next;
    expect(slots.free()).toEqual({ '': 2 });
  });

  it('pass a slot on when its call fails, with or without an end', async () => {
    const { slots, clock, began, run, of } = manual({ '': 1 });
    const first = run('first', {});
    const second = run('second', {});
    of('first').end(new Error('no end'));
    await expect(first).rejects.toThrow('no end');
    expect(began).toEqual(['first', 'second']);
    clock.ms = LONG_MS;
    of('second').onEnding();
    of('second').end(new Error('behind its end'));
    await expect(second).rejects.toThrow('behind its end');
    expect(slots.free()).toEqual({ '': 1 });
  });

  it('leave a call to others that waits for half a second, and take none early any more (SLOTS-5)', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    const { slots, clock, began, run, of } = manual({ '': 1 });
    const journal = {};
    const short = run('short', journal);
    clock.ms = 50;
    of('short').onEnding();
    const long = run('long', journal);
    const next = run('next', journal);
    vi.advanceTimersByTime(499);
    expect([slots.free(), slots.inFlight]).toEqual([{}, 3]);
    vi.advanceTimersByTime(1);
    expect(await next).toBe(false);
    expect([slots.free(), slots.isDue, slots.inFlight, began]).toEqual([{}, false, 2, ['short', 'long']]);
    for (const name of ['short', 'long']) of(name).end();
    expect([await short, await long, slots.free()]).toEqual([true, true, { '': 1 }]);
  });

  it('are of one lane', async () => {
    const { slots, run, of } = manual({ '': 2, claude: 1, none: 0 });
    const running = run('first', {}, 'claude');
    expect([slots.free(), slots.isDue]).toEqual([{ '': 2 }, true]);
    await expect(run('other', {}, 'codex')).rejects.toThrow('codex');
    of('first').end();
    await running;
  });
});
