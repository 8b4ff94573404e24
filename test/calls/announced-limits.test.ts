import { describe, expect, it } from 'vitest';

import { announcedLimits } from '../../src/calls/lanes/announced-limits.js';
import { AnnouncedWindow } from '../../src/calls/lanes/announced-window.js';

const NOW_MS = Date.parse('2026-01-01T00:00:00Z');

describe('the limits that headers announce', () => {
  it('are read from both families of headers', () => {
    const headers = {
      'anthropic-ratelimit-input-tokens-remaining': '500',
      'anthropic-ratelimit-input-tokens-reset': '2026-01-01T00:00:30Z',
      'x-ratelimit-remaining-requests': '7',
      'x-ratelimit-reset-requests': '1m2s',
      'x-ratelimit-remaining-tokens': '9',
      'x-ratelimit-reset-tokens': String(NOW_MS / 1000 + 5),
    };
    expect(announcedLimits(headers, NOW_MS)).toEqual([
      { kind: 'tokens', remaining: 500, resetsAtMs: NOW_MS + 30_000 },
      { kind: 'requests', remaining: 7, resetsAtMs: NOW_MS + 62_000 },
      { kind: 'tokens', remaining: 9, resetsAtMs: NOW_MS + 5000 },
    ]);
  });

  it('are left out without a reset, or with one that is past', () => {
    expect(announcedLimits({ 'x-ratelimit-remaining-requests': '7' }, NOW_MS)).toEqual([]);
    const past = { 'anthropic-ratelimit-requests-remaining': '0', 'anthropic-ratelimit-requests-reset': '2025-01-01T00:00:00Z' };
    expect(announcedLimits(past, NOW_MS)).toEqual([]);
  });
});

describe('the window that a provider announces', () => {
  it('lets so many attempts start, then none until the reset', () => {
    const window = new AnnouncedWindow();
    expect(window.announce([{ kind: 'requests', remaining: 2, resetsAtMs: 1000 }], 0)).toBe(false);
    window.started();
    expect(window.waitMs(100)).toBe(0);
    window.started();
    expect([window.waitMs(100), window.waitMs(1000)]).toEqual([900, 0]);
  });

  it('takes the least of replies that arrive in another order', () => {
    const window = new AnnouncedWindow();
    window.announce([{ kind: 'requests', remaining: 0, resetsAtMs: 1000 }], 0);
    expect(window.announce([{ kind: 'requests', remaining: 3, resetsAtMs: 1010 }], 10)).toBe(false); // nothing new
    expect(window.waitMs(10)).toBe(1000);
  });

  it('says once that nothing may start, also where the starts before were counted down to it', () => {
    const window = new AnnouncedWindow();
    const announce = (remaining: number, resetsAtMs: number): boolean => window.announce([{ kind: 'requests', remaining, resetsAtMs }], 0);
    expect(announce(1, 60_000)).toBe(false);
    window.started();
    expect([announce(0, 60_000), announce(0, 60_010), announce(0, 90_000)]).toEqual([true, false, true]);
  });

  it('divides remaining tokens by those of a usual call', () => {
    const window = new AnnouncedWindow();
    const limit = { kind: 'tokens', remaining: 99, resetsAtMs: 1000 } as const;
    expect(window.announce([limit], 0)).toBe(false);
    window.hadTokens(100);
    expect(window.announce([limit], 0)).toBe(true);
  });
});
