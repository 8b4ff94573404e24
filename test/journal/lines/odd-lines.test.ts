/** A line that is right in the chain, with a member of another type that a fold only keeps: reports pass over it and say so. */
import { expect, it } from 'vitest';
import { renderConclusion, renderEntry } from '../../../cli/render/reports/audit.js';
import { renderDiff, renderForkPoint } from '../../../cli/render/reports/diff.js';
import { renderEvent } from '../../../cli/render/reports/journal.js';
import { renderPostMortem } from '../../../cli/render/reports/postmortem.js';
import { renderStats } from '../../../cli/render/reports/stats.js';
import { styleFor } from '../../../cli/render/style.js';
import { sha256 } from '../../../journal/canonical.js';
import type { Fact } from '../../../journal/event.js';
import { opPath, type BlobId } from '../../../journal/ids.js';
import { openMemoryStore } from '../../../journal/storage/memory-store.js';
import type { Defect, JournalStore } from '../../../journal/store.js';
import { auditRun } from '../../../src/api/reports/audit.js';
import { diffRuns, forkPointOf } from '../../../src/api/reports/diff.js';
import { openPage } from '../../../src/api/reports/page.js';
import { postMortemOf } from '../../../src/api/reports/postmortem.js';
import { statsOf } from '../../../src/api/reports/stats.js';
import { summariseRun } from '../../../src/api/reports/summary.js';
import { verifyRun } from '../../../src/api/reports/verify.js';
import { call, finished, runRef, started } from '../../support/written-runs.js';

const style = { ...styleFor(false), columns: 100 };
const BLOB: BlobId = sha256('text');
const NODE = { op: opPath('main/pump#0'), node: 'pump', visit: 0 };
const OUTCOME = {
  status: 'fail',
  preferred_label: '',
  suggested_next_ids: [],
  failure_reason: 'no water',
  context_updates: {},
  notes: '',
} as const;

/** A run with one event of each type that is changed below. */
function facts(number: number): readonly Fact[] {
  return [
    { ...started(runRef(number)), pipeline: 'p' } as Fact,
    { type: 'source.loaded', path: 'job.mld', blob: BLOB, role: 'script' },
    ...call('main/ask#0', 'ebb'),
    ...call('main/ask#1', 'flow', { outcome: 'reused' }),
    ...call('main/ask#2', 'neap', { outcome: 'failed' }),
    { type: 'effect.performed', op: opPath('main'), kind: 'file.read', subject: 'a', request: 'r', file: BLOB, result: { inline: 1 } },
    { type: 'node.started', ...NODE, handler: 'codergen' },
    { type: 'node.finished', ...NODE, status: 'fail', outcome: OUTCOME, attempts: 1, elapsedMs: 1 },
    { ...finished('failed'), error: { code: 'X', message: 'no', op: opPath('main/ask#2'), location: 'job.mld:1:1' } } as Fact,
  ];
}

interface Change {
  readonly type: Fact['type'];
  readonly members: object;
}

async function written({ type, members }: Change): Promise<JournalStore> {
  const store = openMemoryStore();
  for (const number of [1, 2]) {
    const journal = await store.create(runRef(number));
    for (const fact of facts(number)) journal.post(number === 2 && fact.type === type ? ({ ...fact, ...members } as Fact) : fact);
    await journal.close();
  }
  return store;
}

const ODD = [null, 7, ['x'], { a: 1 }, undefined] as const;
const TEXTS: readonly (readonly [Fact['type'], string])[] = [
  ['source.loaded', 'path'],
  ['call.started', 'op'],
  ['call.completed', 'op'],
  ['call.reused', 'op'],
  ['call.failed', 'op'],
  ['call.failed', 'message'],
  ['effect.performed', 'subject'],
  ['node.started', 'op'],
  ['node.finished', 'op'],
  ['node.finished', 'status'],
  ['run.finished', 'status'],
];
const OBJECTS: readonly (readonly [Fact['type'], string])[] = [
  ['run.started', 'flags'],
  ['call.started', 'args'],
  ['call.completed', 'result'],
  ['call.reused', 'from'],
  ['node.finished', 'outcome'],
];
const CHANGES: readonly Change[] = [
  ...TEXTS.flatMap(([type, member]) => ODD.map((value) => ({ type, members: { [member]: value } }))),
  ...OBJECTS.flatMap(([type, member]) => [null, 7, 'odd', undefined].map((value) => ({ type, members: { [member]: value } }))),
  ...[null, 7, 'odd', {}].map((error) => ({ type: 'run.finished' as const, members: { error } })),
  ...[null, 7, ['x']].map((value) => ({ type: 'source.loaded' as const, members: { blob: value } })),
  ...[null, 7, ['x']].map((value) => ({ type: 'call.failed' as const, members: { class: value } })),
  ...[null, 7].map((value) => ({ type: 'effect.performed' as const, members: { file: value } })),
  ...[null, 7].map((value) => ({ type: 'effect.performed' as const, members: { result: value } })),
  { type: 'call.completed', members: { result: { blob: 7, bytes: 1 } } },
  { type: 'node.finished', members: { outcome: { ...OUTCOME, failure_reason: 7 } } },
  { type: 'node.finished', members: { outcome: { ...OUTCOME, context_updates: null } } },
];

it.each(CHANGES)('a $type with $members is passed over by each report, and named', async (change) => {
  const store = await written(change);
  const defects: Defect[] = [];
  const options = { onDefect: (defect: Defect): void => void defects.push(defect) };
  const [left, right] = [runRef(1), runRef(2)];
  renderPostMortem(await postMortemOf(store, right, { nowMs: 0, ...options }), style);
  expect(defects.map(({ run }) => run)).toContainEqual(right);
  renderStats(await statsOf(store, options), style);
  const audit = await auditRun(store, right);
  for (const entry of audit.entries) renderEntry(entry, style);
  renderConclusion(audit, style);
  renderDiff(await diffRuns(store, left, right, options), style);
  renderForkPoint(await forkPointOf(store, left, right, options), style);
  await summariseRun(store, right, options);
  await openPage(store, right, { stepsOf: () => [], ...options });
  await store.scan(right, (event) => void renderEvent(event, style), options);
  expect((await verifyRun(store, right)).defects.length).toBeGreaterThan(0);
});

it('shows a node whose path names none', async () => {
  const store = await written({ type: 'node.started', members: { op: 'odd' } });
  expect(renderPostMortem(await postMortemOf(store, runRef(2), { nowMs: 0 }), style)).toMatch(/^ {2}pump unfinished/m);
});

it('keeps lines of events that it does not know, and of those without optional members', async () => {
  const store = openMemoryStore();
  const journal = await store.create(runRef(1));
  for (const fact of facts(1)) journal.post(fact.type === 'source.loaded' ? ({ ...fact, blob: undefined } as unknown as Fact) : fact);
  journal.post({ type: 'tide.turned', op: 7 } as unknown as Fact);
  await journal.close();
  const report = await store.scan(runRef(1), () => undefined);
  expect(report).toMatchObject({ defects: 0, events: facts(1).length + 1 });
});
