/** Blobs that have parts in common take the space of one. */
import { createHash } from 'node:crypto';
import { readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { sha256 } from '../../../journal/canonical.js';
import type { BlobId } from '../../../journal/ids.js';
import { realDisk, type Disk } from '../../../journal/storage/disk.js';
import { openFileStore } from '../../../journal/storage/file-store.js';
import { journalFolder, packsFolder } from '../../../journal/storage/layout.js';
import { openMemoryStore } from '../../../journal/storage/memory-store.js';
import { encodeHeader } from '../../../journal/storage/packs/pack-record.js';
import type { JournalStore } from '../../../journal/store.js';
import { openDeleter } from '../../../journal/upkeep/delete-runs.js';
import { temporaryFolder } from '../support/folder.js';
import { volatileDisk } from '../support/volatile-disk.js';
import { conversation, words } from './related-texts.js';

const packs = (root: string): string[] => {
  const folder = packsFolder(journalFolder(root));
  return readdirSync(folder)
    .filter((name) => name.endsWith('.pack'))
    .map((name) => join(folder, name));
};
const bytesIn = (root: string): number => packs(root).reduce((sum, path) => sum + statSync(path).size, 0);
const textOf = async (store: JournalStore, blob: BlobId): Promise<string | undefined> => {
  const content = await store.getBlob(blob);
  return content && Buffer.from(content).toString();
};
const storeAll = async (store: JournalStore, texts: readonly string[]): Promise<void> => {
  for (const text of texts) expect(await store.packBlob(text)).toEqual({ blob: sha256(text), bytes: Buffer.byteLength(text) });
};
const expectAll = async (store: JournalStore, texts: readonly string[]): Promise<void> => {
  for (const text of texts) expect((await textOf(store, sha256(text))) === text).toBe(true);
};

describe('a growing text', () => {
  it('takes the space of its longest version and little more, and is read whole by another process', async () => {
    const root = temporaryFolder();
    const texts = conversation('tide', 40);
    await storeAll(openFileStore(root), texts);
    expect(bytesIn(root)).toBeLessThan((texts.at(-1) as string).length + texts.length * 250);
    await expectAll(openFileStore(root), texts);
  });

  it.each<[string, (text: string, n: number) => string]>([
    ['as JSON, alone and in a list', (text, n) => JSON.stringify(n % 2 === 0 ? text : [text])],
    ['behind a changing beginning', (text, n) => words(`beginning ${n}`, 500) + text],
    ['in front of a changing end', (text, n) => text + words(`end ${n}`, 500)],
    ['with a changing middle', (text, n) => text.slice(0, 30_000) + words(`middle ${n}`, 500) + text.slice(30_500)],
  ])('is recognised %s', async (_title, change) => {
    const root = temporaryFolder();
    const texts = conversation('tide', 30).map(change);
    await storeAll(openFileStore(root), texts);
    expect(bytesIn(root)).toBeLessThan((texts.at(-1) as string).length + texts.length * 1500);
    await expectAll(openFileStore(root), texts);
  });

  it.each<[string, (history: string, answer: string) => string]>([
    ['at its end', (history, answer) => `${history}\n\nUser: and then?\n\nAssistant: ${answer}\n\nUser: go on`],
    ['in front of it', (history, answer) => `Assistant: ${answer}\n\n${history}`],
  ])('holds no second copy of the answers that are put %s', async (_title, put) => {
    const root = temporaryFolder();
    let history = words('tide', 100_000);
    await storeAll(openFileStore(root), [JSON.stringify([history])]);
    for (let turn = 0; turn < 30; turn++) {
      const answer = words(`answer ${turn}`, 1100 + turn * 100).replaceAll('= ', '.\n"');
      history = put(history, answer);
      const texts = [JSON.stringify(answer), JSON.stringify([history, { turn }])];
      const store = openFileStore(root); // of another process, which knows what the pack says
      await storeAll(store, texts);
      await expectAll(store, texts);
    }
    expect(bytesIn(root)).toBeLessThan(JSON.stringify(history).length + 60 * 500);
  });

  it('is continued by the next process, also between other conversations', async () => {
    const root = temporaryFolder();
    const both = [conversation('ebb', 20), conversation('flow', 20)] as const;
    for (let turn = 0; turn <= 20; turn++) await storeAll(openFileStore(root), [both[0][turn] as string, both[1][turn] as string]);
    expect(packs(root)).toHaveLength(1);
    expect(bytesIn(root)).toBeLessThan(2 * 160_000 + 42 * 250);
    await expectAll(openFileStore(root), both.flat());
  });

  it('is cut when the next one is stored, unless it is large', async () => {
    const cutsOfFirst = (root: string): unknown => {
      const [, header] = readFileSync(packs(root)[0] as string, 'latin1').split('\n', 2);
      return (JSON.parse(header as string) as { readonly cuts: unknown }).cuts;
    };
    const [short, long] = [temporaryFolder(), temporaryFolder()];
    const [first, next] = [words('tide', 200_000), words('ebb', 10_000)];
    await storeAll(openFileStore(short), [first]);
    expect(cutsOfFirst(short)).toBe('');
    await storeAll(openFileStore(short), [next + first, first.slice(60_000) + next]);
    expect(bytesIn(short)).toBeLessThan(first.length + next.length + 8000);
    await expectAll(openFileStore(short), [first, next + first, first.slice(60_000) + next]);
    await storeAll(openFileStore(long), [words('tide', 1_100_000)]);
    expect(cutsOfFirst(long)).not.toBe('');
  });

  it('is stored without a copy where the disk does not return the first one', async () => {
    const root = temporaryFolder();
    const [first, next] = [words('tide', 200_000), words('ebb', 50_000)];
    await storeAll(openFileStore(root), [first]);
    const broken: Disk = {
      ...realDisk,
      read(file, into, start, length, position) {
        if (position <= 140_000 && position + length > 140_000) throw Object.assign(new Error('EIO: i/o error, read'), { code: 'EIO' });
        return realDisk.read(file, into, start, length, position);
      },
    };
    await storeAll(openFileStore(root, { disk: broken }), [next, first.slice(0, 60_000) + next]);
    expect(packs(root)).toHaveLength(1);
    await expectAll(openFileStore(root), [first, next, first.slice(0, 60_000) + next]);
  });

  it('is stored whole by everyone who stores it at once', async () => {
    const root = temporaryFolder();
    const texts = conversation('tide', 12);
    const stores = Array.from({ length: 4 }, () => openFileStore(root));
    await Promise.all(stores.map((store) => Promise.all(texts.map((text) => store.packBlob(text)))));
    await expectAll(openFileStore(root), texts);
    for (const store of stores) await expectAll(store, texts);
  });
});

it('looks into no earlier pack for what the latest one holds, nor to store something', async () => {
  const root = temporaryFolder();
  const [first, second, third] = ['first', 'second', 'third'].map((seed) => words(seed, 20_000)) as [string, string, string];
  await storeAll(openFileStore(root), [first]);
  const [old = ''] = packs(root);
  writeFileSync(old, Buffer.concat([readFileSync(old), Buffer.from('torn')])); // so that the next one begins a pack
  await storeAll(openFileStore(root), [second]);
  const opened: string[] = [];
  const watched: Disk = {
    ...realDisk,
    openToRead(path) {
      opened.push(path);
      return realDisk.openToRead(path);
    },
  };
  const store = openFileStore(root, { disk: watched });
  await expectAll(store, [second]);
  await storeAll(store, [third]);
  expect(packs(root)).toHaveLength(2);
  expect(opened.filter((path) => path.endsWith('.pack') && path === old)).toEqual([]);
  await expectAll(store, [third, first]);
  expect(opened).toContain(old);
});

describe('a store that is given related texts and rid of some', () => {
  const step = fc.oneof(
    { weight: 6, arbitrary: fc.record({ do: fc.constant('put' as const), base: fc.nat(), at: fc.nat(), cut: fc.nat(), seed: fc.nat(99) }) },
    { weight: 1, arbitrary: fc.record({ do: fc.constant('remove' as const), share: fc.nat({ max: 9 }) }) },
    { weight: 1, arbitrary: fc.record({ do: fc.constant('reopen' as const) }) },
  );

  it('returns every byte of what is left, and nothing of the rest', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 25 }), async (steps) => {
        const root = temporaryFolder();
        const memory = openMemoryStore();
        let store = openFileStore(root);
        const kept = new Set<string>();
        const gone = new Set<string>();
        const last = (): string => [...kept].at(-1) ?? words('first', 40_000);
        for (const each of steps) {
          if (each.do === 'put') {
            const base = [...kept][each.base % (kept.size || 1)] ?? last();
            const at = each.at % base.length;
            const text = `${base.slice(0, at)}${words(each.seed, 2000 + each.seed * 90)}é${base.slice(at + (each.cut % 9000))}`.padEnd(
              20_000,
              'x',
            );
            await storeAll(store, [text]);
            await memory.packBlob(text);
            kept.add(text);
            gone.delete(text);
          } else if (each.do === 'remove') {
            const going = [...kept].filter((_, n) => n % 10 <= each.share);
            const deleter = openDeleter(root);
            await deleter.trash(going.map((text) => sha256(text)));
            await deleter.deleteTrashed(going.map((text) => sha256(text)));
            for (const text of going) {
              kept.delete(text);
              gone.add(text);
            }
          } else store = openFileStore(root);
          await expectAll(store, [...kept]);
        }
        await expectAll(openFileStore(root), [...kept]);
        await expectAll(memory, [...kept, ...gone]);
        for (const text of gone) expect(await openFileStore(root).getBlob(sha256(text))).toBeUndefined();
      }),
      { numRuns: 25 },
    );
  });

  it('frees the space of what is gone, and keeps that of what is left', async () => {
    const root = temporaryFolder();
    const [ebb, flow] = [conversation('ebb', 20), conversation('flow', 20)];
    await storeAll(openFileStore(root), [...ebb, ...flow]);
    const deleter = openDeleter(root);
    const going = [...flow, ...ebb.slice(0, -1)].map((text) => sha256(text));
    await deleter.trash(going);
    await deleter.deleteTrashed(going);
    expect(bytesIn(root)).toBeLessThan(160_000 + 1000);
    await expectAll(openFileStore(root), ebb.slice(-1));
    const found = await openDeleter(root).blobs();
    expect(found.map(({ blob }) => blob)).toEqual([sha256(ebb.at(-1) as string)]);
  });

  it('is as before when what was moved to the trash is restored', async () => {
    const root = temporaryFolder();
    const texts = conversation('ebb', 5);
    await storeAll(openFileStore(root), texts);
    const before = packs(root).map((path) => readFileSync(path));
    const deleter = openDeleter(root);
    await deleter.trash([sha256(texts[0] as string)]);
    await expectAll(openFileStore(root), texts.slice(1));
    await deleter.restore([sha256(texts[0] as string)]);
    expect(packs(root).map((path) => readFileSync(path))).toEqual(before);
    await expectAll(openFileStore(root), texts);
  });
});

describe('a damaged pack', () => {
  it('costs the blobs that need the damaged bytes, and heals them when they are stored again', async () => {
    const root = temporaryFolder();
    const texts = conversation('tide', 6);
    const store = openFileStore(root);
    await storeAll(store, [...texts, words('other', 50_000)]);
    const [path = ''] = packs(root);
    const bytes = readFileSync(path);
    bytes[bytes.indexOf(words('tide 3', 100))] = 0x21;
    writeFileSync(path, bytes);
    for (const reader of [store, openFileStore(root)]) {
      await expectAll(reader, [...texts.slice(0, 4), words('other', 50_000)]);
      for (const text of texts.slice(4)) expect(await reader.getBlob(sha256(text))).toBeUndefined();
    }
    await storeAll(store, texts);
    await expectAll(store, texts);
    await expectAll(openFileStore(root), texts);
  });

  it('is read behind a record that is no record any more', async () => {
    const root = temporaryFolder();
    const texts = ['a', 'b', 'c'].map((seed) => words(seed, 50_000));
    await storeAll(openFileStore(root), texts);
    const [path = ''] = packs(root);
    const idOf = (text: string): string => createHash('sha256').update(text).digest('base64url');
    writeFileSync(path, readFileSync(path, 'latin1').replace(idOf(texts[1] as string), idOf('')), 'latin1');
    const store = openFileStore(root);
    expect(await store.getBlob(sha256(texts[1] as string))).toBeUndefined();
    expect(await store.getBlob(sha256(''))).toBeUndefined();
    await expectAll(store, [texts[0] as string, texts[2] as string]);
  });

  it.each([1, 30, 200, 40_000])('is not continued when its end is torn off by %i bytes, and loses nothing before', async (count) => {
    const root = temporaryFolder();
    const texts = conversation('tide', 3);
    await storeAll(openFileStore(root), texts);
    const [path = ''] = packs(root);
    const whole = readFileSync(path);
    const end = whole.length - count;
    writeFileSync(path, whole.subarray(0, end));
    const store = openFileStore(root);
    if (count < 3000) await expectAll(store, texts.slice(0, 3));
    const more = words('more', 50_000);
    await storeAll(store, [more, ...texts]);
    expect(packs(root)).toHaveLength(2);
    expect(readFileSync(path).equals(whole.subarray(0, end))).toBe(true);
    await expectAll(openFileStore(root), [more, ...texts]);
  });

  it.each(['', '{"pack":2}\nanything', '\0'.repeat(5000)])('of another kind is left alone: %j', async (content) => {
    const root = temporaryFolder();
    const text = words('tide', 50_000);
    await storeAll(openFileStore(root), [text]);
    const [path = ''] = packs(root);
    writeFileSync(path, content);
    const store = openFileStore(root);
    expect(await store.getBlob(sha256(text))).toBeUndefined();
    await storeAll(store, [text]);
    await expectAll(openFileStore(root), [text]);
    expect(readFileSync(path, 'utf8')).toBe(content);
  });

  it('takes no text for a record that only looks like one', async () => {
    const root = temporaryFolder();
    const victim = words('victim', 50_000);
    const store = openFileStore(root);
    await storeAll(store, [words('first', 50_000)]);
    const forged = `${words('before', 9000)}\n${encodeHeader({ blob: sha256(victim), parts: [20_000], cuts: '' })}${'x'.repeat(20_000)}\n`;
    await storeAll(store, [forged]);
    expect(await openFileStore(root).getBlob(sha256(victim))).toBeUndefined();
    const [path = ''] = packs(root);
    const bytes = readFileSync(path);
    bytes[bytes.indexOf('"parts":[29')] = 0x21; // now the forged record is searched for, and found
    writeFileSync(path, bytes);
    expect(await openFileStore(root).getBlob(sha256(victim))).toBeUndefined();
    await storeAll(openFileStore(root), [victim, forged]);
    await expectAll(openFileStore(root), [words('first', 50_000), victim, forged]);
  });
});

describe('a power cut', () => {
  it('leaves every blob that was acknowledged, also one that a dying process had begun', async () => {
    const root = temporaryFolder();
    const { disk, left } = volatileDisk(root);
    const texts = conversation('tide', 3);
    const dying = openFileStore(root, {
      disk: { ...disk, sync: (_file, done) => done(Object.assign(new Error('EIO: made up'), { code: 'EIO' })) },
    });
    await expect(dying.packBlob(texts[0] as string)).rejects.toMatchObject({ name: 'JournalError', code: 'JOURNAL_IO' });
    const store = openFileStore(root, { disk });
    for (const [n, text] of texts.entries()) {
      await storeAll(store, [text]);
      await expectAll(openFileStore(left()), texts.slice(0, n + 1));
    }
  });

  it('leaves a blob that another process wrote and did not sync, once it is stored again', async () => {
    const root = temporaryFolder();
    const { disk, left } = volatileDisk(root);
    const text = words('tide', 50_000);
    const never = { ...disk, sync: () => undefined };
    void openFileStore(root, { disk: never }).packBlob(text); // killed while it waits
    while ((await openFileStore(root).getBlob(sha256(text))) === undefined) await new Promise(setImmediate);
    expect(await openFileStore(left()).getBlob(sha256(text))).toBeUndefined();
    await storeAll(openFileStore(root, { disk }), [text]);
    await expectAll(openFileStore(left()), [text]);
  });
});

it('begins a new pack after a write that failed, and stores everything', async () => {
  const root = temporaryFolder();
  const texts = conversation('tide', 4);
  let fails = false;
  const disk = {
    ...realDisk,
    sync(file: number, done: (error: Error | null) => void) {
      if (!fails) return realDisk.sync(file, done);
      fails = false;
      done(Object.assign(new Error('EIO: made up'), { code: 'EIO' }));
    },
  };
  const store = openFileStore(root, { disk });
  await storeAll(store, texts.slice(0, 2));
  fails = true;
  await expect(store.packBlob(texts[2] as string)).rejects.toMatchObject({ code: 'JOURNAL_IO' });
  expect(await openFileStore(root).getBlob(sha256(texts[2] as string))).toBeUndefined();
  await storeAll(store, texts);
  expect(packs(root)).toHaveLength(2);
  await expectAll(openFileStore(root), texts);
});
