/** A line that is right in the chain and has members of other types, as whoever may record can write one: it costs itself. */
import { readFileSync, writeFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { CHAIN_SEED, lineOf } from '../../../journal/codec.js';
import { journalFolder, runPath } from '../../../journal/storage/layout.js';
import type { Fact, JournalEvent } from '../../../journal/event.js';
import { opPath } from '../../../journal/ids.js';
import { openFileStore } from '../../../journal/storage/file-store.js';
import { openMemoryStore } from '../../../journal/storage/memory-store.js';
import type { Defect, JournalStore } from '../../../journal/store.js';
import { scanInOrder } from '../../../replay/memo/scan/scan-in-order.js';
import { verifyRun } from '../../../replay/reports/audit/verify.js';
import { walkAtPath, emptyWalk, MAIN } from '../../../replay/pipeline/walk.js';
import { foldRun, foldWorkflow } from '../../../src/api/fold.js';
import { loadWorkflow } from '../../../replay/memo/load.js';
import { callCompleted, callStarted, finished, runRef, started, workflow } from '../support/facts.js';
import { temporaryFolder } from '../support/folder.js';
import { readRun } from '../support/read.js';

const ref = runRef(1);
const ODD = { ...callCompleted(1), result: 5 } as unknown as Fact;
const FACTS: readonly Fact[] = [started, callStarted(0), callCompleted(0), callStarted(1), ODD, callStarted(2), callCompleted(2), finished];
const NOTICE = /^line 5 has members of other types than this program writes, and is passed over \(.*redacted.*\)$/;

async function written(store: JournalStore, facts: readonly Fact[] = FACTS): Promise<JournalStore> {
  const journal = await store.create(ref);
  for (const fact of facts) journal.post(fact);
  await journal.close();
  return store;
}

describe.each([
  ['files', () => openFileStore(temporaryFolder())],
  ['memory', openMemoryStore],
])('a line with a result that is a number, in %s', (_name, open) => {
  it('is a defect of its run for a start, and the results around it are used', async () => {
    const defects: Defect[] = [];
    const prior = await loadWorkflow(await written(open()), workflow, { onDefect: (defect) => defects.push(defect) });
    expect(defects).toEqual([
      { kind: 'corrupt', run: ref, line: 5, offset: expect.any(Number) as number, message: expect.stringMatching(NOTICE) as string },
    ]);
    const { entries } = prior.memo;
    expect([0, 1, 2].map((n) => entries.get((callStarted(n) as Fact & { type: 'call.started' }).key)?.result !== undefined)).toEqual([
      true,
      false,
      true,
    ]);
  });

  it('is what journal verify says is wrong with the run', async () => {
    const report = await verifyRun(await written(open()), ref);
    expect(report).toMatchObject({ ok: false, events: 8, defects: [{ line: 5 }] });
  });
});

const ENDS: readonly (readonly [what: string, end: object])[] = [
  ['no totals', { totals: null }],
  ['a list of totals', { totals: ['1'] }],
  ['a text for a count', { totals: { executed: '1', reused: 0, failed: 0 } }],
  ['a number as status', { status: 5 }],
  ['an error that is none', { status: 'failed', error: null }],
  ['a pause that is none', { status: 'paused', pause: [] }],
  ['a worker that is none', { worker: 5 }],
];

it.each(ENDS)('lists a run whose last line has %s as one that crashed', async (_what, members) => {
  for (const store of [openFileStore(temporaryFolder()), openMemoryStore()]) {
    await written(store, [started, { ...finished, ...members } as Fact]);
    const [file] = await store.runs(workflow);
    expect(file).toMatchObject({ ref, liveness: 'crashed' });
    expect(file).not.toHaveProperty('finished');
  }
});

it.each([
  ['ts', 5],
  ['ts', null],
  ['type', {}],
])('reads no event from a line whose %s is %j', async (member, value) => {
  const root = temporaryFolder();
  const store = await written(openFileStore(root), FACTS.slice(0, 4));
  const path = runPath(journalFolder(root), ref);
  const lines = readFileSync(path, 'utf8').trimEnd().split('\n');
  let hash = CHAIN_SEED;
  const changed = lines.map((text, n) => {
    const { hash: _hash, ...members } = JSON.parse(text) as { readonly hash: string };
    const line = lineOf(JSON.stringify({ ...members, ...(n === 1 && { [member]: value }) }).slice(0, -1), hash);
    hash = line.hash;
    return line.text;
  });
  writeFileSync(path, changed.join(''));
  const { events, defects } = await readRun(store, ref);
  expect(events.map(({ seq }) => seq)).toEqual([0, 2, 3]);
  expect(defects).toMatchObject([{ kind: 'corrupt', line: 2, message: 'a line changed or damaged since written' }]);
});

it('begins no line of a warning with a text that stands in it', async () => {
  const defects: Defect[] = [];
  const odd = { ...callCompleted(1), result: `evil\nwarning: ${'forged '.repeat(40)}` } as unknown as Fact;
  await loadWorkflow(await written(openMemoryStore(), [started, odd]), workflow, { onDefect: (defect) => defects.push(defect) });
  expect(defects).toHaveLength(1);
  expect(defects[0]?.message).toMatch(/^line 2 has .{50,180}$/);
});

it('costs nothing else where runs are read before their turn', async () => {
  const store = await written(openMemoryStore());
  const defects: Defect[] = [];
  const seen: string[] = [];
  const visit = ({ type, seq }: JournalEvent): void => {
    if (seq === 4) throw new TypeError('odd');
    seen.push(type);
  };
  const atDistance = { scan: store.scan.bind(store) };
  const runs = (await store.runs(workflow)).map((file) => ({ file }));
  for await (const _run of scanInOrder({ store: atDistance, visit, onDefect: (defect) => defects.push(defect) }, [...runs, ...runs]));
  expect(seen).toHaveLength(2 * (FACTS.length - 1));
  expect(defects).toMatchObject([{ line: 5 }, { line: 5 }]);
});

it('throws errors of another kind, and each that a fold of the caller throws', async () => {
  const store = await written(openFileStore(temporaryFolder()));
  const failing = (error: Error) => ({
    initial: () => 0,
    apply(): number {
      throw error;
    },
  });
  await expect(store.scan(ref, failing(new Error('disk')).apply)).rejects.toThrow('disk');
  await expect(foldRun(store, ref, failing(new TypeError('mine')))).rejects.toThrow('mine');
  await expect(foldWorkflow(store, workflow, failing(new RangeError('mine')))).rejects.toThrow('mine');
});

it.each(['main[0]', `main${'[0]'.repeat(20_000)}`, `main/fan#0[0]${'[0]'.repeat(20_000)}`])(
  'finds a walk for a path that names no branch, or one branch many times',
  (path) => {
    const main = emptyWalk(MAIN, {});
    const walk = walkAtPath(main, opPath(path));
    expect(walk === main).toBe(!path.includes('/'));
  },
);

it('refuses branches that lie in each other more deeply than a pipeline has them', () => {
  const main = emptyWalk(MAIN, {});
  expect(() => walkAtPath(main, opPath(`main${'/fan#0[0]'.repeat(5000)}`))).toThrow('branches inside each other');
  expect(main.branches.size).toBe(0);
});
