/** Every report of a run adds up attempts, tokens and costs alike, whatever happened to its calls, and its parts add up to the whole. */
import fc from 'fast-check';
import { expect, it } from 'vitest';
import type { Fact, Usage } from '../../../journal/event.js';
import type { FailureClass } from '../../../journal/facts/call-event.js';
import { opPath, seqOf } from '../../../journal/ids.js';
import { openMemoryStore } from '../../../journal/storage/memory-store.js';
import type { JournalStore, RunFile } from '../../../journal/store.js';
import { chromeTrace } from '../../../replay/export/chrome-trace.js';
import { callRows } from '../../../replay/export/call-rows.js';
import { addCounts, noCalls, type CallCounts } from '../../../replay/fold/calls/call-counts.js';
import { foldRun } from '../../../replay/fold/fold-run.js';
import type { AuditEntry } from '../../../replay/reports/audit/audit.js';
import { auditRun } from '../../../replay/reports/audit/audit-run.js';
import { diffRuns } from '../../../replay/reports/diff/diff-run.js';
import { postMortemOf } from '../../../replay/reports/postmortem/postmortem-run.js';
import { statsOf } from '../../../replay/reports/stats/stats.js';
import { summariseRun } from '../../../replay/reports/summary/summarise-run.js';
import { reportData } from '../../../replay/reports/timeline/report.js';
import { timeline } from '../../../replay/reports/timeline/timeline.js';
import { FINGERPRINT, JOB, key, runRef, started } from '../../support/written-runs.js';

const FIGURES = [
  'executed',
  'reused',
  'failed',
  'accepted',
  'denied',
  'notExecuted',
  'unresolved',
  'attempts',
  'retries',
  'unpriced',
  'inputTokens',
  'outputTokens',
  'costUsd',
  'savedUsd',
];
type Figures = { readonly [name: string]: unknown };

const figuresOf = (report: object): Figures => Object.fromEntries(FIGURES.map((name) => [name, (report as Figures)[name]]));

/** Quarters of dollars, so that no order of adding rounds otherwise. */
const anyUsage: fc.Arbitrary<Usage | undefined> = fc.option(
  fc.record(
    {
      model: fc.constantFrom('opus', 'haiku'),
      inputTokens: fc.nat(50),
      outputTokens: fc.nat(50),
      costUsd: fc.nat(8).map((quarters) => quarters / 4),
    },
    { requiredKeys: [] },
  ),
  { nil: undefined },
);

const CLASSES: readonly FailureClass[] = ['rate-limit', 'overloaded', 'network', 'timeout', 'bad-reply', 'content', 'quota', 'crash'];
const anyFailure = fc.record({ class: fc.constantFrom(...CLASSES), usage: anyUsage });

const anyCall = fc.record({
  fn: fc.constantFrom('ask', 'sum'),
  argument: fc.nat(3),
  failedBefore: fc.array(anyFailure, { maxLength: 2 }),
  last: anyFailure,
  outcome: fc.constantFrom('completed', 'failed', 'accepted', 'denied', 'value', 'reused', 'upstream', 'killed'),
  savedUsd: fc.option(
    fc.nat(8).map((quarters) => quarters / 4),
    { nil: undefined },
  ),
});
type AnyCall = typeof anyCall extends fc.Arbitrary<infer C> ? C : never;

function factsOf({ fn, argument, failedBefore, last, outcome, savedUsd }: AnyCall, number: number): Fact[] {
  const op = opPath(`main/${fn}#${number}`);
  const about = { key: key(`${fn} ${argument}`), op };
  const begin: Fact = { type: 'op.started', op, kind: 'exe', name: fn, labels: ['llm'] };
  const end: Fact = { type: 'op.finished', op, outcome: outcome === 'completed' || outcome === 'value' ? 'ok' : 'failed' };
  const usageOf = ({ usage }: { readonly usage: Usage | undefined }) => (usage === undefined ? {} : { usage });
  if (outcome === 'reused') {
    const from = { run: runRef(0).run, seq: seqOf(0) };
    return [
      begin,
      { type: 'call.reused', ...about, fn, from, fingerprint: FINGERPRINT, ...(savedUsd === undefined ? {} : { savedUsd }) },
      end,
    ];
  }
  const failed = { type: 'call.failed', ...about, message: 'no', elapsedMs: 2 } as const;
  if (outcome === 'upstream') return [begin, { ...failed, fn, class: 'upstream', upstream: [] }, end];
  const start = (tried: number): Fact => ({
    type: 'call.started',
    ...about,
    fn,
    args: { inline: [argument] },
    fingerprint: FINGERPRINT,
    lane: 'claude',
    ...(tried > 1 && { try: tried }),
  });
  const before = failedBefore.flatMap((failure, index): Fact[] => [
    start(index + 1),
    { ...failed, class: failure.class, ...usageOf(failure), retryInMs: 5, ...(index > 0 && { try: index + 1 }) },
  ]);
  const completed = { type: 'call.completed', ...about, result: { inline: 'R' }, elapsedMs: 3, ...usageOf(last) } as const;
  const ends: { readonly [O in AnyCall['outcome']]?: Fact } = {
    completed,
    value: { ...completed, unusable: 'its command ended with status 1', class: last.class, exitCode: 1 },
    failed: { ...failed, class: last.class, ...usageOf(last) },
    accepted: { ...failed, class: last.class, ...usageOf(last), accepted: true },
    denied: { ...failed, denied: true, ...usageOf(last) },
  };
  const ended = ends[outcome];
  return [begin, ...before, start(failedBefore.length + 1), ...(ended ? [ended, end] : [])];
}

const anyHistory = fc.array(anyCall, { maxLength: 12 }).map((calls) => calls.flatMap(factsOf));

async function recorded(facts: readonly Fact[]): Promise<{ readonly store: JournalStore; readonly file: RunFile }> {
  const store = openMemoryStore();
  const journal = await store.create(runRef(1));
  for (const fact of [started(runRef(1)), ...facts]) await journal.append(fact);
  await journal.close();
  return { store, file: (await store.runs(JOB))[0] as RunFile };
}

const options = { nowMs: 0, onDefect: () => expect.unreachable() };

it('agrees on attempts, tokens and costs in every report of any run', async () => {
  await fc.assert(
    fc.asyncProperty(anyHistory, async (facts) => {
      const { store, file } = await recorded(facts);
      const list = figuresOf(await summariseRun(store, file, options));
      const state = await foldRun(store, file.ref, timeline);
      const others = {
        stats: (await statsOf(store, [file], options.onDefect)).total,
        audit: (await auditRun(store, file, {}, () => undefined)).totals,
        page: reportData(file.ref, state, 'crashed').total,
        postmortem: await postMortemOf(store, file, options),
      };
      for (const [name, report] of Object.entries(others)) expect({ name, ...figuresOf(report) }).toEqual({ name, ...list });
      const { otherData } = chromeTrace(file.ref, state) as { readonly otherData: Figures };
      expect(otherData).toMatchObject(list);
      const { left } = await diffRuns(store, file, file, options);
      expect(list).toMatchObject({ costUsd: left.costUsd, unpriced: left.unpriced });
      const rows = [...callRows(file.ref, state)];
      const sumOf = (column: 'costUsd' | 'unpriced'): number => rows.reduce((sum, row) => sum + Number(row[column] ?? 0), 0);
      expect({ costUsd: sumOf('costUsd'), unpriced: sumOf('unpriced') }).toEqual({
        costUsd: list['costUsd'] ?? 0,
        unpriced: list['unpriced'],
      });
      expect(rows.filter(({ costUsd, unpriced }) => costUsd === 0 && unpriced !== 0)).toEqual([]);
    }),
    { numRuns: 150 },
  );
});

it('adds up to the whole: functions, phases, and the attempts of an audit', async () => {
  await fc.assert(
    fc.asyncProperty(anyHistory, async (facts) => {
      const { store, file } = await recorded(facts);
      const entries: AuditEntry[] = [];
      const { totals } = await auditRun(store, file, {}, (entry) => entries.push(entry));
      const page = reportData(file.ref, await foldRun(store, file.ref, timeline), 'crashed');
      const stats = await statsOf(store, [file], options.onDefect);
      const whole = figuresOf(totals);
      const summed = (parts: readonly object[]): Figures => {
        const sum = noCalls();
        for (const part of parts) addCounts(sum, { ...noCalls(), ...part } as CallCounts);
        return figuresOf(sum);
      };
      expect(summed(page.functions)).toEqual(whole);
      expect(summed(page.phases)).toEqual(whole);
      expect(summed(stats.functions.map((each) => ({ ...each, callsMs: 0 })))).toEqual(whole);
      expect(summed(stats.days.map((each) => ({ ...each, callsMs: 0, failedByClass: {} })))).toEqual(whole);
      const attempts = entries.flatMap((entry) => (entry.entry === 'call' && entry.try !== undefined ? [entry] : []));
      const known = (values: readonly (number | null | undefined)[]): number | null => {
        const numbers = values.filter((value) => typeof value === 'number');
        return numbers.length === 0 ? null : numbers.reduce((sum, value) => sum + value, 0);
      };
      expect(attempts).toHaveLength(totals.attempts);
      expect(attempts.filter(({ try: tried = 1 }) => tried > 1)).toHaveLength(totals.retries);
      expect(known(attempts.map(({ costUsd }) => costUsd))).toBe(totals.costUsd);
      expect(known(attempts.map(({ inputTokens }) => inputTokens))).toBe(totals.inputTokens);
      expect(known(entries.map((entry) => (entry.entry === 'call' ? entry.savedUsd : undefined)))).toBe(totals.savedUsd);
    }),
    { numRuns: 150 },
  );
});
