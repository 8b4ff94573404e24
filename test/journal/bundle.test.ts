import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { packArchive } from '../../journal/upkeep/archive.js';
import { packBundle, storeBundle, unpackBundle, type Bundle } from '../../journal/upkeep/bundle.js';
import { sha256 } from '../../journal/canonical.js';
import { openFileStore } from '../../journal/storage/file-store.js';
import type { BlobId, RunRef } from '../../journal/ids.js';
import { editedLines } from '../../journal/upkeep/rewrite.js';
import { anyFact } from './support/any-fact.js';
import { finished, runRef, smallRun, started } from './support/facts.js';
import { failingDisk } from './support/failing-disk.js';
import { temporaryFolder } from './support/folder.js';
import { factOf, readRun } from './support/read.js';

const BECAUSE = { at: '', reason: '' };
const MTIME = new Date(0);

async function recordedBundle(root: string, refs: readonly RunRef[], facts = smallRun): Promise<Bundle> {
  const store = openFileStore(root);
  const runs = [];
  for (const ref of refs) {
    const journal = await store.create(ref);
    for (const fact of facts) await journal.append(fact);
    await journal.close();
    runs.push({ ref, lines: await editedLines(root, ref, () => undefined, BECAUSE) });
  }
  return { runs, blobs: new Map() };
}

describe('a bundle', () => {
  it('returns what was put into it', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(anyFact, { maxLength: 8 }),
        fc.array(fc.uint8Array({ maxLength: 2000 }), { maxLength: 4 }),
        async (facts, contents) => {
          const bundle = await recordedBundle(temporaryFolder(), [runRef(1), runRef(2)], [started, ...facts, finished]);
          const blobs = new Map(contents.map((content) => [sha256(content) as BlobId, content] as const));
          const packed = await packBundle({ ...bundle, blobs });
          expect(await packBundle({ ...bundle, blobs })).toEqual(packed);
          const root = temporaryFolder();
          const unpacked = await unpackBundle(packed);
          expect((await storeBundle(root, unpacked)).map(({ did }) => did)).toEqual(['stored', 'stored']);
          const store = openFileStore(root);
          for (const { ref, lines } of bundle.runs) {
            expect(Buffer.from(await editedLines(root, ref, () => undefined, BECAUSE))).toEqual(Buffer.from(lines));
            const { events, defects } = await readRun(store, ref);
            expect(defects).toEqual([]);
            expect(events).toHaveLength(facts.length + 2);
          }
          for (const [id, content] of blobs) expect(Buffer.from((await store.getBlob(id)) as Uint8Array)).toEqual(Buffer.from(content));
        },
      ),
      { numRuns: 25 },
    );
  });

  it('is taken in twice without a change, and never over another run of the same id', async () => {
    const bundle = await recordedBundle(temporaryFolder(), [runRef(1)]);
    const root = temporaryFolder();
    await storeBundle(root, bundle);
    expect(await storeBundle(root, bundle)).toEqual([{ ref: runRef(1), did: 'there' }]);
    const other = await recordedBundle(temporaryFolder(), [runRef(1)], [started, finished]);
    await expect(storeBundle(root, other)).rejects.toMatchObject({ code: 'JOURNAL_RUN_EXISTS' });
    expect((await readRun(openFileStore(root), runRef(1))).events.map(factOf)).toEqual(smallRun);
  });

  it('is refused when any bit of it has changed', async () => {
    const packed = await packBundle(await recordedBundle(temporaryFolder(), [runRef(1)]));
    const whole = await unpackBundle(packed);
    // The ten bytes of gzip's head say when and where it was made, which means nothing here.
    for (let at = 10; at < packed.length; at += 3) {
      const damaged = Uint8Array.from(packed);
      damaged[at] = (damaged[at] as number) ^ 4;
      const result = await unpackBundle(damaged).catch((error: unknown) => error);
      if (result instanceof Error) expect(result, `byte ${at}`).toMatchObject({ code: 'BUNDLE_UNREADABLE' });
      else expect(result, `byte ${at}`).toEqual(whole);
    }
    for (const length of [0, 5, 200, packed.length - 9]) {
      await expect(unpackBundle(packed.subarray(0, length))).rejects.toMatchObject({ code: 'BUNDLE_UNREADABLE' });
    }
  });

  it.each([
    ['a path that leads out', [{ path: '../../evil', content: Buffer.from('x') }]],
    ['an absolute path', [{ path: '/etc/evil', content: Buffer.from('x') }]],
    ['a blob of another name', [{ path: `blobs/${'a'.repeat(64)}`, content: Buffer.from('x') }]],
    ['no run', [{ path: 'mlld-bundle.json', content: Buffer.from('{"bundle":1,"runs":[]}') }]],
    ['another version', [{ path: 'mlld-bundle.json', content: Buffer.from('{"bundle":2,"runs":[]}') }]],
    [
      'a run id that is a path',
      [{ path: 'mlld-bundle.json', content: Buffer.from('{"bundle":1,"runs":[{"workflow":"a","run":"../x","sha256":""}]}') }],
    ],
    ['what is no JSON', [{ path: 'mlld-bundle.json', content: Buffer.from('{') }]],
  ])('is refused with %s in it', async (_, files) => {
    const manifest = { path: 'mlld-bundle.json', content: Buffer.from('{"bundle":1,"runs":[{"workflow":"a"}]}') };
    const own = files[0]?.path === manifest.path ? files : [manifest, ...files];
    await expect(unpackBundle(await packArchive(own, MTIME))).rejects.toMatchObject({ code: 'BUNDLE_UNREADABLE' });
    if (own === files) return;
    const bundle = await recordedBundle(temporaryFolder(), [runRef(1)]);
    const lines = bundle.runs[0]!.lines;
    const real = `{"bundle":1,"runs":[{"workflow":"a","run":"${runRef(1).run}","sha256":"${sha256(lines)}"}]}`;
    const archive = [
      { ...manifest, content: Buffer.from(real) },
      { path: `runs/${runRef(1).run}.ndjson`, content: lines },
    ];
    await unpackBundle(await packArchive(archive, MTIME));
    await expect(unpackBundle(await packArchive([...archive, ...files], MTIME))).rejects.toMatchObject({ code: 'BUNDLE_UNREADABLE' });
  });

  it('leaves whole runs or none wherever the storing is killed', async () => {
    const bundle = await recordedBundle(temporaryFolder(), [runRef(1), runRef(2)]);
    const content = Buffer.from('some content');
    const whole = { ...bundle, blobs: new Map([[sha256(content) as BlobId, content]]) };
    for (let n = 1; ; n++) {
      const root = temporaryFolder();
      const failing = failingDisk(n, 'dead');
      await storeBundle(root, whole, failing.disk).catch(() => undefined);
      const store = openFileStore(root);
      for (const { ref } of await store.runs(runRef(1).workflow)) {
        expect((await readRun(store, ref)).events.map(factOf), `call ${n}`).toEqual(smallRun);
        expect(await store.getBlob(sha256(content))).toBeDefined();
      }
      await storeBundle(root, whole);
      if (!failing.struck()) {
        expect(n).toBeGreaterThan(15);
        break;
      }
    }
  });
});
