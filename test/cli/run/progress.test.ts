import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { progressLine, startProgress } from '../../../cli/render/progress.js';
import { opPath } from '../../../journal/ids.js';
import { summary, type LaneHold, type RunSummary } from '../../../replay/reports/summary/summary.js';

const ERASE = '\r\u001B[K';

function state(members: Partial<RunSummary> = {}): RunSummary {
  return { ...summary.initial(), ...members };
}

function loops(...list: readonly (readonly [number, number])[]): RunSummary['loops'] {
  return new Map(list.map(([done, total], index) => [opPath(`main/for#${index}`), { op: opPath(`main/for#${index}`), done, total }]));
}

const inFlight = (count: number): RunSummary['inFlight'] =>
  new Map(
    Array.from({ length: count }, (_, index) => {
      const op = opPath(`main/ask#${index}`);
      return [op, { op, fn: 'ask', preview: undefined, startedMs: 0 }];
    }),
  );

describe('the line', () => {
  const full = state({ executed: 31, reused: 6, failed: 1, inFlight: inFlight(20), loops: loops([37, 120], [1, 3]) });

  it('shows done and total, what was reused, what is in flight, the rate and the time left', () => {
    expect(progressLine(full, { elapsedMs: 15_000, perSecond: 2.075, todayMs: 0 }, 120)).toBe(
      '37/120 · 31 executed · 6 reused · 1 failed · 20 in flight · 2.1/s · 40.0s left',
    );
  });

  it('shows the cost, the retries, and until when a lane is held or stopped', () => {
    const todayMs = new Date(2026, 10, 22, 18, 30).getTime();
    const lineWith = (...holds: readonly LaneHold[]): string => {
      const now = state({ executed: 3, retries: 1, costUsd: 1.367, holds: new Map(holds.map((hold) => [hold.lane, hold])) });
      return progressLine(now, { elapsedMs: 4200, perSecond: undefined, todayMs }, 120);
    };
    expect(lineWith({ lane: 'claude', untilMs: todayMs + 5000 })).toBe('3 executed · 1 retry · $1.37 · claude held until 18:30:05 · 4.2s');
    expect(lineWith({ lane: 'a\u001b[2J', stopped: 'quota', untilMs: todayMs + 24 * 3_600_000 })).toBe(
      '3 executed · 1 retry · $1.37 · a\\u001b[2J stopped (quota) until 2026-11-23 18:30:00 · 4.2s',
    );
    expect(lineWith({ lane: '', stopped: 'budget' })).toBe('3 executed · 1 retry · $1.37 · stopped (budget) · 4.2s');
    expect(lineWith({ lane: 'claude', untilMs: todayMs })).toBe('3 executed · 1 retry · $1.37 · 4.2s');
  });

  it('shows the time so far when no loop says how much there is', () => {
    expect(progressLine(state({ executed: 3 }), { elapsedMs: 4200, perSecond: undefined, todayMs: 0 }, 120)).toBe('3 executed · 4.2s');
  });

  it.each([80, 40, 20, 10, 3])('is narrower than a terminal of %i columns', (columns) => {
    const line = progressLine(full, { elapsedMs: 15_000, perSecond: 2, todayMs: 0 }, columns);
    expect(line.length).toBeLessThan(columns);
    if (columns >= 10) expect(line).toMatch(/^37\/120/);
  });
});

describe('on a terminal', () => {
  let screen = '';
  let now = 0;
  beforeEach(() => {
    vi.useFakeTimers();
    [screen, now] = ['', 0];
  });
  afterEach(() => {
    vi.useRealTimers();
  });
  const start = () => startProgress({ write: (text) => void (screen += text), columns: () => 80, nowMs: () => now, todayMs: () => now });
  const pass = (ms: number): void => {
    now += ms;
    vi.advanceTimersByTime(ms);
  };
  /** Returns what a terminal would show: everything before an erasure on the same line is gone. */
  const visible = (): string =>
    screen
      .split('\n')
      .map((line) => line.split(ERASE).at(-1))
      .join('\n');

  it('is drawn at most ten times a second', () => {
    const progress = start();
    for (let ms = 0; ms < 1000; ms++) {
      progress.update(state({ executed: ms + 1 }));
      pass(1);
    }
    progress.stop();
    expect(screen.split('executed').length - 1).toBeGreaterThan(5);
    expect(screen.split('executed').length - 1).toBeLessThanOrEqual(11);
  });

  it('updates while nothing happens', () => {
    const progress = start();
    progress.update(state({ executed: 1 }));
    pass(3000);
    expect(visible()).toBe('1 executed · 3.0s');
    progress.stop();
  });

  it('makes room for the output of the script, and leaves nothing behind', () => {
    const progress = start();
    const output = progress.around((text) => void (screen += text));
    progress.update(state({ executed: 1 }));
    output('first line\n');
    pass(200);
    progress.update(state({ executed: 2 }));
    expect(visible()).toBe('first line\n2 executed · 200ms');
    progress.stop();
    expect(visible()).toBe('first line\n');
  });

  it('does not draw behind a line that has not ended', () => {
    const progress = start();
    const output = progress.around((text) => void (screen += text));
    output('half a li');
    progress.update(state({ executed: 1 }));
    expect(screen).toBe('half a li');
    output('ne\n');
    pass(200);
    progress.update(state({ executed: 1 }));
    expect(visible()).toBe('half a line\n1 executed · 200ms');
    progress.stop();
  });

  it('estimates from the last moments, not from the hits at the start', () => {
    const progress = start();
    progress.update(state({ executed: 90, loops: loops([90, 100]) }));
    for (let done = 90; done <= 95; done++) {
      pass(10_000);
      progress.update(state({ executed: done, loops: loops([done, 100]) }));
    }
    expect(visible()).toContain('0.1/s');
    progress.stop();
  });

  it('says nothing of a script without llm calls', () => {
    const progress = start();
    progress.update(state({ loops: loops([1, 2]) }));
    pass(3000);
    progress.stop();
    expect(screen).toBe('');
  });

  it('writes nothing after its end', () => {
    const progress = start();
    progress.update(state({ executed: 1 }));
    progress.stop();
    const before = screen;
    pass(5000);
    expect(screen).toBe(before);
  });
});
