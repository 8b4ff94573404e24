import { describe, expect, it } from 'vitest';
import { copyHidden, readableAsText } from '../../src/values/kinds/native-text.js';

type Seen = Record<string, unknown> & { toUpperCase(): string; trim(): string; split(by: string): string[] };

describe('native data that reads as a text', () => {
  it('has its original spelling wherever JavaScript asks for a text', () => {
    const data = readableAsText({ n: 4 }, '{"n":   4}') as Seen & { n: number };
    expect([String(data), '<'.concat(data as unknown as string)]).toEqual(['{"n":   4}', '<{"n":   4}']);
    expect(JSON.parse(data as unknown as string)).toEqual({ n: 4 });
    expect([data.toUpperCase(), data.split(':')[0]]).toEqual(['{"N":   4}', '{"n"']);
  });

  it('is compact JSON of what it is now without one', () => {
    const list = readableAsText([10, 20]);
    list.push(30);
    expect(String(list)).toBe('[10,20,30]');
    expect((list as unknown as Seen).trim()).toBe('[10,20,30]');
  });

  it('is data for everything else', () => {
    const list = readableAsText([10, 20, 30]);
    expect([Array.isArray(list), list.length, list.includes(20), list.slice(1)]).toEqual([true, 3, true, [20, 30]]);
    const data = readableAsText({ trim: 'short', link: 1 });
    expect([Object.keys(data), JSON.stringify(data), { ...data }]).toEqual([
      ['trim', 'link'],
      '{"trim":"short","link":1}',
      { trim: 'short', link: 1 },
    ]);
    expect((readableAsText({}) as { link?: unknown }).link).toBeUndefined();
  });

  it('takes its text along into another realm', () => {
    const copy = copyHidden(readableAsText({ n: 4 }, 'four'), { n: 4 });
    expect([String(copy), JSON.stringify(copy)]).toEqual(['four', '{"n":4}']);
    expect(Object.getOwnPropertyNames(copyHidden({ n: 4 }, {}))).toEqual([]);
  });
});
