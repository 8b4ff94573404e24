/** A run on disk that was cut, changed or written by someone else. */
import { appendFileSync, chmodSync, mkdirSync, readFileSync, rmSync, truncateSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { INLINE_MAX } from '../../journal/payloads.js';
import { sha256 } from '../../journal/canonical.js';
import { CHAIN_SEED, encode, LINE_BYTES_MAX } from '../../journal/codec.js';
import { realDisk } from '../../journal/storage/disk.js';
import { openFileStore } from '../../journal/storage/file-store.js';
import type { Fact, JournalEvent } from '../../journal/event.js';
import { opPath, seqOf } from '../../journal/ids.js';
import { blobPath, journalFolder, runPath } from '../../journal/storage/layout.js';
import { callCompleted, finished, runRef, smallRun, started, workflow } from './support/facts.js';
import { temporaryFolder } from './support/folder.js';
import { factOf, readRun } from './support/read.js';

const ref = runRef(1);

async function recorded(facts: readonly Fact[] = smallRun) {
  const root = temporaryFolder();
  const store = openFileStore(root);
  const journal = await store.create(ref);
  const places = facts.map((fact) => journal.post(fact));
  await journal.close();
  const path = runPath(journalFolder(root), ref);
  const { events } = await readRun(store, ref);
  return { root, store, path, events, bytes: readFileSync(path), places };
}

it('reads a file that was cut anywhere in its last three lines as a crash, without losing a whole line', async () => {
  const { store, path, bytes, events, places } = await recorded();
  const from = places.at(-3)?.position.offset ?? 0;
  for (let size = bytes.length - 1; size >= from; size--) {
    truncateSync(path, size);
    const whole = places.filter(({ position }) => position.offset + position.bytes < size).length;
    const cut = bytes[size - 1] !== 0x0a;
    const { events: left, defects, report } = await readRun(store, ref);
    expect(left, `${size} bytes`).toEqual(events.slice(0, whole));
    expect(defects).toMatchObject(cut ? [{ kind: 'torn-tail', line: whole + 1, offset: report.end.offset }] : []);
    expect((await store.runs(workflow))[0]).toMatchObject({ liveness: 'crashed', bytes: size });
  }
});

it('reads an empty file as a run of which nothing was recorded', async () => {
  const { store, path } = await recorded();
  truncateSync(path, 0);
  expect(await readRun(store, ref)).toMatchObject({ events: [], defects: [], report: { events: 0, end: { offset: 0, hash: CHAIN_SEED } } });
  expect(await store.runs(workflow)).toEqual([{ ref, liveness: 'crashed', bytes: 0 }]);
});

it('finds any changed byte, reports it once, and loses at most the line and its successor', async () => {
  const { root, path, bytes, events, places } = await recorded();
  await fc.assert(
    fc.asyncProperty(fc.nat(bytes.length - 1), fc.integer({ min: 1, max: 255 }), async (at, mask) => {
      const changed = Buffer.from(bytes);
      changed[at] = (changed[at] as number) ^ mask;
      writeFileSync(path, changed);
      const store = openFileStore(root); // an earlier one may have read the bytes before they changed
      const hit = places.findIndex(({ position }) => at <= position.offset + position.bytes);
      const { events: left, defects } = await readRun(store, ref);
      const atEnd = at === bytes.length - 1;
      expect(defects).toHaveLength(1);
      expect(defects[0]).toMatchObject({ line: hit + 1 });
      if (atEnd) expect(defects[0]?.kind).toBe('torn-tail');
      for (const event of left) expect(event).toEqual(events[event.seq]);
      const lost = events.map((event) => event.seq).filter((seq) => !left.some((event) => event.seq === seq));
      expect(lost.length).toBeLessThanOrEqual(2);
      for (const seq of lost) expect([hit, hit + 1]).toContain(seq);
      expect(lost).toContain(hit);
      expect(await store.readAt(ref, places[hit]?.position as { offset: number; bytes: number })).toBeUndefined();
    }),
    { numRuns: 200 },
  );
});

it('finds every single flipped bit of a run', async () => {
  const { store, path, bytes } = await recorded([started, callCompleted(1)]);
  for (let at = 0; at < bytes.length; at++) {
    const changed = Buffer.from(bytes);
    changed[at] = (changed[at] as number) ^ 1;
    writeFileSync(path, changed);
    const { report } = await readRun(store, ref);
    expect(report, `byte ${at}`).toMatchObject({ defects: 1 });
  }
});

const editLines = (bytes: Buffer, edit: (lines: string[]) => void): string => {
  const lines = bytes.toString().split('\n').slice(0, -1);
  edit(lines);
  return lines.map((line) => `${line}\n`).join('');
};

it.each<[string, (lines: string[]) => void, { seqs: number[]; lines: number[] }]>([
  ['a removed line', (lines) => lines.splice(3, 1), { seqs: [0, 1, 2, 5, 6, 7], lines: [4] }],
  ['a doubled line', (lines) => lines.splice(3, 0, lines[3] as string), { seqs: [0, 1, 2, 3, 4, 5, 6, 7], lines: [5] }],
  [
    'two lines that changed places',
    (lines) => lines.splice(3, 2, lines[4] as string, lines[3] as string),
    { seqs: [0, 1, 2, 6, 7], lines: [4] },
  ],
  ['an empty line', (lines) => lines.splice(3, 0, ''), { seqs: [0, 1, 2, 4, 5, 6, 7], lines: [4] }],
  ['a line of something else', (lines) => lines.splice(3, 0, 'x'.repeat(200)), { seqs: [0, 1, 2, 4, 5, 6, 7], lines: [4] }],
  [
    'a changed answer',
    (lines) => (lines[3] = (lines[3] as string).replace('naïve', 'native')),
    { seqs: [0, 1, 2, 4, 5, 6, 7], lines: [4] },
  ],
  ['two damaged places', (lines) => (lines[1] = lines[5] = '{"v":1,'), { seqs: [0, 3, 4, 7], lines: [2, 6] }],
  [
    'a damaged first line',
    (lines) => (lines[0] = (lines[0] as string).replace('patrol', 'parrot')),
    { seqs: [1, 2, 3, 4, 5, 6, 7], lines: [1] },
  ],
  ['a line that is a list of two', (lines) => lines.splice(3, 0, '1,2'), { seqs: [0, 1, 2, 4, 5, 6, 7], lines: [4] }],
  [
    'lines that are JSON only together, beside one that is two',
    (lines) => lines.splice(3, 0, '{"v":1},{"v":1}', '[1', '2]'),
    { seqs: [0, 1, 2, 4, 5, 6, 7], lines: [4] },
  ],
  [
    'bad lines around a good one that together are as many values as lines',
    (lines) => {
      lines.splice(3, 1, `{"v":1},${lines[3] as string}`);
      lines.splice(6, 0, '[1', '2]');
    },
    { seqs: [0, 1, 2, 4, 5, 7], lines: [4, 7] },
  ],
  ['lines that end like on Windows', (lines) => lines.forEach((line, i) => (lines[i] = `${line}\r`)), { seqs: [], lines: [1] }],
])('steps over %s', async (_title, edit, expected) => {
  const { store, path, bytes, events } = await recorded();
  writeFileSync(path, editLines(bytes, edit));
  const { events: left, defects } = await readRun(store, ref);
  expect(left.map(({ seq }) => seq)).toEqual(expected.seqs);
  for (const event of left) expect(event).toEqual(events[event.seq]);
  expect(defects.map(({ kind, line }) => ({ kind, line }))).toEqual(expected.lines.map((line) => ({ kind: 'corrupt', line })));
});

it('leaves a run of a newer version alone and says so once', async () => {
  const { store, path, bytes } = await recorded();
  const newer = bytes.toString().replaceAll('{"v":1,', '{"v":3,');
  writeFileSync(path, newer);
  const { events, defects } = await readRun(store, ref);
  expect(events).toEqual([]);
  expect(defects).toMatchObject([{ kind: 'unknown-version', line: 1 }]);
  expect(await store.runs(workflow)).toMatchObject([{ liveness: 'crashed' }]);
  expect(readFileSync(path, 'utf8')).toBe(newer);
});

it('carries types and members that it does not know', async () => {
  const stranger = { type: 'tide.turned', op: opPath('main/a#0'), height: { metres: 2.5, marks: ['low', null] } } as unknown as Fact;
  const wider = { ...callCompleted(1), model: 'opus', nested: { a: [1] } } as unknown as Fact;
  const { events, store } = await recorded([started, stranger, wider, finished]);
  expect(events.map(factOf)).toEqual([started, stranger, wider, finished]);
  expect((await readRun(store, ref)).defects).toEqual([]);
});

it('tells corruption behind a place where an earlier scan ended by its offset', async () => {
  const { store, path, bytes, places } = await recorded();
  const half = await readRun(store, ref);
  const from = { offset: half.positions[4]?.offset ?? 0, seq: seqOf(3), hash: half.events[3]?.hash ?? '' };
  writeFileSync(
    path,
    Buffer.concat([bytes.subarray(0, places[5]?.position.offset), Buffer.from('damage\n'), bytes.subarray(places[6]?.position.offset)]),
  );
  const { events, defects } = await readRun(store, ref, { from });
  expect(events.map(({ seq }) => seq)).toEqual([4, 7]);
  expect(defects).toEqual([expect.objectContaining({ kind: 'corrupt', offset: places[5]?.position.offset })]);
  expect(defects[0]).not.toHaveProperty('line');
});

it('notices that a file is shorter than an earlier scan found it', async () => {
  const { store, path } = await recorded();
  const { report } = await readRun(store, ref);
  truncateSync(path, 100);
  const again = await readRun(store, ref, { from: report.end });
  expect(again).toMatchObject({ events: [], defects: [{ kind: 'corrupt' }], report: { end: report.end } });
});

it('reads lines longer than a block, also with bytes of a character on both sides of its end', async () => {
  const facts = [started, callCompleted(1, '船'.repeat(200_000)), callCompleted(2, 'x'.repeat(262_144)), callCompleted(3), finished];
  const { events } = await recorded(facts);
  expect(events.map(factOf)).toEqual(facts);
});

it('refuses an event longer than a line may be, and continues', async () => {
  const store = openFileStore(temporaryFolder());
  const journal = await store.create(ref);
  await expect(journal.append(callCompleted(1, 'x'.repeat(LINE_BYTES_MAX)))).rejects.toMatchObject({ code: 'JOURNAL_EVENT_TOO_LARGE' });
  await journal.append(started);
  await journal.close();
  expect((await readRun(store, ref)).events.map(factOf)).toEqual([started]);
});

it('steps over a line that is longer than a line may be', async () => {
  const { store, path, bytes, events, places } = await recorded([started, callCompleted(1), callCompleted(2), finished]);
  const at = places[2]?.position.offset ?? 0;
  writeFileSync(path, Buffer.concat([bytes.subarray(0, at), Buffer.alloc(LINE_BYTES_MAX + 70_000, 'x'), bytes.subarray(at)]));
  const { events: left, defects } = await readRun(store, ref);
  expect(left).toEqual([events[0], events[1], events[3]]);
  expect(defects).toMatchObject([{ kind: 'corrupt', line: 3, offset: at }]);
});

it('finds the last event behind a long one, and ignores a tail that is damaged', async () => {
  const long = { ...finished, error: { code: 'X', message: 'y'.repeat(20_000) } } as Fact;
  const { store, path, bytes } = await recorded([started, callCompleted(1, 'x'.repeat(10_000)), long]);
  expect((await store.runs(workflow))[0]).toMatchObject({ liveness: 'finished', finished: { seq: 2, status: 'completed' } });
  writeFileSync(path, bytes.toString().replace('"status":"completed"', '"status":"complexed"'));
  expect((await store.runs(workflow))[0]).toMatchObject({ liveness: 'crashed' });
});

it('never returns a blob that is missing, changed or empty, and heals it when it is stored again', async () => {
  const root = temporaryFolder();
  const store = openFileStore(root);
  const value = 'ship '.repeat(INLINE_MAX);
  const { blob } = await store.putBlob(value);
  const path = blobPath(journalFolder(root), blob);
  const content = readFileSync(path, 'utf8');
  for (const damage of [() => writeFileSync(path, content.replace('ship', 'shop')), () => writeFileSync(path, ''), () => rmSync(path)]) {
    damage();
    expect(await store.getBlob(blob)).toBeUndefined();
    expect(store.immediate?.resolve({ blob, bytes: content.length, text: true })).toBeUndefined();
    expect(await store.putBlob(value)).toMatchObject({ blob });
    expect(Buffer.from((await store.getBlob(blob)) as Uint8Array).toString()).toBe(value);
  }
});

it('takes no name from a file as a path', async () => {
  const root = temporaryFolder();
  writeFileSync(join(root, 'secret'), 'secret');
  const id = `sha256:aa/../../../../secret` as ReturnType<typeof sha256>;
  expect(await openFileStore(root).getBlob(id)).toBeUndefined();
});

it.each(['.mlld', join('.mlld', 'journal')])('says what is wrong when %s is a file', async (name) => {
  const root = temporaryFolder();
  mkdirSync(dirname(join(root, name)), { recursive: true });
  writeFileSync(join(root, name), 'a file');
  const store = openFileStore(root);
  const wrong = { name: 'JournalError', code: 'JOURNAL_NOT_A_FOLDER', hint: expect.stringContaining('move it away') };
  await expect(store.create(ref)).rejects.toMatchObject(wrong);
  await expect(store.workflows()).rejects.toMatchObject(wrong);
  await expect(store.putBlob('x')).rejects.toMatchObject(wrong);
  await expect(store.writeDerived(workflow, 'index', 'x')).rejects.toMatchObject(wrong);
  expect(await store.readDerived(workflow, 'index')).toBeUndefined();
});

it('says what is wrong when the journal may not be written', async () => {
  const refuse = () => Promise.reject(Object.assign(new Error('EACCES: made up'), { code: 'EACCES' }));
  const store = openFileStore(temporaryFolder(), { disk: { ...realDisk, makeFolder: refuse } });
  await expect(store.create(ref)).rejects.toMatchObject({ code: 'JOURNAL_NOT_WRITABLE', hint: expect.stringContaining('permissions') });
});

it.runIf(process.getuid?.() !== 0)('reports a run that may not be read', async () => {
  const { store, path } = await recorded();
  chmodSync(path, 0);
  expect(await readRun(store, ref)).toMatchObject({ events: [], defects: [{ kind: 'unreadable' }] });
});

it('reports a run that cannot be read', async () => {
  const { root } = await recorded();
  const broken = () => {
    throw Object.assign(new Error('EIO: made up'), { code: 'EIO' });
  };
  expect(await readRun(openFileStore(root, { disk: { ...realDisk, read: broken } }), ref)).toMatchObject({
    events: [],
    defects: [{ kind: 'unreadable' }],
  });
});

it('lets an error of the visitor rise', async () => {
  const { store } = await recorded();
  await expect(
    store.scan(ref, () => {
      throw Object.assign(new Error('mine'), { code: 'ENOENT' });
    }),
  ).rejects.toThrow('mine');
});

it('reads what a writer of another process adds', async () => {
  const { store, path, events } = await recorded();
  const last = events.at(-1) as JournalEvent;
  const { text } = encode(callCompleted(9), seqOf(last.seq + 1), last.ts, last.hash);
  appendFileSync(path, text.slice(0, 50));
  const torn = await readRun(store, ref);
  expect(torn.defects).toMatchObject([{ kind: 'torn-tail' }]);
  appendFileSync(path, text.slice(50));
  const rest = await readRun(store, ref, { from: torn.report.end });
  expect(rest.events.map(factOf)).toEqual([callCompleted(9)]);
});
