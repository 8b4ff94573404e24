/**
 * A line that is right in the chain, with a member of another type, as another program or version may have written it: each report leaves
 * it out and says so, once.
 */
import { describe, expect, it } from 'vitest';
import { renderConclusion, renderEntry, renderOrigin } from '../../../cli/render/reports/audit.js';
import { renderCall } from '../../../cli/render/reports/call.js';
import { renderDiff, renderForkPoint } from '../../../cli/render/reports/diff.js';
import { renderExplanation } from '../../../cli/render/reports/explain.js';
import { renderPostMortem } from '../../../cli/render/reports/postmortem.js';
import { nextSteps } from '../../../cli/render/reports/next-steps.js';
import { renderStats } from '../../../cli/render/reports/stats.js';
import { styleFor } from '../../../cli/render/style.js';
import type { Fact, JournalEvent } from '../../../journal/event.js';
import { opPath, seqOf } from '../../../journal/ids.js';
import { unfitMember } from '../../../journal/lines/member-types.js';
import { openMemoryStore } from '../../../journal/storage/memory-store.js';
import type { Defect, JournalStore } from '../../../journal/store.js';
import { auditRun, originOfFile } from '../../../src/api/reports/audit.js';
import { readCall } from '../../../src/api/reports/call.js';
import { diffRuns, forkPointOf } from '../../../src/api/reports/diff.js';
import { explainRun } from '../../../src/api/reports/explain.js';
import { exportAttempts, exportCalls, exportChromeTrace, exportOtlp } from '../../../src/api/reports/export.js';
import { followPage, openPage } from '../../../src/api/reports/page.js';
import { latestFailure, postMortemOf } from '../../../src/api/reports/postmortem.js';
import { statsOf, trendOf } from '../../../src/api/reports/stats.js';
import { timelineOf } from '../../../src/api/reports/timeline.js';
import { summariseRun } from '../../../src/api/reports/summary.js';
import { verifyRun } from '../../../src/api/reports/verify.js';
import { runFile } from '../../../src/api/run-target.js';
import { everyEvent } from '../support/every-event.js';
import { call, JOB, runRef, started } from '../../support/written-runs.js';

const style = { ...styleFor(false), columns: 100 };

interface Change {
  readonly index: number;
  readonly members: object;
}

/** Two runs, of which the second has one line with other members. */
async function written(change?: Change): Promise<JournalStore> {
  const store = openMemoryStore();
  await store.putBlob('text');
  for (const number of [1, 2]) {
    const journal = await store.create(runRef(number));
    everyEvent(number).forEach((fact, index) =>
      journal.post(number === 2 && index === change?.index ? ({ ...fact, ...change.members } as Fact) : fact),
    );
    await journal.close();
  }
  return store;
}

/** Makes all reports about the runs of a store, as the commands print them. */
const REPORTS: { readonly [name: string]: (store: JournalStore, onDefect: (defect: Defect) => void) => Promise<unknown> } = {
  'journal postmortem': async (store, onDefect) => {
    await latestFailure(store);
    return renderPostMortem(await postMortemOf(store, runRef(2), { nowMs: 0, onDefect }), style);
  },
  'journal stats': async (store, onDefect) => renderStats(await statsOf(store, { onDefect }), style),
  'journal audit': async (store, onDefect) => {
    const audit = await auditRun(store, runRef(2));
    audit.integrity.defects.forEach(onDefect);
    return [...audit.entries.map((entry) => renderEntry(entry, style)), renderConclusion(audit, style)];
  },
  'journal audit --file': async (store, onDefect) => {
    const isFile = (path: string): boolean => path === 'out.md';
    return renderOrigin('out.md', await originOfFile(store, runRef(2), { isFile, content: 'text', onDefect }), style);
  },
  'journal diff': async (store, onDefect) => renderDiff(await diffRuns(store, runRef(1), runRef(2), { onDefect }), style),
  'journal diff --fork-point': async (store, onDefect) =>
    renderForkPoint(await forkPointOf(store, runRef(1), runRef(2), { onDefect }), style),
  'journal explain': async (store, onDefect) => renderExplanation(await explainRun(store, runRef(2), { onDefect }), style),
  'journal cat': async (store, onDefect) => renderCall(await readCall(store, runRef(2), 'main/for#0', { onDefect }), style),
  'journal report': async (store, onDefect) => JSON.stringify(await openPage(store, runRef(2), { stepsOf: nextSteps, onDefect })),
  'journal report --json': async (store, onDefect) => JSON.stringify(await timelineOf(store, runRef(2), { onDefect })),
  'journal report --script': async (store, onDefect) => JSON.stringify(await trendOf(store, { workflow: JOB, onDefect })),
  'journal export': async (store, onDefect) => [
    JSON.stringify(await exportOtlp(store, runRef(2), { withContent: true, onDefect })),
    JSON.stringify(await exportChromeTrace(store, runRef(2))),
    JSON.stringify([...(await exportCalls(store, runRef(2))), ...(await exportAttempts(store, runRef(2)))]),
  ],
  'journal list': async (store, onDefect) => summariseRun(store, runRef(2), { nowMs: 0, onDefect }),
  serve: async (store, onDefect) => {
    const page = await followPage(store, await runFile(store, runRef(2)), nextSteps);
    for (const message of page.data.defects) onDefect({ kind: 'unknown-members', run: runRef(2), message });
    return JSON.stringify([page.data, await page.details()]);
  },
};

const FACTS = everyEvent(2);
/** Reports use nothing of these, or any value of them. */
const UNCHECKED = new Set([
  'run.started payload',
  'run.started pid',
  'call.completed onlyCalls',
  'effect.performed errorAt',
  'hook.fired transformed',
  'guard.decided transformed',
  'gate.checked satisfied',
  'artifact.stored fileBacked',
]);
const ODD: readonly unknown[] = [null, 7, 'odd', ['x'], { a: 1 }, [7]];
const MEMBERS = FACTS.flatMap((fact) =>
  Object.entries(fact)
    .filter(([member]) => member !== 'type')
    .map(([member, value]) => ({ fact, type: fact.type, member, kind: kindOf(value) })),
).filter(({ type, member }) => !type.startsWith('app.') && !UNCHECKED.has(`${type} ${member}`));

function kindOf(value: unknown): string {
  return Array.isArray(value) ? 'list' : value === null ? 'null' : typeof value;
}

function eventOf(fact: Fact, members: object = {}): JournalEvent {
  return { v: 1, seq: seqOf(1), ts: '2026-01-01T00:00:00.000Z', hash: '', ...fact, ...members } as JournalEvent;
}

describe('the members that are checked', () => {
  it.each(MEMBERS)('$member of $type can be nothing but a $kind', ({ fact, member, kind }) => {
    for (const value of ODD) if (kindOf(value) !== kind) expect(unfitMember(eventOf(fact, { [member]: value }))).toBe(member);
  });

  it.each<readonly [Fact['type'], string, unknown]>([
    ['call.completed', 'result', { blob: 7, bytes: 1 }],
    ['call.completed', 'usage', { costUsd: '1' }],
    ['call.completed', 'usage', { models: [null] }],
    ['call.completed', 'outputs', [7]],
    ['call.completed', 'files', [{ path: null }]],
    ['call.reused', 'from', { run: 7, seq: 1 }],
    ['node.finished', 'outcome', { status: 'fail', failure_reason: 7 }],
    ['question.asked', 'options', [{ key: 7 }]],
    ['definition.recorded', 'parts', [{}]],
    ['run.started', 'forks', [{ workflow: 7 }]],
    ['run.started', 'resume', { run: 7 }],
    ['run.finished', 'error', { message: 'no' }],
    ['run.finished', 'totals', { executed: '1' }],
    ['app.tide.level' as Fact['type'], 'data', { blob: 7 }],
    ['lane.changed', 'heldUntil', 'soon'],
    ['call.failed', 'ts', 'lately'],
  ])('a part of %s can make %s unfit: %j', (type, member, value) => {
    const fact = FACTS.find((each) => each.type === type) as Fact;
    expect(unfitMember(eventOf(fact, { [member]: value }))).toContain(member);
  });

  it('leave the lines fit that this program writes, those that were redacted, and those of events and members that it does not know', () => {
    for (const fact of FACTS) expect(unfitMember(eventOf(fact))).toBeUndefined();
    const source = FACTS.find(({ type }) => type === 'source.loaded') as Fact;
    expect(unfitMember(eventOf(source, { blob: undefined }))).toBeUndefined();
    expect(unfitMember(eventOf({ type: 'tide.turned', op: 7 } as unknown as Fact))).toBeUndefined();
    expect(unfitMember(eventOf(FACTS[0] as Fact, { tide: 7 }))).toBeUndefined();
  });
});

const NAMES = Object.keys(REPORTS);

/** Makes every report; returns how often each said that lines were left out. */
async function reported(store: JournalStore): Promise<{ readonly told: Map<string, number>; readonly messages: Set<string> }> {
  const told = new Map<string, number>();
  const messages = new Set<string>();
  for (const [name, make] of Object.entries(REPORTS)) {
    const seen = new Set<string>(); // as commands do, which say it once for each run
    await make(store, ({ kind, run, message }) => {
      if (kind !== 'unknown-members') return;
      expect(run).toEqual(runRef(2));
      seen.add(message);
    });
    told.set(name, seen.size);
    for (const message of seen) messages.add(message);
  }
  return { told, messages };
}

const LINES = FACTS.map((fact, index) => ({
  type: fact.type as string,
  index,
  member: Object.keys(fact).find((name) => name !== 'type') ?? '',
})).filter(({ type }) => !type.startsWith('app.')); // one without data is an event that nobody knows

it.each(LINES)(
  'every report leaves out line $index, a $type whose $member is a number or null, and says so',
  async ({ type, index, member }) => {
    const value = typeof FACTS[index]?.[member as 'type'] === 'number' ? null : 7;
    const { told, messages } = await reported(await written({ index, members: { [member]: value } }));
    expect(Object.fromEntries(told)).toEqual(Object.fromEntries(NAMES.map((name) => [name, 1])));
    expect([...messages]).toEqual([
      expect.stringMatching(
        new RegExp(
          `^line ${index + 1} has a member that this version of mlld can't read \\(.+ of ${type}\\) and is left out: a newer mlld may read it$`,
        ),
      ),
    ]);
  },
);

const PATHS = FACTS.map((fact, index) => ({ type: fact.type as string, index })).filter(({ index }) => 'op' in (FACTS[index] as Fact));

it.each(PATHS)('every report takes line $index, a $type whose path names nothing', async ({ index }) => {
  const { messages } = await reported(await written({ index, members: { op: 'odd' } }));
  expect(messages.size).toBe(0);
});

it('counts the lines that are left out, and names the first', async () => {
  const store = openMemoryStore();
  const journal = await store.create(runRef(1));
  for (const fact of [
    started(runRef(1)),
    ...call('main/ask#0', 'ebb', { outcome: 'failed' }),
    ...call('main/ask#1', 'flow', { outcome: 'failed' }),
  ])
    journal.post(fact.type === 'call.failed' ? ({ ...fact, message: 7 } as unknown as Fact) : fact);
  await journal.close();
  const defects: Defect[] = [];
  await postMortemOf(store, runRef(1), { onDefect: (defect) => defects.push(defect) });
  expect(defects).toEqual([
    {
      kind: 'unknown-members',
      run: runRef(1),
      line: 4,
      offset: expect.any(Number) as number,
      message:
        "2 lines have members that this version of mlld can't read (the first is line 4: message of call.failed) and are left out: a newer mlld may read them",
    },
  ]);
  expect(await verifyRun(store, runRef(1))).toMatchObject({ ok: true, defects: [], events: 9 });
  expect((await auditRun(store, runRef(1))).integrity).toMatchObject({ ok: true, defects, violations: [], events: 9 });
});

it('shows a source whose text was redacted as one without a text', async () => {
  const store = await written({ index: 1, members: { blob: undefined } });
  const page = await openPage(store, runRef(2));
  expect(page.data.sources).toMatchObject([{ path: 'job.mld', text: null }]);
  expect(page.data.defects).toEqual([]);
});

it('shows a node whose path names none at the margin', async () => {
  const store = await written({ index: FACTS.findIndex(({ type }) => type === 'node.started'), members: { op: opPath('odd') } });
  expect(renderPostMortem(await postMortemOf(store, runRef(2), { nowMs: 0 }), style)).toMatch(/^ {2}pump unfinished/m);
});
