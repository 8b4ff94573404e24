import { beforeEach, describe, expect, it } from 'vitest';
import { openFileStore } from '../../../journal/storage/file-store.js';
import type { JournalStore } from '../../../journal/store.js';
import { keeperOf } from '../../../src/session/upkeep/keeper-of.js';
import { readEvents } from '../../../src/api/reports/events.js';
import { bundleRun, unbundleRuns } from '../../../src/session/upkeep/bundle-run.js';
import { collectBlobs } from '../../../src/session/upkeep/collect-blobs.js';
import { collectGarbage } from '../../../src/session/upkeep/collect-garbage.js';
import { redactRun } from '../../../src/session/upkeep/redact-run.js';
import { redactionRequest } from '../../../src/session/upkeep/redaction-request.js';
import { projectFolder } from '../../support/cli.js';
import { recordRun } from '../../support/recorded-project.js';
import { call, JOB, runRef, started } from '../../support/written-runs.js';

const AT = '2026-11-21T08:00:00.000Z';
const ALL = { keep: 0, sinceMs: undefined, workflow: undefined, needed: 'stays' } as const;

let root: string;
let store: JournalStore;
beforeEach(async () => {
  root = await projectFolder();
  store = openFileStore(root);
});

async function textOf(journal: JournalStore, number: number): Promise<string> {
  const lines = [];
  for await (const event of readEvents(journal, runRef(number))) lines.push(JSON.stringify(event));
  return lines.join('\n');
}

describe('garbage collection', () => {
  it('removes runs whose results later runs replaced, with the blobs that only they named', async () => {
    const { blob } = await store.putBlob('show "old"');
    await recordRun(root, 1, [{ type: 'source.loaded', path: 'job.mld', blob, role: 'script' }], call('main/ask#0', 'ebb'));
    await recordRun(root, 2, call('main/ask#0', 'ebb'));
    const planned = await collectGarbage(store, root, { ...ALL, dryRun: true });
    expect(planned).toMatchObject({ dryRun: true, removed: [runRef(1)], blobs: { count: 1 }, blobsLeft: null });
    expect(await store.runs(JOB)).toHaveLength(2);
    const { dryRun, ...done } = await collectGarbage(store, root, { ...ALL, dryRun: false });
    expect({ ...done, dryRun: !dryRun }).toEqual(planned);
    expect((await store.runs(JOB)).map(({ ref }) => ref)).toEqual([runRef(2)]);
    expect(await store.getBlob(blob)).toBeUndefined();
  });

  it('removes no blob while a run is in flight that may be about to name it', async () => {
    const { blob } = await store.putBlob('show "new"');
    const journal = await store.create(runRef(1));
    await journal.append(started(runRef(1)));
    expect(await collectBlobs(store, await keeperOf(store, root), { going: [], dryRun: false })).toEqual({ removed: [], left: 'running' });
    expect(await store.getBlob(blob)).toBeDefined();
    await journal.close();
  });
});

describe('redaction', () => {
  it('takes a match out of every payload of a run, and says how many results that costs', async () => {
    await recordRun(root, 1, call('main/ask#0', 'token-4711'), call('main/ask#1', 'ebb'));
    const request = { op: undefined, match: /token-\d+/, reason: 'asked by customer' };
    const planned = await redactRun(store, root, runRef(1), { ...request, at: AT, dryRun: true });
    expect(planned).toMatchObject({ results: 1, dryRun: true });
    expect(await textOf(store, 1)).toContain('token-4711');
    expect(await redactRun(store, root, runRef(1), { ...request, at: AT, dryRun: false })).toMatchObject({ ...planned, dryRun: false });
    const text = await textOf(store, 1);
    expect(text).not.toContain('token-4711');
    expect(text).toContain('asked by customer');
  });

  it('looks into the blobs that a run names', async () => {
    const { blob } = await store.putBlob('var @t = "token-4711"');
    await recordRun(root, 1, [{ type: 'source.loaded', path: 'job.mld', blob, role: 'script' }]);
    const asked = { ops: undefined, reason: 'redacted' };
    expect((await redactionRequest(store, runRef(1), { ...asked, match: /token-4711/ })).blobs).toEqual(new Set([blob]));
    expect((await redactionRequest(store, runRef(1), { ...asked, match: undefined })).blobs).toEqual(new Set());
  });

  it('is refused while a run is in flight', async () => {
    await recordRun(root, 1, call('main/ask#0', 'ebb'));
    const journal = await store.create(runRef(2));
    const redacting = redactRun(store, root, runRef(1), { op: undefined, match: /ebb/, reason: 'r', at: AT, dryRun: false });
    await expect(redacting).rejects.toMatchObject({ code: 'RUN_RUNNING' });
    await journal.close();
  });
});

describe('a bundle', () => {
  it('brings a run and its blobs into another journal, without what was redacted for it', async () => {
    const { blob } = await store.putBlob('show "here"');
    await recordRun(root, 1, [{ type: 'source.loaded', path: 'job.mld', blob, role: 'script' }], call('main/ask#0', 'token-4711'));
    const [file] = await store.runs(JOB);
    const bundled = await bundleRun(store, root, file!, { match: /token-\d+/, at: AT });
    expect(bundled).toMatchObject({ runs: [runRef(1)], blobs: 1 });
    const other = await projectFolder();
    await unbundleRuns(bundled.packed, { store: openFileStore(other), root: other, scratch: await projectFolder() });
    expect(await textOf(openFileStore(other), 1)).not.toContain('token-4711');
    expect(await openFileStore(other).getBlob(blob)).toBeDefined();
    expect(await textOf(store, 1)).toContain('token-4711');
  });

  it('is refused of a run in flight, and of one that does not verify', async () => {
    const journal = await store.create(runRef(1));
    await journal.append(started(runRef(1)));
    const [running] = await store.runs(JOB);
    await expect(bundleRun(store, root, running!, { match: undefined, at: AT })).rejects.toMatchObject({ code: 'RUN_RUNNING' });
    await journal.close();
    const { blob } = await openFileStore(await projectFolder()).putBlob('elsewhere');
    await recordRun(root, 2, [{ type: 'source.loaded', path: 'job.mld', blob, role: 'script' }]);
    const lacking = (await store.runs(JOB)).at(-1);
    await expect(bundleRun(store, root, lacking!, { match: undefined, at: AT })).rejects.toMatchObject({ code: 'BUNDLE_DAMAGED' });
  });
});
