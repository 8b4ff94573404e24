import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { Warnings } from '../../src/session/script/warnings.js';

describe('warnings of a run', () => {
  beforeEach(() => void vi.useFakeTimers());
  afterEach(() => void vi.useRealTimers());

  function opened(isVerbose = false): { written: string[]; warnings: Warnings } {
    const written: string[] = [];
    return { written, warnings: new Warnings((message) => written.push(message), isVerbose) };
  }

  it('of one cause are one line with their number, and the first of them where they differ', () => {
    const { written, warnings } = opened();
    for (const item of ['north', 'west', 'east']) warnings.add(`no tide at ${item}`, 'tide');
    warnings.add('no moon', 'moon');
    for (let i = 0; i < 2; i++) warnings.add('no wind\n  in @sail', 'wind');
    expect(written).toEqual([]);
    warnings.end();
    expect(written).toEqual(['3 times, first: no tide at north', 'no moon', '2 times: no wind\n  in @sail']);
  });

  it('are written after a moment, and those that follow are counted at the end', () => {
    const { written, warnings } = opened();
    warnings.add('no tide at north', 'tide');
    vi.advanceTimersByTime(2000);
    expect(written).toEqual(['no tide at north']);
    warnings.add('no tide at west', 'tide');
    warnings.add('no moon', 'moon');
    vi.advanceTimersByTime(2000);
    warnings.add('no tide at east', 'tide');
    warnings.add('no moon', 'moon');
    warnings.end();
    warnings.end();
    expect(written).toEqual(['no tide at north', 'no moon', '2 more times, first: no tide at north', 'once more: no moon']);
  });

  it('are all written at once when everything is wanted', () => {
    const { written, warnings } = opened(true);
    for (const item of ['north', 'west']) warnings.add(`no tide at ${item}`, 'tide');
    expect(written).toEqual(['no tide at north', 'no tide at west']);
    warnings.end();
    expect(written).toHaveLength(2);
  });
});
