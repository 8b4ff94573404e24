import { describe, expect, it } from 'vitest';
import { Slots } from '../../../src/session/workers/slots.js';

/** Calls that a test ends by hand; each says with `began` that it has its slot. */
function manual() {
  const began: string[] = [];
  const ends = new Map<string, { readonly onEnding: () => void; readonly end: (error?: Error) => void }>();
  const call = (name: string) => (onEnding: () => void) =>
    new Promise<void>((resolve, reject) => {
      began.push(name);
      ends.set(name, { onEnding, end: (error) => (error ? reject(error) : resolve()) });
    });
  return { began, call, of: (name: string) => ends.get(name) as NonNullable<ReturnType<typeof ends.get>> };
}

describe('slots', () => {
  it('let a call that is taken early begin only when another one has left (SLOTS-1, SLOTS-2)', async () => {
    const slots = new Slots({ '': 1 });
    const { began, call, of } = manual();
    const first = slots.run('', call('first'));
    expect(slots.free()).toEqual({});
    of('first').onEnding();
    of('first').onEnding();
    expect(slots.free()).toEqual({ '': 1 });
    const second = slots.run('', call('second'));
    expect([slots.free(), slots.inFlight, began]).toEqual([{}, 2, ['first']]);
    of('first').end();
    await first;
    expect([slots.free(), slots.inFlight, began]).toEqual([{}, 1, ['first', 'second']]);
    of('second').end();
    await second;
    expect([slots.free(), slots.inFlight]).toEqual([{ '': 1 }, 0]);
  });

  it('pass a slot on when its call fails, with or without an end', async () => {
    const slots = new Slots({ '': 1 });
    const { began, call, of } = manual();
    const first = slots.run('', call('first'));
    const second = slots.run('', call('second'));
    of('first').end(new Error('no end'));
    await expect(first).rejects.toThrow('no end');
    expect(began).toEqual(['first', 'second']);
    of('second').onEnding();
    of('second').end(new Error('behind its end'));
    await expect(second).rejects.toThrow('behind its end');
    expect(slots.free()).toEqual({ '': 1 });
  });

  it('are of one lane', async () => {
    const slots = new Slots({ '': 2, claude: 1, none: 0 });
    const { call, of } = manual();
    const running = slots.run('claude', call('first'));
    expect([slots.free(), slots.hasFree]).toEqual([{ '': 2 }, true]);
    await expect(slots.run('codex', call('other'))).rejects.toThrow('codex');
    of('first').end();
    await running;
  });
});
