/** The page of a run works its views out as values: sentences, ticks, tracks, rows, columns, addresses. */
import fc from 'fast-check';
import { beforeAll, describe, expect, it } from 'vitest';
import { openFileStore } from '../../journal/storage/file-store.js';
import { openPage } from '../../src/api/reports/page.js';
import { percentile, slowestCalls, timesByFunction } from '../../viewer/report/model/call-times.js';
import { createModel, detailsOfLines, type Model } from '../../viewer/report/model/page-model.js';
import { hashOf, hashOfNode, hashOfCall, NO_FILTER, parseRoute } from '../../viewer/report/model/route.js';
import { sideBySide } from '../../viewer/report/model/side-by-side.js';
import { countsByLine } from '../../viewer/report/model/source-counts.js';
import { ticksBetween } from '../../viewer/report/model/ticks.js';
import { binsOf, tracksOf } from '../../viewer/report/model/tracks.js';
import { matching, treeRows } from '../../viewer/report/model/tree-rows.js';
import { sentenceOf, troubleOf } from '../../viewer/report/model/verdict-words.js';
import { projectFolder } from '../support/cli.js';
import { recordTriage } from './sample-runs.js';

let model: Model;

beforeAll(async () => {
  const store = openFileStore(await projectFolder());
  const page = await openPage(store, await recordTriage(store, { calls: 200, reused: 60 }));
  model = createModel(page.data, undefined, detailsOfLines(page.details.map((span) => JSON.stringify(span))));
});

describe('the page of a run', () => {
  it('says in a sentence what became of the run', () => {
    expect(sentenceOf(model.data)).toMatch(
      /^Completed after .+: 19\d of 200 calls have a result, 38 of them reused; \d failed\. It cost \$2\.00, and reuse saved \$0\.35\.$/,
    );
    const nothing = { ...model.report.total, executed: 0, reused: 0, failed: 0, denied: 0, attempts: 0, savedUsd: null };
    const idle = { ...model.data, report: { ...model.report, durationMs: 12, total: nothing } };
    expect(sentenceOf(idle)).toBe('Completed after 12ms: no call was made. It cost nothing.');
    const questions = [{ id: 'q1', node: 'gate', text: 'Open the gate?', options: [], asked: '2026-01-05T22:00:00.000Z', waitedMs: 5 }];
    const pipeline = { nodes: [], unmetGate: undefined, resume: undefined, questions };
    const waiting = {
      ...idle,
      report: { ...idle.report, status: 'running' as const },
      verdict: { ...idle.verdict, status: 'running' as const, pipeline },
    };
    expect(sentenceOf(waiting)).toMatch(/ It cost nothing\. The node gate waits for a person to answer q1: “Open the gate\?”$/);
  });

  it('distinguishes failures that the run dealt with from those that somebody has to look at', () => {
    const { verdict } = model.data;
    const handled = { ...verdict, status: 'completed' as const, unresolved: 0 };
    expect(troubleOf(handled)).toEqual({ title: 'Failures that the run dealt with', isCalm: true });
    expect(troubleOf({ ...handled, unresolved: 1 })).toEqual({ title: 'What went wrong', isCalm: false });
    expect(troubleOf({ ...handled, unresolvedBefore: 1 })).toEqual({ title: 'What went wrong', isCalm: false });
    expect(sentenceOf({ ...model.data, verdict: { ...handled, unresolvedBefore: 2 } })).toContain(
      '. 2 calls of earlier runs that it builds on have no result.',
    );
    expect(troubleOf({ ...handled, status: 'failed' })).toEqual({ title: 'What went wrong', isCalm: false });
    expect(troubleOf({ ...handled, status: 'interrupted' })).toEqual({ title: 'Stopped before its end', isCalm: true });
  });

  it('keeps the path of any call in its address, and any filter', () => {
    expect(hashOfCall('main/for#0[3]/ask#0')).toBe('#call=main/for%230[3]/ask%230');
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme' }), fc.string({ unit: 'grapheme' }), (op, text) => {
        const filter = { ...NO_FILTER, text, state: 'failed' as const };
        expect(parseRoute(hashOf({ view: 'operations', op, filter }))).toEqual({ view: 'operations', op, node: '', filter });
      }),
    );
    expect(parseRoute('#nonsense%')).toEqual({ view: 'overview', op: undefined, node: '', filter: NO_FILTER });
    expect(parseRoute(hashOfNode('a & b'))).toEqual({ view: 'graph', op: undefined, node: 'a & b', filter: NO_FILTER });
  });

  it('has ticks that differ, within the time and no more than asked for', () => {
    const time = fc.integer({ min: 0, max: 90 * 3_600_000 });
    fc.assert(
      fc.property(time, fc.integer({ min: 10, max: 3_600_000 * 24 }), fc.integer({ min: 1, max: 20 }), (from, long, most) => {
        const ticks = ticksBetween(from, from + long, most);
        expect(new Set(ticks.map(({ label }) => label)).size).toBe(ticks.length);
        expect(ticks.length).toBeLessThanOrEqual(most);
        for (const { ms } of ticks) expect(ms >= from && ms <= from + long).toBe(true);
      }),
    );
    expect(ticksBetween(0, 2000, 4).map(({ label }) => label)).toEqual(['0:00.000', '0:00.500', '0:01.000', '0:01.500']);
  });

  it('puts calls on a track for each function, in lanes where none overlap', () => {
    const tracks = tracksOf(model);
    expect(tracks.map(({ name, calls }) => [name, calls.length])).toEqual([
      ['@extract', 60],
      ['@review', 120],
      ['@judge', 20],
    ]);
    const { start, end } = model.report.spans;
    for (const { calls, lanes, laneCount } of tracks) {
      const free = new Array<number>(laneCount).fill(0);
      for (const [place, span] of calls.entries()) {
        const lane = lanes[place] as number;
        expect(start[span]).toBeGreaterThanOrEqual(free[lane] as number);
        free[lane] = end[span] as number;
      }
    }
  });

  it('counts each ended call in one part of a band, and the time in flight whole', () => {
    const [track] = tracksOf(model);
    const to = model.report.durationMs;
    for (const count of [1, 7, 300]) {
      const bins = binsOf(model, track!, { from: 0, to }, count);
      expect(bins.reduce((sum, { ended }) => sum + ended, 0)).toBe(60);
      const ms = bins.reduce((sum, { inFlight }) => sum + inFlight * (to / count), 0);
      expect(ms).toBeCloseTo(
        track!.calls.reduce((sum, span) => sum + model.durationOf(span), 0),
        3,
      );
    }
  });

  it('finds calls by function, state and text of their results, and shows what is around them', () => {
    const found = matching(model, { fn: 'review', state: 'executed', text: 'STOPS THE WORK' });
    expect(found.length).toBeGreaterThan(10);
    for (const span of found) expect([model.nameOf(span), model.stateOf(span)]).toEqual(['review', 'executed']);
    const none = { open: new Set<number>(), closed: new Set<number>() };
    const rows = treeRows(model, { ...NO_FILTER, text: 'ticket 0007' }, none);
    expect(rows.filter(({ matches }) => !matches).map(({ span, level }) => [model.nameOf(span), level])).toEqual([
      ['for', 1],
      ['for', 1],
      ['for', 1],
      ['for:iteration', 2],
    ]);
    expect(treeRows(model, NO_FILTER, none).map(({ span, isOpen }) => [model.nameOf(span), isOpen])).toEqual([
      ['for', false],
      ['for', false],
      ['for', false],
    ]);
    expect(treeRows(model, NO_FILTER, { ...none, open: new Set([0]) })).toHaveLength(63);
  });

  it('counts what is inside a loop, and shows the line of the source where an operation was given nothing', () => {
    const [first = -1] = model.childrenOf(-1);
    const lost = model.calls.filter((span) => model.ancestorsOf(span)[0] === first && model.stateOf(span) === 'failed').length;
    expect(model.insideOf(first)).toEqual({ calls: 60, failed: lost });
    expect(model.aboutOf(first)).toBe('/var @facts = for 12 parallel @ticket in @tickets => @extract(@ticket)');
    expect(model.insideOf(model.calls[0] ?? -1)).toEqual({ calls: 0, failed: 0 });
  });

  it('measures calls by nearest rank, without reused ones', () => {
    expect([1, 50, 95, 100].map((percent) => percentile([1, 2, 3, 4], percent))).toEqual([1, 2, 4, 4]);
    expect([...timesByFunction(model).keys()]).toEqual(['extract', 'review', 'judge']);
    const slowest = slowestCalls(model, 3).map((span) => model.durationOf(span));
    expect(slowest).toEqual([...slowest].sort((left, right) => right - left));
  });

  it('counts the calls of each line of the script', () => {
    const counts = countsByLine(model, 0);
    expect([...counts.keys()]).toEqual([13, 15, 17]);
    const { executed, reused, failed } = counts.get(15)!;
    expect(executed + reused + failed).toBe(120);
  });

  it('puts what was replaced beside what replaced it', () => {
    expect(sideBySide(['@ line 3', ' a', '-b', '-c', '+d', ' e', '+f'])).toEqual([
      { kind: 'part', left: ' line 3', right: ' line 3' },
      { kind: 'same', left: 'a', right: 'a' },
      { kind: 'changed', left: 'b', right: 'd' },
      { kind: 'changed', left: 'c', right: null },
      { kind: 'same', left: 'e', right: 'e' },
      { kind: 'changed', left: null, right: 'f' },
    ]);
  });
});
