/** A line with members of another type, which reports leave out, is visited as any other by what keeps, moves or removes runs. */
import { beforeEach, expect, it } from 'vitest';
import type { Fact } from '../../../journal/event.js';
import { openFileStore } from '../../../journal/storage/file-store.js';
import type { Defect, JournalStore } from '../../../journal/store.js';
import { loadWorkflow } from '../../../replay/memo/load.js';
import { usableEntry } from '../../../replay/memo/memo.js';
import { readEvents } from '../../../src/api/reports/events.js';
import { postMortemOf } from '../../../src/api/reports/postmortem.js';
import { verifyRun } from '../../../src/api/reports/verify.js';
import { collectGarbage } from '../../../src/session/upkeep/collect-garbage.js';
import { copyRuns } from '../../../src/session/upkeep/copy-runs.js';
import { redactRun } from '../../../src/session/upkeep/redact-run.js';
import { projectFolder } from '../../support/cli.js';
import { callCli } from '../../support/in-process/call-cli.js';
import { recordRun } from '../../support/recorded-project.js';
import { call, callKeyOf, JOB, runRef } from '../../support/written-runs.js';

const AT = '2026-11-21T08:00:00.000Z';

/** A failed call whose message is a list, and a call in a lane that is an object: reports can't use these lines. */
const ODD: readonly Fact[][] = [
  call('main/ask#8', 'ebb', { outcome: 'failed' }).map((fact) =>
    fact.type === 'call.failed' ? ({ ...fact, message: ['token-4711'] } as unknown as Fact) : fact,
  ),
  call('main/ask#9', 'neap').map((fact) =>
    fact.type === 'call.started' ? ({ ...fact, lane: { text: 'token-4711' } } as unknown as Fact) : fact,
  ),
];

let root: string;
let store: JournalStore;
beforeEach(async () => {
  root = await projectFolder();
  store = openFileStore(root);
});

async function textOf(number: number): Promise<string> {
  const lines = [];
  for await (const event of readEvents(store, runRef(number))) lines.push(JSON.stringify(event));
  return lines.join('\n');
}

it('loses its text in a redaction', async () => {
  await recordRun(root, 1, ...ODD);
  expect((await textOf(1)).match(/token-4711/g)).toHaveLength(2);
  const request = { op: undefined, match: /token-\d+/, reason: 'asked by customer', at: AT, dryRun: false };
  expect(await redactRun(store, root, runRef(1), request)).toMatchObject({ events: 2 });
  expect(await textOf(1)).not.toContain('token-4711');
});

it('is found by the path of its operation, where no other line has it', async () => {
  await recordRun(root, 1, ODD[0]!.slice(2, 3));
  const done = await callCli(['journal', 'redact', runRef(1).run, '--op', 'main/ask#8', '--json'], { cwd: root });
  expect(JSON.parse(done.stdout)).toMatchObject({ events: 1 });
});

it('keeps garbage collection from removing nothing: the blobs that it names stay, and unused ones go', async () => {
  const [used, unused, old] = await Promise.all(['used', 'unused', 'old'].map(async (text) => (await store.putBlob(text)).blob));
  await recordRun(root, 1, [{ type: 'source.loaded', path: 'job.mld', blob: old!, role: 'script' }], call('main/ask#0', 'spring'));
  await recordRun(root, 2, ...ODD, call('main/ask#0', 'spring'), [
    { type: 'source.loaded', path: 7, blob: used, role: 'script' } as unknown as Fact,
  ]);
  const done = await collectGarbage(store, root, { keep: 0, sinceMs: undefined, workflow: undefined, needed: 'stays', dryRun: false });
  expect(done).toMatchObject({ removed: [runRef(1)], blobs: { count: 2 }, blobsLeft: null });
  expect(await store.getBlob(used!)).toBeDefined();
  expect([await store.getBlob(unused!), await store.getBlob(old!)]).toEqual([undefined, undefined]);
});

it('is copied with its run, which verifies', async () => {
  await recordRun(root, 1, ...ODD);
  expect(await verifyRun(store, runRef(1))).toMatchObject({ ok: true, defects: [] });
  const other = await projectFolder();
  const report = await copyRuns({ store, root }, { store: openFileStore(other), root: other });
  expect(report).toMatchObject({ copied: [runRef(1)], left: [] });
});

it('is part of the past of a start, also when a report has read it before', async () => {
  const many = Array.from({ length: 500 }, (_, n) => call(`main/ask#${n + 10}`, n)).flat(); // enough for an index
  await recordRun(root, 1, ...ODD, many);
  const told: Defect[] = [];
  await postMortemOf(store, runRef(1), { onDefect: (defect) => told.push(defect) });
  expect(told).toMatchObject([{ kind: 'unknown-members' }]);
  expect(await store.readDerived(JOB, 'index')).toBeUndefined();
  const defects: Defect[] = [];
  const { memo } = await loadWorkflow(openFileStore(root), JOB, { onDefect: (defect) => defects.push(defect) });
  expect(defects).toEqual([]);
  expect(usableEntry(memo, callKeyOf('neap'))).toMatchObject({ fn: 'ask', preview: 'neap' });
  expect(await store.readDerived(JOB, 'index')).toBeDefined();
  expect(await postMortemOf(store, runRef(1))).toMatchObject({ status: 'completed' });
});
