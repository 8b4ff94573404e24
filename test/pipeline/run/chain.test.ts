/** A resume finds the runs before it, how far each counts, and where it continues. */
import { readFileSync, writeFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import type { Fact } from '../../../journal/event.js';
import { openFileStore } from '../../../journal/storage/file-store.js';
import { opPath, seqOf } from '../../../journal/ids.js';
import { journalFolder, runPath } from '../../../journal/storage/layout.js';
import type { JournalStore } from '../../../journal/store.js';
import { newestChain, resumePoint, resumePointAt, type Chain } from '../../../src/session/pipeline/history/chain.js';
import { logicalRunsOf } from '../../../src/session/pipeline/history/logical-run.js';
import { outcomeOf } from '../../../src/pipeline/model/outcome.js';
import { temporaryFolder } from '../../journal/support/folder.js';
import { JOB, key, runRef, started } from '../../support/written-runs.js';

const begins = (path: string, visit = 0): Fact => ({
  type: 'node.started',
  op: opPath(path),
  node: nodeIn(path),
  visit,
  handler: 'codergen',
  ...(path.includes('[') ? { branch: { of: 'fan', id: 'b', index: 0 } } : {}),
});
const ends = (path: string, status: 'success' | 'fail' = 'success', visit = 0): Fact => ({
  type: 'node.finished',
  op: opPath(path),
  node: nodeIn(path),
  visit,
  status,
  outcome: outcomeOf(status),
  attempts: 1,
  elapsedMs: 1,
  ...(path.includes('[') ? { branch: { of: 'fan', id: 'b', index: 0 } } : {}),
});
const replies = (path: string): Fact => ({
  type: 'call.completed',
  op: opPath(path),
  key: key(path),
  result: { inline: '' },
  elapsedMs: 1,
});
const failed: Fact = { type: 'run.finished', status: 'failed', totals: { executed: 0, reused: 0, failed: 0 } };
const nodeIn = (path: string): string => /([a-z]+)#\d+$/.exec(path)?.[1] ?? '';

interface Pipeline {
  readonly root: string;
  readonly store: JournalStore;
  /** Each run but the first resumes the one before after the event that it names. */
  record(number: number, facts: readonly Fact[], behind?: number): Promise<void>;
  chain(): Promise<Chain>;
}

function recorded(): Pipeline {
  const root = temporaryFolder();
  const store = openFileStore(root);
  return {
    root,
    store,
    async record(number, facts, behind) {
      const ref = runRef(number);
      const resume = behind === undefined ? {} : { resume: { run: runRef(number - 1).run, seq: seqOf(behind) } };
      const journal = await store.create(ref);
      for (const fact of [{ ...started(ref), pipeline: 'p', ...resume }, ...facts]) await journal.append(fact as Fact);
      await journal.close();
    },
    async chain() {
      const chain = await newestChain(store, JOB);
      if (!chain) throw new Error('no run');
      return chain;
    },
  };
}

const visited = ({ state }: Chain): readonly string[] => state.main.history.map(({ node_id: id }) => id);
const WALK = [begins('main/a#0'), ends('main/a#0'), begins('main/b#0'), ends('main/b#0'), begins('main/c#0'), ends('main/c#0')];

it('counts of an earlier run what stood before the event that the later one went on behind', async () => {
  const { record, chain } = recorded();
  await record(1, WALK);
  await record(2, [begins('main/x#0'), ends('main/x#0')], 2);
  expect(visited(await chain())).toEqual(['a', 'x']);
});

it('counts nothing behind a damaged line: what follows may build on what is lost', async () => {
  const { root, record, chain } = recorded();
  await record(1, WALK);
  const path = runPath(journalFolder(root), runRef(1));
  writeFileSync(
    path,
    readFileSync(path, 'utf8').replace('"node":"b","visit":0,"status":"success"', '"node":"b","visit":0,"status":"succe55"'),
  );
  const read = await chain();
  expect(visited(read)).toEqual(['a']);
  expect(resumePoint(read).from).toEqual({ run: runRef(1).run, seq: 3 });
});

it('continues at the node that failed last, or where the walk was', async () => {
  const { record, chain } = recorded();
  await record(1, WALK.slice(0, 3));
  expect(resumePoint(await chain()).enterAt).toBeUndefined();
  await record(2, [begins('main/b#0'), ends('main/b#0', 'fail'), failed], 3);
  expect(resumePoint(await chain()).enterAt).toBe('b');
});

it('continues at the node where the run before was to begin, if that died before it', async () => {
  const { record, chain, store } = recorded();
  await record(1, [...WALK.slice(0, 2), begins('main/b#0'), ends('main/b#0', 'fail'), failed]);
  const journal = await store.create(runRef(2));
  const before = { run: runRef(1).run, seq: seqOf(5) };
  await journal.append({ ...started(runRef(2)), pipeline: 'p', resume: before, enterAt: 'b' } as Fact);
  await journal.close();
  expect(resumePoint(await chain())).toMatchObject({ enterAt: 'b', from: { run: runRef(2).run, seq: 0 } });
});

it('continues where the walk was when a limit ended it, whatever had failed before', async () => {
  const { record, chain } = recorded();
  const edge: Fact = { type: 'edge.selected', op: opPath('main'), from: 'b', to: 'c', via: 'weight' };
  const error = { code: 'PIPELINE_LIMIT', message: 'max_steps is reached' };
  await record(1, [begins('main/a#0'), ends('main/a#0', 'fail'), begins('main/b#0'), ends('main/b#0'), edge, { ...failed, error } as Fact]);
  expect(resumePoint(await chain()).enterAt).toBe('c');
});

it('goes back to the last start of a node on the main path, and drops the replies behind it', async () => {
  const { store, record, chain } = recorded();
  await record(1, [
    replies('main/a#0/try#1/model#0'), // event 1
    ...WALK.slice(0, 4),
    begins('main/a#1', 1), // 6
    replies('main/a#1/try#1/model#0'),
    ends('main/a#1', 'success', 1),
  ]);
  await record(2, [begins('main/c#0'), replies('main/c#0/try#1/model#0'), ends('main/c#0')], 8);
  const point = await resumePointAt(store, await chain(), 'a');
  expect(point).toMatchObject({ enterAt: 'a', from: { run: runRef(1).run, seq: 5 } });
  expect(point.invalidated).toEqual([key('main/a#1/try#1/model#0'), key('main/c#0/try#1/model#0')]);
  expect(point.state.main.history.map(({ node_id: id }) => id)).toEqual(['a', 'b']);
});

it('goes back to where a visit began that a later run went on with, and takes away what each of them had', async () => {
  const { store, record, chain } = recorded();
  await record(1, [begins('main/a#0'), ends('main/a#0'), begins('main/b#0'), replies('main/b#0/try#1/model#0')]);
  await record(2, [begins('main/b#0'), replies('main/b#0/try#2/model#0'), ends('main/b#0')], 4);
  const point = await resumePointAt(store, await chain(), 'b');
  expect(point).toMatchObject({ enterAt: 'b', from: { run: runRef(1).run, seq: 2 } });
  expect(point.invalidated).toEqual([key('main/b#0/try#1/model#0'), key('main/b#0/try#2/model#0')]);
  expect([point.state.main.running, point.state.received.size]).toEqual([undefined, 0]);
});

it('goes back to no node inside a branch, and names those that it can', async () => {
  const { store, record, chain } = recorded();
  await record(1, [begins('main/fan#0'), begins('main/fan#0[0]/b#0'), ends('main/fan#0[0]/b#0'), ends('main/fan#0')]);
  await expect(resumePointAt(store, await chain(), 'b')).rejects.toMatchObject({
    code: 'RESUME_NODE',
    hint: expect.stringMatching(/: fan$/),
  });
  await expect(resumePointAt(store, await chain(), 'failed')).rejects.toMatchObject({
    hint: expect.stringMatching(/^a run with --checkpoint executes .* have no result, and --resume NODE a stage .*; nodes .*: fan$/),
  });
});

it('ends where a run says that it resumed itself', async () => {
  const { store, chain } = recorded();
  const [first, second] = [runRef(1), runRef(2)];
  for (const [ref, other] of [
    [first, second],
    [second, first],
  ] as const) {
    const journal = await store.create(ref);
    await journal.append({ ...started(ref), pipeline: 'p', resume: { run: other.run, seq: seqOf(0) } } as Fact);
    await journal.close();
  }
  expect((await chain()).segments.map(({ ref }) => ref.run)).toEqual([first.run, second.run]);
  const heads = [first, second].map((ref, i) => ({
    ref,
    started: { ...started(ref), resume: { run: (i === 0 ? second : first).run, seq: seqOf(0) } } as never,
  }));
  expect(logicalRunsOf(heads).map(({ segments: stretches }) => stretches.length)).toEqual([2]);
});
