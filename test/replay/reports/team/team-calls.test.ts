/** Calls that workers executed for a run, and results that came too late, as reports say them. team-store.md 4.2 and 7. */
import { describe, expect, it } from 'vitest';
import type { Fact } from '../../../../journal/event.js';
import { opPath, seqOf, type OpPath } from '../../../../journal/ids.js';
import { openMemoryStore } from '../../../../journal/storage/memory-store.js';
import { auditRun } from '../../../../replay/reports/audit/audit-run.js';
import type { AuditEntry } from '../../../../replay/reports/audit/audit.js';
import { postMortemOf } from '../../../../replay/reports/postmortem/postmortem-run.js';
import { statsOf } from '../../../../replay/reports/stats/stats.js';
import { trendOf } from '../../../../replay/reports/stats/trend.js';
import { renderConclusion, renderEntry } from '../../../../cli/render/reports/audit.js';
import { renderPostMortem } from '../../../../cli/render/reports/postmortem.js';
import { styleFor } from '../../../../cli/render/style.js';
import { call, callKeyOf, finished, JOB, runRef, started } from '../../../support/written-runs.js';

const PLAIN = styleFor(false);
const usage = { costUsd: 0.02, costSource: 'told' } as const;

/** Gives an event of a call further members. */
function changed(facts: readonly Fact[], type: Fact['type'], members: object): Fact[] {
  return facts.map((fact) => (fact.type === type ? ({ ...fact, ...members } as Fact) : fact));
}

/**
 * A run that offered three calls: a worker executed one, one failed there, and the run itself executed the third, whose result came too
 * late. The run of the worker follows it.
 */
async function recorded() {
  const store = openMemoryStore();
  const by = { run: runRef(9).run, seq: seqOf(4) };
  const at = { worker: 'hut', workerHost: 'db7' };
  const offering = [
    started(runRef(1)),
    ...changed(call('main/ask#0', 'ebb', { outcome: 'reused' }), 'call.reused', { ...at, workerUsd: 0.01 }),
    ...changed(
      changed(call('main/ask#1', 'flow', { outcome: 'failed' }), 'call.started', { ...at, begun: { run: runRef(2).run, seq: seqOf(2) } }),
      'call.failed',
      { workerUsd: 0.25 },
    ),
    ...changed(call('main/ask#2', 'tide'), 'call.completed', { usage }),
  ];
  const late = offering.findIndex((fact) => fact.type === 'call.completed');
  const superseded = {
    type: 'call.superseded',
    key: callKeyOf('tide'),
    op: 'main/ask#2',
    of: seqOf(late),
    by,
  } as unknown as Fact;
  const ofWorker = [
    { ...started(runRef(2)), worker: { for: runRef(1).run, name: 'hut', lanes: {} } } as Fact,
    ...changed(call('main/ask#0', 'ebb'), 'call.completed', { usage: { costUsd: 0.01, costSource: 'told' } }),
    ...call('main/ask#1', 'flow', { outcome: 'failed' }),
    { ...finished(), worker: { for: runRef(1).run, name: 'hut' } } as Fact,
  ];
  for (const [number, facts] of [
    [1, [...offering.slice(0, late + 1), superseded, ...offering.slice(late + 1), finished()]],
    [2, ofWorker],
  ] as const) {
    const journal = await store.create(runRef(number));
    for (const fact of facts) await journal.append(fact);
    await journal.close();
  }
  const files = await store.runs(JOB);
  return { store, files, file: files[0]! };
}

describe('the store of a team', () => {
  it('is seen in an audit: at which worker a call was executed, what it cost there, and what was paid for in vain', async () => {
    const { store, file } = await recorded();
    const entries: AuditEntry[] = [];
    const conclusion = await auditRun(store, file, {}, (entry) => entries.push(entry));
    expect(entries).toMatchObject([
      { entry: 'call', outcome: 'reused', worker: 'hut', workerHost: 'db7', workerUsd: 0.01 },
      { entry: 'call', outcome: 'failed', worker: 'hut', workerHost: 'db7' },
      { entry: 'call', outcome: 'executed' },
      { entry: 'superseded', fn: 'ask', costUsd: 0.02, by: { run: runRef(9).run } },
    ]);
    const text = entries.map((entry) => renderEntry(entry, PLAIN)).join('');
    expect(text).toContain('executed by the worker hut on db7, for $0.01 there');
    expect(text).toMatch(/@ask superseded: the result in event \d+ was paid for in vain \(\$0\.02\); event 4 of \S+ was recorded first/);
    expect(conclusion.team).toEqual({
      workers: [{ name: 'hut', host: 'db7', executed: 1, failed: 1, costUsd: 0.01, failedUsd: 0.25 }],
      superseded: { calls: 1, costUsd: 0.02 },
      unended: [],
    });
    const last = renderConclusion(conclusion, PLAIN);
    expect(last).toContain('2 calls at workers: hut on db7 1 for $0.01 and 1 failed');
    expect(last).toContain('1 result paid for in vain ($0.02)');
  });

  it('is seen in a post-mortem', async () => {
    const { store, file } = await recorded();
    const report = await postMortemOf(store, file, { nowMs: 0, onDefect: () => undefined });
    const text = renderPostMortem(report, PLAIN);
    expect(text).toContain('2 calls at workers: hut on db7 1');
    expect(text).toContain('1 result paid for in vain ($0.02)');
  });

  it('counts a call of a worker once in statistics, and its run as none', async () => {
    const { store, files } = await recorded();
    const { total, statuses } = await statsOf(store, files, () => undefined);
    expect(total).toMatchObject({ runs: 1, completed: 0, executed: 2, reused: 0, failed: 1, hitRate: 0, costUsd: 0.03 });
    expect(statuses).toEqual({ incomplete: 1 });
    const { runs } = await trendOf(store, JOB, files, () => undefined);
    expect(runs).toMatchObject([{ run: runRef(1).run, executed: 2, failed: 1, costUsd: 0.03 }]);
  });
});

it('counts calls that still wait for a worker in what a resume makes, and the run of a worker as no complete run', async () => {
  const store = openMemoryStore();
  const op = (number: number): OpPath => opPath(`main/ask#${number}`);
  const offered = (number: number, text: string): Fact => ({ type: 'call.offered', key: callKeyOf(text), op: op(number), fn: 'ask' });
  const facts = [
    started(runRef(1)),
    offered(0, 'ebb'),
    offered(1, 'flow'),
    offered(2, 'tide'),
    ...call(op(0), 'ebb', { outcome: 'reused' }),
    ...call(op(1), 'flow', { outcome: 'failed' }).filter(({ type }) => type === 'call.failed'),
  ];
  const ofWorker = [
    { ...started(runRef(2)), worker: { for: runRef(1).run, name: 'hut', lanes: {} } } as Fact,
    ...['ebb', 'neap', 'spring', 'slack', 'surge', 'swell'].flatMap((text, number) => call(op(number), text)),
    { ...finished(), totals: { executed: 6, reused: 0, failed: 0 }, worker: { for: runRef(1).run, name: 'hut' } } as Fact,
  ];
  for (const [number, recordedFacts] of [
    [1, facts],
    [2, ofWorker],
  ] as const) {
    const journal = await store.create(runRef(number));
    for (const fact of recordedFacts) await journal.append(fact);
    await journal.close();
  }
  const [file] = await store.runs(JOB);
  const { resume } = await postMortemOf(store, file!, { nowMs: 0, onDefect: () => undefined });
  expect(resume.unresolved).toMatchObject([
    { fn: 'ask', why: 'failed' },
    { fn: 'ask', why: 'offered' }, // no worker had begun it
  ]);
  expect(resume).toMatchObject({ notStarted: 0, comparedWith: undefined });
});

it('takes calls inside those that workers executed for none that the run had left to make', async () => {
  const store = openMemoryStore();
  const [begin, asked, ...end] = call('main/plan#0', 'outer', { fn: 'plan' }) as [Fact, Fact, ...Fact[]];
  const inner = ['ebb', 'flow'].flatMap((text, number) => call(`main/plan#0/ask#${number}`, text));
  const runs = [
    [started(runRef(1)), ...call('main/plan#0', 'outer', { fn: 'plan', outcome: 'reused' }), finished('failed')],
    [{ ...started(runRef(2)), worker: { for: runRef(1).run, name: 'hut', lanes: {} } } as Fact, begin, asked, ...inner, ...end],
    [started(runRef(3)), ...call('main/ask#5', 'tide'), { ...finished(), totals: { executed: 5, reused: 0, failed: 0 } } as Fact],
  ];
  for (const [index, facts] of runs.entries()) {
    const journal = await store.create(runRef(index + 1));
    for (const fact of facts) await journal.append(fact);
    await journal.close();
  }
  const [file] = await store.runs(JOB);
  const { resume } = await postMortemOf(store, file!, { nowMs: 0, onDefect: () => undefined });
  expect(resume).toMatchObject({ reused: 2, notStarted: 3 }); // of five calls one was made, and one more has a result since
});
