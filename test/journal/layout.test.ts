import { readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { openFileStore } from '../../journal/storage/file-store.js';
import { workflowOf } from '../../journal/ids.js';
import { folderName, workflowOfFolder } from '../../journal/storage/layout.js';
import { runRef, started } from './support/facts.js';
import { temporaryFolder } from './support/folder.js';

it.each([
  ['llm/run/patrol.mld', 'llm+run+patrol.mld'],
  ['README.mld', '%52%45%41%44%4d%45.mld'],
  ['../other/x.mld', '%2e.+other+x.mld'],
  ['a b+c%~.mld', 'a%20b%2bc%25%7e.mld'],
  ['blobs', '%62lobs'],
  ['日.mld', '%e6%97%a5.mld'],
])('names the folder of %s', (workflow, folder) => {
  expect(folderName(workflowOf(workflow))).toBe(folder);
  expect(workflowOfFolder(folder)).toBe(workflow);
});

it('makes for every workflow a folder name of its own that can be read back', () => {
  const anyPath = fc
    .string({ unit: 'grapheme', minLength: 1, maxLength: 60 })
    .map(workflowOf)
    .filter((path) => path.length > 0);
  fc.assert(
    fc.property(anyPath, anyPath, (one, other) => {
      const name = folderName(one);
      expect(name).toMatch(/^(?!\.)[a-z0-9._+%~-]{1,160}(?<!\.)$/);
      const back = workflowOfFolder(name);
      if (back === 'shortened') expect(name).toHaveLength(160);
      else expect(back).toBe(one);
      if (one !== other) expect(folderName(other).toLowerCase()).not.toBe(name.toLowerCase());
    }),
  );
});

it.each(['blobs', 'Upper', '%zz', '%41%4', 'a b', '%2E', '.hidden', '%61'])('takes %s for no workflow', (folder) => {
  expect(workflowOfFolder(folder)).toBeUndefined();
});

it('knows a workflow whose name is too long for a folder from its runs', async () => {
  const long = workflowOf(`llm/${'deep/'.repeat(60)}job.mld`);
  const root = temporaryFolder();
  const store = openFileStore(root);
  await (await store.create(runRef(1, long))).close(); // crashed before its first event
  const journal = await store.create(runRef(2, long));
  await journal.append({ ...started, workflow: long } as typeof started);
  await journal.close();
  expect(await store.workflows()).toEqual([long]);
  expect(await store.find(runRef(2).run)).toEqual(runRef(2, long));
});

it('keeps everything to its owner', async () => {
  const root = temporaryFolder();
  const store = openFileStore(root);
  const journal = await store.create(runRef(1));
  await store.putBlob('text');
  await store.writeDerived(runRef(1).workflow, 'index', 'x');
  for (const name of readdirSync(join(root, '.mlld'), { recursive: true, encoding: 'utf8' })) {
    const stat = statSync(join(root, '.mlld', name));
    expect(`${name} ${(stat.mode & 0o777).toString(8)}`).toBe(`${name} ${stat.isDirectory() ? '700' : '600'}`);
  }
  await journal.close();
});

it('does nothing when it is opened', () => {
  const root = temporaryFolder();
  openFileStore(root);
  expect(readdirSync(root)).toEqual([]);
});
