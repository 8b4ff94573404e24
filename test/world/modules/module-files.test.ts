import fs from 'node:fs';
import path from 'node:path';
import { expect, it } from 'vitest';
import { readModuleFile, removeModule, sha256Of, stateOf, storedDigests, writeModule } from '../../../src/world/modules/module-files.js';
import { projectFolder } from '../../support/cli.js';

const BYTES = Buffer.from('var @a = 1\n');
const SHA = sha256Of(BYTES);

it('writes a file under its digest, and repairs it', async () => {
  const folder = path.join(await projectFolder({}), 'deep', 'modules');
  expect(await stateOf(folder, SHA, 'a.mld')).toBe('missing');
  await writeModule(folder, SHA, 'a.mld', BYTES);
  expect(await stateOf(folder, SHA, 'a.mld')).toBe('verified');
  fs.writeFileSync(path.join(folder, SHA, 'a.mld'), 'changed');
  expect(await stateOf(folder, SHA, 'a.mld')).toBe('changed');
  await writeModule(folder, SHA, 'a.mld', BYTES);
  expect(await stateOf(folder, SHA, 'a.mld')).toBe('verified');
  expect(fs.readdirSync(path.join(folder, SHA))).toEqual(['a.mld']);
  expect(await storedDigests(folder)).toEqual([SHA]);
  await removeModule(folder, SHA);
  expect(await storedDigests(folder)).toEqual([]);
});

it('follows no link, and removes a link without what it points to', async () => {
  const root = await projectFolder({ 'elsewhere/a.mld': BYTES.toString(), 'modules/keep': '' });
  const folder = path.join(root, 'modules');
  fs.symlinkSync(path.join(root, 'elsewhere'), path.join(folder, SHA));
  expect(await stateOf(folder, SHA, 'a.mld')).toBe('link');
  await expect(writeModule(folder, SHA, 'a.mld', BYTES)).rejects.toMatchObject({ code: 'ELOOP' });
  await removeModule(folder, SHA);
  expect(fs.existsSync(path.join(root, 'elsewhere/a.mld'))).toBe(true);
  fs.mkdirSync(path.join(folder, SHA));
  fs.symlinkSync(path.join(root, 'elsewhere/a.mld'), path.join(folder, SHA, 'a.mld'));
  expect(await stateOf(folder, SHA, 'a.mld')).toBe('link');
  await expect(writeModule(folder, SHA, 'a.mld', BYTES)).rejects.toMatchObject({ code: 'ELOOP' });
});

it('reads the file that a user names, or says why not', async () => {
  const root = await projectFolder({ 'a.mld': BYTES.toString() });
  expect(await readModuleFile(path.join(root, 'a.mld'))).toEqual({ bytes: BYTES });
  expect(await readModuleFile(path.join(root, 'b.mld'))).toEqual({ problem: 'there is no such file' });
  expect(await readModuleFile(root)).toEqual({ problem: 'it is not a file' });
});
