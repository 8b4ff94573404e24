/** Progress on a terminal, in a log and as JSON. */
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { progressLine, progressLines, progressObject } from '../../../cli/render/progress/lines.js';
import { watchPace, type Moment } from '../../../cli/render/progress/moment.js';
import { objects, sentences } from '../../../cli/render/progress/stream.js';
import { startProgress } from '../../../cli/render/progress/terminal.js';
import { styleFor } from '../../../cli/render/style.js';
import type { EventOf } from '../../../journal/event.js';
import { opPath, seqOf } from '../../../journal/ids.js';
import { summary, type LaneHold, type RunSummary } from '../../../replay/reports/summary/summary.js';
import { callCli } from '../../support/in-process/call-cli.js';
import { projectFolder } from '../../support/cli.js';

const PLAIN = styleFor(false);

function state(members: Partial<RunSummary> = {}): RunSummary {
  return { ...summary.initial(), ...members };
}

function loops(...list: readonly (readonly [number, number])[]): RunSummary['loops'] {
  return new Map(list.map(([done, total], index) => [opPath(`main/for#${index}`), { op: opPath(`main/for#${index}`), done, total }]));
}

const inFlight = (count: number, preview?: string): RunSummary['inFlight'] =>
  new Map(
    Array.from({ length: count }, (_, index) => {
      const op = opPath(`main/ask#${index}`);
      return [op, { op, fn: 'ask', preview, startedMs: 0 }];
    }),
  );

const todayMs = new Date(2026, 10, 22, 18, 30).getTime();

/** Looks at a run as it is after 15 s, at a pace of two a second. */
function momentOf(now: RunSummary, more: Partial<Moment> = {}): Moment {
  return { ...watchPace({ nowMs: () => 0, todayMs: () => todayMs })(now), elapsedMs: 15_000, ...more };
}

const asked: EventOf<'question.asked'> = {
  type: 'question.asked',
  op: opPath('main/approve#0'),
  id: 'q1',
  node: 'approve',
  kind: 'yes_no',
  text: 'Send it?',
  options: [],
  v: 1,
  seq: seqOf(0),
  ts: new Date(todayMs - 124_000).toISOString(),
  hash: '',
};

const full = state({
  executed: 31,
  reused: 6,
  failed: 1,
  retries: 2,
  costUsd: 1.367,
  inFlight: inFlight(20, 'Ticket\n0137'),
  loops: loops([37, 120], [1, 3]),
});
const oldest = { fn: 'ask', preview: 'Ticket\n0137', durationMs: 12_000 };

describe('a run that records nothing', () => {
  it('has the same progress as a recorded one', async () => {
    const cwd = await projectFolder({
      'job.mld': `exe llm @ask(q) = js { if (q === "2") throw new Error("no"); return q; }
var @all = for parallel(2) @q in ["1", "2", "3", "4"] => @ask(@q)
var @more = for @q in ["5", "6"] => @ask(@q)
show "done"
`,
    });
    const last = async (...flags: string[]): Promise<object> => {
      const { stderr } = await callCli(['job.mld', '--progress=json', ...flags], { cwd });
      const objects = stderr.split('\n').filter((line) => line.startsWith('{"type":"progress"'));
      const { elapsedMs: _, perSecond: __, ...state } = JSON.parse(objects.at(-1) ?? '{}') as { elapsedMs?: number; perSecond?: number };
      return state;
    };
    const recorded = await last('--checkpoint');
    expect(recorded).toMatchObject({ executed: 5, failed: 1, retries: 0 });
    expect(await last('--no-checkpoint')).toEqual(recorded);
    expect(await last()).toEqual(recorded);
  });
});

describe('the lines of a terminal', () => {
  const moment = momentOf(full, { perSecond: 2.075, leftMs: 40_000, oldest });

  it('show the phase with pace and time left, what was done, and what is in flight with the oldest call', () => {
    expect(progressLines(moment, 80, PLAIN)).toEqual([
      '█████████░░░░░░░░░░░░░░░░░░░░░ 37/120 · 2.1/s · 40.0s left',
      '31 executed · 1 failed · 6 reused · 2 retries · $1.37',
      '20 in flight · oldest @ask(Ticket\\n0137) 12.0s',
    ]);
  });

  it('are two where no loop says how much there is', () => {
    expect(
      progressLines(momentOf(state({ executed: 3, inFlight: inFlight(1) }), { oldest: { fn: 'ask', durationMs: 900 } }), 80, PLAIN),
    ).toEqual(['3 executed · 15.0s', '1 in flight · oldest @ask 900ms']);
  });

  it('show until when a lane is held or stopped', () => {
    const lineWith = (...holds: readonly LaneHold[]) =>
      progressLines(momentOf(state({ executed: 3, holds: new Map(holds.map((hold) => [hold.lane, hold])) })), 120, PLAIN);
    expect(lineWith({ lane: 'claude', untilMs: todayMs + 5000 })).toEqual(['3 executed · 15.0s', 'claude held until 18:30:05']);
    expect(lineWith({ lane: 'a\u001b[2J', stopped: 'quota', untilMs: todayMs + 24 * 3_600_000 })[1]).toBe(
      'a\\u001b[2J stopped (quota) until 2026-11-23 18:30:00',
    );
    expect(lineWith({ lane: '', stopped: 'budget' })[1]).toBe('stopped (budget)');
    expect(lineWith({ lane: 'claude', untilMs: todayMs })).toEqual(['3 executed · 15.0s']);
  });

  it.each([80, 40, 20, 10, 3])('are narrower than a terminal of %i columns', (columns) => {
    const lines = progressLines(
      momentOf(full, { perSecond: 2, leftMs: 1, oldest: { ...oldest, preview: '潮汐'.repeat(50) } }),
      columns,
      PLAIN,
    );
    for (const line of lines) expect(line.replaceAll(/[潮汐]/g, 'xx').length).toBeLessThan(columns);
    if (columns >= 10) expect(lines[0]).toContain('37/120');
  });
});

describe('the line of a log', () => {
  it('has all of it in one line', () => {
    expect(progressLine(momentOf(full, { perSecond: 0.05, leftMs: 40_000, oldest }))).toBe(
      '37/120 · 31 executed · 1 failed · 6 reused · 2 retries · $1.37 · 20 in flight · oldest @ask(Ticket\\n0137) 12.0s · 3.0/min · 40.0s left',
    );
  });
});

it('says how many attempts are missing in the cost so far', () => {
  const moment = momentOf({ ...full, unpriced: 12 });
  expect(progressLine(moment)).toContain(' · $1.37 + 12 unpriced · ');
  expect(progressLines(moment, 120, PLAIN)[1]).toContain('$1.37 + 12 unpriced');
  expect(progressObject(moment)).toMatchObject({ costUsd: 1.367, unpriced: 12 });
});

const asking = new Map([['q1', asked]]);

describe('a question to a person', () => {
  const moment = momentOf(state({ questions: asking }));
  const words = 'approve has waited 2m04s for an answer to q1';
  it('is in each kind of progress, also before the first call', () => {
    expect(progressLines(moment, 120, PLAIN)).toEqual(['0 executed · 15.0s', words]);
    expect(progressLine(moment)).toBe(`0 executed · ${words} · 15.0s`);
    expect(progressObject(moment)).toMatchObject({ questions: [{ id: 'q1', node: 'approve', text: 'Send it?', waitedMs: 124_000 }] });
  });
});

describe('the object of a program', () => {
  it('has each member, also where nothing is known', () => {
    expect(progressObject(momentOf(state({ executed: 3 })))).toEqual({
      type: 'progress',
      elapsedMs: 15_000,
      done: null,
      total: null,
      perSecond: null,
      leftMs: null,
      executed: 3,
      reused: 0,
      failed: 0,
      retries: 0,
      costUsd: null,
      unpriced: 0,
      inFlight: 0,
      atWorkers: null,
      oldest: null,
      holds: [],
      questions: [],
    });
    expect(progressObject(momentOf(full, { oldest }))).toMatchObject({ done: 37, total: 120, oldest });
    const atWorkers = { calls: 24, workers: 3 };
    expect(progressObject(momentOf(full, { atWorkers }))).toMatchObject({ atWorkers });
    expect(progressLine(momentOf(full, { atWorkers }))).toContain(' · 24 at 3 workers · ');
  });
});

describe('on a terminal', () => {
  let screen = '';
  let now = 0;
  beforeEach(() => {
    vi.useFakeTimers();
    [screen, now, columns] = ['', 0, 80];
  });
  afterEach(() => {
    vi.useRealTimers();
  });
  let columns = 80;
  const write = (text: string) => void (screen += text);
  const clock = { nowMs: () => now, todayMs: () => now };
  const start = () => startProgress({ write, columns: () => columns, colours: false, ...clock });
  const pass = (ms: number): void => {
    now += ms;
    vi.advanceTimersByTime(ms);
  };
  /** Returns what a terminal would show: an erasure takes so many rows above the cursor away. */
  const visible = (): string => {
    let rows = [''];
    for (const part of screen.split(/(\r\u001B\[\d+A\u001B\[J)/)) {
      const up = /\[(\d+)A/.exec(part)?.[1];
      if (up === undefined) rows = (rows.join('\n') + part).split('\n');
      else rows = [...rows.slice(0, rows.length - 1 - Number(up)), ''];
    }
    return rows.join('\n');
  };

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
    expect(visible()).toBe('1 executed · 3.0s\n');
    progress.stop();
  });

  it('makes room for the output of the script, and leaves nothing behind', () => {
    const progress = start();
    const output = progress.around((text) => void (screen += text));
    progress.update(state({ executed: 1 }));
    output('first line\n');
    pass(200);
    progress.update(state({ executed: 2 }));
    expect(visible()).toBe('first line\n2 executed · 200ms\n');
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
    expect(visible()).toBe('half a line\n1 executed · 200ms\n');
    progress.stop();
  });

  it('estimates from the last moments, not from the hits at the start', () => {
    const progress = start();
    progress.update(state({ executed: 90, loops: loops([90, 100]) }));
    for (let done = 90; done <= 95; done++) {
      pass(10_000);
      progress.update(state({ executed: done, loops: loops([done, 100]) }));
    }
    expect(visible()).toMatch(/ 9[45]\/100 · 0\.1\/s · /);
    progress.stop();
  });

  it('measures each phase by itself', () => {
    const progress = start();
    for (let done = 0; done <= 5; done++) {
      progress.update(state({ executed: done, loops: loops([done, 1000]) }));
      pass(1000);
    }
    progress.update(state({ executed: 6, loops: new Map([[opPath('main/for#9'), { op: opPath('main/for#9'), done: 500, total: 900 }]]) }));
    pass(1000);
    expect(visible()).toMatch(/500\/900 · 7\.0s$/m);
    progress.stop();
  });

  it('takes the rows away that its lines have on a terminal that became narrower', () => {
    const progress = start();
    progress.update(state({ executed: 31, loops: loops([37, 120]), inFlight: inFlight(3, 'a ticket with words') }));
    const [first = '', ...others] = screen.trimEnd().split('\n');
    expect(others).toHaveLength(2);
    columns = 20;
    screen = '';
    progress.stop();
    const rows = [first, ...others].reduce((count, line) => count + Math.ceil(line.length / 20), 0);
    expect(screen).toBe(`\r\u001B[${rows}A\u001B[J`);
  });

  it('writes a sentence into a log each half minute, while there are calls', () => {
    const progress = sentences({ write, ...clock });
    progress.update(state());
    pass(60_000);
    expect(screen).toBe('');
    progress.update(state({ executed: 4 }));
    pass(5000);
    pass(25_000);
    progress.stop();
    pass(60_000);
    expect(screen).toMatch(/^progress: 4 executed · 1m0?5s\nprogress: 4 executed · .*\n$|^progress: 4 executed · .*\n$/);
  });

  it('writes a line each minute, and not each half, while a lane waits for its allowance', () => {
    const progress = sentences({ write, ...clock });
    const holds = new Map([['claude', { lane: 'claude', stopped: 'quota' as const, untilMs: todayMs + 600_000 }]]);
    progress.update(state({ executed: 4, holds }));
    for (let s = 0; s < 125; s += 5) pass(5000);
    progress.stop();
    expect(screen.match(/^progress: /gm)).toHaveLength(2);
  });

  it('writes objects for programs, at most one a second, and the last state', () => {
    const progress = objects({ write, ...clock });
    for (let ms = 0; ms < 2500; ms++) {
      progress.update(state({ executed: ms }));
      pass(1);
    }
    progress.stop();
    const written = screen
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line) as { readonly executed: number });
    expect(written.map(({ executed }) => executed)).toEqual([1, 1001, 2001, 2499]);
  });

  it('writes the last state also where nothing follows it', () => {
    const progress = objects({ write, ...clock });
    progress.update(state({ executed: 1 }));
    progress.update(state({ executed: 1, questions: asking }));
    expect(screen).not.toContain('Send it?');
    pass(1500);
    expect(screen).toContain('Send it?');
    progress.stop();
    expect(screen.trimEnd().split('\n')).toHaveLength(2);
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

describe('--progress', () => {
  const SCRIPT = 'exe llm @ask(q) = js { return q }\nvar @a = for @i in ["a", "b"] => @ask(@i)\nshow "done"\n';

  it('writes JSON beside the messages of a recorded run', async () => {
    const cwd = await projectFolder({ 'llm/run/job.mld': SCRIPT });
    const { stdout, stderr } = await callCli(['run', 'job', '--progress', 'json'], { cwd });
    expect(stdout).toBe('done\n');
    const found = stderr
      .split('\n')
      .filter((line) => line.startsWith('{'))
      .map((line) => JSON.parse(line) as { readonly type: string; readonly executed: number });
    expect(found.at(-1)).toMatchObject({ type: 'progress', executed: 2 });
    expect(stderr).toMatch(/^2 calls: 2 executed/m);
  });

  it('says nothing of a short run in a pipe, nor with none, and refuses other words', async () => {
    const cwd = await projectFolder({ 'llm/run/job.mld': SCRIPT });
    for (const flags of [[], ['--progress=plain'], ['--progress=tty'], ['--progress', 'none']])
      expect((await callCli(['run', 'job', ...flags], { cwd })).stderr).toMatch(/^Running .*\n2 calls: .*\n$/);
    const refused = await callCli(['run', 'job', '--progress', 'loud'], { cwd });
    expect(refused).toMatchObject({ status: 1, stdout: '' });
    expect(refused.stderr).toContain('--progress loud: it must be plain or tty or json or none');
  });
});
